/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known failures and slow paths of MPIs and of the ways in which jobs are started, and their cures.
 * Pure functions of a description of the job; describe.c describes a real job, the tests
 * write their own descriptions.
 */
#ifndef TOOLS_TRAPS_H
#define TOOLS_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mpi_name { MPI_NAME_OTHER, MPI_NAME_OPENMPI, MPI_NAME_MPICH };

/* An operation on another node while its target slept: not measured; it waited for the target; it
 * completed. */
enum job_asleep { ASLEEP_UNKNOWN, ASLEEP_WAITS, ASLEEP_GOES_ON };

/* One rank. Hosts are what MPI takes for hosts; several may be on one machine
 * (containers, namespaces), which is where cpu sets compete. */
struct job_rank {
	int host, machine; /* numbered from 0 */
	uint64_t cpus;     /* a hash of its cpu set: equal for equal sets of one machine */
	int ncpus;         /* in that set */
	int machine_cpus;  /* online on its machine */
};

struct job {
	enum mpi_name mpi;
	int version[3];
	char library[160];    /* as the MPI calls itself */
	char device[64];      /* MPICH: "ch4:ucx"; "" if not said */
	char components[160]; /* Open MPI: its one-sided components, "sm,ucx" */
	char osc[160];        /* Open MPI: which of them the user allows; "": default */
	char atomic_mode[16]; /* UCX_ATOMIC_MODE; "": default */
	bool async_progress;  /* MPICH_ASYNC_PROGRESS is set */
	bool thread_multiple; /* granted */
	bool progress_thread; /* Pawl's option progress=thread */
	bool ucx_known;       /* there is a ucx_info: */
	bool ucx_offloads;    /* atomics by the device (ucx_choose()) */
	bool by_device;       /* measured: those of tables are, whatever UCX and the MPI do */
	char ucx_device[64];  /* "rc_mlx5/mlx5_0:1"; "": none */
	char ucx_why[256];    /* a sentence */
	enum job_asleep asleep;
	bool rget_early;    /* measured: MPI_Wait for MPI_Rget returned before the data was there */
	bool create_before; /* measured: operations on a window access the memory before it */
	int nranks, nhosts;
	const struct job_rank *rank; /* [nranks] */
};

struct trap {
	const char *name; /* the same in all versions */
	bool grave;       /* the program fails or hangs; otherwise it is slow */
	char what[400], cure[300];
};

enum { MAX_TRAPS = 15 };

/* Find the traps that apply to this job; returns their number, at most MAX_TRAPS. */
int traps_find(const struct job *j, struct trap *traps);

/* Fill in mpi, version, library and device from the text of MPI_Get_library_version(). */
void job_read_library(struct job *j, const char *text);

/* The one-sided component that Open MPI takes for a window over several nodes, by its
 * priorities, as far as the description says; "" if that is not known. */
const char *job_component(const struct job *j, char *text, size_t len);

/* How atomics on the words of other nodes are performed: "offloaded" (by the device),
 * "emulated" (by the target's CPU) or "unknown"; and why. */
const char *job_atomics(const struct job *j, char *why, size_t len);

/* The most ranks of a machine for each cpu that they may use together; at least 1. */
int job_ranks_per_cpu(const struct job *j);

/* Microseconds that a lease should have at the least: 100 round trips to the farthest
 * rank, and 10 ms for each rank of a cpu where ranks share them; 10 ms in any case. */
int64_t advise_lease_us(double round_trip_ns, int ranks_per_cpu);

#endif
