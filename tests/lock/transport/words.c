/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. */
#include "words.h"

#include <stdlib.h>

#include "tests/ranks.h"
#include "topo/discover.h"

static struct topo_job job;

bool words_open(struct rma *r, enum rma_network network)
{
	struct topo_request request = {.synthetic = getenv("PAWL_TOPOLOGY")};
	struct rma_request how = {.comm = MPI_COMM_WORLD,
				  .network = network,
				  .bytes = WORDS_FIRST + WORDS_EACH * sizeof(int64_t)};
	char err[600] = "";
	bool ok = topo_discover(MPI_COMM_WORLD, &request, &job, err, sizeof err) == 0;

	if (ok) {
		how.node_comm = job.node_comm;
		how.node = job.topo->node;
		how.one_host = job.one_host;
		how.host_comm = job.host_comm;
		how.leaders = job.leaders;
		ok = rma_segments_create(r, &how, err, sizeof err) == RMA_OK;
	}
	if (ok) {
		/* As tables have it. */
		r->waiting.spin_ns[RMA_SOON] = 50000;
		r->waiting.crowded = job.host_ranks > job.host_cores;
		r->waiting.park = true;
		return true;
	}
	fail("words over the network: %s", err);
	return false;
}

void words_close(struct rma *r)
{
	rma_segments_free(r);
	topo_job_free(&job);
}

struct rma_word words_at(const struct rma *r, int rank, int i)
{
	return rma_word(r, RMA_NET, rank, WORDS_FIRST + (uint64_t)i * sizeof(int64_t));
}

struct rma_client words_client(struct rma *r)
{
	return (struct rma_client){.rma = r};
}
