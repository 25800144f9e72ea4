/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOCK, UNLOCK and CRITICAL.
 *
 * A lock belongs to the image, not to a thread of it. UNLOCK ends a segment: what the image has
 * stored in coarrays is complete before another image gets the lock.
 */
#include "caf/caf.h"

#include <stdio.h>
#include <string.h>

const char layer_library[] = "libpawl-caf";

static const struct layer layer = {
    .runtime = "OpenCoarrays",
    .words =
	{
	    .locks = "coarray locks",
	    .lease = "programs hold them for any time",
	    .max_held = "an image may hold many; it may be raised",
	},
/* OpenCoarrays allocates windows by MPI_Win_allocate; on a node Open MPI's osc/sm accesses them by
 * loads and stores. */
#ifdef OPEN_MPI
    .direct = true,
#endif
};

void caf_register(void *token, size_t count, bool critical)
{
	struct coarray *c = tokens_add(token);
	MPI_Comm comm;

	if (!c) {
		calls_error_stop("libpawl-caf: out of memory");
		return;
	}
	c->critical = critical;
	if (calls_comm(&comm))
		c->pawl = layer_take(&layer, comm, count, &c->locks);
}

/* Release what this image has locked: the program may not deallocate a lock that is locked, but the
 * next coarray that gets the lock should not find it so. */
static void release_all(struct coarray *c)
{
	if (!atomic_load_explicit(&c->touched, memory_order_relaxed))
		return;
	for (uint64_t i = 0; i < c->locks.count; i++)
		for (int rank = 0; rank < c->locks.size; rank++)
			layer_release(&c->locks, i, rank);
}

void caf_deregister(struct coarray *c)
{
	if (c->pawl) {
		release_all(c);
		layer_give(&c->locks);
	}
	tokens_remove(c);
}

/* ---------------------------------------------------------------- outcomes */

static void succeed(struct outcome o)
{
	if (o.stat)
		*o.stat = 0;
}

/* An error condition: STAT= and ERRMSG= have it, or it is error termination. */
static void fail(struct outcome o, int stat, const char *text)
{
	size_t len = strlen(text);

	if (!o.stat) {
		calls_error_stop(text);
		return;
	}
	*o.stat = stat;
	if (!o.message)
		return;
	if (len > o.message_len)
		len = o.message_len;
	memcpy(o.message, text, len);
	memset(o.message + len, ' ', o.message_len - len);
}

/* An error that no program expects. */
static void fail_code(struct outcome o, int code, const char *statement)
{
	char text[600];

	snprintf(text, sizeof text, "%s: %s", statement, pawl_error_message());
	fail(o, code == PAWL_ERR_PEER ? STAT_FAILED_IMAGE : STAT_NOT_LOCKED + 1, text);
}

static bool find_process(struct coarray *c, size_t index, int image, struct outcome o, int *process)
{
	char text[120];

	*process = index < c->locks.count ? teams_process(c, image) : -1;
	if (*process >= 0)
		return true;
	snprintf(text, sizeof text, "there is no lock variable %zu at image %d", index + 1, image);
	fail(o, STAT_NOT_LOCKED + 1, text);
	return false;
}

/* --------------------------------------------------------------- statements */

void caf_lock(struct coarray *c, size_t index, int image, int *acquired, struct outcome o)
{
	int process, rc;

	if (!find_process(c, index, image, o, &process))
		return;
	rc = acquired ? layer_try_acquire(&c->locks, index, process)
		      : layer_acquire(&c->locks, index, process);
	if (acquired)
		*acquired = rc == PAWL_SUCCESS;
	switch (rc) {
	case PAWL_SUCCESS:
		if (!atomic_load_explicit(&c->touched, memory_order_relaxed))
			atomic_store_explicit(&c->touched, true, memory_order_relaxed);
		succeed(o);
		break;
	case PAWL_ERR_BUSY:
		succeed(o);
		break;
	case PAWL_ERR_HELD:
		fail(o, STAT_LOCKED,
		     c->critical ? "CRITICAL: this image executes the block already"
				 : "LOCK: this image has locked the variable already");
		break;
	default:
		fail_code(o, rc, c->critical ? "CRITICAL" : "LOCK");
	}
}

/* The lock was not this image's: whether another has it. */
static void fail_unlock(struct coarray *c, size_t index, int process, struct outcome o)
{
	int rc = layer_try_acquire(&c->locks, index, process);

	if (rc == PAWL_SUCCESS) {
		layer_release(&c->locks, index, process);
		fail(o, STAT_NOT_LOCKED, "UNLOCK: the variable is not locked");
	} else if (rc == PAWL_ERR_BUSY) {
		fail(o, STAT_LOCKED_OTHER_IMAGE, "UNLOCK: another image has locked the variable");
	} else {
		fail_code(o, rc, "UNLOCK");
	}
}

void caf_unlock(struct coarray *c, size_t index, int image, struct outcome o)
{
	int process, rc;

	if (!find_process(c, index, image, o, &process))
		return;
	calls_sync_memory();
	rc = layer_release(&c->locks, index, process);
	if (rc == PAWL_SUCCESS)
		succeed(o);
	else if (rc == PAWL_ERR_NOT_HELD)
		fail_unlock(c, index, process, o);
	else
		fail_code(o, rc, c->critical ? "END CRITICAL" : "UNLOCK");
}
