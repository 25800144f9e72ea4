/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts may connect to a socket that UCX listens on; see ucx/filter.c. These functions know
 * addresses and sockets, but neither UCX nor MPI.
 */
#ifndef RMA_UCX_FILTER_H
#define RMA_UCX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_RANGES = 64 };

/* IPv4 addresses, as numbers, that may connect: ranges in ascending order. No range: none may. */
struct host_filter {
	uint32_t first[FILTER_RANGES], last[FILTER_RANGES];
	int ranges;
};

/* Admit n addresses; sorts them. If there would be more than FILTER_RANGES ranges, the ranges with
 * the smallest gaps between them are joined, and the addresses in these gaps are admitted, too. */
void filter_admit(struct host_filter *g, uint32_t *address, int n);

/* The listening TCP sockets over IPv4 of this process, as far as there is memory for them. */
struct filter_listeners {
	int *fd, n;
};
void filter_find_listeners(struct filter_listeners *l);
void filter_forget_listeners(struct filter_listeners *l);

/* From now on the kernel drops requests to connect to the socket unless they come from an address
 * in g. Existing connections are not affected. */
bool filter_attach(const struct host_filter *g, int fd);

/* Close all listening sockets that are not in before and whose port occurs, in network order, in
 * the address of a worker. */
void filter_attach_new(const struct host_filter *g, const struct filter_listeners *before,
		       const void *address, size_t bytes);

#endif
