#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs.sh: fairness, other calls, leases and tables over the device.

. "$srcdir/tests/verbs/device.sh"

# How fast an emulated machine is does not count.
untimed()
{
	untimed_status=0
	"$@" >untimed.tmp || untimed_status=$?
	sed 's/^not \(ok .* # timed\)$/\1/' untimed.tmp
	grep -q '^not ok .* # timed$' untimed.tmp || return $untimed_status
}

tap_program "fairness" on_nodes 2 2 "$lock/holders/cohorts" --limit 250
tap_program "timed acquires" on_nodes 2 2 "$lock/holders/timed" --budget 0.02 --limit 250
tap_program "leases" on_nodes 2 2 "$lock/deaths/leases" --limit 250
tap_program "abandoned" on_nodes 2 1 "$lock/deaths/abandon" --limit 250
tap_program "optimistic reads" on_nodes 2 2 "$lock/holders/reads" --limit 250
tap_program "events" on_nodes 2 2 "$lock/holders/events" --limit 250
tap_program "homes and names" on_nodes 2 2 "$lock/table/homes" --limit 250
tap_program "lifecycle" untimed on_nodes 2 1 "$lock/table/lifecycle" --rounds 20 --limit 250
tap_program "ranges" on_nodes 2 2 "$lock/holders/ranges" --budget 0.02 --limit 280
check "all of these by the device's atomics, reads and writes, none by a send" one_sided 1000

finish
