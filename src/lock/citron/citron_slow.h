/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow path: covers by tickets and announcements. */
#ifndef LOCK_CITRON_CITRON_SLOW_H
#define LOCK_CITRON_CITRON_SLOW_H

#include "lock/citron/citron_view.h"

/* The cover in h, wholly or not at all. A client that waits may meet OCC `most` times at a node. */
#define FOREVER UINT64_MAX
bool citron_take_cover(struct citron_view *v, uint64_t most, bool wait);
/* A ticket at an inner node and its turn; or, if it is only a try, if it is its turn. */
bool citron_take_turn(struct citron_view *v, int64_t index, bool wait, int64_t *ticket);
/* Everything that is held, and all tickets; one round trip. */
void citron_release_all(struct citron_view *v);

#endif
