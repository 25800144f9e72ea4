/* SPDX-License-Identifier: BSD-3-Clause */
/* See payload.h. */
#include "payload.h"

#include "tests/lock/tables.h"

/* COUNT grows by one with each change; INVERSE and TRIPLE are computed from it; INSIDE is not
 * 0 while a writer holds the lock. */
enum { COUNT, INVERSE, TRIPLE, INSIDE, WORDS = 8 };

#define SLOW_S 100e-6

static MPI_Win win;
static volatile int64_t *shared; /* one host: the words of all locks */
static int64_t *mine;            /* several hosts: the words of locks that live here */

void payload_start(void)
{
	MPI_Aint bytes = PAYLOAD_LOCKS * WORDS * sizeof(int64_t);
	void *base;
	int unit;

	if (tap_one_host) {
		MPI_Win_allocate_shared(tap_rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
					&base, &win);
		MPI_Win_shared_query(win, 0, &bytes, &unit, &base);
		shared = base;
	} else {
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mine);
		MPI_Win_create(mine, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	payload_reset();
}

void payload_end(void)
{
	meet();
	MPI_Win_unlock_all(win);
	/* Over several hosts the program ends without MPI_Finalize, so nothing is freed. */
	if (tap_one_host)
		MPI_Win_free(&win);
}

void payload_reset(void)
{
	meet();
	for (int i = 0; i < PAYLOAD_LOCKS * WORDS; i++) {
		int64_t value = i % WORDS == INVERSE ? -1 : 0;

		if (mine)
			mine[i] = value;
		else if (tap_rank == 0)
			shared[i] = value;
	}
	MPI_Win_sync(win);
	meet();
	MPI_Win_sync(win);
}

/* Access words from index on. */
static void load(uint64_t lock, int home, int index, int n, int64_t *to)
{
	uint64_t at = lock % PAYLOAD_LOCKS * WORDS + (uint64_t)index;

	if (shared) {
		for (int i = 0; i < n; i++)
			to[i] = shared[at + (uint64_t)i];
		return;
	}
	MPI_Get(to, n, MPI_INT64_T, home, (MPI_Aint)(at * sizeof *to), n, MPI_INT64_T, win);
	MPI_Win_flush(home, win);
}

static void store(uint64_t lock, int home, int index, int n, const int64_t *from)
{
	uint64_t at = lock % PAYLOAD_LOCKS * WORDS + (uint64_t)index;

	if (shared) {
		for (int i = 0; i < n; i++)
			shared[at + (uint64_t)i] = from[i];
		return;
	}
	MPI_Put(from, n, MPI_INT64_T, home, (MPI_Aint)(at * sizeof *from), n, MPI_INT64_T, win);
	MPI_Win_flush(home, win);
}

static bool consistent(const int64_t *w)
{
	return w[INVERSE] == ~w[COUNT] && w[TRIPLE] == 3 * w[COUNT];
}

static bool check(uint64_t lock, const int64_t *w, int64_t inside, const char *when)
{
	return expect(consistent(w) && w[INSIDE] == inside,
		      "violation at lock %llu, %s: words %lld %lld %lld, inside %lld not %lld",
		      (unsigned long long)lock, when, (long long)w[COUNT], (long long)w[INVERSE],
		      (long long)w[TRIPLE], (long long)w[INSIDE], (long long)inside);
}

void payload_write(uint64_t lock, int home, bool slowly)
{
	static _Thread_local char me;
	int64_t w[4], id = (int64_t)(intptr_t)&me ^ ((int64_t)(tap_rank + 1) << 48), none = 0;

	load(lock, home, 0, 4, w);
	check(lock, w, 0, "a writer comes");
	store(lock, home, INSIDE, 1, &id);
	w[COUNT]++;
	w[INVERSE] = ~w[COUNT];
	w[TRIPLE] = 3 * w[COUNT];
	store(lock, home, COUNT, 1, w);
	if (slowly)
		linger(SLOW_S);
	store(lock, home, INVERSE, 2, w + INVERSE);
	load(lock, home, 0, 4, w);
	check(lock, w, id, "a writer leaves");
	store(lock, home, INSIDE, 1, &none);
}

void payload_see(uint64_t lock, int home, bool slowly, struct payload_seen *seen)
{
	load(lock, home, 0, 4, seen->first);
	if (slowly)
		linger(SLOW_S);
	load(lock, home, 0, 4, seen->last);
}

void payload_judge(uint64_t lock, const struct payload_seen *seen)
{
	check(lock, seen->first, 0, "a reader comes");
	check(lock, seen->last, 0, "a reader leaves");
	expect(seen->first[COUNT] == seen->last[COUNT],
	       "violation at lock %llu: words changed under a reader", (unsigned long long)lock);
}

void payload_read(uint64_t lock, int home, bool slowly)
{
	struct payload_seen seen;

	payload_see(lock, home, slowly, &seen);
	payload_judge(lock, &seen);
}

int64_t payload_count(uint64_t lock, int home)
{
	int64_t value;

	load(lock, home, COUNT, 1, &value);
	return value;
}

void payload_expect(const pawl_table *table, uint64_t n, int64_t changes)
{
	int64_t wanted = 0, found = 0;

	meet();
	MPI_Reduce(&changes, &wanted, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (uint64_t l = 0; tap_rank == 0 && l < n; l++)
		found += payload_count(l, table ? table_home(table, l) : 0);
	if (tap_verbose)
		note("%lld changes", (long long)wanted);
	expect(tap_rank != 0 || found == wanted, "violation: %lld changes made, %lld found",
	       (long long)wanted, (long long)found);
	payload_reset();
}
