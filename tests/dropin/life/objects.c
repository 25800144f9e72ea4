/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties of a window remain the program's: attributes, the name, the group, the
 * info, the error handler, the Fortran handle. Also windows with info key no_locks.
 */
#include "tests/dropin/area.h"

#include <string.h>

static int deleted;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
	(void)win;
	(void)keyval;
	expect(strcmp(value, "attribute") == 0 && strcmp(extra, "extra") == 0,
	       "the callback got other values");
	deleted++;
	return MPI_SUCCESS;
}

static const int flavours[AREA_FLAVOURS] = {
    [AREA_CREATE] = MPI_WIN_FLAVOR_CREATE,
    [AREA_ALLOCATE] = MPI_WIN_FLAVOR_ALLOCATE,
    [AREA_SHARED] = MPI_WIN_FLAVOR_SHARED,
    [AREA_DYNAMIC] = MPI_WIN_FLAVOR_DYNAMIC,
};

static void predefined(struct area *a)
{
	int found, *flavour, *model, *unit;
	MPI_Aint *size;
	void *base;

	MPI_Win_get_attr(a->win, MPI_WIN_CREATE_FLAVOR, &flavour, &found);
	expect(found && *flavour == flavours[a->flavour], "MPI_WIN_CREATE_FLAVOR is %d",
	       found ? *flavour : -1);
	MPI_Win_get_attr(a->win, MPI_WIN_MODEL, &model, &found);
	expect(found && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE), "MPI_WIN_MODEL");
	if (a->flavour == AREA_DYNAMIC)
		return;
	MPI_Win_get_attr(a->win, MPI_WIN_BASE, &base, &found);
	expect(found && base == (void *)a->mine, "MPI_WIN_BASE is not what it was");
	MPI_Win_get_attr(a->win, MPI_WIN_SIZE, &size, &found);
	expect(found && *size == area_bytes(a->words), "MPI_WIN_SIZE is %lld",
	       found ? (long long)*size : -1LL);
	MPI_Win_get_attr(a->win, MPI_WIN_DISP_UNIT, &unit, &found);
	expect(found && *unit == 8, "MPI_WIN_DISP_UNIT is %d", found ? *unit : -1);
}

static void attributes(void)
{
	static char value[] = "attribute", extra[] = "extra";
	struct area a;

	for (int f = 0; f < AREA_FLAVOURS; f++) {
		int keyval, found;
		char *got;

		if (!area_possible((enum area_flavour)f))
			continue;
		now_doing("%s: attributes", area_flavour_name[f]);
		area_open(&a, (enum area_flavour)f, MPI_COMM_WORLD, 2, MPI_INFO_NULL);
		predefined(&a);
		MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, extra);
		MPI_Win_get_attr(a.win, keyval, &got, &found);
		expect(!found, "an attribute that was never set");
		MPI_Win_set_attr(a.win, keyval, value);
		area_lock(&a, MPI_LOCK_EXCLUSIVE, 0);
		area_add_plainly(&a, 0, 0, 1);
		MPI_Win_unlock(0, a.win);
		MPI_Win_get_attr(a.win, keyval, &got, &found);
		expect(found && got == value, "the attribute is lost");
		deleted = 0;
		area_close(&a);
		expect(deleted == 1, "the attribute was deleted %d times", deleted);
		MPI_Win_free_keyval(&keyval);
		result("%s: attributes", area_flavour_name[f]);
	}
}

static void name_and_group(struct area *a)
{
	char name[MPI_MAX_OBJECT_NAME] = "?";
	MPI_Group of_win, of_comm;
	int len = -1, same;

	MPI_Win_set_name(a->win, "a window of mine");
	area_lock_all(a);
	MPI_Win_get_name(a->win, name, &len);
	MPI_Win_unlock_all(a->win);
	expect(strcmp(name, "a window of mine") == 0 && len == 16, "the name is %s", name);
	MPI_Win_get_group(a->win, &of_win);
	MPI_Comm_group(a->comm, &of_comm);
	MPI_Group_compare(of_win, of_comm, &same);
	expect(same == MPI_IDENT, "the group is another one");
	MPI_Group_free(&of_win);
	MPI_Group_free(&of_comm);
	/* In MPICH both conversions are the identity, and the compiler knows it. */
	if (MPI_Win_f2c(MPI_Win_c2f(a->win)) != a->win)
		fail("the Fortran handle is another one");
	result("name, group and Fortran handle");
}

static void info_of(struct area *a)
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	MPI_Info info;
	int found;

	MPI_Info_create(&info);
	MPI_Info_set(info, "accumulate_ordering", "none");
	MPI_Info_set(info, "a_key_of_nobody", "whatever");
	expect(MPI_Win_set_info(a->win, info) == MPI_SUCCESS, "MPI_Win_set_info");
	MPI_Info_free(&info);
	expect(MPI_Win_get_info(a->win, &info) == MPI_SUCCESS, "MPI_Win_get_info");
	MPI_Info_get(info, "no_locks", MPI_MAX_INFO_VAL, value, &found);
	expect(!found || strcmp(value, "false") == 0, "no_locks is %s", value);
	MPI_Info_free(&info);
	area_lock(a, MPI_LOCK_EXCLUSIVE, 0);
	area_add_plainly(a, 0, 0, 1);
	MPI_Win_unlock(0, a->win);
	result("info of a window");
}

static int handled;
static void on_error(MPI_Win *win, int *code, ...)
{
	(void)win;
	(void)code;
	handled++;
}

static void handler_of(struct area *a)
{
	MPI_Errhandler mine, got, before;

	MPI_Win_get_errhandler(a->win, &before);
	expect(before == MPI_ERRORS_ARE_FATAL, "the first error handler is not the fatal one");
	MPI_Win_create_errhandler(on_error, &mine);
	MPI_Win_set_errhandler(a->win, mine);
	area_lock(a, MPI_LOCK_SHARED, 0);
	MPI_Win_unlock(0, a->win);
	MPI_Win_get_errhandler(a->win, &got);
	expect(got == mine, "the error handler is another one");
	handled = 0;
	MPI_Win_call_errhandler(a->win, MPI_ERR_OTHER);
	expect(handled == 1, "the error handler was called %d times", handled);
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	MPI_Win_set_errhandler(a->win, MPI_ERRORS_ARE_FATAL);
	result("error handler of a window");
}

static void fence_once(MPI_Win win, volatile int64_t *mine)
{
	int right = (tap_rank + 1) % tap_size, left = (tap_rank + tap_size - 1) % tap_size;
	int64_t value = 50 + tap_rank;

	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win);
	MPI_Win_fence(0, win);
	expect(*mine == 50 + left, "after a fence: %lld", (long long)*mine);
}

static void no_locks(const char *value)
{
	int64_t *memory;
	MPI_Info info;
	MPI_Win win;

	now_doing("no_locks=%s", value);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", value);
	MPI_Win_allocate(area_bytes(1), 8, info, MPI_COMM_WORLD, &memory, &win);
	fence_once(win, memory);
	MPI_Win_free(&win);
	MPI_Alloc_mem(area_bytes(1), MPI_INFO_NULL, &memory);
	MPI_Win_create(memory, area_bytes(1), 8, info, MPI_COMM_WORLD, &win);
	fence_once(win, memory);
	MPI_Win_free(&win);
	MPI_Free_mem(memory);
	MPI_Info_free(&info);
	result("a window with no_locks=%s, fences", value);
}

/* Such windows beside locked ones; and no_locks=false, which allows locks. */
static void beside_no_locks(void)
{
	int64_t *memory, done = 0;
	struct area a;
	MPI_Info info;
	MPI_Win win;

	now_doing("no_locks beside locks");
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Win_allocate(area_bytes(1), 8, info, MPI_COMM_WORLD, &memory, &win);
	MPI_Info_set(info, "no_locks", "false");
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 1, info);
	for (struct turns t = turns(3); turn(&t); done++) {
		area_lock(&a, MPI_LOCK_EXCLUSIVE, 0);
		area_add_plainly(&a, 0, 0, 1);
		MPI_Win_unlock(0, a.win);
	}
	area_expect(&a, done, area_sum(&a, 0), "no_locks=false");
	area_close(&a);
	fence_once(win, memory);
	MPI_Win_free(&win);
	MPI_Info_free(&info);
	result("a window with no_locks=false is locked, one with no_locks=true beside it");
}

int main(int argc, char **argv)
{
	struct area a;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	attributes();
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 2, MPI_INFO_NULL);
	now_doing("objects");
	name_and_group(&a);
	info_of(&a);
	handler_of(&a);
	area_close(&a);
	no_locks("true");
	no_locks("false");
	beside_no_locks();
	return tap_end();
}
