/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kinds with the baselines and deliberately wrong ones, which the tests have to catch.
 */
#include "lock/list.h"

#include "baselines/list.h"
#include "lock/kinds.h"

#define BROKEN_KINDS(KIND)                   \
	KIND(lock_broken_dmcs)               \
	KIND(lock_broken_rma_rw)             \
	KIND(lock_broken_mgl)                \
	KIND(lock_broken_mgl_enter)          \
	KIND(lock_broken_mgl_readers)        \
	KIND(lock_broken_mgl_give_up)        \
	KIND(lock_broken_mgl_rider)          \
	KIND(lock_broken_dmcs_link)          \
	KIND(lock_broken_dmcs_grant)         \
	KIND(lock_broken_dmcs_answer)        \
	KIND(lock_broken_dmcs_settled)       \
	KIND(lock_broken_dmcs_swap)          \
	KIND(lock_broken_dmcs_abandon)       \
	KIND(lock_broken_dmcs_early)         \
	KIND(lock_broken_dmcs_passed)        \
	KIND(lock_broken_rma_rw_close)       \
	KIND(lock_broken_rma_rw_look)        \
	KIND(lock_broken_rma_rw_round)       \
	KIND(lock_broken_rma_rw_withdraw)    \
	KIND(lock_broken_dslr)               \
	KIND(lock_broken_shiftlock)          \
	KIND(lock_broken_shiftlock_era)      \
	KIND(lock_broken_shiftlock_late)     \
	KIND(lock_broken_shiftlock_return)   \
	KIND(lock_broken_shiftlock_absent)   \
	KIND(lock_broken_shiftlock_early)    \
	KIND(lock_broken_shiftlock_last)     \
	KIND(lock_broken_shiftlock_withdraw) \
	KIND(lock_broken_shiftlock_link)     \
	KIND(lock_broken_alock)              \
	KIND(lock_broken_alock_budget)       \
	KIND(lock_broken_alock_look)         \
	KIND(lock_broken_alock_stay)         \
	KIND(lock_broken_alock_victim)       \
	KIND(lock_broken_drtm)               \
	KIND(lock_broken_drtm_clock)         \
	KIND(lock_broken_citron)             \
	KIND(lock_broken_citron_common)      \
	KIND(lock_broken_citron_look)        \
	KIND(lock_broken_citron_raised)      \
	KIND(lock_broken_citron_shut)        \
	KIND(lock_broken_citron_count)       \
	KIND(lock_broken_citron_old)         \
	KIND(lock_broken_citron_spill)       \
	KIND(lock_broken_citron_stale)       \
	KIND(lock_broken_citron_suspect)     \
	KIND(lock_broken_citron_era)         \
	KIND(lock_broken_citron_wait)        \
	KIND(lock_broken_citron_copy)        \
	KIND(lock_broken_citron_late)        \
	KIND(lock_broken_ss)                 \
	KIND(lock_broken_lld)                \
	KIND(lock_broken_lld_look)           \
	KIND(lock_broken_lld_link)           \
	KIND(lock_broken_it)

LIBRARY_KINDS(KIND_DECLARE)
BASELINES(KIND_DECLARE)
BROKEN_KINDS(KIND_DECLARE)

const struct lock_protocol *const lock_kinds[] = {
    LIBRARY_KINDS(KIND_ADDRESS) BASELINES(KIND_ADDRESS) BROKEN_KINDS(KIND_ADDRESS) NULL};
