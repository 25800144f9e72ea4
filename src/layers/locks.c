/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of locks over the communicator of a runtime.
 *
 * A table has capacity locks at each process, and is used for many small sets of locks, because a
 * table takes much longer to create than a set is in use in some programs. Lock number i * size +
 * rank lives at process rank (distribution cyclic), so a lock has the home that the runtime gives
 * it.
 *
 * The processes of a communicator choose the same locks without a message: all of them take and
 * give sets over it in the same order, and each takes the first free ones of the oldest table that
 * has enough. Only to create a table they agree, by one MPI_Allreduce, on what PAWL_LOCK says.
 *
 * Tables live until MPI_Finalize, which deletes the attributes of MPI_COMM_SELF, the newest first:
 * this one is newer than the library's (src/table/life.c), which reports tables that are left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/hash.h"
#include "base/info.h"
#include "base/pinned.h"
#include "layers/layers.h"
#include "observe/observe.h"

enum { FIRST_CAPACITY = 256, MOST_HELD = 4096 };

struct layer_table {
	pawl_table *table;
	MPI_Comm comm; /* a duplicate */
	int size, rank;
	bool far, observed;
	uint64_t capacity; /* locks of each process */
	bool *used;        /* [capacity] */
	struct layer_table *next;
};

static struct layer_table *tables; /* the oldest first */
static bool watching;              /* MPI_Finalize will call finish() */

static const char *kind_asked(void)
{
	const char *kind = getenv("PAWL_LOCK");

	return kind && kind[0] ? kind : "auto";
}

/* Whether PAWL_LOCK leaves the locks to the runtime. */
static bool is_native(void)
{
	return strcmp(kind_asked(), "native") == 0;
}

/* Whether the kind has locks, not ranges, and a try. */
static bool is_usable(const struct pawl_kind *k)
{
	return (k->capabilities & (PAWL_CAP_TRY | PAWL_CAP_RANGES)) == PAWL_CAP_TRY;
}

/* ------------------------------------------------------------------- tables */

/* Whether the kind that PAWL_LOCK names can be used; if not, why has the message. */
static bool check_kind(const char *kind, char *why, size_t len)
{
	const struct pawl_kind *k = pawl_kind_find(kind);
	size_t used;

	if (strcmp(kind, "auto") == 0 || (k && is_usable(k)))
		return true;
	used = (size_t)snprintf(why, len, "PAWL_LOCK: \"%.32s\" is %s; accepted: auto, ", kind,
				k ? "no lock with a try" : "no lock of Pawl");
	for (int i = 0; (k = pawl_kind_get(i)) && used < len; i++)
		if (is_usable(k))
			used += (size_t)snprintf(why + used, len - used, "%s, ", k->name);
	if (used < len)
		snprintf(why + used, len - used, "native");
	return false;
}

/* MPI_Finalize calls this while MPI still works. */
static int finish(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	layer_end();
	return MPI_SUCCESS;
}

static bool watch(void)
{
	const char *failed;

	if (!watching)
		watching = call_at_end(MPI_COMM_SELF, finish, &failed) == MPI_SUCCESS;
	return watching;
}

/* Some process lacks an object of the MPI. */
static int lacks(char *why, size_t len, const char *object)
{
	snprintf(why, len, "the MPI has no %s more for some process: free those not used any more",
		 object);
	return PAWL_ERR_MPI;
}

/* Returns a code of pawl.h, the same on all processes; why gets the reason of a failure. */
static int create(const struct layer *l, struct layer_table *t, MPI_Comm comm, const char *kind,
		  char *why, size_t len)
{
	uint64_t n = t->capacity * (uint64_t)t->size;
	struct pawl_table_info info;
	MPI_Info options = MPI_INFO_NULL;
	char held[24];
	bool has_statistics;
	int rc;

	snprintf(held, sizeof held, "%d", n < MOST_HELD ? (int)n : MOST_HELD);
	/* A communicator that some processes lack cannot be freed by those that have it. */
	if (!all_agree(comm, PMPI_Comm_dup(comm, &t->comm) == MPI_SUCCESS)) {
		t->comm = MPI_COMM_NULL;
		return lacks(why, len, "communicator");
	}
	if (!all_agree(comm, PMPI_Info_create(&options) == MPI_SUCCESS)) {
		if (options != MPI_INFO_NULL)
			PMPI_Info_free(&options);
		return lacks(why, len, "info");
	}
	PMPI_Info_set(options, "pawl_distribution", "cyclic");
	PMPI_Info_set(options, "pawl_owner", "process");
	PMPI_Info_set(options, "pawl_max_held", held);
	PMPI_Info_set(options, "pawl_progress", l->direct ? "far" : "eager");
	if (options_has(kind, "lease"))
		PMPI_Info_set(options, "pawl_lease", "0");
	options_fix(options, t->comm, &l->words);
	rc = pawl_table_create(t->comm, kind, n, options, &t->table);
	PMPI_Info_free(&options);
	if (rc != PAWL_SUCCESS) {
		snprintf(why, len, "%s", pawl_error_message());
		return rc;
	}
	if (!all_agree(comm, watch()))
		return lacks(why, len, "attribute of MPI_COMM_SELF");
	pawl_private_adopt(t->table);
	pawl_table_set_name(t->table, l->words.locks);
	pawl_table_get_info(t->table, &info);
	t->far = info.nodes > 1;
	pawl_private_get_observed(t->table, &t->observed, &has_statistics);
	return PAWL_SUCCESS;
}

static void free_table(struct layer_table *t)
{
	if (t->table)
		pawl_table_free(&t->table);
	if (t->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&t->comm);
	free(t->used);
	free(t);
}

/* Whether all processes of comm have these values. */
static bool same_everywhere(MPI_Comm comm, uint64_t a, uint64_t b)
{
	uint64_t words[4] = {a, ~a, b, ~b};

	PMPI_Allreduce(MPI_IN_PLACE, words, 4, MPI_UINT64_T, MPI_BAND, comm);
	return words[0] == ~words[1] && words[2] == ~words[3];
}

static struct layer_table *new_table(const struct layer *l, MPI_Comm comm, uint64_t capacity,
				     const char *kind, char *why, size_t len, bool *mistake)
{
	struct layer_table *t = calloc(1, sizeof *t);
	bool *used = calloc(capacity, sizeof *used);
	int rc = PAWL_ERR_NOMEM;

	if (!all_agree(comm, t && used)) {
		snprintf(why, len, "%s", pawl_strerror(rc));
		free(t);
		free(used);
		return NULL;
	}
	t->used = used;
	t->capacity = capacity;
	t->comm = MPI_COMM_NULL;
	PMPI_Comm_size(comm, &t->size);
	PMPI_Comm_rank(comm, &t->rank);
	rc = create(l, t, comm, kind, why, len);
	if (rc == PAWL_SUCCESS)
		return t;
	*mistake = options_is_mistake(rc);
	free_table(t);
	return NULL;
}

void layer_end(void)
{
	while (tables) {
		struct layer_table *t = tables;

		tables = t->next;
		free_table(t);
	}
}

/* --------------------------------------------------------------------- sets */

static bool is_over(const struct layer_table *t, MPI_Comm comm)
{
	int same;

	PMPI_Comm_compare(t->comm, comm, &same);
	return same == MPI_IDENT || same == MPI_CONGRUENT;
}

/* The first of count locks in a row that are free, or the capacity. */
static uint64_t find_room(const struct layer_table *t, uint64_t count)
{
	uint64_t run = 0;

	for (uint64_t i = 0; i < t->capacity; i++) {
		run = t->used[i] ? 0 : run + 1;
		if (run == count)
			return i + 1 - count;
	}
	return t->capacity;
}

static void take_from(struct layer_table *t, uint64_t first, uint64_t count,
		      struct layer_locks *locks)
{
	memset(t->used + first, true, count);
	*locks = (struct layer_locks){
	    .table = t->table,
	    .first = first,
	    .count = count,
	    .size = t->size,
	    .rank = t->rank,
	    .far = t->far,
	    .observed = t->observed,
	    .in = t,
	};
}

/* Whether all processes of comm have this layer. They have, if it is in the program itself. */
static bool is_everywhere(MPI_Comm comm, const char *what)
{
#ifdef PIC
	return presence_is_full(comm, what);
#else
	(void)comm, (void)what;
	return true;
#endif
}

/* No table has room: make one. */
static bool take_new(const struct layer *l, MPI_Comm comm, uint64_t count, uint64_t capacity,
		     struct layer_locks *locks)
{
	const char *kind = kind_asked();
	struct layer_table *t = NULL, **at = &tables;
	char why[512] = "", what[64];
	bool mistake = false;

	snprintf(what, sizeof what, "%s are those of the runtime", l->words.locks);
	if (!is_everywhere(comm, what))
		return false;
	if (!same_everywhere(comm, hash_text(HASH_BEGIN, kind), count)) {
		mistake = true;
		snprintf(why, sizeof why,
			 "PAWL_LOCK, or the number of locks, differs between processes");
	} else if (is_native()) {
		return false;
	} else if (!check_kind(kind, why, sizeof why)) {
		mistake = true;
	} else {
		t = new_table(l, comm, capacity, kind, why, sizeof why, &mistake);
	}
	if (!t) {
		snprintf(what, sizeof what, mistake ? "no %s" : "%s are those of the runtime",
			 l->words.locks);
		message_once(comm, what, why);
		if (mistake) {
			fflush(stderr);
			PMPI_Barrier(comm); /* rank 0 has printed it */
			PMPI_Abort(comm, EXIT_FAILURE);
		}
		return false;
	}
	while (*at)
		at = &(*at)->next;
	*at = t;
	take_from(t, 0, count, locks);
	return true;
}

bool layer_take(const struct layer *l, MPI_Comm comm, uint64_t count, struct layer_locks *locks)
{
	uint64_t capacity = FIRST_CAPACITY;

	if (!tables)
		message_check_mpi();
	for (struct layer_table *t = tables; t; t = t->next) {
		uint64_t first;

		if (!is_over(t, comm))
			continue;
		first = find_room(t, count);
		if (first < t->capacity) {
			take_from(t, first, count, locks);
			return true;
		}
		capacity = 2 * t->capacity;
	}
	return take_new(l, comm, count, count > capacity ? count : capacity, locks);
}

void layer_give(const struct layer_locks *locks)
{
	memset(locks->in->used + locks->first, false, locks->count);
}

void layer_set_site(const void *site)
{
	pawl_private_set_site(site);
}

MPI_Comm layer_comm(const struct layer_locks *locks)
{
	return locks->in->comm;
}
