/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether hosts have room for shared windows; see room.c. */
#ifndef RMA_ROOM_H
#define RMA_ROOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A host that has not. */
struct room_shortage {
	uint64_t wanted, free; /* bytes; free: less what was promised, */
	uint64_t promised;     /* which are these */
	char host[64], place[128];
};

/* Collective over comm: whether each host has room for a shared window that takes so many bytes
 * of each of its ranks (host_comm: those of this host), each its own number. If not, *shortage is
 * the same on all ranks. */
bool room_check(MPI_Comm comm, MPI_Comm host_comm, uint64_t bytes, struct room_shortage *shortage);

/* Part of a window of this process, that was not touched yet, and the end of it. */
void room_promise(void *base, size_t bytes);
void room_take_back(const void *base);

#endif
