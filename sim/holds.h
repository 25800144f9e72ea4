/* SPDX-License-Identifier: BSD-3-Clause */
/* Which virtual client holds what; see holds.c. */
#ifndef SIM_HOLDS_H
#define SIM_HOLDS_H

#include "sim/sim.h"

bool sim_has_ranges(const struct sim_world *w);
const char *sim_mode_name(int mode);

/* Check how many clients were granted the lock from the start of r's wait to its own grant. */
void sim_check_overtakes(struct sim_rank *r);
/* Whether a client has held for so long that others may take it for dead. The kind decides how long
 * a lease is in the end; it is at least a quarter of the option. In a kind without recovery only
 * readers have leases. */
bool sim_outstays(const struct sim_hold *h);

/* The client has the lock: check that no other client excludes it, and that it is told of a
 * recovery if and only if there was one. */
void sim_count_in(struct sim_hold *h);
/* The hold has another mode from here on. */
void sim_change_mode(struct sim_hold *h, int mode);
/* It is about to be released, */
void sim_uncount(struct sim_hold *h);
/* or ends without a release. */
void sim_end_hold(struct sim_hold *h);

/* Recoveries (lock/life.c): the life of the lock in which it is held; the holder has repaired what
 * the lock protects, in this life; it has got a number, which must be in the order of the holds. */
struct lock_life sim_life_of(const struct sim_hold *h);
void sim_note_repair(const struct sim_hold *h, struct lock_life life);
void sim_note_number(const struct sim_hold *h, int64_t token);

#endif
