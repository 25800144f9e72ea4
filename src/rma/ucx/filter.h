/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts may connect to a socket that UCX listens on; see ucx/filter.c. These functions know
 * addresses and sockets, but neither UCX nor MPI.
 */
#ifndef RMA_UCX_GATE_H
#define RMA_UCX_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GATE_RANGES = 64, GATE_LISTENERS = 64 };

/* IPv4 addresses, as numbers, that may connect: ranges in ascending order. No range: none may. */
struct gate {
	uint32_t first[GATE_RANGES], last[GATE_RANGES];
	int ranges;
};

/* Admit n addresses; sorts them. If there would be more than GATE_RANGES ranges, the ranges with
 * the smallest gaps between them are joined, and the addresses in these gaps are admitted, too. */
void gate_admit(struct gate *g, uint32_t *address, int n);

/* The listening TCP sockets over IPv4 of this process. */
struct gate_listeners {
	int fd[GATE_LISTENERS], n;
};
void gate_find_listeners(struct gate_listeners *l);

/* From now on the kernel drops requests to connect to the socket unless they come from an address
 * in g. Existing connections are not affected. */
bool gate_close(const struct gate *g, int fd);

/* Close all listening sockets that are not in before and whose port occurs, in network order, in
 * the address of a worker. */
void gate_close_new(const struct gate *g, const struct gate_listeners *before, const void *address,
		    size_t bytes);

#endif
