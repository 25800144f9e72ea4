/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes: acquires for languages in which an exception may end any statement (Python: signals). In
 * no installed header; package pawl of Python has the same structure.
 *
 * What a call has acquired, or awaits, is in a structure of the caller, which the library writes
 * before it returns. So at any instruction of the caller pawl_private_scope_end() knows what there
 * is to release or to cancel. It may be called at any time, any number of times.
 *
 * A call that waits returns now and then, so that the language can run its handlers of signals. It
 * waits by a request (client/request.c), which keeps its place in the queue meanwhile.
 */
#ifndef API_SCOPE_H
#define API_SCOPE_H

#include <pawl.h>

enum scope_what { SCOPE_LOCK, SCOPE_PART, SCOPE_MANY, SCOPE_RANGE, SCOPE_SEMAPHORE };
enum scope_wait { SCOPE_WAITS, SCOPE_TIMED, SCOPE_TRIES };
enum scope_state { SCOPE_NONE, SCOPE_PENDING, SCOPE_HELD };

struct pawl_private_scope {
	/* What to acquire; the caller's. */
	pawl_table **table; /* where the handle is, which free sets to NULL */
	uint64_t lock;      /* or the whole of a part, the space of a range, a semaphore */
	int32_t mode, what, wait;
	int32_t state; /* enum scope_state; the library's */
	double seconds;
	uint64_t part;
	int64_t first, last; /* a semaphore is released only to at most first permits; 0: to any */
	uint64_t n;          /* of several locks; permits to release; acquires beside the first */
	const uint64_t *locks;
	const int *modes; /* NULL: all exclusively */
	/* The library's. */
	uint64_t done, latest; /* of several locks: how many are held, and the one acquired last;
				* done: in the queue of a semaphore */
	uint64_t deadline_ns;
	pawl_request request; /* of the next one */
	pawl_range range;
};

/* A code besides those of the library: not acquired yet, wait again. */
#define SCOPE_GO_ON (-1)

#define SCOPE_CALL __attribute__((visibility("default")))
/* Acquire what s names: PAWL_SUCCESS, also for PAWL_RECOVERED; SCOPE_GO_ON; or another code, after
 * which nothing of it is held. */
SCOPE_CALL int pawl_private_scope_begin(struct pawl_private_scope *s);
/* The same with a scope that is a copy of what. */
SCOPE_CALL int pawl_private_scope_enter(const struct pawl_private_scope *what,
					struct pawl_private_scope *s);
/* Begin a request of a lock: SCOPE_GO_ON, or a failure. */
SCOPE_CALL int pawl_private_scope_request(struct pawl_private_scope *s);
/* Look once, after SCOPE_GO_ON. */
SCOPE_CALL int pawl_private_scope_look(struct pawl_private_scope *s);
/* Wait for a twentieth of a second at most, after SCOPE_GO_ON. */
SCOPE_CALL int pawl_private_scope_wait(struct pawl_private_scope *s);
/* Release what it holds, or cancel its request. Another thread than the one that made the request
 * gets PAWL_ERR_ARG. */
SCOPE_CALL int pawl_private_scope_end(struct pawl_private_scope *s);
/* The same for a request that nobody can name any more; not for what is held. */
SCOPE_CALL int pawl_private_scope_drop(struct pawl_private_scope *s);
/* Release what this thread holds, by its names; not for a range. */
SCOPE_CALL int pawl_private_scope_release(const struct pawl_private_scope *what);
/* The same for __exit__ of Python, whose arguments are not used. */
SCOPE_CALL int pawl_private_scope_leave(const struct pawl_private_scope *what, void *kind,
					void *value, void *traceback);
SCOPE_CALL int pawl_private_scope_exit(struct pawl_private_scope *s, void *kind, void *value,
				       void *traceback);
/* The same for what counts its acquires: the last one of a lock, or the permits, as often as it is
 * called. PAWL_ERR_NOT_HELD if the state is not SCOPE_HELD. */
SCOPE_CALL int pawl_private_scope_give(struct pawl_private_scope *s, void *kind, void *value,
				       void *traceback);
SCOPE_CALL int pawl_private_scope_put(struct pawl_private_scope *s);
/* pawl_lock_read_begin(), but PAWL_ERR_BUSY where that would acquire the lock. So no read holds
 * anything. */
SCOPE_CALL int pawl_private_scope_read(pawl_table *table, uint64_t lock, pawl_read *read);

/* A wait for a condition in steps: pawl_lock_wait() and pawl_lock_notify() of a condition that the
 * lock guards. begin; look, which returns PAWL_ERR_TIMEOUT after some seconds; end, which returns
 * PAWL_ERR_TIMEOUT if there was no notification, with the lock held. */
SCOPE_CALL int pawl_private_wait_begin(pawl_table *table, uint64_t lock, uint64_t condition);
SCOPE_CALL int pawl_private_wait_look(pawl_table *table, uint64_t lock, double seconds);
SCOPE_CALL int pawl_private_wait_end(pawl_table *table, uint64_t lock, uint64_t condition);
SCOPE_CALL int pawl_private_notify(pawl_table *table, uint64_t lock, uint64_t condition, int n,
				   int *woken);

#endif
