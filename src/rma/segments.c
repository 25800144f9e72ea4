/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments in MPI windows.
 *
 * The memory of every rank is a piece of its node's MPI_Win_allocate_shared
 * window, so node peers load and store it. If there are several nodes, or the
 * lock wants the network in any case, the same memory is put under a second
 * window over all ranks, in one passive-target epoch (lock_all) that stays open;
 * operations complete by flush.
 *
 * A table on one node otherwise makes no second window at all: so it also runs
 * where the MPI's general one-sided component is broken (Open MPI 4.x with osc/rdma).
 *
 * Plain stores and loads through MPI. On MPICH a fetching operation costs half
 * of put + flush or get + flush over TCP, since its answer is the completion;
 * on Open MPI's components it is the other way round. Both are used as one
 * 8-byte aligned access, which every MPI performs whole.
 *
 * Waiting for completion. A flush of MPICH looks at the network again and again and
 * never gives the core away; whoever has to answer may be waiting for that core. So
 * we look ourselves whether the answers have come, yield meanwhile, and flush then.
 */
#include "rma/segments.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rma/own_windows.h"
#include "rma/ucx/ucx.h"
#include "rma/room.h"

struct mpi_state {
	MPI_Comm comm, node_comm;
	MPI_Win node_win, net_win;
	bool epoch;
	char *promised; /* memory that nobody has touched yet; see room.h */
};

#ifdef MPICH_VERSION
enum { STORE_BY_FETCH = 1 };
#else
enum { STORE_BY_FETCH = 0 };
#endif

static struct mpi_state *state_of(struct rma_client *c)
{
	return c->rma->state;
}

/* Looks for an answer before the core is given away, and before it is left to the MPI:
 * the answer may happen to be what we take for none. */
enum { LOOKS_AT_ONCE = 32, LOOKS_AT_MOST = 20000 };
#define NO_ANSWER INT64_C(-0x6b2f3d51c04e9a77)

/* All operands have been read. */
static void forget_operands(struct rma_client *c)
{
	c->operands = 0;
	c->target = RMA_NO_TARGET;
}

static bool is_answered(int64_t *result)
{
	return !result || *(volatile int64_t *)result != NO_ANSWER;
}

/* A probe for messages that never come makes the MPI look at its network. (On
 * MPICH only if it is for a communicator with other ranks in it.) */
static void mpi_progress(struct rma_client *c)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, 0, state_of(c)->comm, &flag, MPI_STATUS_IGNORE);
}

static void await_answers(struct rma_client *c)
{
	unsigned looks = 0;

	for (unsigned i = 0; i < c->operands; i++) {
		for (; !is_answered(c->answer[i]) && looks < LOOKS_AT_MOST; looks++) {
			mpi_progress(c);
			if (c->rma->waiting.crowded || looks >= LOOKS_AT_ONCE)
				sched_yield();
		}
		c->answer[i] = NULL;
	}
}

/* Keep the operand of an operation on a rank where MPI may read it until the
 * flush that covers it. */
static int64_t *operand(struct rma_client *c, int rank, int64_t value)
{
	int64_t *place;

	if (c->operands == RMA_OPERANDS) {
		/* All places are taken: orders the operations in flight before the
		 * reuse of their operands. */
		await_answers(c);
		PMPI_Win_flush_all(state_of(c)->net_win);
		forget_operands(c);
	}
	if (c->operands == 0)
		c->target = rank;
	else if (c->target != rank)
		c->target = RMA_MANY_TARGETS;
	c->answer[c->operands] = NULL;
	place = &c->operand[c->operands++];
	*place = value;
	return place;
}

/* The operation just given its operands answers there. */
static int64_t *answer(struct rma_client *c, int64_t *result)
{
	if (STORE_BY_FETCH) {
		*result = NO_ANSWER;
		c->answer[c->operands - 1] = result;
	}
	return result;
}

static void mpi_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result)
{
	int64_t *from = operand(c, w.rank, value);

	PMPI_Fetch_and_op(from, answer(c, result), MPI_INT64_T, w.rank, (MPI_Aint)w.offset,
			  op == RMA_REPLACE ? MPI_REPLACE : MPI_SUM, state_of(c)->net_win);
}

/* Where a result goes that nobody wants, but as an answer. */
static int64_t *ignored(struct rma_client *c)
{
	return &c->ignored[c->operands % RMA_OPERANDS];
}

static void mpi_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (STORE_BY_FETCH)
		mpi_fao(c, w, RMA_REPLACE, value, ignored(c));
	else
		PMPI_Put(operand(c, w.rank, value), 1, MPI_INT64_T, w.rank, (MPI_Aint)w.offset, 1,
			 MPI_INT64_T, state_of(c)->net_win);
}

static void mpi_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	if (STORE_BY_FETCH) {
		int64_t *from = operand(c, w.rank, 0);

		PMPI_Fetch_and_op(from, answer(c, result), MPI_INT64_T, w.rank, (MPI_Aint)w.offset,
				  MPI_NO_OP, state_of(c)->net_win);
	} else {
		PMPI_Get(result, 1, MPI_INT64_T, w.rank, (MPI_Aint)w.offset, 1, MPI_INT64_T,
			 state_of(c)->net_win);
	}
}

/* By fetch-and-op: Open MPI's osc/ucx performs MPI_Accumulate as get, compute
 * and put, which other atomics do not respect. */
static void mpi_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	mpi_fao(c, w, RMA_SUM, value, ignored(c));
}

static void mpi_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result)
{
	int64_t *compare, *swap;

	if (c->operands + 2 > RMA_OPERANDS)
		c->operands = RMA_OPERANDS; /* both places from the same batch */
	compare = operand(c, w.rank, expected);
	swap = operand(c, w.rank, value);
	PMPI_Compare_and_swap(swap, compare, answer(c, result), MPI_INT64_T, w.rank,
			      (MPI_Aint)w.offset, state_of(c)->net_win);
}

static void mpi_flush(struct rma_client *c, int rank)
{
	await_answers(c);
	PMPI_Win_flush(rank, state_of(c)->net_win);
	if (c->target == rank)
		forget_operands(c);
	/* The MPI has operations on own memory done without a look at the network;
	 * a rank that works on locks at its own home would never serve others. */
	if (rank == c->rma->rank)
		mpi_progress(c);
}

static void mpi_flush_all(struct rma_client *c)
{
	await_answers(c);
	PMPI_Win_flush_all(state_of(c)->net_win);
	forget_operands(c);
}

static const struct rma_transport node_transport = {
    .name = "node",
    .progress = mpi_progress,
};

static const struct rma_transport mpi_transport = {
    .name = "mpi",
    .put = mpi_put,
    .get = mpi_get,
    .acc = mpi_acc,
    .fao = mpi_fao,
    .cas = mpi_cas,
    .flush = mpi_flush,
    .flush_all = mpi_flush_all,
    .progress = mpi_progress,
};

/* Whether every rank of comm came so far. */
static bool all_agree(MPI_Comm comm, bool mine)
{
	int ok = mine;

	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
	return ok;
}

static bool is_unified(MPI_Win win)
{
	int *model, flag;

	PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
	return flag && *model == MPI_WIN_UNIFIED;
}

/* Open MPI 4's default one-sided component crashes on one host instead of
 * failing, so where a "several nodes" table is made on one host by a synthetic
 * topology, look before the leap. */
static bool would_crash(bool one_host)
{
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
	return one_host && !getenv("OMPI_MCA_osc");
#else
	(void)one_host;
	return false;
#endif
}

enum { LARGE_BYTES = 1 << 20 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before: EINVAL */
#endif

/* Zero memory; false if there is none behind it, where a kernel tells without SIGBUS. */
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

/* Zero a segment. Of a large one the whole pages are given back: they read as zero, and take
 * memory again only where they are touched. Where the file system cannot do that, by hand. */
static bool zero(struct mpi_state *s, char *mine, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t head = (page - (uintptr_t)mine % page) % page, body;

	if (bytes < LARGE_BYTES)
		return zero_by_hand(mine, bytes);
	body = (bytes - head) / page * page;
	if (madvise(mine + head, body, MADV_REMOVE) != 0)
		return zero_by_hand(mine, bytes);
	s->promised = mine + head;
	room_promise(s->promised, body);
	return zero_by_hand(mine, head) && zero_by_hand(mine + head + body, bytes - head - body);
}

static enum rma_failure make_node_window(struct rma *r, struct mpi_state *s, size_t bytes,
					 char *err, size_t errlen)
{
	MPI_Info info;
	void *mine = NULL;
	int rc;

	PMPI_Info_create(&info);
	PMPI_Info_set(info, "alloc_shared_noncontig", "true");
	rc = own_windows.allocate_shared((MPI_Aint)bytes, 1, info, s->node_comm, &mine,
					 &s->node_win);
	PMPI_Info_free(&info);
	if (!all_agree(s->comm, rc == MPI_SUCCESS && mine)) {
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
			 "no memory for %zu bytes of shared memory a rank: somebody else took it"
			 " meanwhile",
			 bytes);
		return RMA_FAIL_NOMEM;
	}
	if (!all_agree(s->comm, is_unified(s->node_win))) {
		snprintf(err, errlen,
			 "the MPI's shared windows have a separate memory model;"
			 " MPI_WIN_UNIFIED is needed");
		return RMA_FAIL_MODEL;
	}
	r->map[r->rank] = mine;
	return RMA_OK;
}

static void map_node(struct rma *r, struct mpi_state *s)
{
	MPI_Group all, here;
	int n, *local, *global;

	PMPI_Comm_size(s->node_comm, &n);
	PMPI_Comm_group(s->comm, &all);
	PMPI_Comm_group(s->node_comm, &here);
	local = malloc(2 * (size_t)n * sizeof *local);
	if (local) {
		global = local + n;
		for (int i = 0; i < n; i++)
			local[i] = i;
		PMPI_Group_translate_ranks(here, n, local, all, global);
		for (int i = 0; i < n; i++) {
			MPI_Aint size;
			int unit;
			void *base;

			PMPI_Win_shared_query(s->node_win, i, &size, &unit, &base);
			r->map[global[i]] = base;
		}
	}
	free(local);
	PMPI_Group_free(&all);
	PMPI_Group_free(&here);
}

static enum rma_failure make_net_window(struct rma *r, struct mpi_state *s, bool one_host,
					size_t bytes, char *err, size_t errlen)
{
	static const char cure[] =
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
	    ": Open MPI's default one-sided component (osc/rdma) does not work here; run with"
	    " OMPI_MCA_osc=^rdma in the environment, or mpirun --mca osc ^rdma";
#elif defined(OPEN_MPI)
	    ": over TCP, of Open MPI 5's one-sided components only rdma works: unset"
	    " OMPI_MCA_osc, or let it allow rdma and sm";
#else
	    ": the MPI has no one-sided communication between these nodes; see its own message";
#endif
	int rc;

	if (!all_agree(s->comm, !would_crash(one_host))) {
		snprintf(err, errlen, "a window over several nodes was not tried%s", cure);
		return RMA_FAIL_WINDOW;
	}
	rc = own_windows.create(r->map[r->rank], (MPI_Aint)bytes, 1, MPI_INFO_NULL, s->comm,
				&s->net_win);
	if (!all_agree(s->comm, rc == MPI_SUCCESS)) {
		if (rc != MPI_SUCCESS)
			s->net_win = MPI_WIN_NULL;
		snprintf(err, errlen, "MPI_Win_create failed over the nodes%s", cure);
		return RMA_FAIL_WINDOW;
	}
	if (!all_agree(s->comm, is_unified(s->net_win))) {
		snprintf(err, errlen,
			 "the MPI's windows over several nodes have a separate memory"
			 " model; MPI_WIN_UNIFIED is needed");
		return RMA_FAIL_MODEL;
	}
	own_windows.lock_all(MPI_MODE_NOCHECK, s->net_win);
	s->epoch = true;
	return RMA_OK;
}

#ifdef PAWL_HAVE_UCX
static bool open_ucx(struct rma *r, bool near, bool one_host, size_t bytes, char *err,
		     size_t errlen)
{
	struct mpi_state *s = r->state;

	return rma_ucx_open(r, s->comm, s->node_comm, bytes, near, one_host, mpi_progress, err,
			    errlen);
}
#else
static bool open_ucx(struct rma *r, bool near, bool one_host, size_t bytes, char *err,
		     size_t errlen)
{
	(void)r, (void)near, (void)one_host, (void)bytes;
	snprintf(err, errlen, "this build has no UCX");
	return false;
}
#endif

static enum rma_failure make_network(struct rma *r, enum rma_network net, bool near, bool one_host,
				     size_t bytes, char *err, size_t errlen)
{
	if (net != RMA_BY_MPI && open_ucx(r, near, one_host, bytes, err, errlen))
		return RMA_OK;
	if (net == RMA_BY_UCX)
		return RMA_FAIL_WINDOW;
	r->transport = &mpi_transport;
	r->net = true;
	return make_net_window(r, r->state, one_host, bytes, err, errlen);
}

enum rma_failure rma_mpi_create(struct rma *r, MPI_Comm comm, MPI_Comm node_comm, const int *node,
				enum rma_network net, bool near, bool one_host, size_t bytes,
				char *err, size_t errlen)
{
	struct mpi_state *s = calloc(1, sizeof *s);
	enum rma_failure failure;
	int nranks;

	PMPI_Comm_size(comm, &nranks);
	PMPI_Comm_rank(comm, &r->rank);
	r->map = calloc((size_t)nranks, sizeof *r->map);
	r->node = node;
	r->my_node = node[r->rank];
	r->transport = &node_transport;
	r->state = s;
	if (!all_agree(comm, s && r->map)) {
		snprintf(err, errlen, "out of memory");
		free(s);
		free(r->map);
		r->state = r->map = NULL;
		return RMA_FAIL_NOMEM;
	}
	s->comm = comm;
	s->node_comm = node_comm;
	s->node_win = s->net_win = MPI_WIN_NULL;
	failure = make_node_window(r, s, bytes + RMA_UCX_TAIL_BYTES, err, errlen);
	if (failure == RMA_OK) {
		map_node(r, s);
		if (net != RMA_NO_NETWORK)
			failure = make_network(r, net, near, one_host, bytes, err, errlen);
	}
	/* Orders everybody's zeroed segment before anybody's first operation. */
	PMPI_Barrier(comm);
	if (failure != RMA_OK)
		rma_mpi_free(r);
	return failure;
}

void rma_mpi_close_network(struct rma *r)
{
	struct mpi_state *s = r->state;

	if (s->epoch)
		own_windows.unlock_all(s->net_win);
	s->epoch = false;
	if (s->net_win != MPI_WIN_NULL)
		own_windows.free(&s->net_win);
}

void rma_mpi_free(struct rma *r)
{
	struct mpi_state *s = r->state;

	if (!s)
		return;
#ifdef PAWL_HAVE_UCX
	rma_ucx_close(r, s->comm);
#endif
	if (s->promised)
		room_take_back(s->promised);
	rma_mpi_close_network(r);
	if (s->node_win != MPI_WIN_NULL)
		own_windows.free(&s->node_win);
	free(s);
	free(r->map);
	r->map = NULL;
	r->state = NULL;
}

void rma_mpi_forget(struct rma *r)
{
	struct mpi_state *s = r->state;

#ifdef PAWL_HAVE_UCX
	rma_ucx_leave(r);
#endif
	if (s->promised)
		room_take_back(s->promised);
	free(s);
	free(r->map);
	r->map = NULL;
	r->state = NULL;
}
