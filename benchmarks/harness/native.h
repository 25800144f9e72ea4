/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI at hand needs, and its name. */
#ifndef BENCH_NATIVE_H
#define BENCH_NATIVE_H

/* Before MPI_Init. */
void native_prepare(void);
/* A sentence about the setting that was made, or NULL. */
const char *native_note(void);
/* "Open MPI 4.1.4" */
const char *native_name(void);

#endif
