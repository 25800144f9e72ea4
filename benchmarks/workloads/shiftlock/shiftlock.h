/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads of ShiftLock's paper. */
#ifndef BENCH_WORKLOADS_SHIFTLOCK_SHIFTLOCK_H
#define BENCH_WORKLOADS_SHIFTLOCK_SHIFTLOCK_H

#include "benchmarks/harness/trial.h"

enum {
	MICRO_WRITER,
	MICRO_READER,
	MICRO_RELEASE,
	MICRO_WAITED,
	/* in simulation, of each acquire or release: what it spends its time on */
	MICRO_WRITER_ATOMICS,
	MICRO_WRITER_PUTS,
	MICRO_WRITER_WAITS,
	MICRO_WRITER_LOOKS,
	MICRO_READER_ATOMICS,
	MICRO_READER_LOOKS,
	MICRO_RELEASE_ATOMICS,
	MICRO_RELEASE_OTHERS
};
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
