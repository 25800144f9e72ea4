/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron once more, all files of the protocol, in the broken way that the includer has defined,
 * with names that start with BREAK_PREFIX.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define citron_top_word JOIN(BREAK_PREFIX, top_word)
#define citron_look JOIN(BREAK_PREFIX, look)
#define citron_look_back JOIN(BREAK_PREFIX, look_back)
#define citron_adopt JOIN(BREAK_PREFIX, adopt)
#define citron_read_top JOIN(BREAK_PREFIX, read_top)
#define citron_swap_top JOIN(BREAK_PREFIX, swap_top)
#define citron_shut JOIN(BREAK_PREFIX, shut)
#define citron_raise JOIN(BREAK_PREFIX, raise)
#define citron_may_spill JOIN(BREAK_PREFIX, may_spill)
#define citron_settle JOIN(BREAK_PREFIX, settle)
#define citron_lease_begin JOIN(BREAK_PREFIX, lease_begin)
#define citron_await JOIN(BREAK_PREFIX, await)
#define citron_watch JOIN(BREAK_PREFIX, watch)
#define citron_renew JOIN(BREAK_PREFIX, renew)
#define citron_confirm JOIN(BREAK_PREFIX, confirm)
#define citron_lease_end JOIN(BREAK_PREFIX, lease_end)
#define citron_announce JOIN(BREAK_PREFIX, announce)
#define citron_withdraw JOIN(BREAK_PREFIX, withdraw)
#define citron_ask_above JOIN(BREAK_PREFIX, ask_above)
#define citron_is_vacant JOIN(BREAK_PREFIX, is_vacant)
#define citron_await_vacant JOIN(BREAK_PREFIX, await_vacant)
#define citron_few_leaves JOIN(BREAK_PREFIX, few_leaves)
#define citron_try_leaves JOIN(BREAK_PREFIX, try_leaves)
#define citron_await_leaves JOIN(BREAK_PREFIX, await_leaves)
#define citron_release_all JOIN(BREAK_PREFIX, release_all)
#define citron_take_turn JOIN(BREAK_PREFIX, take_turn)
#define citron_take_cover JOIN(BREAK_PREFIX, take_cover)
#include "lock/citron/citron_fast.c"
#include "lock/citron/citron_lease.c"
#include "lock/citron/citron_slow.c"
#include "lock/citron/citron_top.c"
/* after them, for static names are used in both */
#include "lock/citron/citron.c"
