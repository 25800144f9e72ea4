# SPDX-License-Identifier: BSD-3-Clause
# The runtimes under whose locks Pawl has a layer. Each is optional; without it the layer is not
# built. After PAWL_FIND_LANGUAGES.

# PAWL_FIND_COARRAYS: OpenCoarrays for this MPI. CAF_LIBS links it to a program that $MPIFC
# -fcoarray=lib has compiled. libpawl-caf itself needs nothing of it.
AC_DEFUN([PAWL_FIND_COARRAYS], [
AC_REQUIRE([PAWL_FIND_LANGUAGES])dnl
AC_ARG_VAR([CAF_LIBS], [linker flags for OpenCoarrays of this MPI, as -lcaf_mpi])
AC_MSG_CHECKING([for coarrays of gfortran with this MPI (optional)])
pawl_have_CAF=no
AS_IF([test "x$MPIFC" != x], [
	cat >conftest.f90 <<_PROGRAM
use, intrinsic :: iso_fortran_env, only: lock_type
implicit none
type(lock_type), save :: l@<:@*@:>@
lock(l@<:@1@:>@)
unlock(l@<:@1@:>@)
end
_PROGRAM
	for pawl_one in "$CAF_LIBS" -lcaf_$PAWL_MPI -lcaf_mpi; do
		AS_IF([test "x$pawl_one" != x && test $pawl_have_CAF = no &&
			$MPIFC -fcoarray=lib conftest.f90 -o conftest.out $pawl_one >&AS_MESSAGE_LOG_FD 2>&1],
			[CAF_LIBS=$pawl_one; pawl_have_CAF=yes])
	done
	rm -f conftest.f90 conftest.out
])
AC_MSG_RESULT([$pawl_have_CAF])
AS_IF([test $pawl_have_CAF = yes],
	[pawl_text_CAF="yes (optional), $CAF_LIBS: libpawl-caf"],
	[CAF_LIBS=
	pawl_text_CAF="no (optional: apt-get install libcoarrays-$PAWL_MPI-dev)"])
AM_CONDITIONAL([HAVE_CAF], [test $pawl_have_CAF = yes])
])

# PAWL_FIND_ARMCI: ARMCI for this MPI (armci.h, libarmci). ARMCI_LIBS links it. With GA_LIBS, Global
# Arrays, for a test.
AC_DEFUN([PAWL_FIND_ARMCI], [
AC_ARG_VAR([ARMCI_LIBS], [linker flags for ARMCI of this MPI, as -larmci])
AC_ARG_VAR([GA_LIBS], [linker flags for Global Arrays without ARMCI, as "-lga -llapack -lblas -lgfortran"; for tests])
AC_MSG_CHECKING([for ARMCI with this MPI (optional)])
pawl_have_ARMCI=no
pawl_save_LIBS=$LIBS
for pawl_one in "$ARMCI_LIBS" -larmci-$PAWL_MPI -larmci; do
	AS_IF([test "x$pawl_one" != x && test $pawl_have_ARMCI = no], [
		LIBS="$pawl_one $pawl_save_LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <armci.h>]],
			[[ARMCI_Init(); PARMCI_Lock(0, 0); ARMCI_Finalize();]])],
			[ARMCI_LIBS=$pawl_one; pawl_have_ARMCI=yes])
	])
done
AS_IF([test $pawl_have_ARMCI = yes], [
	pawl_text_ARMCI="yes (optional), $ARMCI_LIBS: libpawl-armci"
	pawl_have_GA=no
	for pawl_one in "$GA_LIBS" "-lga-$PAWL_MPI -lscalapack-$PAWL_MPI -llapack -lblas -lgfortran" \
		"-lga -lscalapack -llapack -lblas -lgfortran" "-lga -llapack -lblas -lgfortran" \
		"-lga -lgfortran"; do
		AS_IF([test "x$pawl_one" != x && test $pawl_have_GA = no], [
			LIBS="$pawl_one $ARMCI_LIBS -lm $pawl_save_LIBS"
			AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <ga.h>]],
				[[GA_Initialize(); GA_Lock(0); GA_Terminate();]])],
				[GA_LIBS=$pawl_one; pawl_have_GA=yes])
		])
	done
	AS_IF([test $pawl_have_GA = no], [GA_LIBS=])
], [
	ARMCI_LIBS=
	GA_LIBS=
	pawl_text_ARMCI="no (optional: apt-get install libarmci-mpi-dev)"
])
LIBS=$pawl_save_LIBS
AC_MSG_RESULT([$pawl_have_ARMCI])
AM_CONDITIONAL([HAVE_ARMCI], [test $pawl_have_ARMCI = yes])
])

# PAWL_FIND_SHMEM: an OpenSHMEM that is built on this MPI, as Open MPI's. SHMEM_LIBS links it.
AC_DEFUN([PAWL_FIND_SHMEM], [
AC_ARG_VAR([SHMEM_LIBS], [linker flags for the OpenSHMEM of this MPI, as -loshmem])
AC_MSG_CHECKING([for OpenSHMEM on this MPI (optional)])
pawl_have_SHMEM=no
pawl_save_LIBS=$LIBS
for pawl_one in "$SHMEM_LIBS" -loshmem; do
	AS_IF([test "x$pawl_one" != x && test $pawl_have_SHMEM = no && test $PAWL_MPI = openmpi], [
		LIBS="$pawl_one $pawl_save_LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#include <shmem.h>
#include <pshmem.h>
static long lock;]], [[int started = 0; pshmem_init(); PMPI_Initialized(&started);
			pshmem_set_lock(&lock);]])],
			[SHMEM_LIBS=$pawl_one; pawl_have_SHMEM=yes])
	])
done
LIBS=$pawl_save_LIBS
AC_MSG_RESULT([$pawl_have_SHMEM])
AS_IF([test $pawl_have_SHMEM = yes],
	[pawl_text_SHMEM="yes (optional), $SHMEM_LIBS: libpawl-shmem"],
	[SHMEM_LIBS=
	pawl_text_SHMEM="no (optional: the OpenSHMEM of Open MPI)"])
AM_CONDITIONAL([HAVE_SHMEM], [test $pawl_have_SHMEM = yes])
])
