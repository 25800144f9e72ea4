/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info keys about accumulates, with each value, in windows of each kind: what the program may rely
 * on under a key holds, and MPI_Win_get_info tells the same of these keys for a window with Pawl's
 * atomics and for one without.
 *
 *   accumulate_ordering   the order of reads and writes of one process at one element that the
 *                         value names, without a flush between them; under "none" that of calls
 *                         with a flush between them
 *   accumulate_ops        all processes add to one element, and with same_op_no_op read it, too
 *
 * TEST_BREAK=1: the elements are changed by MPI_Get and MPI_Put.
 */
#include "tests/dropin/area.h"

#include <stdio.h>
#include <string.h>

enum { TOTAL, OWN, STEPS = 200 };

static struct area a;

static const struct key {
	const char *key, *value;
} keys[] = {
    {"accumulate_ordering", "none"}, {"accumulate_ordering", "rar"},
    {"accumulate_ordering", "raw"},  {"accumulate_ordering", "war"},
    {"accumulate_ordering", "waw"},  {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op"},   {"accumulate_ops", "same_op_no_op"},
};

/* The word of this rank at rank 0, or that of all. */
static MPI_Aint place(int word)
{
	const int index = word == TOTAL ? 0 : 1 + a.rank;

	return a.at[0] + index * (a.flavour == AREA_DYNAMIC ? (MPI_Aint)sizeof(int64_t) : 1);
}

static void replace(const int64_t *value)
{
	MPI_Accumulate(value, 1, MPI_INT64_T, 0, place(OWN), 1, MPI_INT64_T, MPI_REPLACE, a.win);
}

static void read_word(int64_t *value, int word)
{
	MPI_Get_accumulate(NULL, 0, MPI_INT64_T, value, 1, MPI_INT64_T, 0, place(word), 1,
			   MPI_INT64_T, MPI_NO_OP, a.win);
}

static void add_one(int64_t *found)
{
	const int64_t one = 1;

	if (area_broken()) {
		area_add_plainly(&a, 0, 0, 1);
		return;
	}
	if (found)
		MPI_Fetch_and_op(&one, found, MPI_INT64_T, 0, place(TOTAL), MPI_SUM, a.win);
	else
		MPI_Accumulate(&one, 1, MPI_INT64_T, 0, place(TOTAL), 1, MPI_INT64_T, MPI_SUM,
			       a.win);
}

static bool asks(const struct key *k, const char *order)
{
	return strcmp(k->key, "accumulate_ordering") == 0 && strstr(k->value, order);
}

static void between(const struct key *k, const char *order)
{
	if (!asks(k, order))
		MPI_Win_flush(0, a.win);
}

/* Two writes and the reads before, between and after them. */
static void ordering(const struct key *k, int64_t step)
{
	const int64_t first = 2 * step + 1, second = first + 1;
	int64_t before = -1, middle = -1, again = -1, after = -1;

	read_word(&before, OWN);
	between(k, "war");
	replace(&first);
	between(k, "raw");
	read_word(&middle, OWN);
	between(k, "rar");
	read_word(&again, OWN);
	MPI_Win_flush(0, a.win);
	replace(&first);
	between(k, "waw");
	replace(&second);
	MPI_Win_flush(0, a.win);
	read_word(&after, OWN);
	MPI_Win_flush(0, a.win);
	expect(before == first - 1 && middle == first && again == first && after == second,
	       "step %d finds %d, %d, %d and %d", (int)step, (int)before, (int)middle, (int)again,
	       (int)after);
}

/* All add; what a process reads only grows. */
static void additions(const struct key *k, int64_t *last)
{
	const bool reads = strcmp(k->value, "same_op_no_op") == 0;
	int64_t found = *last + 1, read = found;

	add_one(NULL);
	between(k, "waw");
	if (reads) {
		read_word(&found, TOTAL);
		MPI_Win_flush(0, a.win);
		expect(found > *last, "a read finds %d after %d", (int)found, (int)*last);
		*last = found;
	}
	add_one(&found);
	between(k, "rar");
	add_one(&read);
	MPI_Win_flush(0, a.win);
	expect(area_broken() || (found >= *last && read > found),
	       "additions find %d and %d after %d", (int)found, (int)read, (int)*last);
	*last = area_broken() ? *last : read;
}

/* What the MPI tells of such keys of a window. */
static void told(MPI_Win win, char *text, size_t len)
{
	MPI_Info info;
	size_t used = 0;
	int n;

	text[0] = '\0';
	MPI_Win_get_info(win, &info);
	MPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n; i++) {
		char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
		int flag;

		MPI_Info_get_nthkey(info, i, key);
		MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
		if (flag && strncmp(key, "accumulate_", 11) == 0 && used < len)
			used += (size_t)snprintf(text + used, len - used, "%s=%s\n", key, value);
	}
	MPI_Info_free(&info);
}

static MPI_Info info_of(const struct key *k, const char *atomics)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, k->key, k->value);
	MPI_Info_set(info, "pawl_atomics", atomics);
	return info;
}

static void one_key(enum area_flavour flavour, const struct key *k)
{
	char with[4096], without[4096];
	MPI_Info info = info_of(k, "0");
	int64_t last = -1;

	now_doing("%s, %s=%s", area_flavour_name[flavour], k->key, k->value);
	area_open(&a, flavour, MPI_COMM_WORLD, 1 + tap_size, info);
	told(a.win, without, sizeof without);
	area_close(&a);
	MPI_Info_free(&info);
	info = info_of(k, "1");
	area_open(&a, flavour, MPI_COMM_WORLD, 1 + tap_size, info);
	told(a.win, with, sizeof with);
	expect(strcmp(with, without) == 0, "MPI_Win_get_info tells\n%sinstead of\n%s", with,
	       without);
	MPI_Info_free(&info);
	MPI_Win_lock_all(0, a.win);
	for (int64_t i = 0; i < STEPS; i++) {
		if (strcmp(k->key, "accumulate_ordering") == 0)
			ordering(k, i);
		additions(k, &last);
	}
	MPI_Win_unlock_all(a.win);
	meet();
	area_expect(&a, 3 * STEPS, area_word(&a, 0, 0), "additions");
	area_close(&a);
	result("%s, %s=%s", area_flavour_name[flavour], k->key, k->value);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int f = AREA_CREATE; f < AREA_FLAVOURS; f++)
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			if (area_possible((enum area_flavour)f))
				one_key((enum area_flavour)f, &keys[i]);
	return tap_end();
}
