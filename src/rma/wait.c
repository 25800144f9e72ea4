/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where clients wait.
 *
 * A client looks at the word again and again for a while (spin_ns), then it
 * parks: it sleeps on a NODE word by futex, and the client that writes the word wakes
 * it. Two things bend this:
 *   - Where ranks outnumber cores, the awaited client may be waiting for our
 *     core: between looks the core is given away. Waking a parked rank takes
 *     longer than many hand-overs, so the client that is next in a queue still looks for a
 *     while (RMA_SOON); one that knows that others have their turn first parks at
 *     once and leaves them the cores (RMA_LATER).
 *   - Where MPI operations are driven by the calls of their target, a rank that
 *     sleeps stalls all origins that operate on its memory: other clients, if the table
 *     has NET words, and in any case the application. The holder may
 *     be getting data from us, so not to drive the MPI could be a dead-lock. We
 *     drive it at each look (NET) or now and then (NODE words only), and park for
 *     a limited time: a 64th of the time waited, at most two milliseconds. (A
 *     larger share would feed on itself: a sleeping rank delays those it waits for.)
 *     So a rank that waits for long burns one to three per cent of a core, most of
 *     it in the MPI's progress, and delays others by no more than two milliseconds.
 *     Where a thread of the transport serves the others (is_served), NET words are waited for
 *     like NODE words: the thread, too, wakes parked clients. Then only the application
 *     needs the MPI driven, and naps are longer, lest sleepers take the cores of clients
 *     that hand the lock over. Such a table spans hosts, and hosts that share
 *     cores do not know it: so a core is given away between looks even where ranks do not
 *     outnumber cores.
 */
#include "rma/rma.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOKS_PER_CLOCK = 32, /* look this often at the word for a look at the clock, */
	LOOKS_PER_YIELD = 16, /* and before giving the core away once */
	NAP_MIN_NS = 200000,
	NAP_SERVED_NS = 1000000, /* at the least where a thread serves the others */
	NAP_MAX_NS = 2000000,
	NAP_SHARE = 64,
	SLEEP_NS = 50000, /* a back-off as long as this is slept through */
	POLL_NS =
	    10000000, /* where only looking tells, give the core away so long before napping */
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

/* Futexes compare 32 bits, one half of the word. Most clients sleep on the low half, where
 * protocols see to it that what they wait for shows; one that waits for bits of the upper half
 * alone sleeps on that one. The counts in a segment's header tell: parked clients in their low
 * half, and those of them that sleep on an upper half in their own upper half. */
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
	/* Counted in before the last look at the word (which the kernel takes);
	 * pairs with rma_wake(): either the writer sees us counted, or we see
	 * what it wrote. */
	atomic_fetch_add_explicit(parked, me, memory_order_seq_cst);
	syscall(SYS_futex, futex_address(w, upper), FUTEX_WAIT, half, &t, NULL, 0);
	atomic_fetch_sub_explicit(parked, me, memory_order_seq_cst);
}

static void progress(struct rma_client *c, uint64_t look)
{
	if (look % c->rma->waiting.looks == 0)
		c->rma->transport->progress(c);
}

/* Whether it is time for a report: after as long as option watchdog says, and each time that
 * the wait has become twice as long. */
static bool is_report_due(const struct rma_client *c, uint64_t waited, uint64_t *next_ns)
{
	double first = c->rma->waiting.watchdog * 1e9;

	if (!(first > 0) || (double)waited < first || waited < *next_ns)
		return false;
	*next_ns = 2 * waited;
	return true;
}

/* word: what is looked at, or "". */
static void report(const struct rma_client *c, uint64_t waited, const char *what, const char *word)
{
	const struct rma_waiting *how = &c->rma->waiting;

	fprintf(stderr, "pawl: %s has waited %.1f s at lock %llu of a table (%s) for %s%s\n",
		how->self, (double)waited * 1e-9, (unsigned long long)c->lock, how->table, what,
		word);
}

static void report_word(const struct rma_client *c, uint64_t waited, const char *what,
			struct rma_word w, int64_t value)
{
	char word[96];

	snprintf(word, sizeof word, " (rank %d of the table, offset %llu, value 0x%llx)", w.rank,
		 (unsigned long long)w.offset, (unsigned long long)value);
	report(c, waited, what, word);
}

static uint64_t nap_ns(const struct rma_client *c, uint64_t waited)
{
	uint64_t ns = waited / NAP_SHARE, least;

	least = c->rma->transport->can.is_served ? NAP_SERVED_NS : NAP_MIN_NS;

	return ns < least ? least : ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
}

/* Where each look costs a call of the transport the core is given away each time. */
static bool is_to_yield(const struct rma_client *c, unsigned look)
{
	if (!c->rma->waiting.crowded && !c->rma->transport->can.is_served)
		return false;
	return c->rma->net || look % LOOKS_PER_YIELD == 0;
}

/* Whether what has to change before the word fits lies in its upper half alone. What changes a
 * word that must differ from ref shows in the low half. */
static bool is_in_upper_half(int64_t value, int64_t mask, enum rma_cond cond, int64_t ref)
{
	uint64_t wrong = (uint64_t)((value & mask) ^ ref);

	return cond == RMA_EQ && wrong >> 32 != 0 && (uint32_t)wrong == 0;
}

/* After the spinning: give the core away in the way that fits. */
static void give_way(struct rma_client *c, struct rma_word w, int64_t value, bool upper,
		     uint64_t waited)
{
	const struct rma_waiting *how = &c->rma->waiting;
	struct timespec t = timespec_of(nap_ns(c, waited));

	if (!how->park || (waited < POLL_NS && (c->rma->net || (how->serves && how->serves(c))))) {
		sched_yield();
		return;
	}
	c->rma->transport->progress(c);
	c->sleeps_on_upper = upper;
	if (rma_is_cpu(w))
		rma_park(c, w, value, nap_ns(c, waited));
	else if (c->rma->transport->sleep)
		c->rma->transport->sleep(c, w, value, nap_ns(c, waited));
	else
		nanosleep(&t, NULL);
}

/* A word of another node: ask for it. */
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

bool rma_await_long(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, enum rma_patience patience, uint64_t deadline_ns, const char *what,
		    int64_t *value)
{
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t start, waited = 0, report_ns = 0, spin_ns = how->spin_ns[patience];

	if (c->rma->transport->await && !(w.flags & RMA_FAR))
		return c->rma->transport->await(c, w, mask, cond, ref, deadline_ns, what, value);
	c->waits++;
	if (!w.map)
		return await_remote(c, w, mask, cond, ref, deadline_ns, what, value);
	start = rma_now_ns();
	for (unsigned look = 1;; look++) {
		*value = atomic_load_explicit(w.map, memory_order_seq_cst);
		if (rma_holds(*value, mask, cond, ref))
			return true;
		if (deadline_ns && start + waited >= deadline_ns)
			return false;
		progress(c, look);
		if (waited >= spin_ns)
			give_way(c, w, *value, is_in_upper_half(*value, mask, cond, ref), waited);
		else if (is_to_yield(c, look))
			sched_yield();
		else
			relax();
		if (waited >= spin_ns || look % LOOKS_PER_CLOCK == 0)
			waited = rma_now_ns() - start;
		if (is_report_due(c, waited, &report_ns))
			report_word(c, waited, what, w, *value);
	}
}

/* Less than queueing and being handed the lock takes. */
enum { LOOKS_PER_GLANCE = 64 };

bool rma_glance(struct rma_word w, int64_t mask, enum rma_cond cond, int64_t ref)
{
	for (int i = 0; rma_is_mapped_cpu(w) && i < LOOKS_PER_GLANCE; i++) {
		if (rma_holds(atomic_load_explicit(w.map, memory_order_relaxed), mask, cond, ref))
			return true;
		relax();
	}
	return false;
}

/* Pass ns of time, driving the transport if need be; asleep if it is worth it. */
static void pass_time(struct rma_client *c, uint64_t ns)
{
	uint64_t start = rma_now_ns(), look = 0;
	struct timespec t = timespec_of(ns);

	if (ns >= SLEEP_NS && c->rma->waiting.park) {
		c->rma->transport->progress(c);
		nanosleep(&t, NULL);
		return;
	}

	do {
		progress(c, look++);
		if (c->rma->waiting.crowded)
			sched_yield();
		else
			relax();
	} while (rma_now_ns() - start < ns);
}

bool rma_pause(struct rma_client *c, struct rma_pause *p, const char *what)
{
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t ns = 0, waited, now;

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
	if (is_report_due(c, waited, &p->report_ns))
		report(c, waited, what, "");
	if (ns) {
		if (p->lazy && waited > POLL_NS && nap_ns(c, waited) > ns)
			ns = nap_ns(c, waited);
		if (p->deadline_ns && ns > p->deadline_ns - now)
			ns = p->deadline_ns - now;
		pass_time(c, ns);
		return true;
	}
	progress(c, p->rounds);
	if (how->park && waited > POLL_NS) {
		struct timespec t = timespec_of(nap_ns(c, waited));

		nanosleep(&t, NULL);
	} else if (how->crowded || waited >= how->spin_ns[RMA_SOON]) {
		sched_yield();
	} else {
		relax();
	}
	return true;
}
