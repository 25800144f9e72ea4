/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads of RMA-RW's paper, and "turns". */
#ifndef BENCH_WORKLOADS_RMA_RW_RMA_RW_H
#define BENCH_WORKLOADS_RMA_RW_RMA_RW_H

#include "benchmarks/harness/trial.h"

void lb_run(struct trial *t);
void ecsb_run(struct trial *t);
void sob_run(struct trial *t);
void osob_run(struct trial *t);
void wcsb_run(struct trial *t);
void warb_run(struct trial *t);
void turns_run(struct trial *t);
void turns_close(struct trial *t);
void raw_pair_run(struct trial *t);

/* dht.c */
int dht_open(struct trial *t); /* collective */
void dht_close(struct trial *t);
void dht_run(struct trial *t);
uint64_t dht_iterations(const struct trial *t);

#endif
