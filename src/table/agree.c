/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check that all ranks ask for the same table. Name, kind, n, homes and each option are compared as
 * text, so it does not matter whether a value comes from the info, a variable or a default. If
 * ranks differ, all ranks get a message with the item and two ranks that differ in it.
 */
#include <limits.h>
#include <pawl.h>
#include <stdio.h>

#include "base/error.h"
#include "base/hash.h"
#include "options/option_spec.h"
#include "table/table.h"

enum { NAME, KIND, N, HOMES, FIRST_OPTION, SHOWN = 120 };

static const char *name_of(const struct table_asked *a, int item)
{
	static const char *const names[] = {
	    [NAME] = "name (info key pawl_name)", [KIND] = "kind", [N] = "n", [HOMES] = "homes"};

	return item < FIRST_OPTION
		   ? names[item]
		   : option_spec_of(a->options->protocol, item - FIRST_OPTION)->is.name;
}

/* The value as text; NULL past the last item. */
static const char *value_of(const struct table_asked *a, int item, char *text, size_t len)
{
	const struct option_spec *s;

	switch (item) {
	case NAME:
		return a->options->name;
	case KIND:
		return a->kind;
	case N:
		snprintf(text, len, "%llu", (unsigned long long)a->n);
		return text;
	case HOMES:
		return a->homed ? "by a function" : "by option distribution";
	default:
		s = option_spec_of(a->options->protocol, item - FIRST_OPTION);
		return s ? option_value_get(a->options, s, text, len) : NULL;
	}
}

static int64_t hash(const char *text)
{
	/* Include the terminating null character. */
	return (int64_t)hash_add(hash_text(HASH_BEGIN, text), 0);
}

/* All ranks know which item differs. Report the lowest rank that differs from rank 0. */
static int report(MPI_Comm comm, const struct table_asked *a, int item, const char *value,
		  int64_t mine)
{
	char first[SHOWN + 1], other[SHOWN + 1];
	int64_t root = mine;
	int rank, first_rank;

	PMPI_Comm_rank(comm, &rank);
	snprintf(first, sizeof first, "%s", value);
	snprintf(other, sizeof other, "%s", value);
	PMPI_Bcast(&root, 1, MPI_INT64_T, 0, comm);
	first_rank = mine == root ? INT_MAX : rank;
	PMPI_Allreduce(MPI_IN_PLACE, &first_rank, 1, MPI_INT, MPI_MIN, comm);
	PMPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
	PMPI_Bcast(other, sizeof other, MPI_CHAR, first_rank, comm);
	return error_set(PAWL_ERR_ARG,
			 "the ranks differ in %s%s: %s on rank 0, %s on rank %d; all ranks of a"
			 " table give the same",
			 item < FIRST_OPTION ? "" : "option ", name_of(a, item), first, other,
			 first_rank);
}

void table_items(const struct table_asked *a, bool valid, int64_t item[TABLE_ITEMS])
{
	char text[256];

	/* Kinds have different numbers of options, but if kinds differ, the kind is reported
	 * first. */
	for (int i = 0; i < TABLE_ITEMS / 2; i++) {
		const char *value = valid ? value_of(a, i, text, sizeof text) : NULL;

		item[2 * i] = value ? hash(value) : 0;
		item[2 * i + 1] = ~item[2 * i]; /* the minimum of ~x gives the maximum of x */
	}
}

int table_same_items(MPI_Comm comm, const struct table_asked *a, const int64_t *mine,
		     const int64_t *least)
{
	char text[256];

	for (int i = 0; i < TABLE_ITEMS / 2; i++)
		if (least[2 * i] != ~least[2 * i + 1])
			return report(comm, a, i, value_of(a, i, text, sizeof text), mine[2 * i]);
	return PAWL_SUCCESS;
}
