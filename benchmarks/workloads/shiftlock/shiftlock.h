/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads of ShiftLock's paper. */
#ifndef BENCH_WORKLOADS_SHIFTLOCK_SHIFTLOCK_H
#define BENCH_WORKLOADS_SHIFTLOCK_SHIFTLOCK_H

#include "benchmarks/harness/trial.h"

enum { MICRO_WRITER, MICRO_READER, MICRO_RELEASE, MICRO_WAITED };
extern const char *const micro_series[];
void micro_run(struct trial *t);

/* bank.c; the bank ends with the run. */
void bank_run(struct trial *t);
int bank_open(struct trial *t, char *why, size_t whylen);
void bank_close(struct trial *t);
void bank_end(void);

/* transactions.c */
void tatp_run(struct trial *t);
void tpcc_run(struct trial *t);
int tatp_open(struct trial *t, char *why, size_t whylen);
int tpcc_open(struct trial *t, char *why, size_t whylen);

#endif
