/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts may connect to a socket that UCX listens on; see ucx/gate.c. Functions of
 * addresses and sockets, without UCX and without MPI.
 */
#ifndef RMA_UCX_GATE_H
#define RMA_UCX_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GATE_RANGES = 64, GATE_LISTENERS = 64 };

/* Addresses of IPv4, as numbers, that may connect: ranges in ascending order. None: nobody may. */
struct gate {
	uint32_t first[GATE_RANGES], last[GATE_RANGES];
	int ranges;
};

/* Let n addresses in. Sorts them. More than GATE_RANGES are joined to ranges where the gaps
 * between them are smallest, so that addresses in these gaps are let in, too. */
void gate_admit(struct gate *g, uint32_t *address, int n);

/* The sockets of TCP over IPv4 in state LISTEN that this process has. */
struct gate_listeners {
	int fd[GATE_LISTENERS], n;
};
void gate_find_listeners(struct gate_listeners *l);

/* From now on the kernel drops requests for a connection to the socket that are not from an
 * address in g. Connections that are made already are as before. */
bool gate_close(const struct gate *g, int fd);

/* Close all sockets that are not in before and listen at a port that is in the address of a
 * worker, where it stands in network order. */
void gate_close_new(const struct gate *g, const struct gate_listeners *before, const void *address,
		    size_t bytes);

#endif
