/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots of a process, with a protocol that does nothing. A claimed slot is
 * found; an abandoned slot, one that was left, and one in a queue are neither held nor free until
 * the protocol says so. Prints TAP; any failed check fails the program.
 */
#include <pthread.h>
#include <stdlib.h>

#include "client/client.h"
#include "tests/tap.h"

enum { HELD = 3 };

static int asked;
static bool lets_go;

static bool abandon(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	asked++;
	return lets_go && slot->lock == 7;
}

/* Settles after this number of calls. */
static int settles_after;

static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	(void)slot;
	return ++asked > settles_after;
}

/* The place in the queue has been passed over. */
static bool is_passed;

/* A slot that another thread gives back while this one searches. */
static struct client_set *set_of_other;
static struct lock_slot *slot_of_other;

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	(void)slot;
	if (slot_of_other)
		slots_give_back(set_of_other, slot_of_other);
	slot_of_other = NULL;
	return is_passed;
}

/* Must exist, but is not called. */
static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	(void)slot;
	return LOCK_PASSED;
}

static void progress(struct rma_client *c)
{
	(void)c;
}

static const struct rma_transport transport = {.progress = progress};
static const struct lock_recovery_calls recover = {.abandon = abandon};
static struct lock_protocol protocol = {
    .settled = settled,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .recover = &recover,
};
static char *map[1];
static const int node[1] = {0};

static struct client_set *open_set(bool threaded)
{
	static struct lock_setup setup;
	static struct rma rma;
	struct client_set *t = calloc(1, sizeof *t);

	setup = (struct lock_setup){.protocol = &protocol, .n = 100, .max_held = HELD};
	rma = (struct rma){
	    .map = map, .node = node, .transport = &transport, .waiting = {.looks = 1}};
	if (!t)
		exit(2);
	t->threaded = threaded;
	if (!client_open(t, &setup, &rma))
		exit(2);
	asked = 0;
	lets_go = false;
	settles_after = 0;
	is_passed = false;
	return t;
}

static void close_set(struct client_set *t)
{
	client_close(t);
	free(t);
}

static struct lock_slot *claim(struct client_set *t, uint64_t lock, int wanted)
{
	int code = PAWL_SUCCESS;
	struct lock_slot *slot = slots_claim(t, lock, PAWL_EXCLUSIVE, &code);

	if (code != wanted || !slot)
		return NULL;
	slot->mode = PAWL_EXCLUSIVE;
	return slot;
}

static bool refused(struct client_set *t, uint64_t lock, int wanted)
{
	int code = PAWL_SUCCESS;

	return !slots_claim(t, lock, PAWL_EXCLUSIVE, &code) && code == wanted;
}

static void one_lock(bool threaded)
{
	struct client_set *t = open_set(threaded);
	struct lock_slot *slot = claim(t, 7, PAWL_SUCCESS), *again;

	ok(slot && slots_find(t, 7) == slot && !slots_find(t, 8), "what is claimed is found");
	ok(refused(t, 7, PAWL_ERR_HELD), "and is not claimed twice");
	slots_abandon(t, slot);
	ok(!slots_find(t, 7) && client_in_use(t) == 0, "what is abandoned is not held");
	again = claim(t, 7, PAWL_SUCCESS);
	ok(again && again != slot && slots_find(t, 7) == again && asked == 0,
	   "the same lock gets another slot");
	slots_give_back(t, again);
	ok(client_in_use(t) == 0 && !slots_find(t, 7), "what is given back is free");
	close_set(t);
}

static void all_of_them(bool threaded)
{
	struct client_set *t = open_set(threaded);
	struct lock_slot *first = claim(t, 7, PAWL_SUCCESS), *last;

	slots_abandon(t, first);
	for (uint64_t l = 8; l < 7 + HELD; l++)
		claim(t, l, PAWL_SUCCESS);
	ok(client_in_use(t) == HELD - 1 && refused(t, 20, CLIENT_NO_SLOT) && asked == 1,
	   "an abandoned slot counts as long as the protocol keeps it");
	lets_go = true;
	last = claim(t, 20, PAWL_SUCCESS);
	ok(last == first && last->lock == 20 && slots_find(t, 20) == last, "then it serves again");
	slots_abandon(t, last);
	ok(refused(t, 21, CLIENT_NO_SLOT), "the protocol learns which lock it was");
	close_set(t);
}

static void without_hook(void)
{
	struct client_set *t = open_set(false);

	protocol.recover = NULL;
	for (uint64_t l = 0; l < HELD; l++)
		slots_abandon(t, claim(t, l, PAWL_SUCCESS));
	ok(refused(t, 50, CLIENT_NO_SLOT), "a protocol without a hook never lets go");
	protocol.recover = &recover;
	close_set(t);
}

static void left(bool threaded)
{
	struct client_set *t = open_set(threaded);
	struct lock_slot *slot = claim(t, 7, PAWL_SUCCESS), *other;

	slots_leave(t, slot);
	ok(!slots_find(t, 7) && client_in_use(t) == 0, "what is left is not held");
	settles_after = 1;
	other = claim(t, 7, PAWL_SUCCESS);
	ok(other && other != slot && asked == 1, "the same lock gets another slot meanwhile");
	ok(claim(t, 8, PAWL_SUCCESS) == slot && asked == 2, "it serves again when it has settled");
	slots_leave(t, claim(t, 9, PAWL_SUCCESS));
	slots_leave(t, other);
	slots_leave(t, slot);
	t->can_fail = true;
	other->client.failed = true;
	settles_after = 100;
	asked = 0;
	ok(claim(t, 10, PAWL_SUCCESS) && asked > settles_after,
	   "or is waited for, if there is no other");
	ok(claim(t, 11, PAWL_SUCCESS) && refused(t, 12, CLIENT_NO_SLOT),
	   "but not after its operation failed");
	close_set(t);
}

static void queued(bool threaded)
{
	struct client_set *t = open_set(threaded);
	struct lock_slot *slot = claim(t, 7, PAWL_SUCCESS);
	int code = PAWL_SUCCESS;

	slots_queue(t, slot);
	ok(!slots_find(t, 7) && client_in_use(t) == 0, "what is in a queue is not held");
	ok(claim(t, 7, LOCK_QUEUED) == slot, "the same lock and mode get its place");
	slots_queue(t, slot);
	ok(slots_claim(t, 7, PAWL_SHARED, &code) != slot && code == PAWL_SUCCESS,
	   "another mode does not");
	ok(claim(t, 8, PAWL_SUCCESS) && refused(t, 9, CLIENT_NO_SLOT),
	   "no client waits for it, and it counts");
	is_passed = true;
	ok(claim(t, 9, PAWL_SUCCESS) == slot, "it serves again when it was passed over");
	close_set(t);
}

static void disturbed(void)
{
	struct client_set *t = open_set(true);
	struct lock_slot *first = claim(t, 5, PAWL_SUCCESS);

	slots_queue(t, claim(t, 7, PAWL_SUCCESS));
	claim(t, 8, PAWL_SUCCESS);
	set_of_other = t;
	slot_of_other = first;
	ok(claim(t, 9, PAWL_SUCCESS) == first, "a slot that becomes free behind a search is found");
	close_set(t);
}

/* Threads that share the slots of the process, each with its own locks. */
enum { THREADS = 3, ROUNDS = 300000 }; /* as many as slots: none may be refused */

struct worker {
	pthread_t thread;
	struct client_set *set;
	uint64_t first;
	int mistakes;
};

static void *claim_and_give_back(void *arg)
{
	struct worker *w = arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t lock = w->first + i % 2 * THREADS;
		struct lock_slot *slot = claim(w->set, lock, PAWL_SUCCESS);

		if (slot && slots_find(w->set, lock) == slot)
			slots_give_back(w->set, slot);
		else
			w->mistakes++;
	}
	return NULL;
}

static void shared_by_threads(void)
{
	struct client_set *t = open_set(true);
	struct worker w[THREADS];
	int mistakes = 0;

	t->by_process = true;
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.set = t, .first = (uint64_t)i};
		if (pthread_create(&w[i].thread, NULL, claim_and_give_back, &w[i]) != 0)
			exit(2);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		mistakes += w[i].mistakes;
	}
	ok(mistakes == 0, "threads of one owner find their own locks and no others");
	close_set(t);
}

int main(void)
{
	for (int threaded = 0; threaded < 2; threaded++) {
		one_lock(threaded);
		all_of_them(threaded);
		left(threaded);
		queued(threaded);
	}
	without_hook();
	disturbed();
	shared_by_threads();
	return tap_plan();
}
