/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that goes to sleep on a word at the moment when the word changes does not miss the
 * change, in either half of the word. The change comes from the transport's progress,
 * which a waiter calls between its last look and its sleep. A client that pauses for long
 * drives the transport meanwhile. Prints TAP.
 */
#include <pthread.h>
#include <time.h>

#include "rma/rma.h"
#include "tests/tap.h"

enum { ROUNDS = 20, LONG_S = 5 };
/* Naps of a waiter whose transport serves others are no shorter than this. */
#define NAP_NS 1000000

static _Alignas(64) _Atomic(int64_t) segment[RMA_HEADER_BYTES / 8 + 8];
static struct rma_client other;
static struct rma_word word;
static int64_t bits;

static void change(void)
{
	rma_acc(&other, word, (int64_t)(0 - (uint64_t)bits));
	bits = 0;
}

static int calls;

static void progress(struct rma_client *c)
{
	calls++;
	if (c != &other && bits)
		change();
}

/* Long enough to make naps long. */
static struct rma_transport transport = {
    .can = {.is_served = true, .wakes = true},
    .progress = progress,
};
static char *map[1] = {(char *)segment};
static const int node[1] = {0};
static struct rma rma = {
    .transport = &transport,
    .map = map,
    .node = node,
    .waiting = {.park = true, .looks = 1000},
};

/* The shortest of many waits: a busy machine lengthens some of them, a missed change all. */
static uint64_t shortest_wait(int64_t mask)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		struct rma_client c = {.rma = &rma};
		uint64_t began = rma_now_ns(), took;
		int64_t value;

		atomic_store(word.map, mask);
		bits = mask;
		rma_await_until(&c, word, mask, RMA_EQ, 0, RMA_LATER, began + 1000000000, "it",
				&value);
		took = rma_now_ns() - began;
		least = took < least ? took : least;
	}
	return least;
}

static void *change_later(void *arg)
{
	struct timespec t = {0, 100000000};

	(void)arg;
	nanosleep(&t, NULL);
	change();
	return NULL;
}

/* Asleep when the word changes. */
static bool is_woken(int64_t mask)
{
	struct rma_client c = {.rma = &rma, .sleeps_on_upper = !(uint32_t)mask};
	uint64_t began = rma_now_ns();
	pthread_t thread;

	atomic_store(word.map, mask);
	bits = mask;
	if (pthread_create(&thread, NULL, change_later, NULL) != 0)
		return false;
	rma_park(&c, word, mask, LONG_S * UINT64_C(1000000000));
	pthread_join(thread, NULL);
	return rma_now_ns() - began < LONG_S * UINT64_C(500000000);
}

static bool yes(const struct rma_client *c)
{
	(void)c;
	return true;
}

static bool no(const struct rma_client *c)
{
	(void)c;
	return false;
}

/* How often a client drives the transport in one pause, by whether holders need it to. */
static int calls_in_pause(uint64_t ns, bool (*serves)(const struct rma_client *c))
{
	struct rma_client c = {.rma = &rma};
	struct rma_pause p = {.min_ns = ns, .max_ns = ns};

	calls = 0;
	rma.waiting.looks = 1;
	rma.waiting.serves = serves;
	rma_pause(&c, &p, "it");
	return calls;
}

static uint64_t longest_nap;

static void doze(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns)
{
	(void)c, (void)w, (void)value;
	longest_nap = ns > longest_nap ? ns : longest_nap;
}

/* The longest nap of a client that waits so long for a NET word. */
static uint64_t nap_in_wait(uint64_t ns, bool wakes)
{
	struct rma_client c = {.rma = &rma};
	struct rma_word w = rma_word(&rma, RMA_NET, 0, RMA_HEADER_BYTES);
	int64_t value;

	longest_nap = 0;
	transport.can.wakes = wakes;
	transport.sleep = doze;
	atomic_store(w.map, 1);
	rma_await_until(&c, w, 1, RMA_EQ, 0, RMA_LATER, rma_now_ns() + ns, "it", &value);
	return longest_nap;
}

int main(void)
{
	other.rma = &rma;
	word = rma_word(&rma, RMA_NODE, 0, RMA_HEADER_BYTES);
	ok(shortest_wait(1) < NAP_NS / 2, "a change of bit 0 before the sleep is seen");
	ok(shortest_wait(INT64_C(1) << 40) < NAP_NS / 2, "a change of bit 40 before the sleep");
	ok(shortest_wait(INT64_MIN) < NAP_NS / 2, "a change of bit 63 before the sleep");
	ok(shortest_wait(INT64_C(3) << 31) < NAP_NS / 2, "a change of bits of both halves");
	ok(is_woken(1), "a change of bit 0 wakes a client that sleeps");
	ok(is_woken(INT64_C(1) << 40), "a change of bit 40 wakes a client that sleeps");
	ok(atomic_load(rma_parked(&rma, word)) == 0, "no waiter is counted at the end");
	ok(calls_in_pause(200000000, NULL) > 3, "a long pause drives the transport now and then");
	ok(calls_in_pause(200000000, no) > 3, "so does that of a client with progress=eager");
	ok(calls_in_pause(5000000, yes) > 50, "one that serves does not sleep at first");
	rma.waiting.serves = NULL;
	ok(nap_in_wait(3000000, true) > 0, "a client that a thread wakes naps soon");
	ok(nap_in_wait(3000000, false) == 0, "one that nobody wakes does not");
	ok(nap_in_wait(100000000, false) > 0 && longest_nap <= 100000000 / 64,
	   "later it naps for a 64th of its wait");
	return tap_plan();
}
