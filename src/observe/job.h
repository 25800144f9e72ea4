/* SPDX-License-Identifier: BSD-3-Clause */
/* Which job a process and a file belong to: for files that all tables of a job write, and to number
 * tables and processes so that no two of a job have the same number. */
#ifndef OBSERVE_JOB_H
#define OBSERVE_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The rank in MPI_COMM_WORLD; of a process without MPI_Init, in comm. */
int job_rank(MPI_Comm comm);
/* Whether MPI_Comm_spawn has started this process: other processes of its job have its rank. */
bool job_is_spawned(void);
/* A number that no other process of the job has: the rank; of a process that was spawned, from
 * JOB_SPAWNED on. Its tables have numbers that begin with it. */
enum { JOB_SPAWNED = 1 << 30, JOB_TABLES = 1000000 };
int32_t job_process(MPI_Comm comm);
/* The next number of a table whose rank 0 is this process: process * JOB_TABLES + 1, + 2, ... */
uint64_t job_next_table(MPI_Comm comm);

/* The name that the launcher has given to this job; "" if it is not known. */
enum { JOB_NAME = 128 };
void job_name(char name[JOB_NAME]);
/* Whether the file was written since this process started. All processes of a job start before any
 * of them has a table, so this job may have written it. */
bool job_may_have_written(int fd);

#endif
