/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline: d-mcs with NET words on one node, too, so that every access takes the network's path:
 * the MCS lock with which the ALock paper (SPAA'24, Section 6) compares. Releases are not posted.
 */
#define DMCS_OTHER_DESCRIPTOR
#include "lock/mcs/dmcs.c"

const struct lock_protocol lock_rdma_mcs = {
    .kind =
	{
	    .name = "rdma-mcs",
	    .summary = "baseline: d-mcs, by the network even on the home's node",
	    .reference = "ALock's baseline (SPAA'24, section 6)",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .by_network = true,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle},
};
