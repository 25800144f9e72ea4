/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the hosts have room for shared windows; see shm.c. */
#ifndef RMA_SHM_H
#define RMA_SHM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A host that has too little memory. */
struct shm_shortage {
	uint64_t wanted, free; /* bytes; free is without what is untouched */
	uint64_t untouched;    /* bytes of segments that are not touched yet */
	bool apart;            /* the ranks of the host do not share the folder `place` */
	char host[64], place[128];
};

/* Collective over comm: whether each host has room for a shared window with this many bytes for
 * each of its ranks. bytes may differ between ranks; host_comm has the ranks of this host. If
 * false, *shortage is the same on all ranks. */
bool shm_check(MPI_Comm comm, MPI_Comm host_comm, uint64_t bytes, struct shm_shortage *shortage);

/* The same for one host, collective over host_comm: whether its room is too small. Its first rank
 * knows; the others return false. */
bool shm_falls_short(MPI_Comm host_comm, uint64_t bytes, struct shm_shortage *shortage);
/* Local: whether there is room for this many bytes for each of so many ranks of the host.
 * untouched: shm_untouched() of these together; apart: they have different folders. */
bool shm_has_room(uint64_t bytes, int ranks, uint64_t untouched, bool apart,
		  struct shm_shortage *shortage);
/* Bytes of this process's segments that are not touched yet. */
uint64_t shm_untouched(void);
/* What identifies the folder of shared memory. */
void shm_folder(uint64_t id[2]);
/* Zero memory. False if the system has none for it and the kernel can say so without SIGBUS. */
bool shm_zero(char *from, size_t bytes);

/* What a user needs to know of it; what: what takes the memory, as in "a table". */
void shm_tell(const struct shm_shortage *s, const char *what, char *text, size_t len);

/* Count untouched memory of a window of this process as taken; and no longer. */
void shm_count_untouched(void *base, size_t bytes);
void shm_uncount(const void *base);

#endif
