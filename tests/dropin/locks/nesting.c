/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several locks at a time: of several targets of a window, of several windows,
 * exclusive and shared ones mixed, released in any order. An amount that is moved between
 * two words under both locks is never lost. Also locks of MPI_PROC_NULL.
 */
#include "tests/dropin/area.h"

enum { START = 1000 };

static struct area a, b;

/* Move the whole amount; both words are read before either is written. */
static void move_some(struct area *from, int from_rank, struct area *to, int to_rank)
{
	int64_t x, y;

	area_get(from, from_rank, 0, 1, &x);
	area_get(to, to_rank, 0, 1, &y);
	linger(20e-6);
	x -= 3;
	y += 3;
	area_put(from, from_rank, 0, 1, &x);
	area_put(to, to_rank, 0, 1, &y);
}

static void start_words(struct area *w)
{
	meet();
	area_lock(w, MPI_LOCK_EXCLUSIVE, w->rank);
	w->mine[0] = START;
	MPI_Win_unlock(w->rank, w->win);
	meet();
}

static void two_targets(void)
{
	uint64_t seed = (uint64_t)tap_rank + 3;

	if (a.size < 2) {
		skip("one rank", "two targets");
		return;
	}
	start_words(&a);
	now_doing("two targets");
	for (struct turns t = turns(3); turn(&t);) {
		int low = (int)random_below(&seed, (uint32_t)a.size - 1);
		int high = low + 1 + (int)random_below(&seed, (uint32_t)(a.size - 1 - low));
		bool in_order = random_below(&seed, 2);

		area_lock(&a, MPI_LOCK_EXCLUSIVE, low);
		area_lock(&a, MPI_LOCK_EXCLUSIVE, high);
		move_some(&a, low, &a, high);
		MPI_Win_unlock(in_order ? low : high, a.win);
		MPI_Win_unlock(in_order ? high : low, a.win);
	}
	area_expect(&a, START, area_sum(&a, 0), "two targets");
	result("exclusive locks of two targets");
}

static void all_targets(void)
{
	if (a.size < 2) {
		skip("one rank", "all targets");
		return;
	}
	start_words(&a);
	now_doing("all targets");
	for (struct turns t = turns(2); turn(&t);) {
		for (int r = 0; r < a.size; r++)
			area_lock(&a, MPI_LOCK_EXCLUSIVE, r);
		for (int r = 0; r < a.size; r++)
			move_some(&a, r, &a, (r + 1) % a.size);
		for (int r = 0; r < a.size; r++)
			MPI_Win_unlock((r + tap_rank) % a.size, a.win);
	}
	area_expect(&a, START, area_sum(&a, 0), "all targets");
	result("exclusive locks of all targets");
}

/* A shared lock of one target beside an exclusive one of another: all ranks hold
 * the shared lock when they take turns at the exclusive one. */
static void shared_and_exclusive(void)
{
	int64_t seen, seen_again, done = 0;
	int last = a.size - 1;

	if (a.size < 2) {
		skip("one rank", "shared and exclusive locks");
		return;
	}
	start_words(&a);
	now_doing("shared and exclusive");
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win);
	area_get(&a, 0, 0, 1, &seen);
	meet();
	for (struct turns t = turns(3); turn(&t); done++) {
		area_lock(&a, MPI_LOCK_EXCLUSIVE, last);
		area_add_plainly(&a, last, 0, 1);
		MPI_Win_unlock(last, a.win);
	}
	area_get(&a, 0, 0, 1, &seen_again);
	meet();
	MPI_Win_unlock(0, a.win);
	expect(seen == START && seen_again == START, "the word under the shared lock: %lld, %lld",
	       (long long)seen, (long long)seen_again);
	area_expect(&a, START + done, area_sum(&a, 0), "beside a shared lock");
	result("an exclusive lock beside a shared lock of another target");
}

static void two_windows(void)
{
	uint64_t seed = (uint64_t)tap_rank + 9;

	start_words(&a);
	start_words(&b);
	now_doing("two windows");
	for (struct turns t = turns(3); turn(&t);) {
		int x = (int)random_below(&seed, (uint32_t)a.size);
		int y = (int)random_below(&seed, (uint32_t)a.size);

		area_lock(&a, MPI_LOCK_EXCLUSIVE, x);
		area_lock(&b, MPI_LOCK_EXCLUSIVE, y);
		move_some(&a, x, &b, y);
		MPI_Win_unlock(x, a.win);
		MPI_Win_unlock(y, b.win);
	}
	area_expect(&a, 2 * START, area_sum(&a, 0) + area_sum(&b, 0), "two windows");
	result("exclusive locks of two windows");
}

/* MPI_Win_lock_all of one window around locks of the other. */
static void all_of_one(void)
{
	int64_t done = 0;

	start_words(&b);
	now_doing("lock_all of one window");
	MPI_Win_lock_all(0, a.win);
	meet();
	for (struct turns t = turns(3); turn(&t); done++) {
		area_lock(&b, MPI_LOCK_EXCLUSIVE, 0);
		area_add_plainly(&b, 0, 0, 1);
		MPI_Win_unlock(0, b.win);
	}
	meet();
	MPI_Win_unlock_all(a.win);
	area_expect(&b, START + done, area_sum(&b, 0), "within lock_all of another window");
	result("locks of a window within MPI_Win_lock_all of another");
}

/* Communication with MPI_PROC_NULL needs an epoch and does nothing. MPI does not say whether
 * MPI_PROC_NULL can be locked; lock and unlock must behave alike. */
static void nobody(void)
{
	int64_t word = 42;
	int locked, unlocked;

	now_doing("MPI_PROC_NULL");
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, a.rank, 0, a.win);
		MPI_Put(&word, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, a.win);
		MPI_Get(&word, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, a.win);
		MPI_Win_unlock(a.rank, a.win);
		locked = MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL,
				      0, a.win);
		unlocked = MPI_Win_unlock(MPI_PROC_NULL, a.win);
		expect((locked == MPI_SUCCESS) == (unlocked == MPI_SUCCESS),
		       "the lock gives %d, the unlock %d", locked, unlocked);
	}
	note("MPI_PROC_NULL can%s be locked", locked == MPI_SUCCESS ? "" : "not");
	expect(word == 42, "a get from MPI_PROC_NULL changed the origin: %lld", (long long)word);
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_ARE_FATAL);
	result("MPI_PROC_NULL");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	area_open(&b, AREA_CREATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	two_targets();
	all_targets();
	shared_and_exclusive();
	two_windows();
	all_of_one();
	nobody();
	area_close(&b);
	area_close(&a);
	return tap_end();
}
