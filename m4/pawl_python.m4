# SPDX-License-Identifier: BSD-3-Clause
# PAWL_PROG_PYTHON: PYTHON, a python3 that has numpy and matplotlib, for
# benchmarks/pawl-report; optional. The first python3 of PATH may be one without Debian's packages.
AC_DEFUN([PAWL_PROG_PYTHON], [
AC_ARG_VAR([PYTHON], [a python3 with numpy and matplotlib, for figures])
AC_MSG_CHECKING([for python3 with numpy and matplotlib (optional)])
pawl_text_PYTHON="no (optional: apt-get install python3-numpy python3-matplotlib)"
for pawl_python in "$PYTHON" python3 /usr/bin/python3; do
	AS_IF([test "x$pawl_python" != x && "$pawl_python" -c 'import importlib.util as u
raise SystemExit(not (u.find_spec("numpy") and u.find_spec("matplotlib")))' >/dev/null 2>&1], [
		PYTHON=$pawl_python
		pawl_text_PYTHON="yes (optional), $PYTHON"
		break
	])
done
AS_CASE([$pawl_text_PYTHON], [no*], [PYTHON=])
AC_MSG_RESULT([${PYTHON:-no}])
AC_MSG_CHECKING([for Sphinx and MyST, for make html (optional)])
AS_IF([test "x$PYTHON" != x && "$PYTHON" -c 'import sphinx, myst_parser' >/dev/null 2>&1],
	[pawl_text_SPHINX="yes (optional)"],
	[pawl_text_SPHINX="no (optional: apt-get install python3-sphinx python3-myst-parser)"])
AC_MSG_RESULT([$pawl_text_SPHINX])
])
