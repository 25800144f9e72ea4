/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of lock kinds: a lock is one protocol file and one line here.
 * Benchmarks, tests and tools iterate this table and name no lock.
 */
#include "lock/kinds.h"

#include <stdio.h>
#include <string.h>

#include "base/similar.h"

extern const struct lock_protocol lock_dmcs, lock_rma_mcs, lock_rma_rw, lock_cas_spin, lock_mgl,
    lock_shiftlock, lock_cas_backoff, lock_fompi_spin, lock_fompi_rw, lock_mpi_win_lock, lock_dslr,
    lock_alock, lock_rdma_mcs, lock_rdma_spin, lock_drtm, lock_rpc, lock_citron, lock_ss, lock_lld,
    lock_it, lock_llc, lock_mt;
#ifdef PAWL_BROKEN_KINDS
/* Deliberately wrong variants, which the tests have to catch (tests/broken). */
extern const struct lock_protocol lock_broken_dmcs, lock_broken_rma_rw, lock_broken_mgl,
    lock_broken_mgl_enter, lock_broken_mgl_readers, lock_broken_dmcs_link, lock_broken_dmcs_grant,
    lock_broken_dmcs_answer, lock_broken_dmcs_settled, lock_broken_dmcs_swap,
    lock_broken_dmcs_abandon, lock_broken_dmcs_early, lock_broken_dmcs_passed,
    lock_broken_rma_rw_close;
extern const struct lock_protocol lock_broken_dslr, lock_broken_shiftlock,
    lock_broken_shiftlock_era, lock_broken_shiftlock_late, lock_broken_shiftlock_link,
    lock_broken_alock, lock_broken_alock_budget, lock_broken_alock_look, lock_broken_alock_victim,
    lock_broken_drtm, lock_broken_drtm_clock, lock_broken_citron, lock_broken_citron_common,
    lock_broken_citron_look, lock_broken_citron_raised, lock_broken_citron_shut,
    lock_broken_citron_count, lock_broken_citron_old, lock_broken_citron_spill,
    lock_broken_citron_stale, lock_broken_citron_suspect, lock_broken_citron_era,
    lock_broken_citron_wait, lock_broken_citron_copy, lock_broken_citron_late, lock_broken_ss,
    lock_broken_lld, lock_broken_lld_look, lock_broken_lld_link, lock_broken_it;
extern const struct lock_protocol lock_broken_alock_stay, lock_broken_shiftlock_return,
    lock_broken_mgl_give_up, lock_broken_mgl_rider, lock_broken_rma_rw_look,
    lock_broken_rma_rw_round, lock_broken_rma_rw_withdraw, lock_broken_shiftlock_absent,
    lock_broken_shiftlock_early, lock_broken_shiftlock_last, lock_broken_shiftlock_withdraw;
#endif

static const struct lock_protocol *const kinds[] = {
    &lock_dmcs,
    &lock_rma_mcs,
    &lock_rma_rw,
    &lock_mgl,
    &lock_shiftlock,
    &lock_alock,
    &lock_cas_spin,
    &lock_cas_backoff,
    &lock_fompi_spin,
    &lock_fompi_rw,
    &lock_dslr,
    &lock_rdma_mcs,
    &lock_rdma_spin,
    &lock_drtm,
    &lock_rpc,
    &lock_mpi_win_lock,
    &lock_citron,
    &lock_ss,
    &lock_lld,
    &lock_it,
    &lock_llc,
    &lock_mt,
#ifdef PAWL_BROKEN_KINDS
    &lock_broken_dmcs,
    &lock_broken_rma_rw,
    &lock_broken_mgl,
    &lock_broken_mgl_enter,
    &lock_broken_mgl_readers,
    &lock_broken_mgl_give_up,
    &lock_broken_mgl_rider,
    &lock_broken_dmcs_link,
    &lock_broken_dmcs_grant,
    &lock_broken_dmcs_answer,
    &lock_broken_dmcs_settled,
    &lock_broken_dmcs_swap,
    &lock_broken_dmcs_abandon,
    &lock_broken_dmcs_early,
    &lock_broken_dmcs_passed,
    &lock_broken_rma_rw_close,
    &lock_broken_rma_rw_look,
    &lock_broken_rma_rw_round,
    &lock_broken_rma_rw_withdraw,
    &lock_broken_dslr,
    &lock_broken_shiftlock,
    &lock_broken_shiftlock_era,
    &lock_broken_shiftlock_late,
    &lock_broken_shiftlock_return,
    &lock_broken_shiftlock_absent,
    &lock_broken_shiftlock_early,
    &lock_broken_shiftlock_last,
    &lock_broken_shiftlock_withdraw,
    &lock_broken_shiftlock_link,
    &lock_broken_alock,
    &lock_broken_alock_budget,
    &lock_broken_alock_look,
    &lock_broken_alock_stay,
    &lock_broken_alock_victim,
    &lock_broken_drtm,
    &lock_broken_drtm_clock,
    &lock_broken_citron,
    &lock_broken_citron_common,
    &lock_broken_citron_look,
    &lock_broken_citron_raised,
    &lock_broken_citron_shut,
    &lock_broken_citron_count,
    &lock_broken_citron_old,
    &lock_broken_citron_spill,
    &lock_broken_citron_stale,
    &lock_broken_citron_suspect,
    &lock_broken_citron_era,
    &lock_broken_citron_wait,
    &lock_broken_citron_copy,
    &lock_broken_citron_late,
    &lock_broken_ss,
    &lock_broken_lld,
    &lock_broken_lld_look,
    &lock_broken_lld_link,
    &lock_broken_it,
#endif
};

enum { COUNT = sizeof kinds / sizeof kinds[0] };

const struct lock_protocol *kinds_get(int index)
{
	return index >= 0 && index < COUNT ? kinds[index] : NULL;
}

const struct lock_protocol *kinds_find(const char *name)
{
	for (int i = 0; name && i < COUNT; i++)
		if (strcmp(kinds[i]->kind.name, name) == 0)
			return kinds[i];
	return NULL;
}

const char *kinds_list(char *text, size_t len)
{
	size_t used = 0;

	for (int i = 0; i < COUNT && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s%s", i ? ", " : "",
					 kinds[i]->kind.name);
	return text;
}

const char *kinds_hint(const char *name, char *text, size_t len)
{
	struct similar near = similar_to(name ? name : "", name ? strlen(name) : 0);

	for (int i = 0; i < COUNT; i++)
		similar_try(&near, kinds[i]->kind.name, strlen(kinds[i]->kind.name));
	return similar_hint(&near, "", text, len);
}

const struct pawl_kind *pawl_kind_get(int index)
{
	const struct lock_protocol *p = kinds_get(index);

	return p ? &p->kind : NULL;
}

const struct pawl_kind *pawl_kind_find(const char *name)
{
	const struct lock_protocol *p = kinds_find(name);

	return p ? &p->kind : NULL;
}
