/* SPDX-License-Identifier: BSD-3-Clause */
/* Choose the transport for operations between nodes. */
#include <stdatomic.h>
#include <stdio.h>

#include "rma/mpi/mpi.h"
#include "rma/ucx/ucx.h"

#ifndef PAWL_HAVE_UCX
int ucx_ask(struct rma_request *q, uint32_t *word)
{
	(void)q, (void)word;
	return 0;
}

void ucx_drop(void *begun)
{
	(void)begun;
}

enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen)
{
	(void)r, (void)q;
	snprintf(err, errlen, "this build has no UCX");
	return RMA_FAIL_WINDOW;
}
#endif

/* The user may want to know why operations are slower than they could be. */
static void fall_back(const struct rma *r, const char *err)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (r->rank == 0 && !atomic_flag_test_and_set(&said))
		fprintf(
		    stderr,
		    "pawl: option transport, auto: the MPI's windows take the place of UCX: %s\n",
		    err);
}

bool rma_network_refuses(const struct rma_request *q)
{
	return q->network == RMA_BY_MPI && mpi_would_crash(q->one_host);
}

void rma_network_tell(char *err, size_t errlen)
{
	mpi_tell_cure("a window over several nodes was not tried", err, errlen);
}

int rma_network_ask(struct rma_request *q, uint32_t *word)
{
	return q->network == RMA_BY_UCX || q->network == RMA_BY_EITHER ? ucx_ask(q, word) : 0;
}

void rma_network_drop(const struct rma_request *q)
{
	ucx_drop(q->begun);
}

enum rma_failure rma_network_open(struct rma *r, const struct rma_request *q, char *err,
				  size_t errlen)
{
	enum rma_failure failure;

	if (q->network == RMA_NO_NETWORK)
		return RMA_OK;
	if (q->network == RMA_BY_MPI)
		return mpi_open(r, q, err, errlen);
	failure = ucx_open(r, q, err, errlen);
	if (failure == RMA_OK || q->network == RMA_BY_UCX)
		return failure;
	fall_back(r, err);
	return mpi_open(r, q, err, errlen);
}
