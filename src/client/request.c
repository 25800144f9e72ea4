/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: an acquire that does not wait for other clients. Its client does something else, and
 * takes a step now and then.
 *
 * A request runs the kind's own acquire, on a stack of its own. Protocols do not wait by themselves
 * (rma/wait.c does), so there is one place where an acquire may be left: there the request leaves
 * its stack and returns to the client. The next step comes back to the same place and looks again.
 * The first step runs until the acquire would wait. A client of a kind with queues is then in the
 * queue of the lock, and a client of a kind that tries again (cas-backoff) tries at each step.
 *
 * Considered and not chosen: an acquire in steps for each kind, which would be a second form of
 * each protocol, with every wait inside a call as a state; and a thread that acquires in the
 * client's place, which needs MPI_THREAD_MULTIPLE and a core, and hands each grant over once more.
 *
 * Guarantees
 *   (A) For all other clients a request is a client in the same acquire that looks at its words
 *       seldom. It issues the same operations in the same order, and leaves its stack only where it
 *       would have looked again. The protocols set no bound on the time between two looks (with a
 *       lease: see (D)), so whatever holds for a client that waits holds for a request.
 *   (B) A step waits for answers of homes and for no other client. A release by another client
 *       that waits for the link of a successor waits for no step: there is no wait between the
 *       operation that enters a queue and the link.
 *   (C) A cancelled request ends as at a deadline: the acquire has had one from its first step, the
 *       time `never`, and CLIENT_CANCEL lets it pass. If the lock came first, the client releases
 *       it. Kinds without deadlines wait for the lock and release it.
 *   (D) With option lease, a client that takes no step for the time of a lease is a client that
 *       was stopped as long: the acquire notices it as it does then.
 *   (E) One thread at a time takes its steps: the one that has made it, or a thread of the library
 *       after that has left it (table/left.c) or while it awaits other things, too
 *       (table/steps.c). No function that is on the stack between two steps has thread-local data,
 *       whose address would be another one then.
 * A request may have been granted the lock since its last step; then others wait for the client's
 * next step and its release. So for questions of deadlock a request holds its lock.
 *
 * Between its steps a request owns its slot and its stack, and nothing of the transport: every
 * operation is flushed before a wait. A failed operation leaves the acquire by longjmp() within the
 * same stack (guard.c).
 */
#include "client/client.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define NOT_SANITIZED __attribute__((no_sanitize("thread")))
#else
#define NOT_SANITIZED
#endif

/* MPI's calls run on it. Only pages that are used take memory. */
enum { STACK_BYTES = 512 * 1024 };

struct request_stack {
	ucontext_t client, own; /* where to go on, there and here */
	char *memory;           /* a page that cannot be used, and the stack above it */
	size_t bytes;
	struct client_set *set;         /* of the acquire that begins */
	int claimed;                    /* the code of the claim */
	void *client_fiber, *own_fiber; /* of ThreadSanitizer */
};

/* ------------------------------------------------------------------- stacks */

static bool add_stack(struct client_request *q)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = STACK_BYTES + page;
	struct request_stack *k = calloc(1, sizeof *k);
	void *memory;

	if (!k)
		return false;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
		if (memory != MAP_FAILED)
			munmap(memory, bytes);
		free(k);
		return false;
	}
	k->memory = memory;
	k->bytes = bytes;
	q->stack = k;
	return true;
}

static struct client_request *request_of(struct client_set *set, const struct lock_slot *slot)
{
	struct client_request **at = &set->requests[slot->index];

	if (!*at)
		*at = calloc(1, sizeof **at);
	if (!*at || (!(*at)->stack && !add_stack(*at)))
		return NULL;
	return *at;
}

void client_drop_requests(struct client_set *set)
{
	for (int i = 0; set->requests && i < slots_used(set); i++) {
		struct client_request *q = set->requests[i];

		if (q && q->stack) {
#ifdef __SANITIZE_THREAD__
			if (q->stack->own_fiber)
				__tsan_destroy_fiber(q->stack->own_fiber);
#endif
			munmap(q->stack->memory, q->stack->bytes);
			free(q->stack);
		}
		free(q);
	}
	free(set->requests);
	set->requests = NULL;
}

/* -------------------------------------------------------------------- steps */

/* ThreadSanitizer has to know of a switch of stacks: just before it. */
static inline void tell_enter(struct request_stack *k)
{
#ifdef __SANITIZE_THREAD__
	if (!k->own_fiber)
		k->own_fiber = __tsan_create_fiber(0);
	k->client_fiber = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(k->own_fiber, 0);
#else
	(void)k;
#endif
}

static inline NOT_SANITIZED void tell_leave(struct request_stack *k)
{
#ifdef __SANITIZE_THREAD__
	__tsan_switch_to_fiber(k->client_fiber, 0);
#else
	(void)k;
#endif
}

/* An address that is unique to the calling thread. */
static const void *this_thread(void)
{
	static _Thread_local char mine __attribute__((tls_model("initial-exec")));

	return &mine;
}

/* From the request's stack to the client. */
static void leave(struct rma_steps *steps)
{
	/* steps is the first member */
	struct client_request *q = (struct client_request *)(void *)steps;

	q->running = false;
	tell_leave(q->stack);
	swapcontext(&q->stack->own, &q->stack->client);
	q->running = true;
}

/* On the request's stack: the whole acquire. */
static void acquire(struct client_request *q)
{
	struct client_set *set = q->stack->set;
	const struct lock_protocol *p = set->setup->protocol;
	int rc = LOCK_PASSED;

	if (q->stack->claimed == LOCK_QUEUED)
		rc = client_perform(set, q->slot, p->timed->resume);
	if (rc == LOCK_PASSED)
		rc = client_perform(set, q->slot, p->acquire);
	q->code = rc;
	q->running = false;
}

/* makecontext() passes integers. */
static NOT_SANITIZED void run(unsigned upper, unsigned lower)
{
	struct client_request *q =
	    (struct client_request *)((((uintptr_t)upper << 16) << 16) | (uintptr_t)lower);

	acquire(q);
	tell_leave(q->stack);
}

static void take_step(struct client_request *q)
{
	struct rma_client *c = &q->slot->client;

	q->running = true;
	c->steps = &q->steps;
	tell_enter(q->stack);
	swapcontext(&q->stack->client, &q->stack->own);
	c->steps = NULL;
}

/* The acquire has ended: set the slot's state, and return the code for the caller. */
static int end_acquire(struct client_set *set, struct client_request *q)
{
	struct lock_slot *slot = q->slot;

	slot->deadline_ns = 0;
	if (q->code == PAWL_SUCCESS) {
		slot->acquires++;
		return PAWL_SUCCESS;
	}
	if (FAULT(client_request_lost) && q->code == LOCK_QUEUED) {
		slots_give_back(set, slot);
		return PAWL_ERR_TIMEOUT;
	}
	/* Else from here on q may be another client's. */
	return client_end(set, slot, q->code);
}

int client_request_step(struct client_set *set, struct client_request *q, enum client_step how)
{
	if (q->advanced) {
		q->advanced = false;
		return end_acquire(set, q);
	}
	if (q->code != CLIENT_PENDING)
		return q->code;
	if (FAULT(client_request) && how == CLIENT_LOOK && q->looks++ > 0) {
		q->code = PAWL_SUCCESS;
		return q->code;
	}
	q->steps.waits = how != CLIENT_LOOK;
	q->steps.hurries = how == CLIENT_CANCEL;
	if (how == CLIENT_CANCEL && q->steps.never)
		q->slot->deadline_ns = 1; /* it has passed */
	take_step(q);
	return q->code == CLIENT_PENDING ? CLIENT_PENDING : end_acquire(set, q);
}

int client_request_wait(struct client_set *set, struct client_request *q, uint64_t until_ns)
{
	int rc;

	q->steps.until_ns = until_ns;
	rc = client_request_step(set, q, CLIENT_WAIT);
	if (rc == CLIENT_PENDING)
		q->steps.until_ns = 0;
	return rc;
}

bool client_request_advance(struct client_request *q, uint64_t until_ns)
{
	q->steps.waits = true;
	q->steps.hurries = false;
	q->steps.until_ns = until_ns;
	take_step(q);
	q->steps.until_ns = 0;
	q->advanced = q->code != CLIENT_PENDING;
	return q->advanced;
}

struct client_request *client_request(struct client_set *set, uint64_t lock, int mode,
				      const struct client_units *units, uint64_t never, int *code)
{
	struct lock_slot *slot =
	    units ? slots_claim_range(set, lock, code) : slots_claim(set, lock, mode, code);
	struct client_request *q;
	struct request_stack *k;
	int claimed = *code;

	if (!slot)
		return NULL;
	if (units) {
		slot->first = units->first;
		slot->last = units->last;
		if (client_meets_itself(set, slot)) {
			*code = client_end(set, slot, PAWL_ERR_HELD);
			return NULL;
		}
	}
	q = request_of(set, slot);
	if (!q) {
		*code = PAWL_ERR_NOMEM;
		if (claimed == LOCK_QUEUED)
			slots_queue(set, slot);
		else
			slots_give_back(set, slot);
		return NULL;
	}
	slots_set_lock(&set->claims[slot->index],
		       units ? SLOTS_RANGE_REQUESTED : lock | SLOTS_REQUESTED);
	k = q->stack;
	*q = (struct client_request){
	    .steps = {.leave = leave, .never = never},
	    .slot = slot,
	    .code = CLIENT_PENDING,
	    .is_range = units != NULL,
	    .thread = this_thread(),
	    .stack = k,
	    .waits_before = slot->client.waits,
	};
	k->set = set;
	k->claimed = claimed;
	slot->mode = mode;
	slot->deadline_ns = never;
	slot->from = 0;
	getcontext(&k->own);
	k->own.uc_stack.ss_sp = k->memory + (k->bytes - STACK_BYTES);
	k->own.uc_stack.ss_size = STACK_BYTES;
	k->own.uc_link = &k->client;
	makecontext(&k->own, (void (*)(void))run, 2, (unsigned)((uintptr_t)q >> 16 >> 16),
		    (unsigned)(uintptr_t)q);
	*code = client_request_step(set, q, CLIENT_LOOK);
	return *code == CLIENT_PENDING || client_has_got(*code) ? q : NULL;
}

void client_request_leave(struct client_set *set, const struct client_request *q)
{
	slots_end_request(set, q->slot);
}

void client_request_return(struct client_set *set, const struct client_request *q)
{
	slots_return_request(set, q->slot);
}

void client_request_take_over(struct client_request *q)
{
	q->thread = this_thread();
}

bool client_request_is_mine(const struct client_request *q)
{
	return q->thread == this_thread();
}

void client_request_end(struct client_set *set, struct client_request *q)
{
	slots_set_lock(&set->claims[q->slot->index], q->is_range ? SLOTS_RANGE : q->slot->lock);
}

int client_request_put_back(struct client_set *set, struct client_request *q)
{
	struct lock_slot *slot = q->slot;

	client_request_end(set, q);
	if (FAULT(client_request_kept)) {
		slots_give_back(set, slot);
		return PAWL_SUCCESS;
	}
	return client_end(set, slot, client_leave(set, slot));
}

int client_request_cancel(struct client_set *set, struct client_request *q)
{
	int rc = client_request_step(set, q, CLIENT_CANCEL);

	if (rc == PAWL_ERR_TIMEOUT)
		return PAWL_SUCCESS;
	return client_has_got(rc) ? client_request_put_back(set, q) : rc;
}

void client_request_escape(struct client_set *set, const struct rma *rma)
{
	for (int i = 0; i < slots_used(set); i++) {
		struct client_request *q = set->requests[i];

		if (q && q->running && q->slot->client.rma == rma) {
			q->running = false;
			setcontext(&q->stack->client);
		}
	}
}
