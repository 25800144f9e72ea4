/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow path: take covers by tickets and announcements. */
#ifndef LOCK_CITRON_CITRON_SLOW_H
#define LOCK_CITRON_CITRON_SLOW_H

#include "lock/citron/citron_view.h"

/* Take all nodes of the cover in h, or none. A client that waits may meet OCC `most` times at a
 * node. */
#define FOREVER UINT64_MAX
bool citron_take_cover(struct citron_view *v, uint64_t most, bool wait);
/* Draw a ticket at an inner node and wait for its turn; without wait, draw it only if it is its
 * turn at once. */
bool citron_take_turn(struct citron_view *v, int64_t index, bool wait, int64_t *ticket);
/* The same for words in which a turn counts `step`, by this sum; v->h->early: it returns when less
 * than a turn of the client before was left. */
bool citron_await_turn(struct citron_view *v, int64_t index, int64_t sum, int64_t step,
		       int64_t *ticket);
/* Release everything that is held, and all tickets; one round trip. With post, if the transport
 * posts and there is no lease, without the round trip: LOCK_LEFT. Else PAWL_SUCCESS. */
int citron_release_all(struct citron_view *v, bool post);

#endif
