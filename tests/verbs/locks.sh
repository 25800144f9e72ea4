#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs.sh: locks over a device with addition and compare-and-swap alone.

. "$srcdir/tests/verbs/device.sh"

tap_program "words" on_nodes 2 1 "$lock/transport/ucx_words" --limit 200
tap_program "one domain a word" on_nodes 2 1 "$lock/transport/domains" --limit 200
tap_program "the home is stopped" on_nodes 2 1 "$lock/deaths/stopped" --limit 200
for kind in d-mcs alock adaptive; do
	tap_program "2 nodes x 2" on_nodes 2 2 "$lock/holders/exclusion" --only $kind --budget 0.02 \
		--limit 200
done
tap_program "4 nodes" on_nodes 4 1 "$lock/holders/exclusion" --only d-mcs --budget 0.02 --limit 200
tap_program "2 nodes x 2" on_nodes 2 2 "$lock/holders/exclusion" --budget 0.02 --limit 200 \
	--except mpi-win-lock,d-mcs,alock,adaptive
tap_program "2 nodes x 2" on_nodes 2 2 "$lock/calls/operations" --limit 200
tap_program "d-mcs" on_nodes 2 1 "$lock/calls/naps" --limit 200
check "all of these by the device's atomics, reads and writes, none by a send" one_sided 10000

info()
{
	said=$(on_nodes 2 1 env $device "$builddir/tools/pawl-info")
	printf '%s\n' "$said" | grep '^remote .* ucx *offloaded .* goes on' &&
		printf '%s\n' "$said" | grep 'rc_verbs/rxe0:1 adds and compares-and-swaps'
}
check "pawl-info says that the device performs atomics, and names it" info

# Ranks are killed, as in tests/ucx.sh.
survive='"$@"; while [ ! -s "$0" ]; do sleep 0.05; done'
death()
{
	rm -f /tmp/verdict
	OMPI_MCA_orte_enable_recovery=1 mpi_run 4 400 sh -c "$survive" /tmp/verdict \
		"$lock/deaths/deaths" "$1" "$2" /tmp/verdict >/tmp/said 2>&1
	grep '^ok' /tmp/verdict || { cat /tmp/verdict /tmp/said; return 1; }
}
PAWL_TOPOLOGY="node:2 core:1"
export PAWL_TOPOLOGY
for each in d-mcs,rank shiftlock,node citron,grow; do
	check "only clients that need the dead rank get an error: $each" death "${each%,*}" "${each#*,}"
done
for kind in shiftlock citron; do
	check "a rank dies while it holds a lock with a lease; others acquire it: $kind" death $kind alone
done

finish
