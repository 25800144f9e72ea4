/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Go on with a table over the ranks that are left. What dead ranks had in the words of the locks is
 * not known, and words at their nodes are gone, whatever the kind. So the survivors make a table
 * anew, with the same options, and leave the former one where it is: its windows and communicators
 * could only be freed with the ranks that have died.
 *
 * Nobody holds anything of the new table. The former one is not used any more by survivors; a rank
 * that was taken for dead, and goes on in the former table, changes no word of the new one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/ranks.h"
#include "table/table.h"

/* Where the homes of a table are now. */
struct moved {
	const pawl_table *from;
	int *now; /* by former rank; -1: it is not among the survivors */
	int survivors;
};

static int moved_home(uint64_t lock, void *arg)
{
	const struct moved *m = arg;
	uint64_t index;
	int rank;

	lock_home(&m->from->setup, lock, &rank, &index);
	return m->now[rank] >= 0 ? m->now[rank] : rank % m->survivors;
}

/* Which of the former ranks survive. */
static int find_survivors(struct moved *m, MPI_Comm survivors)
{
	const int ranks = m->from->setup.topo->nranks;
	int *former = ranks_in(survivors, m->from->comm, &m->survivors);
	int rc = PAWL_SUCCESS;

	m->now = malloc((size_t)ranks * sizeof *m->now);
	if (!former || !m->now)
		rc = error_set(PAWL_ERR_NOMEM, "out of memory");
	for (int i = 0; rc == PAWL_SUCCESS && i < ranks; i++)
		m->now[i] = -1;
	for (int i = 0; rc == PAWL_SUCCESS && i < m->survivors; i++) {
		if (former[i] < 0 || former[i] >= ranks)
			rc = error_set(PAWL_ERR_ARG,
				       "rank %d of survivors is not in the communicator of the"
				       " table (%s)",
				       i, m->from->about);
		else
			m->now[former[i]] = i;
	}
	free(former);
	return rc;
}

static bool copy_text(char **text)
{
	if (*text)
		*text = strdup(*text);
	return *text;
}

/* The options of the former table. A string for its topology does not fit fewer ranks. */
static int copy_options(struct options *to, const struct options *from)
{
	bool file, groups;

	*to = *from;
	to->topology = NULL;
	file = copy_text(&to->topology_file);
	groups = copy_text(&to->groups);
	if (file == (from->topology_file != NULL) && groups == (from->groups != NULL))
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_NOMEM, "out of memory");
}

static int check_era(const pawl_table *t)
{
	if (!t->setup.lives || t->era < LIFE_MOST_ERAS)
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_TOO_MANY,
			 "the table (%s) has shrunk %d times, as often as numbers for storage grow",
			 t->about, t->era);
}

int pawl_table_shrink(pawl_table **table, MPI_Comm survivors)
{
	pawl_table *t, *fresh = NULL;
	struct options o;
	struct moved moved;
	int rc;

	if (!table || !*table)
		return error_set(PAWL_ERR_ARG, "table is a null %s", table ? "handle" : "pointer");
	t = *table;
	rc = life_check(t);
	if (rc == PAWL_SUCCESS)
		rc = table_check_comm(survivors, "survivors");
	if (rc != PAWL_SUCCESS)
		return rc;
	/* From here on all survivors take the same steps. */
	moved = (struct moved){.from = t};
	rc = copy_options(&o, &t->options);
	if (rc == PAWL_SUCCESS)
		rc = find_survivors(&moved, survivors);
	if (rc == PAWL_SUCCESS)
		rc = check_era(t);
	rc = table_build(
	    &(struct table_request){
		.comm = survivors,
		.call = "pawl_table_shrink()",
		.protocol = t->setup.protocol,
		.kind = t->setup.protocol->kind.name,
		.name = t->name,
		.options = &o,
		.n = t->setup.n,
		.homed = t->setup.home == LOCK_HOME_MAP,
		.home = t->setup.home == LOCK_HOME_MAP ? moved_home : NULL,
		.arg = &moved,
		.era = t->era + 1,
	    },
	    rc, &fresh);
	free(moved.now);
	if (rc != PAWL_SUCCESS)
		return rc;
	fresh->of_layer = t->of_layer;
	life_stop_threads(t);
	table_forget(t, KEPT_LEAVE);
	*table = fresh;
	return PAWL_SUCCESS;
}
