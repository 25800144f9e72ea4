/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences and post-start-complete-wait alternate with locks on one window: the
 * two other ways to synchronise work as before, and locks work after them.
 */
#include "tests/dropin/area.h"

enum { COUNTER, FENCED, POSTED, WORDS };

static struct area a;
static int64_t locked;

static void lock_phase(void)
{
	MPI_Barrier(a.comm);
	for (int i = 0; i < 3; i++) {
		area_lock(&a, MPI_LOCK_EXCLUSIVE, i % a.size);
		area_add_plainly(&a, i % a.size, COUNTER, 1);
		MPI_Win_unlock(i % a.size, a.win);
		locked++;
	}
	MPI_Win_lock_all(0, a.win);
	MPI_Win_flush_all(a.win);
	MPI_Win_unlock_all(a.win);
	/* All locks are released before the next epoch of another sort. */
	MPI_Barrier(a.comm);
}

static MPI_Aint place(int target, int index)
{
	return a.at[target] + index * (a.flavour == AREA_DYNAMIC ? (MPI_Aint)sizeof(int64_t) : 1);
}

static void fence_phase(int64_t round)
{
	int right = (a.rank + 1) % a.size, left = (a.rank + a.size - 1) % a.size;
	int64_t value = round * 100 + a.rank, back = -1;

	MPI_Win_fence(MPI_MODE_NOPRECEDE, a.win);
	MPI_Put(&value, 1, MPI_INT64_T, right, place(right, FENCED), 1, MPI_INT64_T, a.win);
	MPI_Win_fence(0, a.win);
	expect(a.mine[FENCED] == round * 100 + left, "after a fence: %lld instead of %lld",
	       (long long)a.mine[FENCED], (long long)(round * 100 + left));
	MPI_Get(&back, 1, MPI_INT64_T, right, place(right, FENCED), 1, MPI_INT64_T, a.win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, a.win);
	expect(back == value, "got %lld by a fence instead of %lld", (long long)back,
	       (long long)value);
}

/* Every rank writes to the next one and is written to by the one before. */
static void post_phase(int64_t round)
{
	int right = (a.rank + 1) % a.size, left = (a.rank + a.size - 1) % a.size;
	int64_t value = round * 1000 + a.rank;
	MPI_Group all, to, from;

	MPI_Win_get_group(a.win, &all);
	MPI_Group_incl(all, 1, &right, &to);
	MPI_Group_incl(all, 1, &left, &from);
	MPI_Win_post(from, 0, a.win);
	MPI_Win_start(to, 0, a.win);
	MPI_Put(&value, 1, MPI_INT64_T, right, place(right, POSTED), 1, MPI_INT64_T, a.win);
	MPI_Win_complete(a.win);
	MPI_Win_wait(a.win);
	expect(a.mine[POSTED] == round * 1000 + left, "after MPI_Win_wait: %lld instead of %lld",
	       (long long)a.mine[POSTED], (long long)(round * 1000 + left));
	MPI_Group_free(&all);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

static void run(enum area_flavour f)
{
	area_open(&a, f, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	locked = 0;
	now_doing("%s: phases", area_flavour_name[f]);
	for (int round = 0; round < (tap_long ? 30 : 3); round++) {
		lock_phase();
		fence_phase(round);
		lock_phase();
		post_phase(round);
		if (round % 2)
			fence_phase(round);
	}
	lock_phase();
	area_expect(&a, locked, area_sum(&a, COUNTER), "under locks between other phases");
	area_close(&a);
	result("%s: locks alternate with fences and post-start-complete-wait",
	       area_flavour_name[f]);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int f = 0; f < AREA_FLAVOURS; f++)
		if (area_possible((enum area_flavour)f))
			run((enum area_flavour)f);
	return tap_end();
}
