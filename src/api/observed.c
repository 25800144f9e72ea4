/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls for what observers have collected: percentiles, and the locks of a window; and what
 * the layers ask of their tables. */
#include <stdlib.h>

#include "base/error.h"
#include "table/table.h"

int pawl_table_get_percentile(const pawl_table *t, int what, double percent, double *seconds)
{
	uint64_t ns;

	if (!t || !seconds)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "seconds" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	if (what != PAWL_TIME_ACQUIRE && what != PAWL_TIME_HOLD)
		return error_set(
		    PAWL_ERR_ARG,
		    "what: %d is none of PAWL_TIME_ACQUIRE (%d) and PAWL_TIME_HOLD (%d)", what,
		    PAWL_TIME_ACQUIRE, PAWL_TIME_HOLD);
	if (!(percent >= 0 && percent <= 100))
		return error_set(PAWL_ERR_ARG, "percent: %g is not in 0 to 100", percent);
	if (!observe_percentile(t->observe, what == PAWL_TIME_HOLD, percent, &ns))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "the table has no statistics of times: set PAWL_STATS=1 in the"
				 " environment");
	*seconds = (double)ns * 1e-9;
	return PAWL_SUCCESS;
}

void pawl_private_get_observed(const pawl_table *t, bool *observed, bool *has_statistics)
{
	*observed = t->observe != NULL;
	*has_statistics = observe_reports_locks(t->observe);
}

MPI_Comm pawl_private_adopt(pawl_table *t)
{
	t->of_layer = true;
	return t->comm;
}

void pawl_private_report_locks(pawl_table *t, MPI_Comm comm, uint64_t first, uint64_t n,
			       uint64_t extra, const char *title)
{
	observe_report_locks(t->observe, comm, first, n, extra, title);
}

bool pawl_private_serve(pawl_table *t, rma_serve *fn, void *arg)
{
	return t->rma.transport->serve && t->rma.transport->serve(&t->rma, fn, arg);
}

struct rma_client *pawl_private_tasks(pawl_table *t)
{
	struct rma_client *c = calloc(1, sizeof *c);

	if (c)
		c->rma = &t->rma;
	return c;
}

void pawl_private_tasks_free(struct rma_client *c)
{
	free(c);
}

void pawl_private_send(struct rma_client *c, int rank, uint64_t lock, const struct rma_task *task)
{
	c->lock = lock;
	c->rma->transport->task(c, rank, task);
}

int pawl_private_await(struct rma_client *c)
{
	const bool ok = c->rma->transport->answers(c), unreached = c->unreached;

	c->failed = c->unreached = false;
	if (ok)
		return PAWL_SUCCESS;
	return unreached ? PAWL_ERR_CONNECT /* with its message */
			 : error_set(PAWL_ERR_PEER, "a rank of the table is dead");
}
