/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls. The MPI standard calls them erroneous and names the class of the
 * error, but does not require an implementation to notice. A call that is not
 * noticed is printed as a comment, and cases that make an MPI fail (MPICH 4.0 aborts,
 * Open MPI 4.1 frees a locked window) are left out, unless TEST_STRICT=1 is in the
 * environment: then every wrong call must give an error of its class through
 * the window's error handler, and must leave the window usable. --only CASE
 * runs one case.
 *
 * TEST_BREAK=1: the calls are correct, so there is no error.
 */
#include "tests/dropin/area.h"

#include <stdlib.h>
#include <string.h>

static struct area a;
static bool strict;
static int handled, handled_code;

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && strcmp(text, "1") == 0;
}

static int class_of(int code)
{
	int class = code;

	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &class);
	return class;
}

/* A wrong call that should give an error of that class; returns whether it did. */
static bool wrong(int code, int class, const char *what)
{
	int got = class_of(code);

	/* MPICH 4.0 has MPI_ERR_ARG for an unknown type of lock. */
	if (got == class || (class == MPI_ERR_LOCKTYPE && got == MPI_ERR_ARG))
		return true;
	if (got == MPI_SUCCESS && !strict) {
		note("not noticed: %s", what);
		return false;
	}
	fail("%s: class %d instead of %d", what, got, class);
	return false;
}

static void right(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, text, &len);
	fail("%s: %s", what, text);
}

static void open_window(const char *what)
{
	now_doing("%s", what);
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_RETURN);
}

/* Check that the window still works. */
static void close_window(const char *what)
{
	int64_t done = 0;

	meet();
	for (int i = 0; i < 3; i++, done++) {
		right(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, a.win), "lock afterwards");
		area_add_plainly(&a, 0, 0, 1);
		right(MPI_Win_unlock(0, a.win), "unlock afterwards");
	}
	meet();
	right(MPI_Win_lock_all(0, a.win), "lock_all afterwards");
	meet();
	right(MPI_Win_unlock_all(a.win), "unlock_all afterwards");
	area_expect(&a, done, area_sum(&a, 0), "after an error");
	area_close(&a);
	result("%s", what);
}

static void unlock_without_lock(void)
{
	static const char what[] = "unlock without lock";

	open_window(what);
	if (area_broken())
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win);
	wrong(MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC, what);
	close_window(what);
}

static void unlock_of_another(void)
{
	static const char what[] = "unlock of another target than the one locked";
	int other = (a.rank + 1) % a.size;

	if (tap_size < 2) {
		skip("one rank", "%s", what);
		return;
	}
	open_window(what);
	right(MPI_Win_lock(MPI_LOCK_SHARED, a.rank, 0, a.win), "lock");
	other = (a.rank + 1) % a.size;
	wrong(MPI_Win_unlock(area_broken() ? a.rank : other, a.win), MPI_ERR_RMA_SYNC, what);
	if (!area_broken())
		right(MPI_Win_unlock(a.rank, a.win), "unlock of the one locked");
	close_window(what);
}

static void unlock_all_without(void)
{
	static const char what[] = "unlock_all without lock_all";

	open_window(what);
	if (area_broken())
		MPI_Win_lock_all(0, a.win);
	wrong(MPI_Win_unlock_all(a.win), MPI_ERR_RMA_SYNC, what);
	close_window(what);
}

static void lock_twice(void)
{
	static const char what[] = "lock of a target that is locked";

	open_window(what);
	right(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), "lock");
	if (area_broken())
		MPI_Win_unlock(0, a.win);
	if (!wrong(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), MPI_ERR_RMA_SYNC, what))
		MPI_Win_unlock(0, a.win);
	if (!area_broken())
		right(MPI_Win_unlock(0, a.win), "unlock of the first");
	close_window(what);
}

static void lock_all_twice(void)
{
	static const char what[] = "lock_all within lock_all";

	open_window(what);
	right(MPI_Win_lock_all(0, a.win), "lock_all");
	if (area_broken())
		MPI_Win_unlock_all(a.win);
	if (!wrong(MPI_Win_lock_all(0, a.win), MPI_ERR_RMA_SYNC, what))
		MPI_Win_unlock_all(a.win);
	if (!area_broken())
		right(MPI_Win_unlock_all(a.win), "unlock_all of the first");
	close_window(what);
}

static void lock_within_all(void)
{
	static const char what[] = "lock within lock_all";

	open_window(what);
	right(MPI_Win_lock_all(0, a.win), "lock_all");
	if (area_broken())
		MPI_Win_unlock_all(a.win);
	if (!wrong(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), MPI_ERR_RMA_SYNC, what))
		MPI_Win_unlock(0, a.win);
	if (!area_broken())
		right(MPI_Win_unlock_all(a.win), "unlock_all");
	close_window(what);
}

static void all_within_lock(void)
{
	static const char what[] = "lock_all within a lock";

	open_window(what);
	right(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), "lock");
	if (area_broken())
		MPI_Win_unlock(0, a.win);
	if (!wrong(MPI_Win_lock_all(0, a.win), MPI_ERR_RMA_SYNC, what))
		MPI_Win_unlock_all(a.win);
	if (!area_broken())
		right(MPI_Win_unlock(0, a.win), "unlock");
	close_window(what);
}

static void bad_arguments(void)
{
	bool fine = area_broken();

	open_window("bad arguments");
	if (!wrong(MPI_Win_lock(MPI_LOCK_SHARED, fine ? 0 : a.size, 0, a.win), MPI_ERR_RANK,
		   "lock of a rank past the last"))
		MPI_Win_unlock(fine ? 0 : a.size, a.win);
	if (!wrong(MPI_Win_lock(MPI_LOCK_SHARED, fine ? 0 : -77, 0, a.win), MPI_ERR_RANK,
		   "lock of a negative rank"))
		MPI_Win_unlock(fine ? 0 : -77, a.win);
	wrong(MPI_Win_unlock(fine ? 0 : a.size, a.win), MPI_ERR_RANK,
	      "unlock of a rank past the last");
	if (!wrong(MPI_Win_lock(fine ? MPI_LOCK_SHARED : 4711, 0, 0, a.win), MPI_ERR_LOCKTYPE,
		   "an unknown type of lock"))
		MPI_Win_unlock(0, a.win);
	close_window("bad arguments");
}

static void on_error(MPI_Win *win, int *code, ...)
{
	(void)win;
	handled++;
	handled_code = *code;
}

static void user_handler(void)
{
	MPI_Errhandler mine;

	open_window("an error handler of the program");
	MPI_Win_create_errhandler(on_error, &mine);
	MPI_Win_set_errhandler(a.win, mine);
	handled = 0;
	if (area_broken())
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win);
	if (wrong(MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC, "unlock without lock") || handled)
		expect(handled == 1 && class_of(handled_code) == MPI_ERR_RMA_SYNC,
		       "the handler was called %d times, class %d", handled,
		       class_of(handled_code));
	handled = 0;
	if (!wrong(MPI_Win_lock(MPI_LOCK_SHARED, area_broken() ? 0 : a.size + 3, 0, a.win),
		   MPI_ERR_RANK, "lock of a rank past the last"))
		MPI_Win_unlock(area_broken() ? 0 : a.size + 3, a.win);
	else
		expect(handled == 1 && class_of(handled_code) == MPI_ERR_RANK,
		       "the handler was called %d times, class %d", handled,
		       class_of(handled_code));
	MPI_Errhandler_free(&mine);
	MPI_Win_set_errhandler(a.win, MPI_ERRORS_RETURN);
	close_window("an error handler of the program");
}

/* Every rank holds a lock when the window is freed; the window lives on. */
static void held_at_free(bool all)
{
	const char *what = all ? "free within lock_all" : "free of a window that is locked";

	open_window(what);
	if (all)
		right(MPI_Win_lock_all(0, a.win), "lock_all");
	else
		right(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a.win), "lock");
	if (area_broken()) {
		fail("no error to look for");
	} else {
		MPI_Win same = a.win;

		wrong(MPI_Win_free(&a.win), MPI_ERR_RMA_SYNC, what);
		expect(a.win == same, "the handle has changed");
	}
	if (all)
		right(MPI_Win_unlock_all(a.win), "unlock_all");
	else
		right(MPI_Win_unlock(0, a.win), "unlock");
	close_window(what);
}

static void held_lock(void)
{
	held_at_free(false);
}

static void held_lock_all(void)
{
	held_at_free(true);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool noticed; /* allowed by every MPI that has been tested, without harm */
} cases[] = {
    {"unlock-without-lock", unlock_without_lock, true},
    {"unlock-of-another", unlock_of_another, false},
    {"unlock-all-without", unlock_all_without, true},
    {"lock-twice", lock_twice, true},
    {"lock-all-twice", lock_all_twice, true},
    {"lock-within-all", lock_within_all, true},
    {"all-within-lock", all_within_lock, true},
    {"bad-arguments", bad_arguments, true},
    {"user-handler", user_handler, true},
    {"held-at-free", held_lock, false},
    {"all-held-at-free", held_lock_all, false},
};

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	strict = is_set("TEST_STRICT");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (tap_only && strcmp(tap_only, cases[i].name) != 0)
			continue;
		if (strict || tap_only || cases[i].noticed)
			cases[i].run();
		else
			skip("TEST_STRICT is not set", "%s", cases[i].name);
	}
	return tap_end();
}
