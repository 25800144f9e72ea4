#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks and a verbs device, soft-RoCE in virtual machines (tests/verbs/guests).

. "$srcdir/tests/verbs/head.sh"

in_guests failures --timeout=1800
in_guests locks --timeout=1800
in_guests windows --timeout=900
in_guests two --timeout=1800 --guests=2

finish
