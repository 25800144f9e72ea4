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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ranks.h"
#include "base/sparse.h"
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

/* Zero a segment. Whole pages of a large segment are returned to the kernel: they read as zero and
 * take memory again only when touched. If the file system cannot do that, zero them by hand. */
static bool zero(struct segments *s, char *mine, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t head = (page - (uintptr_t)mine % page) % page, body;

	if (bytes < LARGE_BYTES)
		return shm_zero(mine, bytes);
	body = (bytes - head) / page * page;
	if (madvise(mine + head, body, MADV_REMOVE) != 0)
		return shm_zero(mine, bytes);
	s->untouched = mine + head;
	shm_count_untouched(s->untouched, body);
	return shm_zero(mine, head) && shm_zero(mine + head + body, bytes - head - body);
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

/* What a rank may lack; the worst of all ranks counts. */
enum lack {
	LACKS_NOTHING,
	LACKS_MEMORY,
	LACKS_ADDRESSES,
	LACKS_MODEL,
	LACKS_PAGES,
	LACKS_NETWORK,
	LACKS_WINDOW
};

/* The first word of what all ranks say: bit i, for i from 1 to LACKS_WINDOW: what the rank lacks is
 * less bad than i; and whether it has a window. */
#define HAS_WINDOW (UINT32_C(1) << 31)

static uint32_t say(enum lack lack, bool has_window)
{
	return ((HAS_WINDOW - 1) & UINT32_MAX << ((int)lack + 1)) | (has_window ? HAS_WINDOW : 0);
}

static enum lack worst_of(uint32_t said)
{
	int i = LACKS_WINDOW;

	while (i > LACKS_NOTHING && said >> i & 1)
		i--;
	return (enum lack)i;
}

static enum rma_failure fail(enum lack lack, size_t bytes, char *err, size_t errlen)
{
	switch (lack) {
	case LACKS_NOTHING:
		return RMA_OK;
	case LACKS_MEMORY:
		snprintf(err, errlen, "out of memory");
		return RMA_FAIL_NOMEM;
	case LACKS_ADDRESSES:
		snprintf(err, errlen, "no memory for, or no addresses of, the segments of a node");
		return RMA_FAIL_NOMEM;
	case LACKS_MODEL:
		snprintf(err, errlen,
			 "the MPI's shared windows have a separate memory model;"
			 " MPI_WIN_UNIFIED is needed");
		return RMA_FAIL_MODEL;
	case LACKS_PAGES:
		snprintf(err, errlen,
			 "no memory for %zu bytes of shared memory a rank: another program or table"
			 " took it after the check",
			 bytes);
		return RMA_FAIL_NOMEM;
	case LACKS_NETWORK:
		rma_network_tell(err, errlen);
		return RMA_FAIL_WINDOW;
	case LACKS_WINDOW:
		break;
	}
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

/* This rank's part: the window is there, and has to serve. */
static enum lack use_window(struct rma *r, struct segments *s, void *mine, size_t bytes)
{
	r->map[r->rank] = mine;
	PMPI_Win_set_errhandler(s->win, MPI_ERRORS_RETURN);
	if (!mine)
		return LACKS_WINDOW;
	if (!zero(s, mine, bytes))
		return LACKS_PAGES;
	if (!rma_is_unified(s->win))
		return LACKS_MODEL;
	return map_node(r, s) ? LACKS_NOTHING : LACKS_ADDRESSES;
}

/* Collective: one window, and one agreement, also if a rank has no memory. The agreement orders the
 * zeroing of all segments before the first operation of any rank. said: of all ranks. */
static enum rma_failure make_node_window(struct rma *r, struct rma_request *q,
					 uint32_t said[1 + RMA_QUESTION_WORDS], char *err,
					 size_t errlen)
{
	const size_t bytes = q->bytes;
	struct segments *s = r->segments;
	int words = 1 + rma_network_ask(q, said + 1);
	MPI_Info info = MPI_INFO_NULL;
	MPI_Win win = MPI_WIN_NULL;
	enum lack lack = LACKS_MEMORY;
	void *mine = NULL;
	int rc;

	if (PMPI_Info_create(&info) == MPI_SUCCESS) /* without it, segments may share pages */
		PMPI_Info_set(info, "alloc_shared_noncontig", "true");
	rc = own_windows.allocate_shared((MPI_Aint)bytes, 1, info, q->node_comm, &mine, &win);
	if (info != MPI_INFO_NULL)
		PMPI_Info_free(&info);
	if (rc != MPI_SUCCESS) {
		lack = LACKS_WINDOW;
	} else if (s && r->map) {
		s->win = win;
		lack = use_window(r, s, mine, bytes);
	}
	if (lack == LACKS_NOTHING && rma_network_refuses(q))
		lack = LACKS_NETWORK;
	said[0] = say(lack, rc == MPI_SUCCESS);
	if (PMPI_Allreduce(MPI_IN_PLACE, said, words, MPI_UINT32_T, MPI_BAND, q->comm) !=
	    MPI_SUCCESS)
		said[0] &= say(LACKS_WINDOW, true);
	lack = worst_of(said[0]);
	if (lack == LACKS_NOTHING)
		return RMA_OK;
	if (s)
		s->win = MPI_WIN_NULL;
	if (said[0] & HAS_WINDOW)
		own_windows.free(&win);
	return fail(lack, bytes, err, errlen);
}

enum rma_failure rma_segments_create(struct rma *r, const struct rma_request *q, char *err,
				     size_t errlen)
{
	struct segments *s = calloc(1, sizeof *s);
	uint32_t said[1 + RMA_QUESTION_WORDS];
	struct rma_request with = *q;
	enum rma_failure failure;

	PMPI_Comm_size(q->comm, &r->ranks);
	PMPI_Comm_rank(q->comm, &r->rank);
	r->map = sparse_array((size_t)r->ranks, sizeof *r->map);
	r->node = q->node;
	r->my_node = q->node[r->rank];
	r->transport = &node_transport;
	r->segments = s;
	if (s) {
		s->comm = q->comm;
		s->node_comm = q->node_comm;
		s->win = MPI_WIN_NULL;
	}
	with.said = said + 1;
	failure = make_node_window(r, &with, said, err, errlen);
	if (failure == RMA_OK)
		failure = rma_network_open(r, &with, err, errlen);
	else
		rma_network_drop(&with);
	/* It may have been a key. */
	explicit_bzero(said, sizeof said);
	if (failure != RMA_OK)
		rma_segments_free(r);
	return failure;
}

static void drop(struct rma *r)
{
	struct segments *s = r->segments;

	if (s && s->untouched)
		shm_uncount(s->untouched);
	free(s);
	sparse_free(r->map, (size_t)r->ranks, sizeof *r->map);
	r->map = NULL;
	r->segments = r->state = NULL;
}

void rma_segments_free(struct rma *r)
{
	struct segments *s = r->segments;

	if (s && r->transport->close)
		r->transport->close(r);
	if (s && s->win != MPI_WIN_NULL)
		own_windows.free(&s->win);
	drop(r);
}

void rma_segments_forget(struct rma *r)
{
	if (r->transport->leave)
		r->transport->leave(r);
	drop(r);
}
