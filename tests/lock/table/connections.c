/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks use the locks of all ranks, in two tables of one communicator, with few descriptors
 * (ulimit -n) or with option connections: then ranks carry requests for others of their node. A
 * client that has a lock adds to its counter in two steps, so each addition is at its home once,
 * and under the lock. The second table takes no descriptor.
 */
#include <pawl.h>
#include <sys/resource.h>

#include "tests/lock/tables.h"

enum { TABLES = 2 };

static pawl_table *table[TABLES];

static int descriptors(void)
{
	return tap_entries("/proc/self/fd") - 1; /* without that by which they are read */
}

static int most_of(int mine)
{
	int most = mine;

	MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static int64_t add(pawl_table *t, uint64_t counter, int64_t value)
{
	int64_t before = -1;

	expect_code(pawl_counter_add(t, counter, value, &before), PAWL_SUCCESS, "add");
	return before;
}

static void use(pawl_table *t, uint64_t lock)
{
	int64_t value;

	expect_code(pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	value = add(t, lock, 0);
	expect(add(t, lock, 1) == value, "another client came in at lock %d", (int)lock);
	expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "release");
}

static void all_to_all(void)
{
	const uint64_t ranks = (uint64_t)tap_size, me = (uint64_t)tap_rank;
	int64_t sum = 0;

	for (uint64_t k = 0; k < ranks; k++)
		use(table[k % TABLES], (me + k) % ranks);
	meet();
	for (int i = 0; i < TABLES; i++)
		sum += add(table[i], me, 0);
	expect(sum == tap_size, "%lld of %d additions", (long long)sum, tap_size);
	meet();
}

int main(int argc, char **argv)
{
	struct rlimit limit = {0, 0};
	int before = 0, grown = 0;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int i = 0; i < TABLES; i++) {
		before = descriptors();
		table[i] = table_open("d-mcs", (uint64_t)tap_size, "events", "yes");
		grown = most_of(descriptors() - before);
		meet();
	}
	expect(grown <= 0, "the second table takes %d descriptors", grown);
	result("a further table takes no descriptor");
	now_doing("all ranks at the locks of all");
	if (table[0] && table[1])
		all_to_all();
	getrlimit(RLIMIT_NOFILE, &limit);
	note("at most %d descriptors of %llu", most_of(descriptors()),
	     (unsigned long long)limit.rlim_cur);
	for (int i = 0; i < TABLES; i++)
		table_close(table[i]);
	result("%d ranks use the locks of all", tap_size);
	return tap_end();
}
