/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injected delays (PAWL_INJECT="delay=1us lock=5"): each hold of the lock becomes longer by this
 * time. The program then shows what a slower lock would change. The thread spins, and does not
 * drive the MPI, as a longer critical section would.
 *
 *   delay=TIME   ns, us, ms or s
 *   lock=N       this lock or space only; without it all
 *   mode=M       exclusive or shared only
 *   rank=R       of the table, this one only
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "observe/observers.h"

struct inject {
	uint64_t delay_ns, lock;
	bool any_lock;
	int mode, rank; /* 0: any; -1: any */
};

static void acquired(void *state, const struct observe_record *r)
{
	const struct inject *i = state;

	if (r->code != PAWL_SUCCESS || (!i->any_lock && r->lock != i->lock) ||
	    (i->mode && r->mode != i->mode))
		return;
	while (rma_now_ns() - r->acquired_ns < i->delay_ns)
		;
}

static bool read_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (end != text && value >= 0 && value <= 1e6 && strcmp(end, units[i].name) == 0) {
			*ns = (uint64_t)(value * units[i].ns);
			return true;
		}
	return false;
}

static bool read_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && *value <= most;
}

static bool read_word(struct inject *i, const char *word)
{
	uint64_t number;

	if (strncmp(word, "delay=", 6) == 0)
		return read_time(word + 6, &i->delay_ns);
	if (strncmp(word, "lock=", 5) == 0) {
		i->any_lock = false;
		return read_number(word + 5, UINT64_MAX, &i->lock);
	}
	if (strncmp(word, "rank=", 5) == 0 && read_number(word + 5, INT32_MAX, &number)) {
		i->rank = (int)number;
		return true;
	}
	i->mode = strcmp(word, "mode=exclusive") == 0 ? PAWL_EXCLUSIVE
		  : strcmp(word, "mode=shared") == 0  ? PAWL_SHARED
						      : 0;
	return i->mode != 0;
}

int observe_open_inject(const struct observe *o, const struct observer **calls, void **state)
{
	static const struct observer observer = {.acquired = acquired, .close = free};
	struct inject i = {.any_lock = true, .rank = -1}, *mine;
	char value[OBSERVE_SETTING], *rest = NULL;
	int ok;

	observe_setting(o->table.comm, "PAWL_INJECT", value);
	if (!value[0])
		return PAWL_SUCCESS;
	for (char *w = strtok_r(value, " ,", &rest); w; w = strtok_r(NULL, " ,", &rest))
		if (!read_word(&i, w))
			return error_set(PAWL_ERR_OPTION,
					 "PAWL_INJECT: \"%s\" is none of delay=TIME (10ns, 1us,"
					 " 3ms, 1s), lock=N, mode=exclusive, mode=shared, rank=R",
					 w);
	if (!i.delay_ns)
		return error_set(PAWL_ERR_OPTION,
				 "PAWL_INJECT: no delay, as in \"delay=1us lock=5\"");
	if (i.rank >= 0 && i.rank != o->table.rma->rank)
		i.delay_ns = 0;
	mine = malloc(sizeof *mine);
	ok = mine != NULL;
	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, o->table.comm);
	if (!ok) {
		free(mine);
		return error_set(PAWL_ERR_NOMEM, "out of memory for PAWL_INJECT");
	}
	*mine = i;
	*calls = &observer;
	*state = mine;
	return PAWL_SUCCESS;
}
