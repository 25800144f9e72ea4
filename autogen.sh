#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make configure and Makefile.in from configure.ac and Makefile.am.
set -e
cd "$(dirname "$0")"
command -v autoreconf >/dev/null || {
	echo "autoreconf is missing: apt-get install autoconf automake libtool" >&2
	exit 1
}
command -v libtoolize >/dev/null || {
	echo "libtoolize is missing: apt-get install libtool" >&2
	exit 1
}
exec autoreconf --install "$@"
