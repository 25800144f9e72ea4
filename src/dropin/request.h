/* SPDX-License-Identifier: BSD-3-Clause */
/* What the layer is asked to give a new window: by PAWL_LOCK, info keys pawl_*, and the window. */
#ifndef DROPIN_REQUEST_H
#define DROPIN_REQUEST_H

#include "dropin/dropin.h"

struct request {
	const char *kind;
	char kind_text[MPI_MAX_INFO_VAL + 1];
	MPI_Info options; /* keys pawl_* for the table */
	uint64_t key;
	const char *ranges; /* kind of the table of byte ranges, or NULL */
	MPI_Info range_options;
	uint64_t range_key;
	bool wanted, direct;
	bool alone;    /* one process, which no other one excludes */
	bool atomics;  /* Pawl's accumulates */
	bool no_locks; /* info key: the program never locks the window */
	bool mistake;  /* of the user */
	char why[512]; /* the reason why it is not possible; or "" */
};

/* Why, if there is no MPI_Info. */
extern const char no_info[];

/* Read the request of this process. If it is not possible, or a mistake, why has the reason.
 * win: MPI_WIN_NULL if MPI_Win_allocate is to make it. */
void request_read(struct request *r, MPI_Comm comm, MPI_Info info, MPI_Win win);
/* Whether the MPI tells that a window has another memory model than the unified one, without which
 * it keeps the MPI's locks. */
bool request_is_separate(MPI_Win win);
extern const char no_unified[];
void request_free(struct request *r);

/* A window that MPI_Win_allocate is making (attach.c). */
struct making {
	MPI_Comm comm;
	MPI_Info info;
	struct request r;
	struct window *w; /* not in windows_find() yet; NULL: out of memory */
	const char *why;  /* why it keeps the MPI's atomics, or NULL */
	bool passes;      /* the call only goes on to the MPI */
	bool attaches;    /* once the MPI has made the window */
};

/* Choose a pool and an id in it for the requested window (agree.c). Collective. NULL, on all
 * processes: the window gets no Pawl locks, and r->why has the reason, unless none were wanted. */
struct pool *agree_on_pool(MPI_Comm comm, struct request *r, int *id);
/* The MPI has made no window after all. */
void agree_give_back(const struct window *w);
/* w, which the MPI has freed on all processes, leaves its pool, which may end. Collective. */
void agree_leave_pool(const struct window *w);
/* Free the pools at MPI_Finalize, if its start can be noticed. first: MPI_Init has just
 * returned. False: the MPI has no attribute for it. */
bool agree_on_end(bool first);

#endif
