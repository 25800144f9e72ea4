/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acquire several locks of a table, and release them.
 *
 * A kind with the block `many` issues a try at every lock before it waits for the first answer, so
 * k free locks cost the latency of one. A try is an operation that takes a free lock and otherwise
 * changes nothing (struct lock_many_calls). The client keeps what it got up to the first lock
 * that is not free, gives the rest back, waits for that lock by the kind's own acquire, and then
 * tries the locks behind it. With other kinds the client acquires one lock after the other.
 *
 * Guarantees
 *   (A) No deadlock. All clients order locks by their numbers. A client that waits for a lock
 * holds only locks with lower numbers: those with higher numbers that its tries took are released
 *       before the wait begins. So among clients that wait for each other there would be one that
 *       waits for the highest of these locks, and the holder of that lock does not wait. This holds
 *       if a client that calls this function holds no lock with a higher number than one that it
 *       asks for.
 *   (B) The client that holds a lock for the duration of a failed round does not wait meanwhile: it
 *       waits for answers of homes only. So it delays other clients by a round trip at most, and it
 *       has entered no queue that others wait behind.
 *   (C) Each round ends with at least one more lock held, so there are at most n rounds.
 *   (D) When a try is refused or a deadline has passed, the client releases all that it holds. Its
 *       place in the queue of the lock where the deadline passed stays, as after a timed acquire.
 * Model: models/many.pml, whose steps M1 ... M5 are issue, look, give back, wait and give up.
 */
#include "client/client.h"

/* States of an item: claimed; claimed, and still in the queue; held; without a slot. */
enum { OPEN, PLACE, HELD, NONE };

static void lose(struct client_set *set, struct client_many *m)
{
	slots_lose(set, m->slot);
	m->state = NONE;
}

/* Release a lock and keep the slot for it, so that the client can acquire it again. */
static int put_back(struct client_set *set, struct client_many *m)
{
	int rc = client_leave(set, m->slot);

	m->state = OPEN;
	if (rc == LOCK_LEFT)
		rc = slots_settle(set, m->slot);
	if (!client_has_lost(rc))
		return PAWL_SUCCESS;
	lose(set, m);
	return rc;
}

/* The end of a call that failed: the client holds nothing of m[0] to m[n - 1]. */
static void give_up(struct client_set *set, struct client_many *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (m[i].state == HELD && !FAULT(client_many_refused))
			client_release(set, m[i].slot);
		else if (m[i].state == PLACE)
			slots_queue(set, m[i].slot);
		else if (m[i].state != NONE)
			slots_give_back(set, m[i].slot);
		m[i].state = NONE;
	}
}

/* Issue a try at each lock, then look at the answers. If an operation fails, the result is the code
 * for that, and m[*about] is its lock. */
static int try_all(struct client_set *set, struct client_many *m, size_t n, size_t *about)
{
	const struct lock_many_calls *many = set->setup->protocol->many;
	int rc, worst = PAWL_SUCCESS;

	for (int step = 0; step < 2; step++)
		for (size_t i = 0; i < n; i++) {
			if (m[i].state != OPEN)
				continue;
			rc = client_perform(set, m[i].slot, step ? many->look : many->post);
			if (client_has_lost(rc) || rc == PAWL_ERR_CONNECT) {
				client_end(set, m[i].slot, rc);
				m[i].state = NONE;
				worst = rc;
				*about = i;
			} else if (step && rc == PAWL_SUCCESS) {
				m[i].state = HELD;
			}
		}
	return worst;
}

/* Acquire one lock as by itself. A failure ends the claim of the slot. */
static int acquire_one(struct client_set *set, struct client_many *m, uint64_t deadline_ns,
		       bool tries)
{
	int rc = m->state == PLACE ? client_resume(set, m->slot, deadline_ns, tries)
				   : client_act(set, m->slot, m->mode, deadline_ns, tries);

	m->state = client_has_got(rc) ? HELD : NONE;
	if (m->state == HELD)
		m->slot->acquires--; /* counted at the end */
	m->told = rc == PAWL_RECOVERED;
	return m->state == HELD ? PAWL_SUCCESS : rc;
}

/* One round: all locks that can be had at once; then the first one that cannot. *done is the number
 * of locks that are held from m[0] on. */
static int round_of(struct client_set *set, struct client_many *m, size_t n, uint64_t deadline_ns,
		    bool tries, size_t *done)
{
	bool several = set->setup->protocol->many && (tries || n - *done > 1);
	size_t about = *done;
	int rc = PAWL_SUCCESS;

	if (several)
		rc = try_all(set, m + *done, n - *done, &about);
	if (rc != PAWL_SUCCESS) {
		*done += about;
		return rc;
	}
	while (*done < n && m[*done].state == HELD)
		++*done;
	if (*done == n)
		return PAWL_SUCCESS;
	if (tries && several && m[*done].state == OPEN)
		return PAWL_ERR_BUSY;
	for (size_t i = *done + 1; i < n && !tries; i++) {
		if (m[i].state == HELD && !FAULT(client_many)) /* (A) */
			rc = put_back(set, &m[i]);
		if (rc != PAWL_SUCCESS) {
			*done = i;
			return rc;
		}
	}
	rc = acquire_one(set, &m[*done], deadline_ns, tries);
	*done += rc == PAWL_SUCCESS;
	return rc;
}

int client_claim_many(struct client_set *set, struct client_many *m, size_t n, uint64_t *about)
{
	for (size_t i = 0; i < n; i++) {
		int rc = PAWL_SUCCESS;

		m[i].slot = slots_claim(set, m[i].lock, m[i].mode, &rc);
		if (!m[i].slot) {
			*about = m[i].lock;
			give_up(set, m, i);
			return rc;
		}
		m[i].state = rc == LOCK_QUEUED ? PLACE : OPEN;
		m[i].told = false;
		m[i].slot->mode = m[i].mode;
		m[i].slot->deadline_ns = 0;
	}
	return PAWL_SUCCESS;
}

int client_enter_many(struct client_set *set, struct client_many *m, size_t n, uint64_t deadline_ns,
		      bool tries, uint64_t *about)
{
	size_t done = 0;
	int rc = PAWL_SUCCESS;

	while (done < n && rc == PAWL_SUCCESS)
		rc = round_of(set, m, n, deadline_ns, tries, &done);
	if (rc != PAWL_SUCCESS) {
		*about = m[done].lock;
		give_up(set, m, n);
		return rc;
	}
	for (size_t i = 0; i < n; i++) {
		m[i].slot->acquires++;
		if (m[i].told) {
			*about = m[i].lock;
			rc = PAWL_RECOVERED;
		}
	}
	return rc;
}

void client_leave_many(struct client_set *set, struct client_many *m, size_t n)
{
	const struct lock_many_calls *many = set->setup->protocol->many;

	for (size_t i = 0; i < n; i++)
		m[i].code = many ? client_perform(set, m[i].slot, many->post_release)
				 : client_leave(set, m[i].slot);
	for (size_t i = 0; i < n && many; i++)
		if (m[i].code == PAWL_SUCCESS)
			m[i].code = client_perform(set, m[i].slot, many->end_release);
}

int client_give_back_many(struct client_set *set, const struct client_many *m, size_t n,
			  uint64_t *about)
{
	int worst = PAWL_SUCCESS;

	for (size_t i = 0; i < n; i++) {
		int rc = client_give_back(set, m[i].slot, m[i].code);

		if (rc != PAWL_SUCCESS && worst == PAWL_SUCCESS) {
			worst = rc;
			*about = m[i].lock;
		}
	}
	return worst;
}
