/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations through the MPI: a window over the segments of all ranks, in one passive-target epoch
 * (lock_all) that stays open. A flush completes operations.
 *
 * Plain stores and loads. Over TCP, on MPICH, a fetching operation costs half of put + flush or get
 * + flush, because its answer completes it; with Open MPI's components it is the other way round.
 * Both access 8 aligned bytes at once, which every MPI performs as a whole.
 *
 * Waiting for completion. A flush of MPICH polls the network and never yields the core, and the
 * rank that has to answer may be waiting for that core. So the client polls for its answers itself,
 * yields between polls, and flushes then.
 *
 * Errors. The window's errors return. An operation or flush that returns one ends the call of its
 * client with PAWL_ERR_MPI, by the way that UCX's deaths take (transport.h): the client issues
 * nothing more, so what it has not been granted by then it does not hold, and nobody else is
 * granted anything by it. Before it leaves its stack, it flushes, because earlier operations may
 * still store results there. What the failed operation has changed is unknown: a lock that this
 * client held, awaited or was handed meanwhile may stay closed. So the rank tells all others, as
 * far as the MPI still lets it, and from then on no wait in this table takes longer than
 * rma_is_hopeless() says.
 */
#include "rma/mpi/mpi.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/own_windows.h"

/* A get whose answer nobody waits for; it is looked at again. */
struct mpi_look {
	struct mpi_look *next;
	MPI_Request request;
	int rank;
	bool failed; /* it will not be answered */
	int64_t word[];
};

struct mpi_network {
	MPI_Win win;
	bool epoch;
	int ranks;
	_Atomic(bool) told;     /* this rank has told all others of an error */
	struct mpi_look *looks; /* not answered yet */
};

#ifdef MPICH_VERSION
enum { STORE_BY_FETCH = 1 };
#else
enum { STORE_BY_FETCH = 0 };
#endif

enum { OPERANDS = 64, MANY_TARGETS = -1 };

/* In each segment, at RMA_TRANSPORT_AT. */
struct mpi_header {
	_Atomic(int64_t) errors; /* not 0: an operation of some rank has failed */
};
_Static_assert(sizeof(struct mpi_header) <= RMA_TRANSPORT_BYTES, "it has room");

/* What a client has in flight. */
struct mpi_client {
	struct rma_doubt doubt;
	unsigned operands;
	int target;                /* of all of them, or MANY_TARGETS */
	int64_t operand[OPERANDS]; /* origin buffers */
	int64_t *answer[OPERANDS]; /* result buffers, where STORE_BY_FETCH looks for answers */
	int64_t ignored[OPERANDS]; /* result buffers of operations without a result */
};
_Static_assert(sizeof(struct mpi_client) <= RMA_OWN_BYTES, "it fits into a client");

static struct mpi_client *own_of(struct rma_client *c)
{
	return rma_own(c);
}

static MPI_Win window(const struct rma_client *c)
{
	const struct mpi_network *n = c->rma->state;

	return n->win;
}

/* --------------------------------------------------------------------- errors */

static struct mpi_header *header_of(const struct rma *r, int rank)
{
	return (struct mpi_header *)(void *)(r->map[rank] + RMA_TRANSPORT_AT);
}

/* Tell all ranks, once: they may wait for this one. What the MPI says to that does not matter. */
static void tell_all(struct rma *r)
{
	static const int64_t one = 1;
	struct mpi_network *n = r->state;

	if (atomic_exchange(&n->told, true))
		return;
	for (int i = 0; i < n->ranks; i++)
		if (r->map[i])
			atomic_store(&header_of(r, i)->errors, one);
		else
			PMPI_Put(&one, 1, MPI_INT64_T, i, RMA_TRANSPORT_AT, 1, MPI_INT64_T, n->win);
}

static void give_up(struct rma_client *c)
{
	PMPI_Win_flush_all(window(c));
	own_of(c)->operands = 0;
	c->failed = false;
	if (c->on_loss)
		longjmp(*c->on_loss, 1);
}

static RMA_SLOW_PATH void end_call(struct rma_client *c, int rc)
{
	int none = MPI_SUCCESS;

	atomic_compare_exchange_strong(&c->rma->mpi_error, &none, rc);
	tell_all(c->rma);
	give_up(c);
}

/* The result of a call of the MPI. */
static inline void check(struct rma_client *c, int rc)
{
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		end_call(c, rc);
}

static void mpi_progress(struct rma_client *c)
{
	_Atomic(int64_t) *errors = &header_of(c->rma, c->rma->rank)->errors;

	/* No operation has failed, but the MPI may not perform those of other ranks. */
	if (!rma_drive_mpi(c))
		atomic_store(errors, 1);
	if (c->on_loss && atomic_load(errors) && rma_is_hopeless(c, &own_of(c)->doubt))
		give_up(c);
}

/* ----------------------------------------------------------------- operations */

/* How often a client looks for its answers before it yields, and before it leaves the wait to the
 * MPI's flush. An answer may have the value NO_ANSWER; a look does not see it then. */
enum { LOOKS_AT_ONCE = 32, LOOKS_AT_MOST = 20000 };
#define NO_ANSWER INT64_C(-0x6b2f3d51c04e9a77)

/* The MPI has read all operands, so their places are free. */
static void forget_operands(struct rma_client *c)
{
	own_of(c)->operands = 0;
}

static bool is_answered(int64_t *result)
{
	return !result || *(volatile int64_t *)result != NO_ANSWER;
}

static void await_answers(struct rma_client *c)
{
	struct mpi_client *m = own_of(c);
	unsigned looks = 0;

	for (unsigned i = 0; i < m->operands; i++) {
		for (; !is_answered(m->answer[i]) && looks < LOOKS_AT_MOST; looks++) {
			rma_drive_mpi(c);
			if (c->rma->waiting.crowded || looks >= LOOKS_AT_ONCE)
				sched_yield();
		}
		m->answer[i] = NULL;
	}
}

/* Keep the operand of an operation on a rank where the MPI may read it until the next flush of that
 * rank. */
static int64_t *operand(struct rma_client *c, int rank, int64_t value)
{
	struct mpi_client *m = own_of(c);
	int64_t *place;

	if (m->operands == OPERANDS) {
		/* All places are in use: orders the operations in flight before the reuse of their
		 * operands. */
		await_answers(c);
		check(c, PMPI_Win_flush_all(window(c)));
		forget_operands(c);
	}
	if (m->operands == 0)
		m->target = rank;
	else if (m->target != rank)
		m->target = MANY_TARGETS;
	m->answer[m->operands] = NULL;
	place = &m->operand[m->operands++];
	*place = value;
	return place;
}

/* Note the result buffer of the operation that has just been given its operands. */
static int64_t *answer(struct rma_client *c, int64_t *result)
{
	struct mpi_client *m = own_of(c);

	if (STORE_BY_FETCH) {
		*result = NO_ANSWER;
		m->answer[m->operands - 1] = result;
	}
	return result;
}

static MPI_Op mpi_op(enum rma_op op)
{
	switch (op) {
	case RMA_REPLACE:
		return MPI_REPLACE;
	case RMA_SUM:
		return MPI_SUM;
	case RMA_OR:
		return MPI_BOR;
	case RMA_AND:
		return MPI_BAND;
	}
	return MPI_NO_OP;
}

/* Over a network, Open MPI performs a bitwise operation by four round trips, in which its lock at
 * the target keeps other operations waiting: lock, get, put, unlock. A get and a compare-and-swap
 * take less. Open MPI 5.0.7 returns the word and leaves it as it is where a bitwise operation is
 * for another rank of its host (MPI_BXOR stores 0). Its compare-and-swap is right. */
#if defined(OPEN_MPI)
enum { BITS_BY_CAS = 1 };
#else
enum { BITS_BY_CAS = 0 };
#endif

/* Complete at the return, unlike the other operations. */
static void change_bits(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
			int64_t *result)
{
	int64_t expected, found = 0, next;
	int rc;

	check(c, PMPI_Get(&found, 1, MPI_INT64_T, w.rank, (MPI_Aint)w.offset, 1, MPI_INT64_T,
			  window(c)));
	check(c, PMPI_Win_flush(w.rank, window(c))); /* completes it, before the look at found */
	do {
		expected = found;
		next = op == RMA_OR ? expected | value : expected & value;
		rc = own_windows.compare_and_swap(&next, &expected, &found, MPI_INT64_T, w.rank,
						  (MPI_Aint)w.offset, window(c));
		check(c, rc);
		/* Completes it, before the look at found. */
		check(c, PMPI_Win_flush(w.rank, window(c)));
	} while (found != expected && rc == MPI_SUCCESS);
	*result = found;
}

static void mpi_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result)
{
	int64_t *from;

	if (BITS_BY_CAS && (op == RMA_OR || op == RMA_AND)) {
		change_bits(c, w, op, value, result);
		return;
	}
	from = operand(c, w.rank, value);
	check(c, own_windows.fetch_and_op(from, answer(c, result), MPI_INT64_T, w.rank,
					  (MPI_Aint)w.offset, mpi_op(op), window(c)));
}

/* The result buffer of an operation without a result, which has one only to see its answer. */
static int64_t *ignored(struct rma_client *c)
{
	return &own_of(c)->ignored[own_of(c)->operands % OPERANDS];
}

static void mpi_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (STORE_BY_FETCH)
		mpi_fao(c, w, RMA_REPLACE, value, ignored(c));
	else
		check(c, PMPI_Put(operand(c, w.rank, value), 1, MPI_INT64_T, w.rank,
				  (MPI_Aint)w.offset, 1, MPI_INT64_T, window(c)));
}

static void mpi_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	if (STORE_BY_FETCH) {
		int64_t *from = operand(c, w.rank, 0);

		check(c, own_windows.fetch_and_op(from, answer(c, result), MPI_INT64_T, w.rank,
						  (MPI_Aint)w.offset, MPI_NO_OP, window(c)));
	} else {
		check(c, PMPI_Get(result, 1, MPI_INT64_T, w.rank, (MPI_Aint)w.offset, 1,
				  MPI_INT64_T, window(c)));
	}
}

/* By fetch-and-op: Open MPI's osc/ucx performs MPI_Accumulate as get, compute and put, which is not
 * atomic with other operations. */
static void mpi_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	mpi_fao(c, w, RMA_SUM, value, ignored(c));
}

static void mpi_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result)
{
	int64_t *compare, *swap;

	if (own_of(c)->operands + 2 > OPERANDS)
		own_of(c)->operands = OPERANDS; /* both places from the same batch */
	compare = operand(c, w.rank, expected);
	swap = operand(c, w.rank, value);
	check(c, own_windows.compare_and_swap(swap, compare, answer(c, result), MPI_INT64_T, w.rank,
					      (MPI_Aint)w.offset, window(c)));
}

static void mpi_flush(struct rma_client *c, int rank)
{
	await_answers(c);
	check(c, PMPI_Win_flush(rank, window(c)));
	if (own_of(c)->target == rank)
		forget_operands(c);
	/* The MPI completes operations on the rank's own memory without polling the network. A rank
	 * that uses only locks at its own home would never serve others. */
	if (rank == c->rma->rank)
		rma_drive_mpi(c);
}

static void mpi_flush_all(struct rma_client *c)
{
	await_answers(c);
	check(c, PMPI_Win_flush_all(window(c)));
	forget_operands(c);
}

/* ------------------------------------------------------------------------- looks */

static bool await_look(struct rma_client *c, struct mpi_look *l, uint64_t until_ns)
{
	int done = 0;

	while (!done) {
		l->failed = l->failed || PMPI_Test(&l->request, &done, MPI_STATUS_IGNORE) != 0;
		if (l->failed)
			return false;
		if (done || rma_now_ns() >= until_ns)
			break;
		rma_drive_mpi(c);
		sched_yield();
	}
	return done;
}

/* An earlier look at the rank that has not been answered yet; NULL: there is none. */
static struct mpi_look **find_look(struct mpi_network *n, int rank)
{
	struct mpi_look **p = &n->looks;

	while (*p && (*p)->rank != rank)
		p = &(*p)->next;
	return *p ? p : NULL;
}

/* The rank has not answered an earlier look, so it need not be asked again. */
static bool is_silent(struct rma_client *c, struct mpi_network *n, int rank, uint64_t until_ns)
{
	struct mpi_look **at = find_look(n, rank), *l;

	if (!at)
		return false;
	l = *at;
	if (!await_look(c, l, until_ns))
		return true;
	*at = l->next;
	free(l);
	return false;
}

static bool mpi_look(struct rma_client *c, int rank, uint64_t offset, int64_t *to, unsigned words,
		     uint64_t until_ns)
{
	struct mpi_network *n = c->rma->state;
	struct mpi_look *l;

	if (is_silent(c, n, rank, until_ns))
		return false;
	l = calloc(1, sizeof *l + words * sizeof *to);
	if (!l)
		return false;
	l->rank = rank;
	l->failed = PMPI_Rget(l->word, (int)words, MPI_INT64_T, rank, (MPI_Aint)offset, (int)words,
			      MPI_INT64_T, n->win, &l->request) != MPI_SUCCESS;
	if (!await_look(c, l, until_ns)) {
		l->next = n->looks;
		n->looks = l;
		return false;
	}
	memcpy(to, l->word, words * sizeof *to);
	free(l);
	return true;
}

/* After the end of the epoch all of them are complete. */
static void end_looks(struct mpi_network *n)
{
	while (n->looks) {
		struct mpi_look *l = n->looks;

		if (!l->failed)
			PMPI_Wait(&l->request, MPI_STATUS_IGNORE);
		n->looks = l->next;
		free(l);
	}
}

/* -------------------------------------------------------------------- the window */

/* Open MPI 4's default one-sided component crashes on one host instead of failing. So do not try it
 * where a synthetic topology puts a table of several nodes on one host. */
bool mpi_would_crash(bool one_host)
{
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
	return one_host && !getenv("OMPI_MCA_osc");
#else
	(void)one_host;
	return false;
#endif
}

void mpi_tell_cure(const char *what, char *err, size_t errlen)
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

	snprintf(err, errlen, "%s%s", what, cure);
}

enum lack { LACKS_NOTHING, LACKS_MEMORY, LACKS_EPOCH, LACKS_MODEL, LACKS_WINDOW };

/* This rank's part, after it has a window. The epoch is begun before it is known whether all ranks
 * have the window, and is ended again if not. */
static enum lack use_window(struct mpi_network *n)
{
	PMPI_Win_set_errhandler(n->win, MPI_ERRORS_RETURN);
	if (!rma_is_unified(n->win))
		return LACKS_MODEL;
	n->epoch = own_windows.lock_all(MPI_MODE_NOCHECK, n->win) == MPI_SUCCESS;
	return n->epoch ? LACKS_NOTHING : LACKS_EPOCH;
}

static enum rma_failure fail(enum lack lack, char *err, size_t errlen)
{
	switch (lack) {
	case LACKS_NOTHING:
		return RMA_OK;
	case LACKS_MEMORY:
		snprintf(err, errlen, "out of memory");
		return RMA_FAIL_NOMEM;
	case LACKS_EPOCH:
		snprintf(err, errlen, "MPI_Win_lock_all failed over the nodes");
		return RMA_FAIL_WINDOW;
	case LACKS_MODEL:
		snprintf(err, errlen,
			 "the MPI's windows over several nodes have a separate memory"
			 " model; MPI_WIN_UNIFIED is needed");
		return RMA_FAIL_MODEL;
	case LACKS_WINDOW:
		break;
	}
	mpi_tell_cure("MPI_Win_create failed over the nodes", err, errlen);
	return RMA_FAIL_WINDOW;
}

static void mpi_finalize(struct rma *r)
{
	struct mpi_network *n = r->state;

	if (n->epoch)
		own_windows.unlock_all(n->win);
	n->epoch = false;
	end_looks(n);
	if (n->win != MPI_WIN_NULL)
		own_windows.free(&n->win);
}

static void mpi_close(struct rma *r)
{
	mpi_finalize(r);
	free(r->state);
}

static void mpi_leave(struct rma *r)
{
	int ended;

	/* MPI has not ended: MPI_Finalize will call mpi_finalize(), which needs the state. */
	PMPI_Finalized(&ended);
	if (!ended)
		return;
	free(r->state);
	r->state = NULL;
}

static const struct rma_transport mpi_transport = {
    .name = "mpi",
    .can = {.can_fail = true, .by_mpi = true},
    .put = mpi_put,
    .get = mpi_get,
    .acc = mpi_acc,
    .fao = mpi_fao,
    .cas = mpi_cas,
    .flush = mpi_flush,
    .flush_all = mpi_flush_all,
    .progress = mpi_progress,
    .look = mpi_look,
    .finalize = mpi_finalize,
    .close = mpi_close,
    .leave = mpi_leave,
};

/* Collective: one window and one agreement, also if a rank has no memory. */
enum rma_failure mpi_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen)
{
	struct mpi_network *n = calloc(1, sizeof *n);
	enum lack lack = LACKS_MEMORY;
	MPI_Win win = MPI_WIN_NULL;
	int most[2];

	if (n) {
		n->win = MPI_WIN_NULL;
		n->ranks = r->ranks;
	}
	if (!q->again && !mpi_has_room(q, err, errlen)) {
		free(n);
		return RMA_FAIL_NOMEM;
	}
	most[1] = own_windows.create(r->map[r->rank], (MPI_Aint)q->bytes, 1, MPI_INFO_NULL, q->comm,
				     &win) != MPI_SUCCESS;
	if (most[1]) {
		lack = LACKS_WINDOW;
	} else if (n) {
		n->win = win;
		lack = use_window(n);
	}
	most[0] = (int)lack;
	if (PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, q->comm) != MPI_SUCCESS)
		most[0] = LACKS_WINDOW;
	if (most[0] == LACKS_NOTHING) {
		r->state = n;
		r->transport = &mpi_transport;
		r->net = true;
		return RMA_OK;
	}
	if (n && n->epoch)
		own_windows.unlock_all(win);
	if (!most[1])
		own_windows.free(&win);
	free(n);
	return fail((enum lack)most[0], err, errlen);
}
