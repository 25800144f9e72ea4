# SPDX-License-Identifier: BSD-3-Clause
# PAWL_TRY_SIMGRID: after PAWL_FIND_PACKAGE([SIMGRID]). The simulator needs a C++
# compiler and SimGrid's header of kernel timers; without them, or with
# --without-simgrid, it is not built. SIMGRID_CFLAGS, SIMGRID_LIBS and the conditional HAVE_SIMGRID.
AC_DEFUN([PAWL_TRY_SIMGRID], [
AC_ARG_WITH([simgrid], [AS_HELP_STRING([--without-simgrid],
	[do not build the simulator, nor what links it])])
AS_IF([test "x$with_simgrid" = xno], [
	pawl_have_SIMGRID=no
	pawl_text_SIMGRID="no (--without-simgrid)"
])
AS_IF([test "x$pawl_have_SIMGRID" = xyes], [
	PKG_CHECK_MODULES([SIMGRID], [simgrid])
	AC_LANG_PUSH([C++])
	pawl_save_CXXFLAGS=$CXXFLAGS
	CXXFLAGS="$CXXFLAGS -std=c++17 $SIMGRID_CFLAGS"
	AC_MSG_CHECKING([whether $CXX compiles against SimGrid])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
		#include <simgrid/kernel/Timer.hpp>
		#include <simgrid/s4u.hpp>
	]], [[simgrid::kernel::timer::Timer::set(1.0, [] {})]])], [], [
		pawl_have_SIMGRID=no
		pawl_text_SIMGRID="no (found, but $CXX cannot use it: apt-get install g++ libboost-dev)"
	])
	AC_MSG_RESULT([$pawl_have_SIMGRID])
	CXXFLAGS=$pawl_save_CXXFLAGS
	AC_LANG_POP([C++])
])
AM_CONDITIONAL([HAVE_SIMGRID], [test "x$pawl_have_SIMGRID" = xyes])
])
