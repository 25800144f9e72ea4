#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs-smoke.sh.

. "$srcdir/tests/verbs/device.sh"

tap_program "2 nodes x 2" on_nodes 2 2 "$lock/holders/exclusion" --only d-mcs,rma-rw,shiftlock \
	--budget 0.02
tap_program "the home is stopped" on_nodes 2 1 "$lock/deaths/stopped" --only d-mcs
check "all by the device's atomics, reads and writes, none by a send" one_sided 1000

finish
