/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ALock with both cohorts saturated: the shares follow the budgets, and no client
 * waits for longer than they allow. To be run on 2 nodes of 2 ranks, real or by
 * --set topology=...
 */
#include <stdio.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum {
	RANKS = 4,
	FIRST = 12,     /* acquires that do not count: not all ranks may have begun */
	COUNTED = 120,  /* acquires that count */
	SETTLE_MS = 12, /* after its announcement a client is in the queue, */
	ATTEMPTS = 5,   /* other users of the machine can spoil an attempt, not several in a row */
	MOST_OFF_PERCENT = 10
};

#define LOOK_S 100e-6 /* between two looks at the announcements */

struct budgets {
	int64_t local, remote;
};

static pawl_table *table;

/* Changes of payload 0 are acquires; those of payload 1 + r are announcements of
 * rank r, which is about to acquire. */
static int64_t announced(void)
{
	int64_t sum = 0;

	for (int r = 0; r < tap_size; r++)
		sum += payload_count(1 + (uint64_t)r, 0);
	return sum;
}

/* In the critical section of acquire number ticket: wait until all others are in the queue. */
static void stay(int64_t ticket)
{
	while (announced() < ticket + tap_size - 1)
		linger(LOOK_S);
	linger(SETTLE_MS * 1e-3);
}

struct outcome {
	int64_t mine, passed; /* acquires that count; the most acquires by others during a wait of
				 this rank */
	int64_t remote;
};

static struct outcome compete(void)
{
	struct outcome out = {.mine = 0};
	struct pawl_stats s;

	payload_reset();
	for (int64_t ticket = 0; ticket < FIRST + COUNTED;) {
		int64_t before = payload_count(0, 0);

		payload_write(1 + (uint64_t)tap_rank, 0, false);
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		payload_write(0, 0, false);
		ticket = payload_count(0, 0);
		if (ticket > FIRST && ticket <= FIRST + COUNTED) {
			out.mine++;
			if (ticket - before - 1 > out.passed)
				out.passed = ticket - before - 1;
		}
		/* At the last acquires no others come. */
		if (ticket < FIRST + COUNTED)
			stay(ticket);
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	pawl_table_get_stats(table, &s);
	out.remote = s.atomics[1] > 0;
	meet();
	return out;
}

/* A client may wait for one of its own cohort, and for the other cohort's budget
 * before each leader of the queue, of which the first may be new. One more
 * may come between the announcement and the queue. */
static int64_t most_passed(int64_t own, int64_t other)
{
	return 1 + other * (1 / own + 2) + 1;
}

/* Whether shares and waits were within their bounds; prints them. */
static bool fair(const struct budgets *b)
{
	struct outcome mine = compete();
	int64_t most =
	    mine.remote ? most_passed(b->remote, b->local) : most_passed(b->local, b->remote);
	int64_t sums[3] = {mine.remote ? mine.mine : 0, mine.remote, mine.passed > most}, all[3];
	double share, wanted = (double)b->remote / (double)(b->local + b->remote);

	MPI_Allreduce(sums, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all[1] == RANKS / 2, "%d remote ranks", (int)all[1]);
	share = (double)all[0] / COUNTED;
	note("budgets %d and %d: the remote cohort has %.1f %% of the acquires (of %.1f %%), %d "
	     "ranks"
	     " waited for too long",
	     (int)b->local, (int)b->remote, 100 * share, 100 * wanted, (int)all[2]);
	return share > wanted * (1 - MOST_OFF_PERCENT * 1e-2) &&
	       share < wanted * (1 + MOST_OFF_PERCENT * 1e-2) && all[2] == 0;
}

static void saturated(const struct budgets *b)
{
	char value[2][16];
	bool good = false;
	MPI_Info info;

	now_doing("budgets %d and %d", (int)b->local, (int)b->remote);
	snprintf(value[0], sizeof value[0], "%d", (int)b->local);
	snprintf(value[1], sizeof value[1], "%d", (int)b->remote);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_local_budget", value[0]);
	MPI_Info_set(info, "pawl_remote_budget", value[1]);
	expect_code(pawl_table_create(MPI_COMM_WORLD, "alock", 1, info, &table), PAWL_SUCCESS,
		    "pawl_table_create");
	MPI_Info_free(&info);
	for (int i = 0; table && !good && i < ATTEMPTS; i++)
		good = fair(b);
	expect_time(good, "shares or waits are not what the budgets say, %d times", ATTEMPTS);
	table_close(table);
	result(
	    "alock, both cohorts saturated, budgets %d and %d: shares within %d %%, and no longer"
	    " waits",
	    (int)b->local, (int)b->remote, MOST_OFF_PERCENT);
}

int main(int argc, char **argv)
{
	static const struct budgets budgets[] = {{2, 4}, {3, 1}};
	struct pawl_table_info info = {.nodes = 0};

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	table = table_open("alock", 1, NULL, NULL);
	if (table)
		pawl_table_get_info(table, &info);
	table_close(table);
	result("a table");
	if (info.nodes != 2 || tap_size != RANKS) {
		skip("needs 2 nodes of 2 ranks", "cohorts");
		return tap_end();
	}
	payload_start();
	saturated(&budgets[0]);
	saturated(&budgets[1]);
	payload_end();
	return tap_end();
}
