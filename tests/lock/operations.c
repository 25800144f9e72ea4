/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the operations of an acquire and release, which do not vary. To be
 * run on at least 4 ranks on 2 nodes, real or by --set topology=...
 */
#include "tables.h"

#include <string.h>

static pawl_table *table;

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

static void dmcs(void)
{
	table = table_open("d-mcs", 1, NULL, NULL);
	now_doing("d-mcs");
	if (table && is_far_client()) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, true);

		expect(s.acquires == 1 && s.atomics[1] == 1 && far_of(&s) == 1 &&
			   s.atomics[0] + s.gets[0] + s.puts[0] == 0,
		       "acquire: %d far operations", (int)far_of(&s));
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		pawl_table_get_stats(table, &s);
		expect(s.atomics[1] == 2 && far_of(&s) == 2, "both: %d far operations",
		       (int)far_of(&s));
	}
	meet();
	table_close(table);
	result("d-mcs, uncontended: 1 atomic to acquire and 1 to release, nothing else");
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
	if (table && is_far_client()) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 10, false);

		expect(s.atomics[1] == 20 && far_of(&s) == 20, "%d far operations for 10 acquires",
		       (int)far_of(&s));
	}
	meet();
	result("rma-mcs, uncontended from another node: 1 far atomic to acquire and 1 to release");

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

/* One atomic each way, in every mode. */
static void mgl(void)
{
	static const int modes[] = {PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT, PAWL_INTENT_SHARED};

	table = table_open("mgl", 2, NULL, NULL);
	now_doing("mgl");
	for (int i = 0; table && is_far_client() && i < 4; i++) {
		struct pawl_stats s = measured(0, modes[i], 10, false);

		expect(s.atomics[1] == 20 && far_of(&s) == 20,
		       "mode %d: %d far operations for 10 acquires", modes[i], (int)far_of(&s));
	}
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
	result("mgl, uncontended in any mode: 1 far atomic to acquire and 1 to release");
}

/* One atomic each way, for writers and readers. */
static void one_each_way(const char *kind)
{
	table = table_open(kind, 1, NULL, NULL);
	now_doing("%s", kind);
	for (int mode = PAWL_EXCLUSIVE; table && is_far_client() && mode <= PAWL_SHARED; mode++) {
		struct pawl_stats s = measured(0, mode, 10, false);

		expect(s.atomics[1] == 20 && far_of(&s) == 20 && s.flushes[1] == 20,
		       "mode %d: %d far operations and %d flushes for 10 acquires", mode,
		       (int)far_of(&s), (int)s.flushes[1]);
	}
	meet();
	table_close(table);
	result("%s, uncontended in any mode: 1 far atomic to acquire and 1 to release", kind);
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

/* The operations of one client without contention, for the acquire and for acquire and release;
 * there must be no others. Lock 0 is at rank 0. */
static void exactly(const char *kind, int client, struct pawl_stats acquire, struct pawl_stats both)
{
	bool far = client != 0;

	table = table_open(kind, 1, NULL, NULL);
	now_doing("%s", kind);
	if (table && tap_rank == client) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, true);

		expect_counts(&s, &acquire, "acquire");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		pawl_table_get_stats(table, &s);
		expect_counts(&s, &both, "acquire and release");
	}
	meet();
	table_close(table);
	result("%s, uncontended %s: %d atomic and %d get to acquire, %d atomic to release,"
	       " %d flushes",
	       kind, far ? "from another node" : "at its home",
	       (int)(acquire.atomics[0] + acquire.atomics[1]),
	       (int)(acquire.gets[0] + acquire.gets[1]),
	       (int)(both.atomics[0] + both.atomics[1] - acquire.atomics[0] - acquire.atomics[1]),
	       (int)(both.flushes[0] + both.flushes[1]));
}

/* Its swap and its look at the other cohort share a round trip if the transport keeps their
 * order. */
static void alock(bool ordered)
{
	uint64_t trips = ordered ? 1 : 2;

	exactly("alock", 0, (struct pawl_stats){.atomics = {1, 0}, .gets = {1, 0}},
		(struct pawl_stats){.atomics = {2, 0}, .gets = {1, 0}});
	exactly("alock", tap_size - 1,
		(struct pawl_stats){.atomics = {0, 1}, .gets = {0, 1}, .flushes = {0, trips}},
		(struct pawl_stats){.atomics = {0, 2}, .gets = {0, 1}, .flushes = {0, trips + 1}});
}

/* Its look at the other cohort has three more words. */
static void farlock(bool ordered)
{
	uint64_t acquire = ordered ? 2 : 5, release = ordered ? 1 : 2;

	exactly("farlock", 0,
		(struct pawl_stats){.atomics = {2, 0}, .gets = {4, 0}, .puts = {1, 0}},
		(struct pawl_stats){.atomics = {2, 0}, .gets = {5, 0}, .puts = {2, 0}});
	exactly("farlock", tap_size - 1,
		(struct pawl_stats){
		    .atomics = {0, 2}, .gets = {0, 4}, .puts = {0, 1}, .flushes = {0, acquire}},
		(struct pawl_stats){.atomics = {0, 2},
				    .gets = {0, 5},
				    .puts = {0, 2},
				    .flushes = {0, acquire + release}});
}

/* So many acquires from one other node move a lock of kind adaptive there. */
enum { MOST_VISITS = 5 };

/* A lock of kind adaptive is where it is used, wherever its home. */
static void adaptive(void)
{
	table = table_open("adaptive", 1, NULL, NULL);
	now_doing("adaptive");
	if (table && tap_rank == 0) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, false);

		expect(far_of(&s) + s.flushes[0] + s.flushes[1] == 0,
		       "%d far operations for the first use, at the home", (int)far_of(&s));
	}
	meet();
	if (table && is_far_client()) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, false);

		expect(s.atomics[1] == 2 && s.gets[1] == 1 && s.puts[1] == 0,
		       "%d far operations to use it at another node", (int)far_of(&s));
		expect(s.flushes[1] <= 3, "%d round trips for it", (int)s.flushes[1]);
		measured(0, PAWL_EXCLUSIVE, MOST_VISITS, false);
		s = measured(0, PAWL_EXCLUSIVE, 10, false);
		expect(far_of(&s) + s.flushes[0] + s.flushes[1] == 0 && s.atomics[0] == 20,
		       "%d far and %d near operations for 10 acquires", (int)far_of(&s),
		       (int)(s.atomics[0] + s.gets[0] + s.puts[0]));
	}
	meet();
	result("adaptive: at the home at first; used there from another node by 3 far operations; "
	       "if that"
	       " goes on, taken, and then 10 times by none");
	/* Its neighbour finds it there; a try does, too. */
	if (table && tap_rank == tap_size - 2) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 1, false);

		expect(far_of(&s) == 0, "%d far operations on the node that has it",
		       (int)far_of(&s));
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
	result(
	    "adaptive: other ranks of that node need no far operation; a try takes it elsewhere");
}

/* Sharers of a node that has the root, or a share; the home is on another node. */
static void adaptive_sharers(void)
{
	struct pawl_stats s;

	table = table_open("adaptive", 1, NULL, NULL);
	now_doing("adaptive, shared");
	if (table && is_far_client()) {
		measured(0, PAWL_EXCLUSIVE, MOST_VISITS, false);
		s = measured(0, PAWL_SHARED, 10, false);
		expect(far_of(&s) == 0, "%d far operations where the root is", (int)far_of(&s));
		s = measured(0, PAWL_EXCLUSIVE, 1, false);
		expect(far_of(&s) == 0, "%d far operations of a writer there", (int)far_of(&s));
		measured(0, PAWL_SHARED, 1, false);
	}
	meet();
	/* From now on both nodes have a share, and the root is split. */
	if (table && tap_rank == 0) {
		measured(0, PAWL_SHARED, 1, false);
		s = measured(0, PAWL_SHARED, 10, false);
		expect(far_of(&s) == 0, "%d far operations with a share", (int)far_of(&s));
	}
	meet();
	if (table && is_far_client()) {
		s = measured(0, PAWL_SHARED, 10, false);
		expect(far_of(&s) == 0, "%d far operations with the other share", (int)far_of(&s));
	}
	meet();
	/* A writer closes both. After it the first sharer of a node needs one operation. */
	if (table && tap_rank == 0)
		measured(0, PAWL_EXCLUSIVE, 1, false);
	meet();
	if (table && is_far_client()) {
		s = measured(0, PAWL_SHARED, 1, false);
		expect(far_of(&s) == 1, "%d far operations to open a share", (int)far_of(&s));
		s = measured(0, PAWL_SHARED, 10, false);
		expect(far_of(&s) == 0, "%d far operations with it", (int)far_of(&s));
	}
	meet();
	/* The root becomes whole again at a node that needs it alone. */
	if (table && is_far_client()) {
		measured(0, PAWL_EXCLUSIVE, MOST_VISITS, false);
		s = measured(0, PAWL_EXCLUSIVE, 10, false);
		expect(far_of(&s) == 0, "%d far operations of 10 writers", (int)far_of(&s));
	}
	meet();
	table_close(table);
	result("adaptive: sharers of a node need no far operation, or the first one needs one");
}

/* By the network, even at the home. */
static void by_network(const char *kind)
{
	exactly(kind, 0, (struct pawl_stats){.atomics = {1, 0}, .flushes = {1, 0}},
		(struct pawl_stats){.atomics = {2, 0}, .flushes = {2, 0}});
	exactly(kind, tap_size - 1, (struct pawl_stats){.atomics = {0, 1}, .flushes = {0, 1}},
		(struct pawl_stats){.atomics = {0, 2}, .flushes = {0, 2}});
}

/* A reader that finds a lease of another reader leaves it unchanged. */
static void drtm(void)
{
	table = table_open("drtm", 1, "lease", "2000000");
	now_doing("drtm");
	if (table && is_far_client()) {
		struct pawl_stats s = measured(0, PAWL_EXCLUSIVE, 10, false);

		expect(s.atomics[1] == 20 && far_of(&s) == 20, "%d far operations for 10 writers",
		       (int)far_of(&s));
		s = measured(0, PAWL_SHARED, 10, false);
		expect(s.atomics[1] == 10 && far_of(&s) == 10, "%d far operations for 10 readers",
		       (int)far_of(&s));
	}
	meet();
	table_close(table);
	result("drtm, uncontended: 1 far atomic to acquire, 1 for a writer to release");
}

int main(int argc, char **argv)
{
	struct pawl_table_info info = {.nodes = 0};

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	table = table_open("d-mcs", 1, NULL, NULL);
	if (table)
		pawl_table_get_info(table, &info);
	table_close(table);
	result("a table");
	if (info.nodes < 2 || tap_size < 4) {
		skip("needs 4 ranks on 2 nodes", "operations across nodes");
		return tap_end();
	}
	note("%s", "counted on 2 nodes or more");
	dmcs();
	rma_mcs();
	mgl();
	one_each_way("dslr");
	one_each_way("shiftlock");
	one_each_way("declock");
	alock(info.transport && strcmp(info.transport, "ucx") == 0);
	farlock(info.transport && strcmp(info.transport, "ucx") == 0);
	adaptive();
	adaptive_sharers();
	by_network("rdma-mcs");
	by_network("rdma-spin");
	drtm();
	readers(NULL, 0);
	readers("1048576", 2);
	return tap_end();
}
