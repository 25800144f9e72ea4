/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that serves other ranks while the application computes. It sleeps on the event
 * descriptor of the worker through which other ranks operate, performs the operations that have
 * come, and wakes the threads that sleep on a word that these have changed. It serves all tables of
 * the communicator, on all segments of its node that a request names. After two events in
 * quick succession it polls for a while, because more are likely to follow, and waking a thread
 * takes as long as a message. It yields between two polls.
 *
 * A thread that sleeps on a word of a segment registers the word, and the value that it has seen,
 * among the sleepers at the end of the segment. Then it sleeps by futex, as on a NODE word, so a
 * rank of the same node that writes the word by CPU wakes it, too. If all places for sleepers are
 * taken, the time limit of the futex ends the sleep.
 */
#include "base/thread.h"
#include "rma/ucx/parts.h"

#include <linux/sched.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An origin that returns within QUICK_NS (some round trips to a sleeping thread) is likely to
 * return again, and sooner once the thread polls. */
enum { QUICK_NS = 200000, LOOK_ON_NS = 100000, NOTIFY_MS = 20, SLICE_NS = 100000 };

/* While there is always work, how much of it is done before the thread looks at anything else, and
 * how often it looks at the processes that it watches. */
enum { MOST_AT_ONCE = 64, WATCH_NS = 10000000 };

/* What the thread sleeps on: the worker, and the two processes that it watches. */
enum { SERVING, PROCESS, NODE, SOURCES };

void ucx_wake_sleepers(const struct rma_ucx *u, int segment)
{
	struct ucx_asleep *t = ucx_asleep_in(u->map, segment);

	/* Orders the writes of words for other ranks before the look at the sleepers; pairs with
	 * add_sleeper(), which comes before the kernel looks at the word. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&t->sleepers, memory_order_relaxed))
		return;
	for (int i = 0; i < UCX_SLEEPERS; i++) {
		uint64_t at = atomic_load(&t->sleeper[i].word);
		struct rma_word w;

		/* UCX's own operations may have written here, checked by UCX alone. */
		if (at <= RMA_HEADER_BYTES || at > u->limits.end || (at - 1) % sizeof(int64_t))
			continue;
		w = (struct rma_word){
		    .map = (_Atomic(int64_t) *)(void *)(u->map[segment] + at - 1),
		    .offset = at - 1,
		    .rank = segment,
		    .flags = RMA_CPU,
		};
		if (atomic_load(w.map) != atomic_load(&t->sleeper[i].value))
			rma_wake_parked(w);
	}
}

/* UCX does not say which words its own operations have changed. */
static void wake_all(const struct ucx_net *n)
{
	for (uint32_t i = 1; i < UCX_TABLES && i < atomic_load(&n->tables); i++) {
		const struct rma_ucx *u = atomic_load(&n->table[i]);

		if (u)
			ucx_wake_sleepers(u, n->rank);
	}
}

/* Perform what has come. False: nothing has come, or only messages that were refused, which are no
 * reason to poll for more. */
static bool drain(struct ucx_net *n)
{
	uint64_t before = n->performed;
	bool some = false;

	for (int i = 0; i < MOST_AT_ONCE && ucp_worker_progress(n->serving); i++)
		some = true;
	if (some && n->by_ucp)
		wake_all(n);
	return some && (n->by_ucp || n->performed != before);
}

/* Wait for an event for so long, in ms; -1: for any time. */
static void await_event(struct ucx_net *n, int ms)
{
	struct pollfd fd[SOURCES] = {
	    [SERVING] = {.fd = n->serving_fd, .events = POLLIN},
	    [PROCESS] = {.fd = n->next_pidfd, .events = POLLIN},
	    [NODE] = {.fd = n->watching_fd, .events = POLLIN},
	};

	if (poll(fd, SOURCES, ms) <= 0)
		return;
	for (int i = PROCESS; i < SOURCES; i++)
		if (fd[i].revents)
			ucx_watch_look(n, fd[i].fd);
}

static void sleep_until_event(struct ucx_net *n)
{
	if (ucp_worker_arm(n->serving) == UCS_OK)
		await_event(n, atomic_load(&n->any_dead) ? NOTIFY_MS : -1);
}

/* The thread has little to do at a time, and others wait for it. Linux from 6.12 on lets a thread
 * that asks for short slices of time run as soon as it wakes; else it would wait where the
 * application polls on all cores until one's slice is over. */
static void ask_for_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t slice_ns, deadline_ns, period_ns;
	} how = {0};

	if (syscall(SYS_sched_getattr, 0, &how, sizeof how, 0) != 0 || how.policy != SCHED_NORMAL)
		return;
	how.size = sizeof how;
	how.slice_ns = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &how, 0);
}

static void *serve(void *arg)
{
	struct ucx_net *n = arg;
	uint64_t last = 0, watched = 0, crowded_until = 0;
	bool busy = false;

	ask_for_short_slices();
	ucx_watch_begin(n);
	while (!atomic_load_explicit(&n->stop, memory_order_acquire)) {
		/* Orders the looks at tables before this store; pairs with ucx_serve_pass(). */
		atomic_store(&n->seen, atomic_load(&n->removed));
		if (drain(n)) {
			uint64_t now = rma_now_ns();

			busy = now - last < QUICK_NS && now > crowded_until;
			last = now;
		}
		if (atomic_load(&n->any_dead))
			ucx_notify(n);
		if (busy) {
			uint64_t now = rma_now_ns();

			if (now - last >= LOOK_ON_NS) /* polled in vain */
				crowded_until = now + UCX_VAIN_NS;
			busy = now > crowded_until;
			if (now - watched >= WATCH_NS) {
				await_event(n, 0);
				watched = now;
			}
		}
		if (busy)
			ucx_yield(&crowded_until);
		else
			sleep_until_event(n);
	}
	return NULL;
}

bool ucx_serve_start(struct ucx_net *n)
{
	n->has_thread = thread_start(&n->thread, serve, n);
	return n->has_thread;
}

void ucx_serve_stop(struct ucx_net *n)
{
	if (!n->has_thread)
		return;
	atomic_store_explicit(&n->stop, true, memory_order_release);
	ucp_worker_signal(n->serving);
	pthread_join(n->thread, NULL);
	n->has_thread = false;
}

void ucx_serve_pass(struct ucx_net *n)
{
	/* The table was taken out before this; the thread that sees the number has ended its looks
	 * at it. */
	uint64_t number = atomic_fetch_add(&n->removed, 1) + 1;

	while (n->has_thread && atomic_load(&n->seen) < number) {
		ucp_worker_signal(n->serving);
		sched_yield();
	}
}

/* Register a sleeper with its word and value; NULL: all places are taken. */
static struct ucx_sleeper *add_sleeper(struct ucx_asleep *t, uint64_t offset, int64_t value)
{
	for (int i = 0; i < UCX_SLEEPERS; i++) {
		struct ucx_sleeper *d = &t->sleeper[i];
		uint64_t free_word = 0;

		if (atomic_load_explicit(&d->word, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&d->word, &free_word, offset + 1))
			continue;
		/* Until this store, the thread may compare with the value of an earlier sleeper,
		 * and wake this one in vain or not at all. In the second case the futex finds that
		 * the value has changed. */
		atomic_store(&d->value, value);
		return d;
	}
	return NULL;
}

void ucx_sleep(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns)
{
	struct ucx_asleep *t = ucx_asleep_in(c->rma->map, w.rank);
	struct ucx_sleeper *d = add_sleeper(t, w.offset, value);

	atomic_fetch_add(&t->sleepers, 1);
	rma_park(c, w, value, ns);
	atomic_fetch_sub(&t->sleepers, 1);
	if (d)
		atomic_store(&d->word, 0);
}
