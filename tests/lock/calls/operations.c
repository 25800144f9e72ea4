/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the operations of an acquire and release, which do not vary: of every kind in the table
 * rows[], and what is special about some. To be run on 4 ranks on 2 nodes, real or by --set
 * topology=...
 */
#include "tests/lock/tables.h"

#include <stdlib.h>
#include <string.h>

#include "rma/few.h"
#include "rma/memory/segments.h"
#include "table/table.h"
#include "tests/wrap.h"

static pawl_table *table;

/* With TEST_ATOMICS=few in the environment, the network has the atomics of a device with few. */
static struct rma_few few;
WRAP(enum rma_failure, rma_network_open,
     (struct rma * r, const struct rma_request *q, char *err, size_t errlen))
{
	const char *atomics = getenv("TEST_ATOMICS");
	enum rma_failure failure = __real_rma_network_open(r, q, err, errlen);

	memset(&few, 0, sizeof few);
	if (failure == RMA_OK && atomics && strcmp(atomics, "few") == 0 && r->transport->fao)
		rma_few_open(&few, r);
	return failure;
}

static struct pawl_stats measured(uint64_t lock, int mode, int times, bool acquire_only)
{
	struct pawl_stats s = {.acquires = 0};

	expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
	for (int i = 0; i < times; i++) {
		expect_code(pawl_lock_acquire(table, lock, mode), PAWL_SUCCESS, "acquire");
		if (!acquire_only)
			expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
	}
	expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "stats");
	return s;
}

/* Far operations without flushes. */
static uint64_t far_of(const struct pawl_stats *s)
{
	return s->atomics[1] + s->gets[1] + s->puts[1];
}

/* The last rank and lock 0 of one table: far from each other. */
static bool is_far_client(void)
{
	return tap_rank == tap_size - 1;
}

/* The last but one rank hands the lock over to the last, which has been in the queue
 * for that time; returns this rank's far operations for it, flushes included. */
static uint64_t hand_over(double seconds)
{
	struct pawl_stats s = {.acquires = 0};

	if (tap_rank == tap_size - 2)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == tap_size - 2) {
		linger(seconds);
		expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "stats");
	} else if (tap_rank == tap_size - 1) {
		s = measured(0, PAWL_EXCLUSIVE, 1, true);
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	meet();
	return far_of(&s) + s.flushes[1];
}

static void rma_mcs(void)
{
	uint64_t far = 1;

	table = table_open("rma-mcs", 1, NULL, NULL);
	now_doing("rma-mcs");
	/* The last two ranks share a node. If the second is not in the queue yet
	 * when the first releases, the lock leaves the node: try again, slower. */
	for (int i = 0; table && i < 6 && far != 0; i++) {
		uint64_t mine = hand_over(0.02 * (1 << i));

		MPI_Allreduce(&mine, &far, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	}
	expect(far == 0, "%d far operations for a hand-over", (int)far);
	table_close(table);
	result("rma-mcs: a hand-over within a node has no far operation");
}

static void readers(const char *t_dc, uint64_t most)
{
	table = table_open("rma-rw", 1, t_dc ? "t_dc" : NULL, t_dc);
	now_doing("rma-rw, readers");
	if (table) {
		struct pawl_stats s = measured(0, PAWL_SHARED, 10, false);

		expect(far_of(&s) <= 10 * most, "%d far operations for 10 acquires",
		       (int)far_of(&s));
	}
	meet();
	table_close(table);
	result("rma-rw, a reader%s: at most %d far operations to acquire, as many to release",
	       t_dc ? " with a counter for all" : "", (int)most / 2);
}

/* A part and its whole share a round trip each way. */
static void mgl_parts(void)
{
	static const int modes[] = {PAWL_EXCLUSIVE, PAWL_SHARED};

	table = table_open("mgl", 2, NULL, NULL);
	now_doing("mgl, parts");
	for (int i = 0; table && is_far_client() && i < 2; i++) {
		struct pawl_stats s;

		expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
		expect_code(pawl_lock_acquire_part(table, 0, 1, modes[i]), PAWL_SUCCESS,
			    "acquire part");
		expect_code(pawl_lock_release_part(table, 0, 1), PAWL_SUCCESS, "release part");
		expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "stats");
		expect(s.atomics[1] == 4 && far_of(&s) == 4, "a part, mode %d: %d far operations",
		       modes[i], (int)far_of(&s));
	}
	meet();
	table_close(table);
	result("mgl, a part uncontended: 2 far atomics to acquire and 2 to release");
}

static bool same(const struct pawl_stats *a, const struct pawl_stats *b)
{
	bool equal = a->waits == b->waits;

	for (int far = 0; far < 2; far++)
		equal = equal && a->atomics[far] == b->atomics[far] &&
			a->gets[far] == b->gets[far] && a->puts[far] == b->puts[far] &&
			a->flushes[far] == b->flushes[far];
	return equal;
}

static void expect_counts(const struct pawl_stats *s, const struct pawl_stats *wanted,
			  const char *what)
{
	for (int far = 0; !same(s, wanted) && far < 2; far++)
		fail("%s, %s: %d atomics, %d gets, %d puts, %d flushes", what, far ? "far" : "near",
		     (int)s->atomics[far], (int)s->gets[far], (int)s->puts[far],
		     (int)s->flushes[far]);
}

/* The operations of a client of the home's node without contention, for the acquire and for acquire
 * and release; there must be no others. */
static void exactly_at_home(const char *kind, struct pawl_stats acquire, struct pawl_stats both)
{
	table = table_open(kind, 1, NULL, NULL);
	now_doing("%s", kind);
	if (table && tap_rank == 0) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, true);

		expect_counts(&s, &acquire, "acquire");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		pawl_table_get_stats(table, &s);
		expect_counts(&s, &both, "acquire and release");
	}
	meet();
	table_close(table);
	result("%s, uncontended at its home: %d atomics for both, %d flushes", kind,
	       (int)both.atomics[0], (int)both.flushes[0]);
}

/* rdma-mcs, mcs-printed and rdma-spin use the network even there. */
static void at_home(void)
{
	exactly_at_home("alock", (struct pawl_stats){.atomics = {1, 0}, .gets = {1, 0}},
			(struct pawl_stats){.atomics = {2, 0}, .gets = {1, 0}});
	exactly_at_home("farlock",
			(struct pawl_stats){.atomics = {2, 0}, .gets = {4, 0}, .puts = {1, 0}},
			(struct pawl_stats){.atomics = {2, 0}, .gets = {5, 0}, .puts = {2, 0}});
	exactly_at_home("rdma-mcs", (struct pawl_stats){.atomics = {1, 0}, .flushes = {1, 0}},
			(struct pawl_stats){.atomics = {2, 0}, .flushes = {2, 0}});
	exactly_at_home("mcs-printed", (struct pawl_stats){.atomics = {1, 0}, .flushes = {1, 0}},
			(struct pawl_stats){.atomics = {2, 0}, .flushes = {2, 0}});
	exactly_at_home("rdma-spin", (struct pawl_stats){.atomics = {1, 0}, .flushes = {1, 0}},
			(struct pawl_stats){.atomics = {2, 0}, .flushes = {2, 0}});
}

/* ---------------------------------------------------- every kind, from another node */

/* What the transport can do: nothing of what follows; post, and keep the order of operations; post
 * only, as devices do. With addition and compare-and-swap alone a device takes as many operations
 * as with all atomics, since nobody else changes these words. */
enum ability { BY_MPI, BY_MESSAGES, BY_DEVICE, ABILITIES };

struct cost {
	int atomics, gets, puts;
	int trips[ABILITIES];
};

/* What an uncontended acquire of a lock of another node costs, and its release. Over UCX all
 * operations of a round trip are one message, and a release without a round trip is one message,
 * too, unless it has no operation. */
static const struct row {
	const char *kind;
	int mode;
	struct cost acquire, release;
} rows[] = {
    {"d-mcs", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"rma-mcs", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"rma-rw", PAWL_EXCLUSIVE, {1, 4, 2, {4, 4, 4}}, {2, 0, 1, {3, 3, 3}}},
    {"rma-rw", PAWL_SHARED, {0, 0, 0, {0, 0, 0}}, {0, 0, 0, {0, 0, 0}}},
    {"mgl", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"mgl", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"mgl", PAWL_INTENT, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"mgl", PAWL_INTENT_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"shiftlock", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"shiftlock", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"alock", PAWL_EXCLUSIVE, {1, 1, 0, {2, 1, 2}}, {1, 0, 0, {1, 0, 0}}},
    {"farlock", PAWL_EXCLUSIVE, {2, 4, 1, {5, 2, 5}}, {0, 1, 1, {2, 0, 1}}},
    {"declock", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"declock", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"citron", PAWL_EXCLUSIVE, {2, 1, 0, {2, 1, 2}}, {2, 0, 0, {1, 0, 0}}},
    {"ss", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"ss", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"adaptive", PAWL_EXCLUSIVE, {1, 1, 0, {2, 1, 2}}, {1, 0, 0, {1, 0, 0}}},
    {"adaptive", PAWL_SHARED, {2, 1, 0, {3, 2, 3}}, {0, 0, 0, {0, 0, 0}}},
    {"adaptive", PAWL_INTENT, {2, 1, 0, {3, 2, 3}}, {0, 0, 0, {0, 0, 0}}},
    {"adaptive", PAWL_INTENT_SHARED, {2, 1, 0, {3, 2, 3}}, {0, 0, 0, {0, 0, 0}}},
    {"cas-spin", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"cas-backoff", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"fompi-spin", PAWL_EXCLUSIVE, {2, 0, 0, {2, 2, 2}}, {2, 0, 0, {2, 2, 2}}},
    {"fompi-rw", PAWL_EXCLUSIVE, {2, 0, 0, {2, 2, 2}}, {2, 0, 0, {2, 2, 2}}},
    {"fompi-rw", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"dslr", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"dslr", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"dslr-printed", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"dslr-printed", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 0, 0}}},
    {"rma-rw-entry", PAWL_EXCLUSIVE, {2, 2, 0, {4, 4, 4}}, {2, 1, 0, {3, 3, 3}}},
    {"rma-rw-entry", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"mcs-counted", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {2, 0, 0, {1, 1, 1}}},
    {"rdma-mcs", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"mcs-printed", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"rdma-spin", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"drtm", PAWL_EXCLUSIVE, {1, 0, 0, {1, 1, 1}}, {1, 0, 0, {1, 1, 1}}},
    {"drtm", PAWL_SHARED, {1, 0, 0, {1, 1, 1}}, {0, 0, 0, {0, 0, 0}}},
    {"lld", PAWL_EXCLUSIVE, {1, 2, 3, {3, 3, 3}}, {2, 0, 0, {2, 2, 2}}},
};

enum { ROWS = sizeof rows / sizeof *rows, FRESH_LOCKS = 4, TRIES = 50, FIRSTS = 40, READS = 100 };
enum { LOCKS_OF_RANK = TAP_MODES * FRESH_LOCKS + 2 + FIRSTS };

static const char *name_of(int mode)
{
	return mode == PAWL_EXCLUSIVE ? "exclusive"
	       : mode == PAWL_SHARED  ? "shared"
	       : mode == PAWL_INTENT  ? "intent exclusive"
				      : "intent shared";
}

static int take(const struct pawl_kind *kind, uint64_t lock, int mode, pawl_range *range)
{
	if (kind->capabilities & PAWL_CAP_RANGES)
		return pawl_range_acquire(table, lock, 0, 0, mode, range);
	return pawl_lock_acquire(table, lock, mode);
}

static int let_go(const struct pawl_kind *kind, uint64_t lock, pawl_range *range)
{
	if (kind->capabilities & PAWL_CAP_RANGES)
		return pawl_range_release(table, range);
	return pawl_lock_release(table, lock);
}

static void expect_cost(const struct pawl_stats *from, const struct pawl_stats *to,
			const struct cost *wanted, enum ability by, const char *what)
{
	int atomics = (int)(to->atomics[1] - from->atomics[1]);
	int gets = (int)(to->gets[1] - from->gets[1]), puts = (int)(to->puts[1] - from->puts[1]);
	int trips = (int)(to->flushes[1] - from->flushes[1]);

	expect(atomics == wanted->atomics && gets == wanted->gets && puts == wanted->puts &&
		   trips == wanted->trips[by],
	       "%s: %d atomics, %d gets, %d puts, %d round trips", what, atomics, gets, puts,
	       trips);
}

/* Each lock once: a release that is posted may be on its way for a while. The first lock of all
 * brings the connection up, without which no release is posted; the second one makes the slot for
 * acquires meanwhile. */
static void count_row(const struct row *r, uint64_t first, enum ability by)
{
	const struct pawl_kind *kind = pawl_kind_find(r->kind);

	for (uint64_t i = first; i < first + FRESH_LOCKS; i++) {
		struct pawl_stats s[3];
		pawl_range range;

		pawl_table_get_stats(table, &s[0]);
		expect_code(take(kind, i, r->mode, &range), PAWL_SUCCESS, "acquire");
		pawl_table_get_stats(table, &s[1]);
		expect_code(let_go(kind, i, &range), PAWL_SUCCESS, "release");
		pawl_table_get_stats(table, &s[2]);
		if (i < (by != BY_MPI ? 2 : 1))
			continue;
		expect_cost(&s[0], &s[1], &r->acquire, by, "acquire");
		expect_cost(&s[1], &s[2], &r->release, by, "release");
	}
}

/* A try that comes after this rank's release gets the lock, also if the release is on its way. */
static void tries(const struct pawl_kind *kind, uint64_t lock)
{
	for (int n = 0; n < TRIES; n++) {
		pawl_range range;
		int rc = kind->capabilities & PAWL_CAP_RANGES
			     ? pawl_range_try_acquire(table, lock, 0, 0, PAWL_EXCLUSIVE, &range)
			     : pawl_lock_try_acquire(table, lock, PAWL_EXCLUSIVE);

		if (!expect_code(rc, PAWL_SUCCESS, "a try"))
			return;
		expect_code(let_go(kind, lock, &range), PAWL_SUCCESS, "release");
	}
}

static void use_own(int i)
{
	measured((uint64_t)(tap_rank + 1) * LOCKS_OF_RANK - (uint64_t)i, PAWL_EXCLUSIVE, 1, false);
}

/* The first acquires of a table of kind adaptive decide what its locks are at first. These are of
 * the own rank's locks, so all others are at their home's node. By the last one each rank is told.
 */
static void decide_first(void)
{
	for (int i = 1; i <= FIRSTS; i++)
		use_own(i);
	meet();
	use_own(FIRSTS + 1);
	meet();
}

/* A client of kind adaptive that has read for a while caches what it reads, as exclusive clients
 * are few. */
static void read_own(void)
{
	measured((uint64_t)(tap_rank + 1) * LOCKS_OF_RANK - 1, PAWL_SHARED, READS, false);
}

/* ------------------------------------------------------------- what adaptive keeps */

/* So many acquires from one other node, between which nobody uses the lock at home, leave it
 * there. */
enum { VISITS = 4 };

static pawl_table *table_decided(const char *kind)
{
	table = table_open(kind, (uint64_t)tap_size * LOCKS_OF_RANK, NULL, NULL);
	now_doing("%s", kind);
	if (table)
		decide_first();
	return table;
}

/* The far operations, round trips included, of so many acquires and releases. */
static void far_operations(uint64_t lock, int mode, int times, uint64_t least, uint64_t most,
			   const char *what)
{
	struct pawl_stats s = measured(lock, mode, times, false);
	uint64_t n = far_of(&s);

	expect(n >= least && n <= most, "%s: %d far operations", what, (int)n);
	expect(most || s.flushes[1] == 0, "%s: %d round trips", what, (int)s.flushes[1]);
}

/* A lock of kind adaptive is where it is used, wherever its home: lock 0, whose home is rank 0. */
static void adaptive(void)
{
	if (table_decided("adaptive") && tap_rank == 0)
		far_operations(0, PAWL_EXCLUSIVE, 1, 0, 0, "first use, at the home");
	meet();
	if (table && is_far_client()) {
		struct pawl_stats s;

		far_operations(0, PAWL_EXCLUSIVE, VISITS, 2 * VISITS, 3 * VISITS + 1, "visits");
		s = measured(0, PAWL_EXCLUSIVE, 10, false);
		expect(far_of(&s) + s.flushes[1] == 0 && s.atomics[0] <= 21,
		       "%d far and %d near operations for 10 acquires", (int)far_of(&s),
		       (int)(s.atomics[0] + s.gets[0] + s.puts[0]));
	}
	meet();
	result("adaptive: at the home at first; if another node goes on using it, kept there, and "
	       "then 10 times acquired by no far operation, and two atomics each");
	/* Its neighbour finds it there; a try does, too. */
	if (table && tap_rank == tap_size - 2) {
		far_operations(0, PAWL_EXCLUSIVE, 1, 0, 0, "the node that has it");
		expect_code(pawl_lock_try_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "try");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	meet();
	if (table && tap_rank == 0) {
		expect_code(pawl_lock_try_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS,
			    "try from another node");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	meet();
	table_close(table);
	result("adaptive: other ranks of that node need no far operation; a try recalls it");
}

/* A sharer that has written often costs what a writer costs. Of others, the first one of a node
 * asks, later ones need no far operation, a writer recalls the lock from both nodes. */
static void adaptive_sharers(void)
{
	if (table_decided("adaptive")) {
		if (is_far_client())
			far_operations(2, PAWL_SHARED, 1, 2, 5, "a sharer that has written often");
		read_own();
	}
	meet();
	if (table && is_far_client()) {
		far_operations(1, PAWL_SHARED, 1, 2, 5, "the first sharer");
		far_operations(1, PAWL_SHARED, 10, 0, 0, "sharers of that node");
	}
	meet();
	if (table && tap_rank == 0) {
		measured(1, PAWL_SHARED, 1, false);
		far_operations(1, PAWL_SHARED, 10, 0, 0, "sharers at the home");
	}
	meet();
	if (table && is_far_client())
		far_operations(1, PAWL_SHARED, 10, 0, 0, "beside those at the home");
	meet();
	if (table && tap_rank == 0)
		far_operations(1, PAWL_EXCLUSIVE, 1, 2, 6, "a writer");
	meet();
	if (table && is_far_client()) {
		measured(1, PAWL_SHARED, 1, false);
		far_operations(1, PAWL_SHARED, 10, 0, 0, "sharers after the writer");
	}
	meet();
	table_close(table);
	result("adaptive: sharers of a node need no far operation after the first one");
}

/* The rows of a kind, from this one on; how many they are. */
static size_t uncontended(const struct row *from, const struct row *end, enum ability by)
{
	const struct pawl_kind *kind = pawl_kind_find(from->kind);
	const struct row *r = from;

	now_doing("%s", from->kind);
	table = table_open(from->kind, (uint64_t)tap_size * LOCKS_OF_RANK,
			   readers_expire(kind) ? "lease" : NULL, "2000000");
	if (table && strcmp(from->kind, "adaptive") == 0)
		decide_first();
	for (; r < end && strcmp(r->kind, from->kind) == 0; r++) {
		if (table && strcmp(r->kind, "adaptive") == 0 && r->mode != PAWL_EXCLUSIVE)
			read_own();
		if (table && is_far_client())
			count_row(r, (uint64_t)(r - from) * FRESH_LOCKS, by);
		result("%s, %s, uncontended from another node: %d round trip%s to acquire,"
		       " %d to release",
		       r->kind, name_of(r->mode), r->acquire.trips[by],
		       r->acquire.trips[by] == 1 ? "" : "s", r->release.trips[by]);
	}
	if (by != BY_MPI && (kind->capabilities & PAWL_CAP_TRY)) {
		if (table && is_far_client())
			tries(kind, TAP_MODES * FRESH_LOCKS);
		result("%s: tries of one client, one after the other, get the lock", kind->name);
	}
	table_close(table);
	return (size_t)(r - from);
}

static bool has_row(const char *kind, int mode)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].kind, kind) == 0 && rows[i].mode == mode)
			return true;
	return false;
}

/* Kinds whose clients send messages to a server, or call the MPI's lock, have no operations. */
static bool has_operations(const struct pawl_kind *kind)
{
	return !(kind->capabilities & PAWL_CAP_THREADS) && strcmp(kind->name, "mpi-win-lock") != 0;
}

static void all_uncontended(enum ability by)
{
	const struct pawl_kind *kind;
	int mode;

	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		for (int m = 0; has_operations(kind) && m < TAP_MODES; m++)
			if (tap_mode(kind, m, &mode))
				expect(has_row(kind->name, mode), "%s, mode %d has no row",
				       kind->name, mode);
	result("every kind and mode has a row");
	for (size_t i = 0; i < ROWS;)
		i += uncontended(&rows[i], rows + ROWS, by);
}

int main(int argc, char **argv)
{
	struct pawl_table_info info = {.nodes = 0};
	enum ability by = BY_MPI;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	table = table_open("d-mcs", 1, NULL, NULL);
	if (table)
		pawl_table_get_info(table, &info);
	if (table && table->rma.transport->can.posts)
		by = table->rma.transport->can.ordered ? BY_MESSAGES : BY_DEVICE;
	table_close(table);
	result("a table");
	if (info.nodes != 2 || tap_size != 4) {
		skip("needs 4 ranks on 2 nodes", "operations across nodes");
		return tap_end();
	}
	note("counted on 2 nodes, transport %s", info.transport);
	all_uncontended(by);
	rma_mcs();
	mgl_parts();
	at_home();
	adaptive();
	adaptive_sharers();
	readers(NULL, 0);
	readers("1048576", 2);
	return tap_end();
}
