#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs.sh: what a user is told when a verbs device cannot be used.

. "$srcdir/tests/verbs/job.sh"
said=$PWD/said.$$

# The MPI has another network, so that it starts, and the locks have what is set here. An IPv4
# address of the own host would lead to interface lo, so they have the link-local one.
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
verbs="UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=0"

# told PATTERN COMMAND...: tests/lock/lost prints an error of creation that matches the pattern.
told()
{
	pattern=$1
	shift
	"$@" >"$said" 2>&1
	grep -E -e '^create|UCX +ERROR' "$said" || tail -n 5 "$said"
	grep -qE -e "^create after.*$pattern" "$said"
}
# The last setting of a variable counts.
nodes()
{
	as_nodes 2 150 "$lock/lost" $verbs "$@"
}

check "a device that is not there" told 'UCX_NET_DEVICES=mlx5_0:1' nodes UCX_NET_DEVICES=mlx5_0:1
check "no auxiliary transport" told 'rxe0:1.*UCX_TLS=rc_v\).*ud_v' nodes UCX_TLS=rc_v
check "an address that leads nowhere" told 'rxe0:1.*cannot connect' nodes UCX_IB_GID_INDEX=1

forbidden()
{
	chmod 0 /dev/infiniband/uverbs0
	as_nodes 2 150 setpriv --bounding-set=-dac_override,-dac_read_search "$lock/lost" $verbs
	chmod 666 /dev/infiniband/uverbs0
}
check "no right to open the device" told 'rxe0:1.*/dev/infiniband/uverbs0: Permission denied' \
	forbidden

rm -f "$said"
finish
