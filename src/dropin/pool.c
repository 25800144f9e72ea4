/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools of locks. To create a lock table takes longer than to create a window, and programs create
 * many windows. So a table is created for several windows over one group of processes. agree.c says
 * when it ends.
 *
 * Lock id * size + r is the lock of target r of window id; its home is r. The lock of a whole
 * window is acquired shared by MPI_Win_lock_all, and with intent by a process that locks a target
 * exclusively. It needs a kind with intents; if the targets' kind has none, whole windows have a
 * table of their own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/hash.h"
#include "base/info.h"
#include "base/ranks.h"
#include "dropin/request.h"
#include "observe/observe.h"

static const char whole_kind[] = "mgl";

/* The default for how many locks a process may hold at a time: one for each target and window, up
 * to about this many. */
enum { MOST_HELD = 4096 };
/* MPI_Win_lock_all locks up to this many targets, on one node, one by one. It then holds as many
 * locks, and each takes a slot and time. With more targets, or if the table grants fewer locks than
 * all windows of a pool may need, it takes the lock of the whole window, as over several nodes. */
enum { FEW_TARGETS = 32 };
_Static_assert(POOL_IDS *(FEW_TARGETS + 1) <= MOST_HELD,
	       "a process may lock every target of all windows of a pool");

static void set_default(MPI_Info info, const char *key, const char *value)
{
	if (!info_has(info, key))
		PMPI_Info_set(info, key, value);
}

static int create_table(struct pool *p, MPI_Comm comm, struct request *r, const char *kind,
			MPI_Info options, uint64_t n, pawl_table **table)
{
	MPI_Info info = MPI_INFO_NULL;
	char held[24];
	long most = (long)p->ids * (p->size + 1);
	int rc = options == MPI_INFO_NULL ? PMPI_Info_create(&info) : PMPI_Info_dup(options, &info);

	if (!all_agree(comm, rc == MPI_SUCCESS)) {
		if (info != MPI_INFO_NULL)
			PMPI_Info_free(&info);
		snprintf(r->why, sizeof r->why, "%s", no_info);
		return PAWL_ERR_MPI;
	}
	if (most > MOST_HELD + p->size)
		most = MOST_HELD + p->size;
	snprintf(held, sizeof held, "%ld", most < 65535 ? most : 65535);
	set_default(info, "pawl_max_held", held);
	PMPI_Info_set(info, "pawl_distribution", "cyclic");
	PMPI_Info_set(info, "pawl_owner", "process");
	dropin_fix_options(info, comm);
	rc = pawl_table_create(comm, kind, n, info, table);
	PMPI_Info_free(&info);
	return rc;
}

static bool has_intents(const char *kind)
{
	const struct pawl_kind *k = pawl_kind_find(kind);

	return k && (k->capabilities & PAWL_CAP_INTENT);
}

static int create_tables(struct pool *p, MPI_Comm comm, struct request *r)
{
	uint64_t n = (uint64_t)p->ids * (uint64_t)p->size, wholes = (uint64_t)p->ids;
	int rc;

	if (has_intents(r->kind)) {
		rc = create_table(p, comm, r, r->kind, r->options, n + wholes, &p->targets);
		p->wholes = p->targets;
	} else {
		rc = create_table(p, comm, r, r->kind, r->options, n, &p->targets);
		if (rc == PAWL_SUCCESS)
			rc =
			    create_table(p, comm, r, whole_kind, MPI_INFO_NULL, wholes, &p->wholes);
		if (rc == PAWL_SUCCESS)
			rc = pawl_table_set_name(p->wholes, "whole windows");
	}
	return rc == PAWL_SUCCESS ? pawl_table_set_name(p->targets, "windows") : rc;
}

static void free_tables(struct pool *p)
{
	if (p->wholes && p->wholes != p->targets)
		pawl_table_free(&p->wholes);
	if (p->targets)
		pawl_table_free(&p->targets);
	pthread_mutex_destroy(&p->leaving);
	free(p);
}

static bool is_subset(MPI_Group part, MPI_Group whole)
{
	MPI_Group both;
	int size, n;

	if (PMPI_Group_intersection(part, whole, &both) != MPI_SUCCESS)
		return false;
	PMPI_Group_size(part, &size);
	PMPI_Group_size(both, &n);
	group_free(&both);
	return n == size;
}

static bool is_within(MPI_Comm part, MPI_Comm whole)
{
	MPI_Group a = MPI_GROUP_NULL, b = MPI_GROUP_NULL;
	const bool within = PMPI_Comm_group(part, &a) == MPI_SUCCESS &&
			    PMPI_Comm_group(whole, &b) == MPI_SUCCESS && is_subset(a, b);

	group_free(&a);
	group_free(&b);
	return within;
}

bool pool_is_within(const struct pool *p, MPI_Comm comm)
{
	return is_within(p->comm, comm);
}

/* Whether the MPI of this process ends with that of the others, and MPI_Finalize frees the pools. A
 * session gives no notice of its end. */
static bool ends_with_all(MPI_Comm comm)
{
	int initialized;

	PMPI_Initialized(&initialized);
	return initialized && is_within(comm, MPI_COMM_WORLD);
}

static uint64_t hash_of_group(const struct pool *p)
{
	int n, *ranks = p->is_brief ? NULL : ranks_in(p->comm, MPI_COMM_WORLD, &n);
	uint64_t h = HASH_BEGIN;

	if (!ranks)
		return 0;
	for (int r = 0; r < p->size; r++)
		h = h * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)ranks[r];
	free(ranks);
	return h;
}

int pool_create(MPI_Comm comm, struct request *r, int ids, struct pool **pool)
{
	struct pool *p = calloc(1, sizeof *p);
	struct pawl_table_info info;
	int rc;

	/* If one rank is out of memory, all fail. */
	if (!all_agree(comm, p != NULL)) {
		free(p);
		snprintf(r->why, sizeof r->why, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	PMPI_Comm_size(comm, &p->size);
	PMPI_Comm_rank(comm, &p->rank);
	p->ids = ids;
	p->is_brief = !all_agree(comm, ends_with_all(comm));
	pthread_mutex_init(&p->leaving, NULL);
	rc = create_tables(p, comm, r);
	if (rc != PAWL_SUCCESS) {
		if (!r->why[0])
			snprintf(r->why, sizeof r->why, "%s", pawl_error_message());
		free_tables(p);
		return rc;
	}
	p->comm = pawl_private_adopt(p->targets);
	pawl_private_adopt(p->wholes);
	p->group = hash_of_group(p);
	pawl_table_get_info(p->targets, &info);
	p->far = info.nodes > 1;
	p->direct = r->direct && !p->far;
	p->serves = p->far && pawl_private_serve(p->targets, atomics_serve, p);
	p->crowded = info.crowded;
	p->by_whole = p->far || p->size > FEW_TARGETS ||
		      (int64_t)info.max_held < (int64_t)ids * (p->size + 1);
	completion_begin(p);
	if (r->atomics && !p->far)
		atomics_begin(p);
	*pool = p;
	return PAWL_SUCCESS;
}

void pool_free(struct pool *p)
{
	atomics_end(p);
	completion_end(p);
	free_tables(p);
}

uint64_t pool_whole(const struct pool *p, int id)
{
	uint64_t first = p->wholes == p->targets ? pool_target(p, p->ids, 0) : 0;

	return first + (uint64_t)id;
}
