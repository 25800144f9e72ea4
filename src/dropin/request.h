/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of the layer for a new window: by PAWL_LOCK, by info keys pawl_*, by the window. */
#ifndef DROPIN_REQUEST_H
#define DROPIN_REQUEST_H

#include "dropin/dropin.h"

struct request {
	const char *kind;
	char kind_text[MPI_MAX_INFO_VAL + 1];
	MPI_Info options; /* keys pawl_* for the table */
	uint64_t key;
	const char *ranges; /* kind of a table of byte ranges, or NULL; */
	MPI_Info range_options;
	uint64_t range_key;
	bool wanted, direct;
	bool mistake;  /* of the user */
	char why[512]; /* it cannot be had; or "" */
};

/* By this process alone; what cannot be had, or is a mistake, is said in why. */
void request_read(struct request *r, MPI_Comm comm, MPI_Info info, MPI_Win win);
void request_free(struct request *r);

/* A pool and a number in it for the window that is asked for (agree.c). Collective. NULL: it
 * gets none, on all processes alike; r->why then says why, unless the window was not wanted. */
struct pool *agree_on_pool(MPI_Comm comm, struct request *r, int *id);
/* w is no longer a window of its pool. Collective if it is the last one after MPI_Finalize
 * began. */
void agree_leave_pool(const struct window *w);
/* Pools end with MPI_Finalize, if it can be told; first: MPI_Init has just returned. */
void agree_on_end(bool first);
/* Whether a code of pawl.h is a mistake of the user. */
bool agree_is_mistake(int code);

#endif
