/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leave a protocol whose operation fails, because a rank has died or the connection to it is lost
 * (transport ucx), or because the MPI reports an error (transport mpi). Such an operation, or a
 * wait that has become hopeless since (rma_is_hopeless()), leaves the protocol by longjmp() and
 * returns here. Between acquire and release a protocol owns nothing but its slot. Other clients may
 * still write the words of that slot, so the slot is never used again. A protocol whose first
 * operation was not sent, because its rank cannot be reached, has changed nothing, and keeps its
 * slot.
 *
 * What holds after a failed operation, on every kind (the adversary checks it: draw_errors() in
 * tests/sim/draw.c):
 *   (A) The call ends with a code, PAWL_ERR_MPI or PAWL_ERR_PEER. Its client does not hold the
 *       lock, also if the call was a release, and issues no further operation in this call.
 *   (B) Two clients never hold a lock in conflict, and no client is granted one because of the
 *       failure.
 *   (C) This lock may stay closed. A client that has waited for it for a second since it knows of
 *       the failure ends as in (A); until then it can get the lock. With a lease the lock is
 *       recovered, as from a death.
 *   (D) A lock on which no operation has failed, and of which no client has ended by (C), is as
 *       before: its clients come to their turn, and its words are those of a free lock when they
 *       have left. But a client cannot tell a lock that is held for long from a closed one, so (C)
 *       may end its wait, too: for instance if the holder waits for a closed lock.
 *   (E) Each lock of the call to which (A) applies takes one slot for good. Those in the queue of
 *       a closed lock stay there. All others of the process can be used as before.
 *   (F) PAWL_ERR_CONNECT, from an acquire or a try only: nothing has changed, no slot is lost, no
 *       other client knows, and the call can be repeated.
 * Nothing is promised of a closed lock beyond (A) to (C).
 *
 * (B) holds because a client that has left is, for the others, one that is delayed at this place
 * for ever. Of what it issued since its last flush any part may take effect, which rma.h allows at
 * any time before a flush; and every protocol excludes however long its clients are delayed (those
 * with leases: as after a death).
 */
#include <setjmp.h>

#include "client/client.h"

/* A function of one slot, or of two. */
struct action {
	int (*how)(const struct lock_setup *, struct lock_slot *);
	int (*how_part)(const struct lock_setup *, struct lock_slot *, struct lock_slot *);
	struct lock_slot *slot, *part;
};

static int act(const struct lock_setup *s, const struct action *a)
{
	return a->how_part ? a->how_part(s, a->slot, a->part) : a->how(s, a->slot);
}

/* Nothing that lives in a register is read after longjmp(). */
static int act_or_leave(const struct lock_setup *s, const struct action *a, jmp_buf *on_loss)
{
	if (setjmp(*on_loss) == 0)
		return act(s, a);
	return FAULT(client_guard) ? PAWL_SUCCESS : PAWL_ERR_PEER;
}

/* Whether an operation has failed; forgets it. */
static bool take_failure(struct rma_client *c)
{
	return c->failed && atomic_exchange(&c->failed, false);
}

/* How the operation lost its connection; NULL: it has not, or a process has died. Forgets it. */
static const char *take_loss(struct rma_client *c)
{
	const char *loss = c->loss;

	c->loss = NULL;
	return loss && loss[0] ? loss : NULL;
}

/* Of the thread. */
static _Thread_local const char *last_loss;

const char *guard_loss(void)
{
	return last_loss;
}

/* How a call ends whose operation has failed: PAWL_ERR_MPI; PAWL_ERR_PEER or, if the call has not
 * begun, PAWL_ERR_CONNECT. */
static int lost(struct rma_client *c)
{
	bool unreached = c->unreached;

	c->unreached = false;
	if (c->rma->transport->can.by_mpi)
		return FAULT(client_mpi) ? PAWL_SUCCESS : PAWL_ERR_MPI;
	if (FAULT(client_unreached))
		return PAWL_ERR_PEER;
	return unreached ? PAWL_ERR_CONNECT : PAWL_ERR_PEER;
}

/* Whether the call may have changed words before its first operation at the lock's home: all but
 * those that begin to acquire. Such a one says so itself (rma_client.inside). */
static bool is_inside(const struct lock_setup *s, const struct action *a)
{
	const struct lock_protocol *p = s->protocol;

	return a->how_part ||
	       !(a->how == p->acquire || a->how == p->try_acquire ||
		 (p->many && (a->how == p->many->post || a->how == p->many->look)) ||
		 (p->read && (a->how == p->read->begin || a->how == p->read->validate)));
}

static int run(const struct lock_setup *s, const struct action *a)
{
	struct rma_client *c = &a->slot->client, *other = a->part ? &a->part->client : c;
	const char *others;
	jmp_buf on_loss;
	bool failed;
	int rc;

	c->on_loss = other->on_loss = &on_loss;
	c->inside = other->inside = is_inside(s, a);
	rc = act_or_leave(s, a, &on_loss);
	c->on_loss = other->on_loss = NULL;
	failed = take_failure(c);
	failed = take_failure(other) || failed;
	if (!failed && rc != PAWL_ERR_PEER)
		return rc;
	others = take_loss(other);
	last_loss = take_loss(c);
	if (!last_loss)
		last_loss = others;
	return lost(c);
}

int guard_run(const struct lock_setup *s, struct lock_slot *slot,
	      int (*how)(const struct lock_setup *, struct lock_slot *))
{
	return run(s, &(struct action){.how = how, .slot = slot});
}

int guard_run_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part,
		   int (*how)(const struct lock_setup *, struct lock_slot *, struct lock_slot *))
{
	return run(s, &(struct action){.how_part = how, .slot = whole, .part = part});
}
