/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments. Each rank's segment is its part of an MPI_Win_allocate_shared window of its node, so
 * the ranks of a node load and store it. If there are several nodes, or the lock wants the network
 * in any case, a transport opens the same memory to all ranks (network.c).
 *
 * Otherwise the table makes no second window, so it also runs where the MPI's general one-sided
 * component is broken (Open MPI 4.x with osc/rdma).
 */
#include "rma/memory/segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/ranks.h"
#include "rma/own_windows.h"
#include "rma/memory/shm.h"

struct segments {
	MPI_Comm comm, node_comm;
	MPI_Win win;
	char *untouched; /* see shm_count_untouched() */
};

/* A probe for a message that never comes lets the MPI progress. (MPICH does so only if the
 * communicator has other ranks.) */
bool rma_drive_mpi(struct rma_client *c)
{
	const struct segments *s = c->rma->segments;
	int flag;

	if (c->no_mpi)
		return true;
	return PMPI_Iprobe(MPI_ANY_SOURCE, 0, s->comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* No lock of such a table needs the MPI, so its errors end no call. */
static void node_progress(struct rma_client *c)
{
	rma_drive_mpi(c);
}

static const struct rma_transport node_transport = {
    .name = "node",
    .progress = node_progress,
};

bool rma_is_unified(MPI_Win win)
{
	int *model, flag = 0;

	return PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag) == MPI_SUCCESS && flag &&
	       *model == MPI_WIN_UNIFIED;
}

enum { LARGE_BYTES = 1 << 20 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before: EINVAL */
#endif

/* Zero memory. False if the system has no memory for it and the kernel can say so without
 * SIGBUS. */
static bool zero_by_hand(char *from, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = (uintptr_t)from % page;

	if (bytes == 0)
		return true;
	if (madvise(from - before, before + bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)
		return false;
	memset(from, 0, bytes);
	return true;
}

/* Zero a segment. Whole pages of a large segment are returned to the kernel: they read as zero and
 * take memory again only when touched. If the file system cannot do that, zero them by hand. */
static bool zero(struct segments *s, char *mine, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t head = (page - (uintptr_t)mine % page) % page, body;

	if (bytes < LARGE_BYTES)
		return zero_by_hand(mine, bytes);
	body = (bytes - head) / page * page;
	if (madvise(mine + head, body, MADV_REMOVE) != 0)
		return zero_by_hand(mine, bytes);
	s->untouched = mine + head;
	shm_count_untouched(s->untouched, body);
	return zero_by_hand(mine, head) && zero_by_hand(mine + head + body, bytes - head - body);
}

static enum rma_failure make_node_window(struct rma *r, struct segments *s, size_t bytes, char *err,
					 size_t errlen)
{
	MPI_Info info = MPI_INFO_NULL;
	void *mine = NULL;
	bool ok;
	int rc;

	if (PMPI_Info_create(&info) == MPI_SUCCESS) /* without it, segments may share pages */
		PMPI_Info_set(info, "alloc_shared_noncontig", "true");
	rc = own_windows.allocate_shared((MPI_Aint)bytes, 1, info, s->node_comm, &mine, &s->win);
	if (info != MPI_INFO_NULL)
		PMPI_Info_free(&info);
	ok = own_windows_agree(s->node_comm, rc, &s->win);
	if (!all_agree(s->comm, ok && mine)) {
		snprintf(err, errlen,
			 "MPI_Win_allocate_shared failed for %zu bytes a rank: is there room in"
			 " /dev/shm or the MPI's session directory%s?",
			 bytes,
#ifdef OPEN_MPI
			 ", and is component sm among those that OMPI_MCA_osc allows"
#else
			 ""
#endif
		);
		return RMA_FAIL_WINDOW;
	}
	if (!all_agree(s->comm, zero(s, mine, bytes))) {
		snprintf(err, errlen,
			 "no memory for %zu bytes of shared memory a rank: another program or table"
			 " took it after the check",
			 bytes);
		return RMA_FAIL_NOMEM;
	}
	if (!all_agree(s->comm, rma_is_unified(s->win))) {
		snprintf(err, errlen,
			 "the MPI's shared windows have a separate memory model;"
			 " MPI_WIN_UNIFIED is needed");
		return RMA_FAIL_MODEL;
	}
	r->map[r->rank] = mine;
	return RMA_OK;
}

/* The segments of this rank's node. False if there is no memory, or the MPI reports an error. */
static bool map_node(struct rma *r, struct segments *s)
{
	int n, *rank = ranks_in(s->node_comm, s->comm, &n);
	bool ok = rank != NULL;

	for (int i = 0; ok && i < n; i++) {
		MPI_Aint size;
		int unit;
		void *base;

		ok = PMPI_Win_shared_query(s->win, i, &size, &unit, &base) == MPI_SUCCESS;
		if (ok)
			r->map[rank[i]] = base;
	}
	free(rank);
	return ok;
}

enum rma_failure rma_segments_create(struct rma *r, const struct rma_request *q, char *err,
				     size_t errlen)
{
	struct segments *s = calloc(1, sizeof *s);
	enum rma_failure failure;
	int nranks;

	PMPI_Comm_size(q->comm, &nranks);
	PMPI_Comm_rank(q->comm, &r->rank);
	r->map = calloc((size_t)nranks, sizeof *r->map);
	r->node = q->node;
	r->my_node = q->node[r->rank];
	r->transport = &node_transport;
	r->segments = s;
	if (!all_agree(q->comm, s && r->map)) {
		snprintf(err, errlen, "out of memory");
		free(s);
		free(r->map);
		r->segments = r->map = NULL;
		return RMA_FAIL_NOMEM;
	}
	s->comm = q->comm;
	s->node_comm = q->node_comm;
	s->win = MPI_WIN_NULL;
	failure = make_node_window(r, s, q->bytes + RMA_TAIL_BYTES, err, errlen);
	if (failure == RMA_OK && !all_agree(s->comm, map_node(r, s))) {
		snprintf(err, errlen, "no memory for, or no addresses of, the segments of a node");
		failure = RMA_FAIL_NOMEM;
	}
	if (failure == RMA_OK)
		failure = rma_network_open(r, q, err, errlen);
	/* Orders the zeroing of all segments before the first operation of any rank. */
	PMPI_Barrier(q->comm);
	if (failure != RMA_OK)
		rma_segments_free(r);
	return failure;
}

static void drop(struct rma *r)
{
	struct segments *s = r->segments;

	if (s->untouched)
		shm_uncount(s->untouched);
	free(s);
	free(r->map);
	r->map = NULL;
	r->segments = r->state = NULL;
}

void rma_segments_free(struct rma *r)
{
	struct segments *s = r->segments;

	if (!s)
		return;
	if (r->transport->close)
		r->transport->close(r);
	if (s->win != MPI_WIN_NULL)
		own_windows.free(&s->win);
	drop(r);
}

void rma_segments_forget(struct rma *r)
{
	if (r->transport->leave)
		r->transport->leave(r);
	drop(r);
}
