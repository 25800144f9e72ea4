/* SPDX-License-Identifier: BSD-3-Clause */
/* Optimistic reads. */
#include "api/scope.h"
#include "base/error.h"
#include "table/table.h"

/* What the caller's pawl_read has; all zero: no read has begun. */
enum { STATE, LOCK, SEEN, FAILURES };
enum { NONE, BEGUN, SHARED };
enum { LOCK_BITS = 40 };

static int check_read(const pawl_table *t, uint64_t lock, const pawl_read *read)
{
	int rc;

	if (!read)
		return error_set(PAWL_ERR_ARG, "read is null");
	rc = call_check_lock(t, lock, PAWL_EXCLUSIVE);
	if (rc != PAWL_SUCCESS || t->setup.protocol->read)
		return rc;
	return error_set(PAWL_ERR_UNSUPPORTED,
			 "%s has no optimistic reads: acquire its locks in mode %s",
			 t->setup.protocol->kind.name,
			 t->setup.protocol->kind.capabilities & PAWL_CAP_SHARED ? "PAWL_SHARED"
										: "PAWL_EXCLUSIVE");
}

/* Whether check_read() would succeed. */
static inline bool is_plain(const pawl_table *t, uint64_t lock, const pawl_read *read)
{
	return t && read && lock < t->plain && t->setup.protocol->read;
}

static struct client_read unpack(const pawl_read *read)
{
	return (struct client_read){.seen = (int64_t)read->opaque[SEEN],
				    .failures = (int)read->opaque[FAILURES]};
}

/* The lock, with how often the table's locks have moved: what was seen before is of no use then. */
static uint64_t name_of(const pawl_table *t, uint64_t lock)
{
	return t->moves << LOCK_BITS | lock;
}

static int pack(pawl_read *read, uint64_t name, const struct client_read *r, int state, int rc)
{
	*read = (pawl_read){{
	    [STATE] = (uint64_t)state,
	    [LOCK] = name,
	    [SEEN] = (uint64_t)r->seen,
	    [FAILURES] = (uint64_t)r->failures,
	}};
	return rc;
}

/* waits: after too many failures, acquire the lock; else return PAWL_ERR_BUSY. */
RMA_INLINE int begin(pawl_table *t, uint64_t lock, pawl_read *read, bool waits, const void *site)
{
	struct client_read r;
	int rc;

	if (!is_plain(t, lock, read)) {
		rc = check_read(t, lock, read);
		if (rc != PAWL_SUCCESS)
			return rc;
	}
	r = unpack(read);
	rc = client_read_begin(&t->clients, lock, &r);
	if (__builtin_expect(rc == PAWL_SUCCESS, 1))
		return pack(read, name_of(t, lock), &r, BEGUN, rc);
	if (rc != PAWL_ERR_BUSY || !waits)
		return call_refused_lock(t, lock, rc);
	rc = call_acquire_lock(t, lock, PAWL_SHARED, site);
	return rc == PAWL_SUCCESS ? pack(read, name_of(t, lock), &r, SHARED, rc) : rc;
}

int pawl_lock_read_begin(pawl_table *t, uint64_t lock, pawl_read *read)
{
	return begin(t, lock, read, true, OBSERVE_SITE());
}

int pawl_private_scope_read(pawl_table *t, uint64_t lock, pawl_read *read)
{
	return begin(t, lock, read, false, NULL);
}

/* Why no read of the lock can be ended. */
static int refuse(const pawl_table *t, uint64_t lock, pawl_read *read)
{
	const uint64_t mask = (UINT64_C(1) << LOCK_BITS) - 1;
	struct client_read r = unpack(read);

	if (read->opaque[STATE] != BEGUN || (read->opaque[LOCK] & mask) != lock)
		return error_set(PAWL_ERR_ARG, "read: none of lock %llu%s has begun with it",
				 (unsigned long long)lock, t->of_name);
	pack(read, name_of(t, lock), &r, NONE, PAWL_ERR_BUSY);
	return error_note(PAWL_ERR_BUSY, "the lock has got another home during the read");
}

int pawl_lock_read_validate(pawl_table *t, uint64_t lock, pawl_read *read)
{
	struct client_read r;
	int rc;

	if (!is_plain(t, lock, read)) {
		rc = check_read(t, lock, read);
		if (rc != PAWL_SUCCESS)
			return rc;
	}
	if (read->opaque[STATE] == NONE || read->opaque[LOCK] != name_of(t, lock))
		return refuse(t, lock, read);
	if (__builtin_expect(read->opaque[STATE] == SHARED, 0)) {
		*read = (pawl_read){{0}};
		return call_release_lock(t, lock, OBSERVE_SITE());
	}
	r = unpack(read);
	rc = client_read_validate(&t->clients, lock, &r);
	pack(read, name_of(t, lock), &r, NONE, rc);
	if (__builtin_expect(rc == PAWL_SUCCESS, 1))
		return rc;
	if (rc == PAWL_ERR_BUSY)
		return error_note(rc, "the lock was acquired exclusively during the read");
	return call_refused_lock(t, lock, rc);
}
