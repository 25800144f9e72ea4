/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What locking and unlocking a window mean.
 *
 *   MPI_Win_lock(shared, r)     the lock of target r, shared
 *   MPI_Win_lock(exclusive, r)  the lock of the whole window with intent, then the lock of target
 *                               r, exclusively
 *   MPI_Win_lock_all            the lock of the whole window, shared
 *
 * On one node, a word that all exclusive locks change would cost more than it saves. There
 * MPI_Win_lock_all acquires the locks of all targets, shared, in the order of ranks, and an
 * exclusive lock needs no intent. That takes as many slots of a table as there are targets, so only
 * windows with few targets do it (pool.c).
 *
 * The intent belongs to the process: the layer acquires it for the first exclusive target and
 * releases it after the last. If the process already holds a target, of any window, its intent goes
 * ahead of clients that wait for the whole window. So no process that holds a target waits there
 * for a client that waits.
 *
 * Standing aside. The kinds of locks serve more or less in the order of arrival: a client that
 * waits is in the way of those that come after it, even if the holders are not. On an MPI where
 * only holders are in the way (Open MPI's osc/ucx), a holder may wait for a message of a process
 * that joins it while a third one waits for an exclusive lock. So a client of the layer that waits
 * for an exclusive lock or for MPI_Win_lock_all gives up after some time: it leaves all queues,
 * and holds nothing of what it asked for (neither the intent nor some of the targets). It waits
 * outside for a quarter of that time and asks again, for twice as long. MPI_Win_lock_all of targets
 * one by one waits outside for an eighth more.
 *
 * Why only holders keep a client waiting for ever: at stand_aside().
 *
 * So windows do not get declock: a client that gives up there keeps its place until its turn comes,
 * in the way of others.
 *
 * Order. The native epoch is opened first, with MPI_MODE_NOCHECK, because there the MPI detects
 * misuse; this costs no communication. At the unlock the native epoch is closed first, so the MPI
 * completes all operations at the target; only then is the lock released.
 *
 * Byte ranges of a target (ranges.c) are locked within an epoch at that target. If the program has
 * none, the layer opens one and acquires the target's lock, shared, for all such ranges: an
 * exclusive lock of the target waits for the ranges, and they wait for it.
 *
 * Model: models/aside.pml, of standing aside.
 *
 * Memory: see dropin_order_memory().
 */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/until.h"
#include "dropin/dropin.h"

/* How long a client waits before it stands aside for the first time; how long it sleeps there
 * between calls of the MPI; how often it looks whether another thread has got a lock. */
#define INLINE static inline __attribute__((always_inline))
enum { PATIENCE_NS = 50000000, NAP_NS = 50000, LOOK_AGAIN_NS = 1000000 };
/* How long a client waits for an exclusive lock before it says so. */
#define SAY_NS UINT64_C(5000000000)
/* In place of a rank. */
enum { ALL_TARGETS = -1 };

/* Raise an error at the window's error handler. MPI_ERRORS_ARE_FATAL would not show Pawl's message,
 * so print it on stderr first. */
int dropin_raise(MPI_Win win, int class, const char *format, ...)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	va_list args;

	PMPI_Win_get_errhandler(win, &handler);
	if (handler == MPI_ERRORS_ARE_FATAL) {
		char text[256];

		va_start(args, format);
		vsnprintf(text, sizeof text, format, args);
		va_end(args);
		fprintf(stderr, "pawl: %s\n", text);
	}
	if (handler != MPI_ERRHANDLER_NULL)
		PMPI_Errhandler_free(&handler);
	PMPI_Win_call_errhandler(win, class);
	return class;
}

/* ----------------------------------------------------------- what is held */

/* If the window is locked by one thread at a time, plain loads and stores suffice. A locked
 * instruction is a large part of the cost of an uncontended lock. */

static enum held look(_Atomic(unsigned char) *held)
{
	return (enum held)atomic_load_explicit(held, memory_order_relaxed);
}

static void settle(_Atomic(unsigned char) *held, enum held what)
{
	/* Orders this thread's accesses at the target before the next claim; pairs with
	 * change(). */
	atomic_store_explicit(held, (unsigned char)what, memory_order_release);
}

static bool change(const struct window *w, _Atomic(unsigned char) *held, enum held from)
{
	unsigned char was = (unsigned char)from;

	if (!w->threads) {
		if (look(held) != from)
			return false;
		settle(held, HELD_BUSY);
		return true;
	}
	return atomic_compare_exchange_strong_explicit(held, &was, HELD_BUSY, memory_order_acquire,
						       memory_order_relaxed);
}

static bool claim(const struct window *w, _Atomic(unsigned char) *held)
{
	return change(w, held, HELD_NOT);
}

/* Change a held target to BUSY. Returns the old state; HELD_NOT: it was not held, or another thread
 * was faster, and nothing has changed. */
static enum held unsettle(const struct window *w, _Atomic(unsigned char) *held)
{
	enum held was = look(held);

	return was > HELD_BUSY && change(w, held, was) ? was : HELD_NOT;
}

/* The locks that this process holds, of all windows. */
static _Atomic(int) locks_held;

static void add(const struct window *w, _Atomic(int) *count, int change)
{
	if (w->threads)
		atomic_fetch_add_explicit(count, change, memory_order_relaxed);
	else
		atomic_store_explicit(count,
				      atomic_load_explicit(count, memory_order_relaxed) + change,
				      memory_order_relaxed);
}

static void count_locks(struct window *w, int change)
{
	add(w, &w->locks, change);
	add(w, &locks_held, change);
}

/* ------------------------------------------------------- progress of targets */

/* Some MPIs make no progress in operations on the process's own memory. A process that locks itself
 * in a loop would never perform other processes' operations. */
static void after_unlock(const struct window *w, int target)
{
	if (!w->pool->direct && target == w->pool->rank)
		dropin_drive(w);
}

/* ---------------------------------------------------- where threads meet */

/* The thread that has the mutex may wait within the MPI, so threads that wait for it drive the
 * MPI. */
static void enter(struct window *w, pthread_mutex_t *mutex)
{
	while (w->threads && pthread_mutex_trylock(mutex) != 0) {
		dropin_drive(w);
		sched_yield();
	}
}

static void leave(struct window *w, pthread_mutex_t *mutex)
{
	if (w->threads)
		pthread_mutex_unlock(mutex);
}

/* The mutex is for Open MPI 4.1: osc/ucx counts the epochs of a window without regard to threads,
 * so an operation could be outside of any epoch. */

static int open_native(struct window *w, int type, int rank, int assertion)
{
	int rc;

	enter(w, &w->epochs);
	rc = next_Win_lock(type, rank, assertion | MPI_MODE_NOCHECK, w->win);
	leave(w, &w->epochs);
	return rc;
}

static int close_native(struct window *w, int rank)
{
	int rc;

	enter(w, &w->epochs);
	rc = next_Win_unlock(rank, w->win);
	leave(w, &w->epochs);
	return rc;
}

/* ------------------------------------------------------------- the intent */

/* A thread keeps the mutex while it waits for the lock of the whole window. */
static void take_intent_mutex(struct window *w)
{
	enter(w, &w->intent_mutex);
}

static void leave_intent_mutex(struct window *w)
{
	leave(w, &w->intent_mutex);
}

/* Whether the intent and the target can be acquired in one call. Not if threads of the process lock
 * at the same time: they would wait for the mutex until another thread has its target. */
static bool together(const struct window *w)
{
	return !w->threads && w->pool->wholes == w->pool->targets;
}

static bool holds_any(void)
{
	return atomic_load_explicit(&locks_held, memory_order_relaxed) != 0;
}

/* A process that holds a lock of any window goes ahead of clients that wait for the whole: one of
 * these may wait for a process that waits for that lock. Another thread may acquire one while this
 * thread waits. */
static int await_intent(const struct window *w, uint64_t deadline_ns)
{
	pawl_table *wholes = w->pool->wholes;
	uint64_t whole = pool_whole(w->pool, w->id), look;
	int rc;

	do {
		if (holds_any())
			return pawl_private_acquire(wholes, whole, PAWL_INTENT | PAWL_AHEAD,
						    deadline_ns);
		look = w->threads ? report_now() + LOOK_AGAIN_NS : deadline_ns;
		if (look > deadline_ns)
			look = deadline_ns;
		rc = pawl_private_acquire(wholes, whole, PAWL_INTENT, look);
	} while (rc == PAWL_ERR_TIMEOUT && look < deadline_ns);
	return rc;
}

static int acquire_intent(struct window *w, uint64_t deadline_ns)
{
	int rc = PAWL_SUCCESS;

	take_intent_mutex(w);
	if (w->exclusive == 0)
		rc = await_intent(w, deadline_ns);
	w->exclusive += rc == PAWL_SUCCESS;
	leave_intent_mutex(w);
	return rc;
}

static int release_intent(struct window *w)
{
	int rc = PAWL_SUCCESS;

	take_intent_mutex(w);
	if (--w->exclusive == 0)
		rc = pawl_lock_release(w->pool->wholes, pool_whole(w->pool, w->id));
	leave_intent_mutex(w);
	return rc;
}

INLINE int acquire_exclusive(struct window *w, int rank, uint64_t deadline_ns)
{
	const struct pool *p = w->pool;
	uint64_t target = pool_target(p, w->id, rank);
	int rc;

	if (!p->by_whole)
		return pawl_private_acquire(p->targets, target, PAWL_EXCLUSIVE, deadline_ns);
	if (together(w) && !holds_any()) {
		rc = pawl_private_acquire_part(p->targets, pool_whole(p, w->id), target,
					       PAWL_EXCLUSIVE, deadline_ns);
		w->exclusive += rc == PAWL_SUCCESS;
		return rc;
	}
	rc = acquire_intent(w, deadline_ns);
	if (rc != PAWL_SUCCESS)
		return rc;
	rc = pawl_private_acquire(p->targets, target, PAWL_EXCLUSIVE, deadline_ns);
	if (rc != PAWL_SUCCESS)
		release_intent(w);
	return rc;
}

static int release_exclusive(struct window *w, int rank)
{
	const struct pool *p = w->pool;
	uint64_t target = pool_target(p, w->id, rank);
	int rc, also;

	if (!p->by_whole)
		return pawl_lock_release(p->targets, target);
	if (together(w) && w->exclusive == 1) {
		w->exclusive = 0;
		return pawl_lock_release_part(p->targets, pool_whole(p, w->id), target);
	}
	rc = pawl_lock_release(p->targets, target);
	also = release_intent(w);
	return rc != PAWL_SUCCESS ? rc : also;
}

/* ---------------------------------------------------------------- to wait */

/* The deadline of the next acquires, of all windows: it is in the future, or has passed unnoticed,
 * so that an acquire need not read the clock. */
static _Atomic(uint64_t) soon = NAP_NS; /* long past; 0 would be none */

/*
 *   Only holders keep a client waiting for ever. Let the holders remain as they are, and let R be a
 *   client that they do not exclude. A client with a shared lock of a target waits behind
 *   exclusive clients only, never gives up, and goes on when those before it have done so once. Of
 *   the other clients each has its n-th turn in the queues as long as the n-th turn of any other,
 *   T 2^n, and pauses of more than a quarter of that, to which at most a quarter of a pause is
 *   added. So when pauses are longer than twice the time between the first and the last of these
 *   calls, a turn of R begins after the clients that are before it have begun theirs, and ends
 *   after they have ended theirs, when those behind it have not come back before it.
 *   In MPI_Win_lock_all a client comes from one queue into the next, and may find a client there
 *   that asked after it and ends its turn after it, in each turn again. The eighths that it waits
 *   longer add up to more than the parts that others add. So it asks after all others, ends its
 *   turn after theirs, and has all targets before they come back.
 *   Nothing but grants can be seen from outside. So the grants are those of an MPI where each
 *   client asks as late as its last turn began, in whatever order that MPI serves; and if all
 *   processes wait for ever under the layer, then they do so, after the same grants, on every MPI
 *   whose locks exclude each other.
 *   A client that alone waits for holders gets its turn: if each of these holds for h at most, all
 *   leave in its first turn longer than h, in which those that come wait behind it. That turn
 *   begins less than 3 h + 2 T after the call.
 */
/* Wait outside of all queues, for a quarter of the time that the client has just waited in them,
 * and a part that differs between processes. */
static void stand_aside(struct window *w, uint64_t patience_ns, bool asks_last)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const uint64_t begin = report_now(),
		       part = begin * UINT64_C(0x9e3779b97f4a7c15) % (patience_ns / 16),
		       end = begin + patience_ns / 4 + (asks_last ? patience_ns / 8 : 0) + part;

	atomic_fetch_add_explicit(&w->asides, 1, memory_order_relaxed);
	while (report_now() < end) {
		dropin_drive(w);
		nanosleep(&nap, NULL);
	}
}

/* Once a process. */
static void say_waits(const struct window *w, int rank, uint64_t ns)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length;

	if (atomic_flag_test_and_set_explicit(&said, memory_order_relaxed))
		return;
	PMPI_Win_get_name(w->win, name, &length);
	fprintf(stderr,
		"pawl: rank %d of window%s%s has waited %.1f s for an exclusive lock of target %d:"
		" others hold it, or readers join them while this call stands aside, since a holder"
		" may wait for a reader; it gets the lock when all of them have left"
		" (pawl-mpi(7), Messages)\n",
		w->pool->rank, name[0] ? " " : "", name, (double)ns * 1e-9, rank);
}

typedef int acquire_until(struct window *w, int rank, uint64_t deadline_ns);

/* Soon has passed, which it does at any time, so the client goes on from its place; or rc is
 * another code. */
static __attribute__((noinline, cold)) int acquire_again(struct window *w, int rank,
							 acquire_until *how, int rc)
{
	const uint64_t begin = report_now();
	uint64_t patience_ns = PATIENCE_NS;

	if (rc == PAWL_ERR_TIMEOUT)
		atomic_store_explicit(&soon, begin + patience_ns, memory_order_relaxed);
	while (rc == PAWL_ERR_TIMEOUT) {
		rc = how(w, rank, report_now() + patience_ns);
		if (rc != PAWL_ERR_TIMEOUT)
			return rc;
		if (rank != ALL_TARGETS && report_now() - begin >= SAY_NS)
			say_waits(w, rank, report_now() - begin);
		stand_aside(w, patience_ns, rank == ALL_TARGETS && !w->pool->by_whole);
		patience_ns *= 2;
	}
	return rc;
}

INLINE int acquire_patiently(struct window *w, int rank, acquire_until *how)
{
	int rc = how(w, rank, atomic_load_explicit(&soon, memory_order_relaxed));

	return __builtin_expect(rc == PAWL_SUCCESS, 1) ? rc : acquire_again(w, rank, how, rc);
}

/* --------------------------------------------------------- single targets */

static int acquire_target(struct window *w, int rank, enum held what)
{
	if (what == HELD_EXCLUSIVE)
		return acquire_patiently(w, rank, acquire_exclusive);
	return pawl_lock_acquire(w->pool->targets, pool_target(w->pool, w->id, rank), PAWL_SHARED);
}

static int release_target(struct window *w, int rank, enum held what)
{
	if (what == HELD_EXCLUSIVE)
		return release_exclusive(w, rank);
	return pawl_lock_release(w->pool->targets, pool_target(w->pool, w->id, rank));
}

int dropin_lock(struct window *w, int type, int rank, int assertion)
{
	enum held what = assertion & MPI_MODE_NOCHECK ? HELD_NOCHECK
			 : type == MPI_LOCK_SHARED    ? HELD_SHARED
						      : HELD_EXCLUSIVE;
	uint64_t begin = 0;
	int rc;

	/* Not a rank of the window: the MPI raises the error. */
	if (rank < 0 || rank >= w->size)
		return next_Win_lock(type, rank, assertion, w->win);
	if (atomic_load_explicit(&w->all, memory_order_relaxed) != HELD_NOT)
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_lock of target %d while MPI_Win_lock_all holds", rank);
	if (!claim(w, &w->held[rank]))
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_lock of target %d, which is locked already", rank);
	rc = open_native(w, type, rank, assertion);
	if (rc != MPI_SUCCESS) {
		settle(&w->held[rank], HELD_NOT);
		return rc;
	}
	if (what != HELD_NOCHECK) {
		begin = report_clock(w);
		rc = acquire_target(w, rank, what);
		if (begin)
			report_wait(w, what == HELD_SHARED ? CALL_SHARED : CALL_EXCLUSIVE, begin);
		if (rc != PAWL_SUCCESS) {
			close_native(w, rank);
			settle(&w->held[rank], HELD_NOT);
			return dropin_raise(w->win, MPI_ERR_OTHER, "MPI_Win_lock of target %d: %s",
					    rank, pawl_error_message());
		}
	}
	atomic_store_explicit(&w->taken, true, memory_order_relaxed);
	count_locks(w, 1);
	settle(&w->held[rank], what);
	dropin_order_memory(w);
	return MPI_SUCCESS;
}

int dropin_unlock(struct window *w, int rank)
{
	enum held what;
	int rc, done, ours = PAWL_SUCCESS;

	if (rank < 0 || rank >= w->size)
		return next_Win_unlock(rank, w->win);
	if (look(&w->held[rank]) != HELD_RANGES && w->ranges && ranges_held(w, rank))
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_unlock of target %d while %d byte ranges of it are"
				    " locked",
				    rank, ranges_held(w, rank));
	what = look(&w->held[rank]) == HELD_RANGES ? HELD_NOT : unsettle(w, &w->held[rank]);
	if (what == HELD_NOT)
		return bypass_unlock(w, rank);
	dropin_order_memory(w);
	completion_expect(w, rank, rank);
	done = atomics_complete(w, rank, false);
	rc = close_native(w, rank);
	if (what != HELD_NOCHECK)
		ours = release_target(w, rank, what);
	count_locks(w, -1);
	settle(&w->held[rank], HELD_NOT);
	after_unlock(w, rank);
	if (done != MPI_SUCCESS)
		return done;
	if (ours != PAWL_SUCCESS)
		return dropin_raise(w->win, MPI_ERR_OTHER, "MPI_Win_unlock of target %d: %s", rank,
				    pawl_error_message());
	return rc;
}

/* ------------------------------------------------------------ all targets */

static int release_all(struct window *w, int targets)
{
	const struct pool *p = w->pool;
	int rc = PAWL_SUCCESS;

	if (p->by_whole)
		return pawl_lock_release(p->wholes, pool_whole(p, w->id));
	for (int r = targets - 1; r >= 0; r--)
		if (pawl_lock_release(p->targets, pool_target(p, w->id, r)) != PAWL_SUCCESS)
			rc = PAWL_ERR_NOT_HELD;
	return rc;
}

static int acquire_all(struct window *w, int rank, uint64_t deadline_ns)
{
	const struct pool *p = w->pool;

	(void)rank;
	if (p->by_whole)
		return pawl_private_acquire(p->wholes, pool_whole(p, w->id), PAWL_SHARED,
					    deadline_ns);
	for (int r = 0; r < w->size; r++) {
		int rc = pawl_private_acquire(p->targets, pool_target(p, w->id, r), PAWL_SHARED,
					      deadline_ns);

		if (rc != PAWL_SUCCESS) {
			release_all(w, r);
			return rc;
		}
	}
	return PAWL_SUCCESS;
}

int dropin_lock_all(struct window *w, int assertion)
{
	enum held what = assertion & MPI_MODE_NOCHECK ? HELD_NOCHECK : HELD_SHARED;
	uint64_t begin = 0;
	int rc;

	if (atomic_load_explicit(&w->locks, memory_order_relaxed) != 0 || !claim(w, &w->all))
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_lock_all while targets are locked already");
	rc = next_Win_lock_all(assertion | MPI_MODE_NOCHECK, w->win);
	if (rc == MPI_SUCCESS && what == HELD_SHARED) {
		begin = report_clock(w);
		rc = acquire_patiently(w, ALL_TARGETS, acquire_all);
		if (begin)
			report_wait(w, CALL_ALL, begin);
		if (rc != PAWL_SUCCESS) {
			next_Win_unlock_all(w->win);
			settle(&w->all, HELD_NOT);
			return dropin_raise(w->win, MPI_ERR_OTHER, "MPI_Win_lock_all: %s",
					    pawl_error_message());
		}
	}
	if (rc != MPI_SUCCESS) {
		settle(&w->all, HELD_NOT);
		return rc;
	}
	atomic_store_explicit(&w->taken, true, memory_order_relaxed);
	count_locks(w, 1);
	settle(&w->all, what);
	dropin_order_memory(w);
	return MPI_SUCCESS;
}

int dropin_unlock_all(struct window *w)
{
	enum held what;
	int rc, done, ours = PAWL_SUCCESS;

	if (look(&w->all) != HELD_NOT && w->ranges && ranges_held(w, -1))
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_unlock_all while %d byte ranges are locked",
				    ranges_held(w, -1));
	what = unsettle(w, &w->all);
	if (what == HELD_NOT)
		return bypass_unlock(w, -1);
	dropin_order_memory(w);
	completion_expect(w, 0, w->size - 1);
	done = atomics_complete(w, -1, false);
	rc = next_Win_unlock_all(w->win);
	if (what != HELD_NOCHECK)
		ours = release_all(w, w->size);
	count_locks(w, -1);
	settle(&w->all, HELD_NOT);
	if (done != MPI_SUCCESS)
		return done;
	if (ours != PAWL_SUCCESS)
		return dropin_raise(w->win, MPI_ERR_OTHER, "MPI_Win_unlock_all: %s",
				    pawl_error_message());
	return rc;
}

void epochs_drop(struct window *w)
{
	const enum held all = look(&w->all);

	if (all == HELD_SHARED)
		release_all(w, w->size);
	for (int r = 0; r < w->size; r++) {
		const enum held what = look(&w->held[r]);

		if (what > HELD_NOCHECK)
			release_target(w, r, what);
	}
	count_locks(w, -atomic_load_explicit(&w->locks, memory_order_relaxed));
}

/* ------------------------------------------------------------- byte ranges */

static int open_for_ranges(struct window *w, int rank)
{
	int rc = open_native(w, MPI_LOCK_SHARED, rank, 0);

	if (rc == MPI_SUCCESS && acquire_target(w, rank, HELD_SHARED) != PAWL_SUCCESS) {
		close_native(w, rank);
		rc = dropin_raise(w->win, MPI_ERR_OTHER, "pawl_win_lock_range of target %d: %s",
				  rank, pawl_error_message());
	}
	if (rc != MPI_SUCCESS) {
		settle(&w->held[rank], HELD_NOT);
		return rc;
	}
	count_locks(w, 1);
	w->epoch_users[rank] = 1;
	settle(&w->held[rank], HELD_RANGES);
	return MPI_SUCCESS;
}

int epochs_enter(struct window *w, int rank, bool *own)
{
	for (;;) {
		enum held was = look(&w->held[rank]);

		*own = was == HELD_NOT || was == HELD_RANGES;
		if (look(&w->all) > HELD_BUSY || (!*own && was != HELD_BUSY)) {
			*own = false;
			return MPI_SUCCESS;
		}
		if (*own && change(w, &w->held[rank], was))
			break;
		/* Another thread of this process is changing the target's state. */
		dropin_drive(w);
		sched_yield();
	}
	if (w->epoch_users[rank] == 0)
		return open_for_ranges(w, rank);
	w->epoch_users[rank]++;
	settle(&w->held[rank], HELD_RANGES);
	return MPI_SUCCESS;
}

int epochs_complete(struct window *w, int rank, bool own)
{
	int rc, done;

	while (own && !change(w, &w->held[rank], HELD_RANGES)) {
		dropin_drive(w);
		sched_yield();
	}
	dropin_order_memory(w);
	completion_expect(w, rank, rank);
	done = atomics_complete(w, rank, false);
	rc = own && w->epoch_users[rank] == 1 ? close_native(w, rank)
					      : next_mpi.Win_flush(rank, w->win);
	return done == MPI_SUCCESS ? rc : done;
}

int epochs_leave(struct window *w, int rank, bool own)
{
	int rc = PAWL_SUCCESS;

	if (own && --w->epoch_users[rank] == 0) {
		rc = release_target(w, rank, HELD_SHARED);
		count_locks(w, -1);
		settle(&w->held[rank], HELD_NOT);
	} else if (own) {
		settle(&w->held[rank], HELD_RANGES);
	}
	after_unlock(w, rank);
	return rc;
}
