/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of Citron; and spaces that are frozen and go on, after a failure. */
#ifndef LOCK_CITRON_CITRON_LEASE_H
#define LOCK_CITRON_CITRON_LEASE_H

#include "lock/citron/citron_view.h"

/* What is waited for, and by what it shows that somebody is alive. */
struct citron_wait {
	int64_t index; /* of the word */
	int64_t mask, value;
	int64_t same;  /* bits that would change; 0: there are no such */
	int64_t stuck; /* or bits of which none would stay set; 0: no such */
	bool idle;     /* an inner node with nobody there will do as well */
	enum rma_patience patience;
	const char *what;
};
/* False: v->gone, or v->error. *value is the word as it was at the latest. */
bool citron_await(struct citron_view *v, const struct citron_wait *w, int64_t *value);
/* What a client knows of the place where its tries have failed since when; index -1: the space was
 * frozen, and value is TOP. */
struct citron_watch {
	int64_t index, value;
	uint64_t since;
};
/* After a try that v->met something: recover if it is the same for too long. */
void citron_watch(struct citron_view *v, struct citron_watch *watch);
/* Wait until TOP is not what we know, and adopt it. PAWL_ERR_TOO_MANY: it never will be. */
int citron_renew(struct citron_view *v);
/* A lease begins: before a look at the root. */
void citron_lease_begin(struct citron_view *v);
/* Whether what was acquired is ours for most of a lease. */
bool citron_confirm(struct citron_view *v);
/* After a release. */
int citron_lease_end(struct citron_view *v);

#endif
