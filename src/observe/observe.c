/* SPDX-License-Identifier: BSD-3-Clause */
/* The observers of a table, and the events that the API layer reports to them. */
#include "observe/observe.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "observe/job.h"
#include "observe/observers.h"

_Thread_local const void *observe_given_site;

void pawl_private_set_site(const void *site)
{
	observe_given_site = site;
}

/* ------------------------------------------------------------------ observers */

/* All observers there are, in the order in which they are told, and the variables that ask for
 * them; NULL: option watchdog does. */
static const struct {
	observer_open *open;
	const char *variable;
} observers[] = {{observe_open_watch, NULL},
		 {observe_open_stats, "PAWL_STATS"},
		 {observe_open_trace, "PAWL_TRACE"},
		 {observe_open_probes, "PAWL_PROBES"},
		 {observe_open_inject, "PAWL_INJECT"}};
enum { KINDS = sizeof observers / sizeof *observers };

static bool is_among(const char *const *words, const char *value)
{
	while (*words && strcasecmp(*words, value) != 0)
		words++;
	return *words != NULL;
}

int observe_text(MPI_Comm comm, const char *name, char value[OBSERVE_SETTING])
{
	const char *env = getenv(name);
	int rank;

	memset(value, 0, OBSERVE_SETTING);
	PMPI_Comm_rank(comm, &rank);
	if (rank == 0 && env)
		memcpy(value, env, strnlen(env, OBSERVE_SETTING));
	PMPI_Bcast(value, OBSERVE_SETTING, MPI_CHAR, 0, comm);
	if (value[OBSERVE_SETTING - 1])
		return error_set(PAWL_ERR_OPTION, "%s is longer than %d characters", name,
				 OBSERVE_SETTING - 1);
	return PAWL_SUCCESS;
}

int observe_setting(MPI_Comm comm, const char *name, char value[OBSERVE_SETTING])
{
	static const char *const off[] = {"0", "no", "off", "false", NULL};
	static const char *const on[] = {"1", "2", "yes", "on", "true", NULL};
	int rc = observe_text(comm, name, value);

	if (is_among(off, value))
		value[0] = '\0';
	else if (is_among(on, value))
		strcpy(value, "1");
	return rc;
}

int observe_number(MPI_Comm comm, const char *name, uint64_t least, uint64_t most, uint64_t *value)
{
	char text[OBSERVE_SETTING], *end;
	int rc = observe_text(comm, name, text);
	unsigned long long number;

	if (rc != PAWL_SUCCESS || !text[0])
		return rc;
	number = strtoull(text, &end, 10); /* ULLONG_MAX if there are too many digits */
	if (text[0] < '0' || text[0] > '9' || *end || number < least || number > most)
		return error_set(PAWL_ERR_OPTION, "%s: \"%.80s\" is no number from %llu to %llu",
				 name, text, (unsigned long long)least, (unsigned long long)most);
	*value = number;
	return PAWL_SUCCESS;
}

int observe_prepare(struct observe **to, const struct observe_table *table)
{
	struct observe *o = calloc(1, sizeof *o);

	*to = o;
	if (o) {
		o->table = *table;
		o->records = calloc((size_t)table->setup->max_held, sizeof *o->records);
	}
	return o && o->records ? PAWL_SUCCESS : error_set(PAWL_ERR_NOMEM, "out of memory");
}

/* Rank 0's number for the table, and the set of observers that rank 0 asks for. */
void observe_ask(const struct observe_table *table, int64_t word[OBSERVE_WORDS])
{
	word[0] = word[1] = 0;
	if (table->rma->rank > 0)
		return;
	word[0] = (int64_t)job_next_table(table->comm);
	for (int i = 0; i < KINDS; i++) {
		const char *value = observers[i].variable ? getenv(observers[i].variable) : NULL;

		if (observers[i].variable ? value && value[0] : table->rma->waiting.watchdog > 0)
			word[1] |= INT64_C(1) << i;
	}
}

bool observe_is_asked(const int64_t word[OBSERVE_WORDS])
{
	return word[1] != 0;
}

int observe_open(struct observe *o, const int64_t word[OBSERVE_WORDS])
{
	int rc = PAWL_SUCCESS;

	o->table.number = (uint64_t)word[0];
	for (int i = 0; rc == PAWL_SUCCESS && i < KINDS; i++) {
		if (!(word[1] >> i & 1))
			continue;
		rc = observers[i].open(o, &o->calls[o->n], &o->state[o->n]);
		o->n += o->calls[o->n] != NULL;
	}
	return rc;
}

void observe_report(struct observe *o)
{
	for (int i = 0; i < o->n; i++)
		if (o->calls[i]->report)
			o->calls[i]->report(o->state[i]);
}

void observe_before_move(struct observe *o)
{
	for (int i = 0; o && i < o->n; i++)
		if (o->calls[i]->before_move)
			o->calls[i]->before_move(o->state[i]);
}

void observe_after_move(struct observe *o, uint64_t board)
{
	if (o)
		o->table.board = board;
	for (int i = 0; o && i < o->n; i++)
		if (o->calls[i]->after_move)
			o->calls[i]->after_move(o->state[i]);
}

void observe_report_locks(struct observe *o, MPI_Comm comm, uint64_t first, uint64_t n,
			  uint64_t extra, const char *title)
{
	for (int i = 0; o && i < o->n; i++)
		if (o->calls[i]->report_locks)
			o->calls[i]->report_locks(o->state[i], comm, first, n, extra, title);
}

bool observe_reports_locks(const struct observe *o)
{
	for (int i = 0; o && i < o->n; i++)
		if (o->calls[i]->report_locks)
			return true;
	return false;
}

bool observe_percentile(struct observe *o, bool holds, double percent, uint64_t *ns)
{
	for (int i = 0; o && i < o->n; i++)
		if (o->calls[i]->percentile) {
			o->calls[i]->percentile(o->state[i], holds, percent, ns);
			return true;
		}
	return false;
}

void observe_close(struct observe *o)
{
	if (!o)
		return;
	for (int i = 0; i < o->n; i++)
		if (o->calls[i]->close)
			o->calls[i]->close(o->state[i]);
	free(o->records);
	free(o);
}

/* --------------------------------------------------------------------- events */

#define TELL(o, event, ...)                                                       \
	do {                                                                      \
		for (int i = 0; i < (o)->n; i++)                                  \
			if ((o)->calls[i]->event)                                 \
				(o)->calls[i]->event((o)->state[i], __VA_ARGS__); \
	} while (0)

/* The level of an element at which two of its children meet. */
static enum observe_level level_of(const struct topo *t, int level)
{
	for (; level > 1 && t->level[level - 1].type == TOPO_GANG; level--)
		;
	switch (t->level[level - 1].type) {
	case TOPO_CACHE:
	case TOPO_GANG:
		return OBSERVE_COMPLEX;
	case TOPO_PACKAGE:
	case TOPO_NUMA:
		return OBSERVE_PACKAGE;
	case TOPO_NODE:
		return OBSERVE_NODE;
	default:
		return t->nnodes > 1 ? OBSERVE_NETWORK : OBSERVE_NODE;
	}
}

static enum observe_level level_between(const struct topo *t, int a, int b)
{
	int level = t->nlevels;

	if (t->node[a] != t->node[b])
		return OBSERVE_NETWORK;
	while (level > 1 && topo_element(t, a, level) != topo_element(t, b, level))
		level--;
	/* Where a node has one rank, or divides as the machine does, the topology has no level for
	 * it. */
	return level_of(t, level) == OBSERVE_NETWORK ? OBSERVE_NODE : level_of(t, level);
}

/* From whom the lock came, by what the protocol has left in the slot. */
static void note_origin(const struct observe *o, struct observe_record *r,
			const struct lock_slot *slot)
{
	const struct topo *t = o->table.setup->topo;

	if (slot->from > 0) {
		r->from = slot_rank(slot->from);
		r->level = level_between(t, r->from, o->table.rma->rank);
	} else if (slot->from < 0) {
		r->level = level_of(t, (int)-slot->from);
	}
}

struct observe_record observe_begin(struct observe *o, struct lock_slot *slot, int mode,
				    const struct client_units *units, const void *site)
{
	struct observe_record r = {
	    .lock = slot->lock,
	    .mode = mode,
	    .slot = slot->index,
	    .site = site,
	    .begin_ns = rma_now_ns(),
	    .from = -1,
	    .level = OBSERVE_UNKNOWN,
	    .waits_before = slot->client.waits,
	    .far_before = rma_far_operations(&slot->client),
	};

	if (units) {
		r.first = units->first;
		r.last = units->last;
	}
	slot->from = 0;
	o->records[slot->index] = r;
	TELL(o, begin, &r);
	return r;
}

void observe_acquired(struct observe *o, struct observe_record *r, struct lock_slot *slot, int code)
{
	r->code = code = client_has_got(code) ? PAWL_SUCCESS : code;
	r->acquired_ns = rma_now_ns();
	if (code != PAWL_SUCCESS) {
		r->waited = code == PAWL_ERR_TIMEOUT;
		TELL(o, acquired, r);
		return;
	}
	r->waited = slot->client.waits != r->waits_before;
	r->far = rma_far_operations(&slot->client) - r->far_before;
	if (r->waited)
		note_origin(o, r, slot);
	o->records[slot->index] = *r;
	TELL(o, acquired, r);
}

void observe_release(struct observe *o, const struct lock_slot *slot, const void *site)
{
	struct observe_record *r = &o->records[slot->index];

	r->release_site = site;
	r->far_before = rma_far_operations(&slot->client);
	r->release_ns = rma_now_ns();
	TELL(o, release, r);
}

void observe_released(struct observe *o, const struct lock_slot *slot, int code)
{
	struct observe_record *r = &o->records[slot->index];

	r->code = code;
	r->far += rma_far_operations(&slot->client) - r->far_before;
	r->released_ns = rma_now_ns();
	TELL(o, released, r);
}

void observe_abandon(struct observe *o, const struct lock_slot *slot, const void *site)
{
	observe_release(o, slot, site);
	observe_released(o, slot, PAWL_ERR_LEASE_LOST);
}

const struct observe_record *observe_awaiting(const struct observe *o, const struct rma_client *c)
{
	const struct lock_slot *slot =
	    (const void *)((const char *)c - offsetof(struct lock_slot, client));
	const struct observe_record *r = &o->records[slot->index];

	return r->acquired_ns ? NULL : r;
}

void observe_waiting(void *to, const struct rma_client *c, uint64_t waited_ns, const char *what)
{
	const struct observe *o = to;

	(void)what;
	TELL(o, waiting, observe_awaiting(o, c), waited_ns);
}
