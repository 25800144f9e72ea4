/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline: d-mcs with NET words on one node, too, so that every access takes the network's path:
 * the MCS lock with which the ALock paper (SPAA'24, Section 6) compares. Releases are not posted.
 *
 * Why this is its best form: a client that arrives swaps the tail, and cannot fail; one that leaves
 * looks at its own word first, and swaps the tail only if nobody is there. The lock in the paper's
 * artefact needs more atomics for both (doc/measured/reproduction.md).
 */
#include "lock/mcs/dmcs.h"

const struct lock_protocol lock_rdma_mcs = {
    .kind =
	{
	    .name = "rdma-mcs",
	    .summary = "baseline: d-mcs, by the network even on the home's node",
	    .reference = "ALock's baseline (SPAA'24, section 6)",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .by_network = true,
    DMCS_CALLS,
};
