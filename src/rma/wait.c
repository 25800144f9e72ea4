/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How clients wait. All waits of protocols are here.
 *
 * A client looks at the word again and again for a while (spin_ns). Then it parks: it sleeps on the
 * NODE word by futex, and the client that writes the word wakes it. Two cases differ:
 *   - Ranks outnumber cores. The awaited client may be waiting for this core, so the waiter yields
 *     between looks. To wake a parked rank takes longer than many hand-overs, so a waiter that is
 *     next in a queue still spins for a while (RMA_SOON). A waiter that knows that others come
 *     first parks at once and leaves them the cores (RMA_LATER).
 *   - The target's MPI calls perform MPI operations. A rank that sleeps then stalls all origins of
 *     operations on its memory: other clients, if the table has NET words, and always the
 *     application. The holder may be getting data from the waiter, so a waiter that does not drive
 *     the MPI can cause a deadlock. A waiter drives the MPI at each look (NET words) or now and
 *     then (NODE words only), and parks for a limited time: a 64th of the time waited, at most two
 *     milliseconds. (A larger share would grow by itself: a sleeping rank delays the ranks that it
 *     waits for.) So a long wait costs one to three per cent of a core, most of it in the MPI's
 *     progress, and delays others by at most two milliseconds.
 *
 * If a thread of the transport serves the other ranks (is_served, wakes), clients wait for NET
 * words as for NODE words: the thread wakes parked clients, too. Then the waiter drives the MPI for
 * the application only, and naps are longer, so that sleepers do not take the cores of clients that
 * hand the lock over. Such a table spans hosts, and hosts that share cores cannot see that they do,
 * so a waiter yields between looks even if ranks do not outnumber cores.
 *
 * If a device serves them (is_served alone), its writes wake nobody. A client that waits for a NET
 * word then yields between looks for POLL_NS, as where it drives the transport, and naps from then
 * on. A nap is a 64th of the wait, so it makes no wait longer by more than that, or by NAP_MIN_NS.
 * NODE words are written by CPU, whose writer wakes the waiter, and seldom by a put from another
 * node; their waiters park, but no longer than those naps.
 *
 * A client that acquires by steps (client/request.c) does not wait here: it looks once and leaves
 * its stack until the next step. A step may also wait until a time; it leaves the stack then.
 */
#include "rma/rma.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOKS_PER_CLOCK = 32, /* looks at the word for each look at the clock */
	LOOKS_PER_YIELD = 16, /* looks for each yield */
	NAP_MIN_NS = 200000,
	NAP_SERVED_NS = 1000000, /* the least, if a thread serves the others */
	NAP_MAX_NS = 2000000,
	NAP_SHARE = 64,
	SLEEP_NS = 50000,      /* shortest back-off that sleeps */
	DOUBT_NS = 1000000000, /* the longest wait after a failure in the table */
	POLL_NS = 10000000,    /* if only looking shows a change: yield this long before napping */
};

uint64_t rma_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t rma_coarse_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static struct timespec timespec_of(uint64_t ns)
{
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000u),
	    .tv_nsec = (long)(ns % 1000000000u),
	};
	return t;
}

/* A futex compares 32 bits, one half of the word. Most clients sleep on the low half: protocols
 * make what they wait for show there. A client that waits for bits of the upper half alone sleeps
 * on the upper half. The counts in a segment's header have the number of parked clients in their
 * low half, and in their upper half how many of these sleep on an upper half. */
#define PARKED_UPPER (INT64_C(1) << 32)

static uint32_t *futex_address(struct rma_word w, bool upper)
{
	char *p = (char *)w.map;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	upper = !upper;
#endif
	return (uint32_t *)(void *)(p + (upper ? 4 : 0));
}

void rma_wake_parked(struct rma_word w)
{
	_Atomic(int64_t) *parked = rma_parked_at((char *)w.map - w.offset, w);

	syscall(SYS_futex, futex_address(w, false), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	if (atomic_load_explicit(parked, memory_order_seq_cst) >= PARKED_UPPER)
		syscall(SYS_futex, futex_address(w, true), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void rma_park(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns)
{
	_Atomic(int64_t) *parked = rma_parked(c->rma, w);
	struct timespec t = timespec_of(ns);
	bool upper = c->sleeps_on_upper;
	int64_t me = 1 + (upper ? PARKED_UPPER : 0);
	uint32_t half = (uint32_t)((uint64_t)value >> (upper ? 32 : 0));

	c->parks++;
	/* Orders the count before the last look at the word, which the kernel takes; pairs with
	 * rma_wake(): either the writer sees the count, or the kernel sees what it wrote. */
	atomic_fetch_add_explicit(parked, me, memory_order_seq_cst);
	syscall(SYS_futex, futex_address(w, upper), FUTEX_WAIT, half, &t, NULL, 0);
	atomic_fetch_sub_explicit(parked, me, memory_order_seq_cst);
}

static void progress(struct rma_client *c, uint64_t look)
{
	if (look % c->rma->waiting.looks == 0)
		c->rma->transport->progress(c);
}

/* Whether a report is due: after the time of option watchdog, and whenever the wait has doubled
 * since. */
static bool is_report_due(const struct rma_client *c, uint64_t waited, uint64_t *next_ns)
{
	double first = c->rma->waiting.watchdog * 1e9;

	if (!(first > 0) || (double)waited < first || waited < *next_ns || c->no_mpi)
		return false;
	*next_ns = 2 * waited;
	return true;
}

static void report(const struct rma_client *c, uint64_t waited, const char *what)
{
	const struct rma_waiting *how = &c->rma->waiting;

	if (how->report)
		how->report(how->report_arg, c, waited, what);
}

static void report_word(const struct rma_client *c, uint64_t waited, const char *what,
			struct rma_word w, int64_t value)
{
	char text[192];

	if (!c->rma->waiting.words) {
		report(c, waited, what);
		return;
	}
	snprintf(text, sizeof text, "%s (rank %d of the table, offset %llu, value 0x%llx)", what,
		 w.rank, (unsigned long long)w.offset, (unsigned long long)value);
	report(c, waited, text);
}

static void tell_observers(const struct rma_client *c, uint64_t waited, const char *what)
{
	const struct rma_waiting *how = &c->rma->waiting;

	if (how->observe && !c->no_mpi)
		how->observe(how->observe_arg, c, waited, what);
}

static uint64_t nap_ns(const struct rma_client *c, uint64_t waited)
{
	const uint64_t least = c->rma->transport->can.wakes ? NAP_SERVED_NS : NAP_MIN_NS;
	uint64_t ns = waited / NAP_SHARE;

	return ns < least ? least : ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
}

/* If each look costs a call of the transport, yield at each look. */
static bool is_to_yield(const struct rma_client *c, unsigned look)
{
	if (!c->rma->waiting.crowded && !c->rma->transport->can.is_served)
		return false;
	return c->rma->net || look % LOOKS_PER_YIELD == 0;
}

/* Whether the wait ends by a change of the word's upper half alone. A wait for RMA_NE ends by a
 * change that shows in the low half. */
static bool is_in_upper_half(int64_t value, int64_t mask, enum rma_cond cond, int64_t ref)
{
	uint64_t wrong = (uint64_t)((value & mask) ^ ref);

	return cond == RMA_EQ && wrong >> 32 != 0 && (uint32_t)wrong == 0;
}

/* Whether the holder is likely to need this process to drive the MPI. */
static bool is_serving(const struct rma_client *c)
{
	return c->rma->waiting.serves && c->rma->waiting.serves(c);
}

/* ns, or the time that is left until the deadline. */
static uint64_t until(uint64_t ns, uint64_t deadline_ns, uint64_t now)
{
	return deadline_ns && deadline_ns - now < ns ? deadline_ns - now : ns;
}

/* Whether only looking shows a change. */
static bool is_unseen(const struct rma_client *c, struct rma_word w)
{
	const struct rma_capabilities *can = &c->rma->transport->can;

	return c->rma->net || (can->is_served && !can->wakes && !rma_is_cpu(w));
}

/* After spinning: yield, park or nap, for most_ns at most. */
static void give_way(struct rma_client *c, struct rma_word w, int64_t value, bool upper,
		     uint64_t waited, uint64_t most_ns)
{
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t ns = nap_ns(c, waited);
	struct timespec t;

	if (!how->park || (waited < POLL_NS && (is_unseen(c, w) || is_serving(c)))) {
		sched_yield();
		return;
	}
	c->rma->transport->progress(c);
	c->sleeps_on_upper = upper;
	ns = ns < most_ns ? ns : most_ns;
	t = timespec_of(ns);
	if (c->rma->transport->sleep) /* another node may write a NODE word, too, by a put */
		c->rma->transport->sleep(c, w, value, ns);
	else if (rma_is_cpu(w))
		rma_park(c, w, value, ns);
	else
		nanosleep(&t, NULL);
}

/* Poll a word of another node by get. */
static bool await_remote(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
			 int64_t ref, uint64_t deadline_ns, const char *what, int64_t *value)
{
	struct rma_pause p = {.deadline_ns = deadline_ns};

	do {
		rma_get(c, w, value);
		rma_flush(c, w); /* orders the get before the look at its result */
		if (rma_holds(*value, mask, cond, ref))
			return true;
	} while (rma_pause(c, &p, what));
	return false;
}

/* One look at a word, without waiting. */
static bool look_once(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref, const char *what, int64_t *value)
{
	const uint64_t past = 1;

	if (c->rma->transport->await && !(w.flags & RMA_FAR))
		return c->rma->transport->await(c, w, mask, cond, ref, past, what, value);
	if (w.map) {
		*value = atomic_load_explicit(w.map, memory_order_seq_cst);
	} else {
		rma_get(c, w, value);
		rma_flush(c, w); /* orders the get before the look at its result */
	}
	return rma_holds(*value, mask, cond, ref);
}

/* Whether a wait of a client that does not wait has ended by its deadline. */
static bool is_over(const struct rma_client *c, uint64_t deadline_ns)
{
	if (c->steps->hurries && deadline_ns == c->steps->never)
		return deadline_ns != 0;
	return deadline_ns && rma_clock(c) >= deadline_ns;
}

/* Whether the time has come until which this step waits. */
static bool is_step_over(const struct rma_client *c, uint64_t now)
{
	return c->steps && c->steps->until_ns && now >= c->steps->until_ns;
}

/* Leave the acquire until the client takes the next step. */
static void leave_until_next_step(struct rma_client *c)
{
	c->steps->leave(c->steps);
	c->rma->transport->progress(c);
}

/* Wait by steps. False: the client waits from now on. Otherwise *held is the result. */
static bool await_by_steps(struct rma_client *c, struct rma_word w, int64_t mask,
			   enum rma_cond cond, int64_t ref, uint64_t deadline_ns, const char *what,
			   int64_t *value, bool *held)
{
	uint64_t waits = c->waits + 1;

	for (;;) {
		*held = look_once(c, w, mask, cond, ref, what, value);
		c->waits = waits; /* one wait, however many looks */
		if (*held || is_over(c, deadline_ns))
			return true;
		if (c->steps->waits) {
			c->waits = waits - 1;
			return false;
		}
		leave_until_next_step(c);
	}
}

bool rma_await_long(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, enum rma_patience patience, uint64_t deadline_ns, const char *what,
		    int64_t *value)
{
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t start, waited = 0, report_ns = 0, spin_ns = how->spin_ns[patience];
	bool held;

	if (__builtin_expect(c->steps != NULL, 0) &&
	    await_by_steps(c, w, mask, cond, ref, deadline_ns, what, value, &held))
		return held;
	if (c->rma->transport->await && !(w.flags & RMA_FAR))
		return c->rma->transport->await(c, w, mask, cond, ref, deadline_ns, what, value);
	if (!w.map)
		return await_remote(c, w, mask, cond, ref, deadline_ns, what, value);
	c->waits++;
	start = rma_now_ns();
	for (unsigned look = 1;; look++) {
		*value = atomic_load_explicit(w.map, memory_order_seq_cst);
		if (rma_holds(*value, mask, cond, ref))
			return true;
		if (deadline_ns && start + waited >= deadline_ns)
			return false;
		progress(c, look);
		if (waited >= spin_ns)
			give_way(c, w, *value, is_in_upper_half(*value, mask, cond, ref), waited,
				 until(UINT64_MAX, deadline_ns, start + waited));
		else if (is_to_yield(c, look))
			sched_yield();
		else
			relax();
		if (waited >= spin_ns || look % LOOKS_PER_CLOCK == 0) {
			waited = rma_now_ns() - start;
			tell_observers(c, waited, what);
		}
		if (__builtin_expect(is_step_over(c, start + waited), 0)) {
			leave_until_next_step(c);
			c->waits--; /* the same wait, which await_by_steps() counts again */
			if (await_by_steps(c, w, mask, cond, ref, deadline_ns, what, value, &held))
				return held;
			c->waits++;
		}
		if (is_report_due(c, waited, &report_ns))
			report_word(c, waited, what, w, *value);
	}
}

/* This takes less time than to queue and to be handed the lock. Where the holder is likely to wait
 * for this client's MPI, the client drives it; that takes as long as some looks. It does not let
 * the transport give up the call, because it may be releasing a lock. */
enum { LOOKS_BRIEFLY = 64, LOOKS_FOR_PROGRESS = 8 };

bool rma_spin_briefly(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref)
{
	const bool serves = !c->rma->transport->can.is_served && is_serving(c);
	jmp_buf *const on_loss = c->on_loss;

	for (unsigned look = 1; rma_is_mapped_cpu(w) && look <= LOOKS_BRIEFLY; look++) {
		if (rma_holds(atomic_load_explicit(w.map, memory_order_relaxed), mask, cond, ref))
			return true;
		if (serves && look % c->rma->waiting.looks == 0) {
			c->on_loss = NULL;
			c->rma->transport->progress(c);
			c->on_loss = on_loss;
			look += LOOKS_FOR_PROGRESS;
		}
		relax();
	}
	return false;
}

bool rma_look_often(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, int *looks)
{
	int64_t value;

	while (*looks > 0) {
		--*looks;
		rma_get(c, w, &value);
		if (rma_holds(value, mask, cond, ref))
			return true;
		relax();
	}
	return false;
}

bool rma_is_slow_to_change(struct rma_word w, uint64_t ns, int n)
{
	for (int i = 0; rma_is_mapped_cpu(w) && i < n; i++) {
		int64_t value = atomic_load_explicit(w.map, memory_order_relaxed);
		uint64_t start = rma_now_ns();

		do {
			relax();
			if (rma_now_ns() - start >= ns)
				return true;
		} while (atomic_load_explicit(w.map, memory_order_relaxed) == value);
	}
	return false;
}

bool rma_is_hopeless(struct rma_client *c, struct rma_doubt *d)
{
	uint64_t now = rma_now_ns();

	if (c->rma->outlives)
		return false;
	if (!d->since_ns || d->wait != c->waits)
		*d = (struct rma_doubt){now, c->waits};
	return now - d->since_ns > DOUBT_NS;
}

void rma_yield(struct rma_client *c)
{
	if (!c->rma->transport->pause) /* else time is virtual */
		sched_yield();
}

/* Let ns of time pass. A long pause sleeps, but no longer at a time than waiters do elsewhere, and
 * not at first if this process serves; a short one drives the transport. */
static void pass_time(struct rma_client *c, uint64_t ns, uint64_t waited)
{
	const struct rma_waiting *how = &c->rma->waiting;
	const bool sleeps = ns >= SLEEP_NS && how->park && (waited >= POLL_NS || !is_serving(c));
	const uint64_t most = how->serves ? nap_ns(c, waited) : NAP_MAX_NS;
	uint64_t start = rma_now_ns(), passed = 0, look = 0;
	struct timespec t;

	do {
		if (sleeps) {
			c->rma->transport->progress(c);
			t = timespec_of(ns - passed < most ? ns - passed : most);
			nanosleep(&t, NULL);
		} else {
			progress(c, look++);
			if (how->crowded)
				sched_yield();
			else
				relax();
		}
		passed = rma_now_ns() - start;
	} while (passed < ns);
}

bool rma_pause(struct rma_client *c, struct rma_pause *p, const char *what)
{
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t ns = 0, waited, now;

	if (__builtin_expect(c->steps != NULL, 0)) {
		if (is_over(c, p->deadline_ns))
			return false;
		if (!c->steps->waits || is_step_over(c, rma_now_ns())) {
			c->waits += p->rounds++ == 0;
			leave_until_next_step(c);
			return true;
		}
	}
	if (p->min_ns) {
		unsigned shift = p->rounds < 32 ? (unsigned)p->rounds : 32;

		ns = p->min_ns << shift;
		if (ns > p->max_ns || ns < p->min_ns)
			ns = p->max_ns;
	}
	p->rounds++;
	if (c->rma->transport->pause) {
		c->waits += p->rounds == 1;
		return c->rma->transport->pause(c, ns, p->deadline_ns, what);
	}
	now = rma_now_ns();
	if (!p->since_ns) {
		p->since_ns = now;
		c->waits++;
	}
	waited = now - p->since_ns;
	if (p->deadline_ns && now >= p->deadline_ns)
		return false;
	tell_observers(c, waited, what);
	if (is_report_due(c, waited, &p->report_ns))
		report(c, waited, what);
	if (ns) {
		if (p->lazy && waited > POLL_NS && nap_ns(c, waited) > ns)
			ns = nap_ns(c, waited);
		pass_time(c, until(ns, p->deadline_ns, now), waited);
		return true;
	}
	progress(c, p->rounds);
	if (how->park && waited > POLL_NS) {
		struct timespec t = timespec_of(until(nap_ns(c, waited), p->deadline_ns, now));

		nanosleep(&t, NULL);
	} else if (how->crowded || waited >= how->spin_ns[RMA_SOON]) {
		sched_yield();
	} else {
		relax();
	}
	return true;
}
