/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of Citron, and recovery after a failure: freeze a space, continue in another copy. */
#ifndef LOCK_CITRON_CITRON_LEASE_H
#define LOCK_CITRON_CITRON_LEASE_H

#include "lock/citron/citron_view.h"

/* What a client waits for, and which changes show that other clients are alive. */
struct citron_wait {
	int64_t index; /* of the word */
	int64_t mask, value;
	int64_t same;  /* bits whose change shows progress; 0: none */
	int64_t stuck; /* or bits that show progress unless one of them stays set; 0: none */
	bool idle;     /* an inner node without clients also ends the wait */
	enum rma_patience patience;
	const char *what;
};
/* False: v->gone or v->error is set. *value is the last known value of the word. */
bool citron_await(struct citron_view *v, const struct citron_wait *w, int64_t *value);
/* Where and since when tries have failed. index -1: the space was frozen, and value is TOP. */
struct citron_watch {
	int64_t index, value;
	uint64_t since;
};
/* After a try that met something at v->met: recover if that has not changed for too long. */
void citron_watch(struct citron_view *v, struct citron_watch *watch);
/* Wait until TOP differs from the known value, and adopt it. PAWL_ERR_TOO_MANY: it never will. */
int citron_renew(struct citron_view *v);
/* Start a lease; before a look at the root. */
void citron_lease_begin(struct citron_view *v);
/* Whether the client will have what it has acquired for most of a lease. */
bool citron_confirm(struct citron_view *v);
/* Called before a release, whose flush completes the look. */
void citron_lease_look(struct citron_view *v);
/* Called after it: the code of the release. */
int citron_lease_end(struct citron_view *v);

#endif
