# SPDX-License-Identifier: BSD-3-Clause
# PAWL_PROG_FUZZ: FUZZ_CC, the compiler with libFuzzer for make fuzz, and pawl_text_FUZZ for the
# report. Nothing else needs it.
AC_DEFUN([PAWL_PROG_FUZZ], [
AC_ARG_WITH([fuzzer-cc], [AS_HELP_STRING([--with-fuzzer-cc=CLANG],
	[a clang with libFuzzer, for make fuzz (default: clang, if it is there)])],
	[], [with_fuzzer_cc=yes])
AS_CASE([$with_fuzzer_cc],
	[yes], [AC_PATH_PROGS([FUZZ_CC], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])],
	[no], [FUZZ_CC=],
	[FUZZ_CC=$with_fuzzer_cc])
AC_SUBST([FUZZ_CC])
AS_IF([test "x$FUZZ_CC" = x],
	[pawl_text_FUZZ="no (optional: apt-get install clang libclang-rt-dev)"],
	[pawl_text_FUZZ="yes (optional), $FUZZ_CC"])
])
