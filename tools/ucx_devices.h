/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `ucx_info -d` says, and what UCX does with it: which network device it
 * uses, and whether 64-bit atomics are left to that device ("offloaded") or performed by
 * the target's CPU when that calls UCX ("emulated"). Pure functions of texts.
 */
#ifndef TOOLS_UCX_DEVICES_H
#define TOOLS_UCX_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

enum { UCX_MAX_DEVICES = 128 };

/* Whether the device or the target's CPU performs the atomics of a transport. */
enum ucx_domain { UCX_NO_ATOMICS, UCX_BY_CPU, UCX_BY_DEVICE };

/* Operations, a bit set; those that UCX wants of a device, all or none. */
enum {
	UCX_ADD = 1,
	UCX_AND = 2,
	UCX_OR = 4,
	UCX_XOR = 8,
	UCX_FADD = 16,
	UCX_FAND = 32,
	UCX_FOR = 64,
	UCX_FXOR = 128,
	UCX_SWAP = 256,
	UCX_CSWAP = 512,
	UCX_ALL_ATOMICS = 1023
};

/* One transport on one device. */
struct ucx_device {
	char transport[32], device[64];
	bool network;
	enum ucx_domain domain;
	unsigned atomics32, atomics64;
	double bandwidth; /* MB/s, the shared and the dedicated part */
	double latency_ns, overhead_ns;
	int priority;
};

/* Read the text; how many transports it has, at most max. */
int ucx_parse(const char *text, struct ucx_device *devices, int max);

/* The environment; NULL: not set. */
struct ucx_environment {
	const char *tls, *net_devices, *atomic_mode; /* UCX_TLS, UCX_NET_DEVICES, UCX_ATOMIC_MODE */
};

struct ucx_choice {
	int device;     /* the one that would be used between nodes; -1: none */
	bool offloaded; /* 64-bit atomics by that device */
	char why[256];  /* a sentence */
};

/*
 * The rules of UCX (ucp_worker.c): atomics are asked for together, so a device that has
 * some of them is of no use, in 64 bits and, if both_widths, in 32 (Open MPI's osc/ucx
 * asks for both). Mode guess (the default) takes the device's if any transport that is
 * allowed has atomics by its device, and the CPU's otherwise.
 */
struct ucx_choice ucx_choose(const struct ucx_device *devices, int n,
			     const struct ucx_environment *env, bool both_widths);

#endif
