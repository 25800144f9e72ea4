#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks and a verbs device, soft-RoCE in virtual machines (tests/verbs/guests).

. "$srcdir/tests/verbs/head.sh"

in_guests failures --timeout=1800
in_guests locks --timeout=3000
in_guests calls --timeout=3000
in_guests windows --timeout=1800
in_guests two --timeout=3000 --guests=2

finish
