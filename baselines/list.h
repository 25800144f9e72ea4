/* SPDX-License-Identifier: BSD-3-Clause */
/* The baselines: kinds of lock to compare with, which are not in libpawl. A new one is a line
 * here. */
#ifndef BASELINES_LIST_H
#define BASELINES_LIST_H

#define BASELINES(KIND)         \
	KIND(lock_cas_spin)     \
	KIND(lock_cas_backoff)  \
	KIND(lock_fompi_spin)   \
	KIND(lock_fompi_rw)     \
	KIND(lock_dslr)         \
	KIND(lock_dslr_printed) \
	KIND(lock_rma_rw_entry) \
	KIND(lock_mcs_counted)  \
	KIND(lock_rdma_mcs)     \
	KIND(lock_mcs_printed)  \
	KIND(lock_rdma_spin)    \
	KIND(lock_drtm)         \
	KIND(lock_farlock)      \
	KIND(lock_rpc)          \
	KIND(lock_mpi_win_lock) \
	KIND(lock_lld)          \
	KIND(lock_it)           \
	KIND(lock_llc)          \
	KIND(lock_mt)

#endif
