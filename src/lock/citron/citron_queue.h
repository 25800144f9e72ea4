/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues in front of the fast path. */
#ifndef LOCK_CITRON_CITRON_QUEUE_H
#define LOCK_CITRON_CITRON_QUEUE_H

#include "lock/citron/citron_view.h"

/* Whether this client has found many clients in the queue for its units the last time. */
bool citron_expects_queue(const struct citron_view *v);
/* Wait for a turn among the clients that want about the same units. False: the copy is gone, or
 * v->error is set. */
bool citron_enter_queue(struct citron_view *v);
/* End that turn, if there is one. No flush. */
void citron_leave_queue(struct citron_view *v);
/* A client in its turn, which ends it with its next request: say that the request begins. If the
 * turn before was seen to end, but not its end, wait first for as long as a request takes to be
 * sent. */
void citron_begin_request(struct citron_view *v, bool ends);

#endif
