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
 *   site=PLACE   what is acquired by this function, or on this line (FILE:LINE), only; as in the
 * call sites of PAWL_STATS
 */
#include <pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/error.h"
#include "observe/observers.h"
#include "observe/tallies.h"

enum { SITES = 256 };

struct inject {
	uint64_t delay_ns, lock;
	bool any_lock;
	int mode, rank;        /* 0: any; -1: any */
	char site[128];        /* "": any */
	pthread_mutex_t mutex; /* for the rest */
	int n;
	struct {
		const void *address;
		bool is_meant;
	} known[SITES];
};

/* Whether the text of a call site, "FUNCTION at FILE:LINE" or "MODULE+OFFSET", is the place. */
static bool is_place(const char *text, const char *place)
{
	const char *at = strstr(text, " at ");
	size_t len = strlen(place);

	return strcmp(text, place) == 0 ||
	       (at && (strcmp(at + 4, place) == 0 ||
		       ((size_t)(at - text) == len && strncmp(text, place, len) == 0)));
}

/* A place beyond SITES is not meant. */
static bool is_meant(struct inject *i, const void *address)
{
	struct site site = {.address = address};
	char text[1][SITE_TEXT];
	bool is = false;
	int k = 0;

	pthread_mutex_lock(&i->mutex);
	while (k < i->n && i->known[k].address != address)
		k++;
	if (k < SITES) {
		if (k == i->n) {
			sites_locate(&site);
			sites_resolve(&site, 1, text);
			i->known[i->n].address = address;
			i->known[i->n++].is_meant = is_place(text[0], i->site);
		}
		is = i->known[k].is_meant;
	}
	pthread_mutex_unlock(&i->mutex);
	return is;
}

/* Finds out about a new place before the client has the lock: that takes milliseconds. */
static void begin(void *state, const struct observe_record *r)
{
	struct inject *i = state;

	if (i->site[0] && i->delay_ns)
		is_meant(i, r->site);
}

static void acquired(void *state, const struct observe_record *r)
{
	struct inject *i = state;

	if (r->code != PAWL_SUCCESS || (!i->any_lock && r->lock != i->lock) ||
	    (i->mode && r->mode != i->mode) || !i->delay_ns ||
	    (i->site[0] && !is_meant(i, r->site)))
		return;
	while (rma_now_ns() - r->acquired_ns < i->delay_ns)
		;
}

/* At most some days. */
static bool read_time(const char *text, uint64_t *ns)
{
	double value;

	if (!duration_parse(text, 0, &value) || value > 1e15)
		return false;
	*ns = (uint64_t)value;
	return true;
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
	if (strncmp(word, "site=", 5) == 0) {
		snprintf(i->site, sizeof i->site, "%s", word + 5);
		return i->site[0];
	}
	i->mode = strcmp(word, "mode=exclusive") == 0 ? PAWL_EXCLUSIVE
		  : strcmp(word, "mode=shared") == 0  ? PAWL_SHARED
						      : 0;
	return i->mode != 0;
}

static void close_inject(void *state)
{
	struct inject *i = state;

	pthread_mutex_destroy(&i->mutex);
	free(i);
}

int observe_open_inject(const struct observe *o, const struct observer **calls, void **state)
{
	static const struct observer observer = {
	    .begin = begin, .acquired = acquired, .close = close_inject};
	struct inject i = {.any_lock = true, .rank = -1}, *mine;
	char value[OBSERVE_SETTING], *rest = NULL;
	int ok, rc = observe_setting(o->table.comm, "PAWL_INJECT", value);

	if (rc != PAWL_SUCCESS || !value[0])
		return rc;
	for (char *w = strtok_r(value, " ,", &rest); w; w = strtok_r(NULL, " ,", &rest))
		if (!read_word(&i, w))
			return error_set(PAWL_ERR_OPTION,
					 "PAWL_INJECT: \"%s\" is none of delay=TIME (10ns, 1us,"
					 " 3ms, 1s), lock=N, mode=exclusive, mode=shared, rank=R,"
					 " site=FUNCTION, site=FILE:LINE",
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
	pthread_mutex_init(&mine->mutex, NULL);
	*calls = &observer;
	*state = mine;
	return PAWL_SUCCESS;
}
