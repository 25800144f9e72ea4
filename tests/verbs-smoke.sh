#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A few locks over a verbs device in one virtual machine; tests/verbs.sh has all of them.

. "$srcdir/tests/verbs/head.sh"

in_guests smoke --timeout=300

finish
