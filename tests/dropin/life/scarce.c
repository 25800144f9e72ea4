/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the drop-in layer needs fails on one rank: each allocation of the layer, and each call of
 * the MPI by which it makes an object or asks for an attribute, the first, the second and so on,
 * until none is left. It fails while a window is created and while one is freed. The window's locks
 * and atomics are then those of the MPI on all ranks, and right; nothing ends the program, and the
 * next window has those of the layer. The same for the tables of locks that the other layers share.
 *
 * The layer is part of this program, which is linked with --wrap; libpawl is not:
 * tests/lock/table/scarce does this to libpawl.
 */
#include <pawl-mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "layers/layers.h"
#include "tests/failing.h"

enum { TURNS = 10, MOST = 200, LOCKS = 4 };

static bool started;

MPI_CALL(PMPI_Group_intersection, (MPI_Group a, MPI_Group b, MPI_Group *both), (a, b, both))
MPI_CALL(PMPI_Info_create, (MPI_Info * info), (info))
MPI_CALL(PMPI_Info_dup, (MPI_Info info, MPI_Info *made), (info, made))
MPI_CALL(PMPI_Type_create_keyval,
	 (MPI_Type_copy_attr_function * copy, MPI_Type_delete_attr_function *end, int *key,
	  void *extra),
	 (copy, end, key, extra))

/* In MPI_Init it fails, so that the first windows need it. */
WRAP(int, PMPI_Comm_create_keyval,
     (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end, int *key,
      void *extra))
{
	if (!started || fails())
		return MPI_ERR_OTHER;
	return __real_PMPI_Comm_create_keyval(copy, end, key, extra);
}

/* ------------------------------------------------------------------------ windows */

/* Each has other options, and so a pool of its own. */
static MPI_Win create(int64_t **word, bool locks)
{
	static int held = 100;
	char text[16];
	MPI_Info info;
	MPI_Win win;

	snprintf(text, sizeof text, "%d", held++);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_max_held", text);
	if (locks)
		MPI_Info_set(info, "pawl_ranges", "1");
	else
		MPI_Info_set(info, "no_locks", "true");
	MPI_Info_set(info, "pawl_atomics", "1");
	MPI_Win_allocate(2 * sizeof **word, 1, info, MPI_COMM_WORLD, word, &win);
	MPI_Info_free(&info);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	(*word)[0] = (*word)[1] = 0;
	meet();
	return win;
}

static void expect_sum(const int64_t *word, MPI_Win win, const char *what)
{
	int64_t sum = 0;

	meet();
	if (tap_rank == 0) {
		if (win != MPI_WIN_NULL)
			MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		sum = *word;
		if (win != MPI_WIN_NULL)
			MPI_Win_unlock(0, win);
		expect(sum == (int64_t)TURNS * tap_size, "violation: %lld %s", (long long)sum,
		       what);
	}
	meet();
}

static void add_one(MPI_Win win, int disp)
{
	const int64_t one = 1;
	int64_t found;

	MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 0, disp, MPI_SUM, win);
}

/* A window without locks: fences, between which all ranks add to a word. */
static void add_between_fences(MPI_Win win, const int64_t *word)
{
	MPI_Win_fence(0, win);
	for (int i = 0; i < TURNS; i++)
		add_one(win, 0);
	MPI_Win_fence(0, win);
	expect_sum(word, MPI_WIN_NULL, "atomics");
}

/* Whether all ranks exclude each other, with locks of the MPI or of the layer. Returns whether
 * these are the layer's. */
static bool count(MPI_Win win, const int64_t *word)
{
	const int before = calls_made;
	int64_t value;
	bool ours;

	for (int i = 0; i < TURNS; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
		MPI_Win_flush(0, win);
		value++;
		MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
		MPI_Win_unlock(0, win);
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		add_one(win, sizeof value);
		MPI_Win_unlock(0, win);
	}
	ours = pawl_win_lock_range(win, 0, 0, 7, PAWL_EXCLUSIVE) == MPI_SUCCESS;
	if (ours)
		pawl_win_unlock_range(win, 0, 0, 7);
	expect(calls_made == before, "%d calls that may fail, by locks", calls_made - before);
	expect_sum(word, win, "turns");
	expect_sum(word + 1, win, "atomics");
	return ours;
}

/* Returns how many calls can fail: at the creation of a window if first, else at MPI_Win_free. */
static int windows(bool first, bool locks)
{
	const int victim = first ? tap_size - 1 : 0; /* rank 0 keeps what is reported at the end */
	int n = 0;

	for (bool more = true; more && n < MOST; n += more) {
		int64_t *word;
		MPI_Win win;
		bool ours = !locks;

		now_doing("%s%s, call %d", first ? "create" : "free", locks ? "" : ", no_locks", n);
		if (first)
			begin(victim, n);
		win = create(&word, locks);
		more = first && has_failed(victim);
		if (locks)
			ours = count(win, word);
		else
			add_between_fences(win, word);
		expect(more || ours, "without a failure the locks are those of the MPI");
		if (!first)
			begin(victim, n);
		expect(MPI_Win_free(&win) == MPI_SUCCESS, "MPI_Win_free");
		if (!first)
			more = has_failed(victim);
	}
	expect(n < MOST, "more than %d calls", n);
	return n;
}

/* -------------------------------------------------------------- tables of the layers */

static int tables(void)
{
	const struct layer layer = {
	    .runtime = "a runtime", .words = {"locks", "none", "as many"}, .direct = true};
	const int victim = tap_size - 1;
	int n = 0;

	for (bool more = true; more && n < MOST; n += more) {
		struct layer_locks locks;
		int taken, all;

		now_doing("tables, call %d", n);
		begin(victim, n);
		taken = layer_take(&layer, MPI_COMM_WORLD, LOCKS, &locks);
		more = has_failed(victim);
		MPI_Allreduce(&taken, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		expect(all == 0 || all == tap_size, "%d processes have locks", all);
		expect(taken || more, "without a failure there are no locks");
		for (int i = 0; taken && i < LOCKS; i++) {
			expect(layer_acquire(&locks, (uint64_t)i, 0) == PAWL_SUCCESS, "acquire");
			expect(layer_release(&locks, (uint64_t)i, 0) == PAWL_SUCCESS, "release");
		}
		meet();
		if (taken)
			layer_give(&locks);
		layer_end();
	}
	expect(n < MOST, "more than %d calls", n);
	return n;
}

int main(int argc, char **argv)
{
	int n;

	setenv("PAWL_STATS", "/dev/null", 1);
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	started = true;
	for (int locks = 1; locks >= 0; locks--) {
		n = windows(true, locks);
		expect(n > 8, "only %d calls can fail", n);
		result("a window with%s locks is created: each of %d calls fails",
		       locks ? "" : "out", n);
		n = windows(false, locks);
		expect(n > 0 || !locks, "no call can fail");
		result("it is freed: each of %d calls fails", n);
	}
	n = tables();
	expect(n > 4, "only %d calls can fail", n);
	result("a table of the layers: each of %d calls fails", n);
	return tap_end();
}
