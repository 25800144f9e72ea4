/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Byte ranges of a window (pawl-mpi.h): words are got, changed and put back under the range of
 * their bytes, in an epoch of the program or none, and no change is lost; disjoint ranges are
 * held at the same time; an exclusive lock of the target waits for them; wrong calls give
 * errors. The program is linked with the layer, whose functions it calls.
 *
 * With --threads 1 the threads of a rank do so, too: all ranges of a target are in one epoch.
 *
 * TEST_BREAK=1: ranges are not locked, which shows that the test can fail.
 */
#include <pawl-mpi.h>
#include <pthread.h>

#include "tests/dropin/area.h"

enum { WORDS = 128, WORD = sizeof(int64_t), THREADS = 3 };
/* The epoch around a range. */
enum how { NONE, SHARED, ALL, HOWS };

static const char *const how_name[HOWS] = {
    [NONE] = "no epoch of the program",
    [SHARED] = "MPI_Win_lock",
    [ALL] = "MPI_Win_lock_all",
};
static struct area a;

/* ---------------------------------------------------------------- the locks */

static void open_window(enum area_flavour f)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_ranges", "1");
	area_open(&a, f, MPI_COMM_WORLD, WORDS, info);
	MPI_Info_free(&info);
}

/* The offset of the bytes of a word, for the calls of the layer. */
static MPI_Aint byte_of(int target, int word)
{
	return (a.flavour == AREA_DYNAMIC ? a.at[target] : 0) + (MPI_Aint)word * WORD;
}

static void lock_words(int target, int first, int last)
{
	if (!area_broken())
		pawl_win_lock_range(a.win, target, byte_of(target, first),
				    byte_of(target, last) + WORD - 1, PAWL_EXCLUSIVE);
}

static void unlock_words(int target, int first, int last)
{
	if (!area_broken())
		pawl_win_unlock_range(a.win, target, byte_of(target, first),
				      byte_of(target, last) + WORD - 1);
}

/* With TEST_BREAK operations still need an epoch. */
static void enter(enum how how, int target)
{
	if (how == ALL)
		MPI_Win_lock_all(0, a.win);
	else if (how == SHARED || area_broken())
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, a.win);
}

static void leave(enum how how, int target)
{
	if (how == ALL)
		MPI_Win_unlock_all(a.win);
	else if (how == SHARED || area_broken())
		MPI_Win_unlock(target, a.win);
}

/* ------------------------------------------------------------ mutual exclusion */

/* Increment each of the words. Only the unlock completes the puts. */
static void add_to(int target, int first, int last)
{
	int64_t word[WORDS];
	const int n = last - first + 1;
	const MPI_Aint unit = a.flavour == AREA_DYNAMIC ? WORD : 1;

	lock_words(target, first, last);
	area_get(&a, target, first, n, word);
	linger(20e-6);
	for (int i = 0; i < n; i++)
		word[i]++;
	MPI_Put(word, n, MPI_INT64_T, target, a.at[target] + first * unit, n, MPI_INT64_T, a.win);
	unlock_words(target, first, last);
}

static int64_t sum_of_words(void)
{
	int64_t sum = 0;

	meet();
	area_lock(&a, MPI_LOCK_SHARED, a.rank);
	for (int i = 0; i < WORDS; i++)
		sum += a.mine[i];
	MPI_Win_unlock(a.rank, a.win);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, a.comm);
	return sum;
}

static void words_are_kept(enum how how)
{
	uint64_t seed = (uint64_t)a.rank + 31;
	int64_t done = 0, before = sum_of_words();

	now_doing("%s: ranges in %s", area_flavour_name[a.flavour], how_name[how]);
	meet();
	for (struct turns t = turns(4); turn(&t);) {
		int target = (int)random_below(&seed, 2) % a.size, length, first;

		enter(how, target);
		for (int i = 0; i < 3; i++) {
			length =
			    random_below(&seed, 4) ? 1 + (int)random_below(&seed, 4) : WORDS / 2;
			first = (int)random_below(&seed, (uint32_t)(WORDS / 2 - length) + 1);
			add_to(target, first, first + length - 1);
			done += length;
		}
		leave(how, target);
	}
	area_expect(&a, done, sum_of_words() - before, how_name[how]);
	result("%s: ranges in %s", area_flavour_name[a.flavour], how_name[how]);
}

/* Some ranks lock ranges, others the target. */
static void beside_exclusive(void)
{
	uint64_t seed = (uint64_t)a.rank + 5;
	int64_t done = 0, before = sum_of_words();

	now_doing("ranges beside exclusive locks");
	meet();
	for (struct turns t = turns(4); turn(&t); done++) {
		int word = (int)random_below(&seed, 3);

		if ((a.rank + t.done) % 2) {
			enter(NONE, 0);
			add_to(0, word, word);
			leave(NONE, 0);
		} else {
			area_lock(&a, MPI_LOCK_EXCLUSIVE, 0);
			area_add_plainly(&a, 0, word, 1);
			MPI_Win_unlock(0, a.win);
		}
	}
	area_expect(&a, done, sum_of_words() - before, "ranges and targets");
	result("%s: ranges beside exclusive locks", area_flavour_name[a.flavour]);
}

/* ------------------------------------------------------------------- threads */

struct worker {
	pthread_t thread;
	uint64_t seed;
	int64_t done;
	bool runs;
};

/* Between two words a thread lets others of its rank open and close the epoch. */
static void *work(void *arg)
{
	struct worker *w = arg;

	for (struct turns t = turns(3); turn(&t); w->done++) {
		int word = (int)random_below(&w->seed, 4), target = (int)random_below(&w->seed, 2);

		lock_words(target % a.size, word, word);
		area_add_plainly(&a, target % a.size, word, 1);
		unlock_words(target % a.size, word, word);
		linger(10e-6);
	}
	return NULL;
}

static void threads(void)
{
	struct worker w[THREADS];
	int64_t done = 0, before = sum_of_words();

	now_doing("threads");
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.seed = (uint64_t)(tap_rank * THREADS + i + 1)};
		w[i].runs = pthread_create(&w[i].thread, NULL, work, &w[i]) == 0;
		expect(w[i].runs, "no thread %d", i);
	}
	for (int i = 0; i < THREADS; i++) {
		if (w[i].runs)
			pthread_join(w[i].thread, NULL);
		done += w[i].done;
	}
	area_expect(&a, done, sum_of_words() - before, "threads");
	result("ranges of threads of a rank");
}

/* ------------------------------------------------------------------- together */

/* Each rank holds its own words while all meet; then some more, unlocked in another order. */
static void together(enum how how)
{
	const int mine = 2 * a.rank, more = 2 * a.rank + 1, last = a.size - 1;

	now_doing("ranges across a barrier in %s", how_name[how]);
	for (int i = 0; i < 4; i++) {
		enter(how, last);
		lock_words(last, mine, mine);
		meet();
		lock_words(last, more, more);
		area_add_plainly(&a, last, more, 1);
		unlock_words(last, i % 2 ? mine : more, i % 2 ? mine : more);
		area_add_plainly(&a, last, i % 2 ? more : mine, 1);
		meet();
		unlock_words(last, i % 2 ? more : mine, i % 2 ? more : mine);
		leave(how, last);
	}
	result("all ranks hold ranges of one target at a time, in %s", how_name[how]);
}

/* --------------------------------------------------------------------- misuse */

static void wrong(int code, int class, const char *what)
{
	int got = MPI_SUCCESS;

	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &got);
	expect(got == class, "%s: class %d instead of %d", what, got, class);
}

static void wrong_arguments(void)
{
	const int x = PAWL_EXCLUSIVE;

	wrong(pawl_win_lock_range(a.win, a.size, 0, 1, x), MPI_ERR_RANK, "a rank past the last");
	wrong(pawl_win_lock_range(a.win, -1, 0, 1, x), MPI_ERR_RANK, "a negative rank");
	wrong(pawl_win_lock_range(a.win, 0, 2, 1, x), MPI_ERR_ARG, "last before first");
	wrong(pawl_win_lock_range(a.win, 0, -2, 1, x), MPI_ERR_ARG, "a negative byte");
	wrong(pawl_win_lock_range(a.win, 0, 0, 1, 77), MPI_ERR_ARG, "an unknown mode");
	wrong(pawl_win_lock_range(a.win, 0, 0, 1, PAWL_SHARED), MPI_ERR_UNSUPPORTED_OPERATION,
	      "a mode that the kind does not have");
}

static void wrong_order(void)
{
	const MPI_Aint first = 100 * a.rank, last = first + 7;

	wrong(pawl_win_unlock_range(a.win, 0, first, last), MPI_ERR_RMA_SYNC, "never locked");
	wrong(pawl_win_lock_range(a.win, 0, first, last, PAWL_EXCLUSIVE), MPI_SUCCESS, "a range");
	/* With threads the call would wait for another thread to unlock the range. */
	if (tap_thread_level < MPI_THREAD_MULTIPLE)
		wrong(pawl_win_lock_range(a.win, 0, last, last, PAWL_EXCLUSIVE), MPI_ERR_RMA_SYNC,
		      "an own range once more");
	wrong(pawl_win_unlock_range(a.win, 0, first, last - 1), MPI_ERR_RMA_SYNC, "other bounds");
	wrong(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), MPI_ERR_RMA_SYNC, "lock beside a range");
	wrong(MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC, "unlock of no epoch of the program");
	wrong(MPI_Win_lock_all(0, a.win), MPI_ERR_RMA_SYNC, "lock_all beside a range");
	wrong(MPI_Win_free(&a.win), MPI_ERR_RMA_SYNC, "free beside a range");
	wrong(pawl_win_unlock_range(a.win, 0, first, last), MPI_SUCCESS, "its unlock");

	wrong(MPI_Win_lock_all(0, a.win), MPI_SUCCESS, "lock_all");
	wrong(pawl_win_lock_range(a.win, 0, first, last, PAWL_EXCLUSIVE), MPI_SUCCESS, "a range");
	wrong(MPI_Win_unlock_all(a.win), MPI_ERR_RMA_SYNC, "unlock_all around a range");
	wrong(pawl_win_unlock_range(a.win, 0, first, last), MPI_SUCCESS, "its unlock");
	wrong(MPI_Win_unlock_all(a.win), MPI_SUCCESS, "unlock_all");

	wrong(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), MPI_SUCCESS, "lock");
	wrong(pawl_win_lock_range(a.win, 0, first, last, PAWL_EXCLUSIVE), MPI_SUCCESS, "a range");
	wrong(MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC, "unlock around a range");
	wrong(pawl_win_unlock_range(a.win, 0, first, last), MPI_SUCCESS, "its unlock");
	wrong(MPI_Win_unlock(0, a.win), MPI_SUCCESS, "unlock");
}

static void misuse(void)
{
	struct area none;

	now_doing("wrong calls");
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_RETURN);
	wrong_arguments();
	wrong_order();
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_ARE_FATAL);
	area_open(&none, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	MPI_Win_set_errhandler(none.win, MPI_ERRORS_RETURN);
	wrong(pawl_win_lock_range(none.win, 0, 0, 1, PAWL_EXCLUSIVE), MPI_ERR_UNSUPPORTED_OPERATION,
	      "a window without ranges");
	wrong(pawl_win_unlock_range(none.win, 0, 0, 1), MPI_ERR_UNSUPPORTED_OPERATION,
	      "an unlock of a window without ranges");
	area_close(&none);
	result("wrong calls, and the window goes on");
}

/* A kind without ranges: the window is not created. */
static void wrong_kind(void)
{
	MPI_Errhandler before;
	MPI_Comm comm;
	MPI_Info info;
	MPI_Win win = MPI_WIN_NULL;
	void *base;

	now_doing("wrong values of pawl_ranges");
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_get_errhandler(comm, &before);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_ranges", "d-mcs");
	wrong(MPI_Win_allocate(16, 1, info, comm, &base, &win), MPI_ERR_INFO,
	      "a lock without ranges");
	MPI_Info_set(info, "pawl_ranges", "1");
	MPI_Info_set(info, "pawl_k", "9");
	wrong(MPI_Win_allocate(16, 1, info, comm, &base, &win), MPI_ERR_INFO,
	      "an option of ranges out of range");
	MPI_Info_free(&info);
	MPI_Errhandler_free(&before);
	MPI_Comm_free(&comm);
	result("wrong values of pawl_ranges and of its options");
}

/* ----------------------------------------------------------------- other kinds */

/* Shared ranges, if the kind has them; options apply to the table of ranges. */
static void shared_ranges(void)
{
	MPI_Info info;

	now_doing("shared ranges");
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_ranges", "ss");
	MPI_Info_set(info, "pawl_segment_units", "8");
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, WORDS, info);
	MPI_Info_free(&info);
	pawl_win_lock_range(a.win, 0, 0, WORD - 1, PAWL_SHARED);
	meet();
	pawl_win_unlock_range(a.win, 0, 0, WORD - 1);
	words_are_kept(ALL);
	area_close(&a);
	result("shared ranges across a barrier");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int f = 0; f < AREA_FLAVOURS; f++) {
		if (!area_possible((enum area_flavour)f) || (f != AREA_ALLOCATE && !tap_long))
			continue;
		open_window((enum area_flavour)f);
		for (int how = 0; how < HOWS; how++)
			words_are_kept((enum how)how);
		beside_exclusive();
		area_close(&a);
	}
	if (!area_broken()) {
		open_window(AREA_ALLOCATE);
		for (int how = 0; how < HOWS; how++)
			together((enum how)how);
		if (tap_thread_level == MPI_THREAD_MULTIPLE)
			threads();
		misuse();
		area_close(&a);
		wrong_kind();
		shared_ranges();
	}
	return tap_end();
}
