/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls on locks and calls on ranges share: checks and error messages. */
#include <stdio.h>

#include "base/error.h"
#include "table/table.h"

int call_check_name(const pawl_table *t, uint64_t lock)
{
	int rc = life_check(t);

	if (rc == PAWL_SUCCESS && lock >= t->setup.n)
		rc = error_set(PAWL_ERR_RANGE, "%s %llu%s is not in 0 to %llu",
			       t->ranges ? "space" : "lock", (unsigned long long)lock, t->of_name,
			       (unsigned long long)t->setup.n - 1);
	return rc;
}

int call_check_try(const pawl_table *t)
{
	const struct pawl_kind *kind = &t->setup.protocol->kind;

	if (kind->capabilities & PAWL_CAP_TRY)
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_UNSUPPORTED, "%s has no try-acquire", kind->name);
}

int call_deadline(double seconds, uint64_t *deadline_ns)
{
	double ns = seconds * 1e9;

	if (!(seconds >= 0))
		return error_set(PAWL_ERR_ARG, "seconds: %g is negative or not a number", seconds);
	/* More than a century: no deadline. */
	*deadline_ns = ns < 4e18 ? rma_now_ns() + (uint64_t)ns : 0;
	return PAWL_SUCCESS;
}

int call_check_time(const pawl_table *t, double seconds, uint64_t *deadline_ns)
{
	const struct pawl_kind *kind = &t->setup.protocol->kind;
	int rc = call_deadline(seconds, deadline_ns);

	if (rc == PAWL_SUCCESS && !(kind->capabilities & PAWL_CAP_TIMED))
		rc = error_set(PAWL_ERR_UNSUPPORTED, "%s has no timed acquire", kind->name);
	return rc;
}

int call_check_abandon(const pawl_table *t)
{
	const struct pawl_kind *kind = &t->setup.protocol->kind;
	const char *what = t->ranges ? "range" : "lock";

	if (!(kind->capabilities & PAWL_CAP_RECOVERS))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has no way to recover a %s that its holder abandoned",
				 kind->name, what);
	if (!lock_lease_us(&t->setup))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "option lease is 0, so no client would recover an abandoned %s",
				 what);
	return PAWL_SUCCESS;
}

const char *call_loss(const pawl_table *t, int rc, const char *died, char *why)
{
	const char *loss = guard_loss();
	char text[MPI_MAX_ERROR_STRING] = "";
	int code = atomic_load(&t->rma.mpi_error), length;

	if (rc == PAWL_ERR_PEER && !loss)
		return died;
	if (rc == PAWL_ERR_PEER) {
		snprintf(why, CALL_LOSS_LENGTH, "%s, so it cannot be used here any more", loss);
		return why;
	}
	if (code != MPI_SUCCESS)
		PMPI_Error_string(code, text, &length);
	snprintf(why, CALL_LOSS_LENGTH,
		 code == MPI_SUCCESS
		     ? "the MPI has reported an error to a rank that holds or awaits"
		       " it%s"
		     : "the MPI reports an error (%.300s)",
		 text);
	return why;
}

int call_refused(const pawl_table *t, uint64_t lock, int rc)
{
	if (rc == CLIENT_NO_SLOT)
		return error_set(PAWL_ERR_TOO_MANY,
				 "this process holds, awaits, has abandoned or is still in the"
				 " queue of %d %s of %s%s%s, as many as option max_held allows: set"
				 " info key pawl_max_held or PAWL_MAX_HELD, at most 65535",
				 t->setup.max_held, t->ranges ? "ranges" : "locks",
				 *t->name ? "\"" : "the table", t->name, *t->name ? "\"" : "");
	if (rc == PAWL_ERR_TOO_MANY)
		return error_set(rc,
				 "%s %llu%s: its home has no room for another recovery from a"
				 " failure (option recoveries)",
				 t->ranges ? "space" : "lock", (unsigned long long)lock,
				 t->of_name);
	if (rc == PAWL_ERR_CONNECT) /* the transport has set the message */
		return rc;
	if (rc == PAWL_RECOVERED)
		return error_set(rc,
				 "%s %llu%s is held by this thread, and was recovered from a holder"
				 " that did not release it, or a client that awaited it: what it"
				 " protects may be half changed (%s_consistent())",
				 t->ranges ? "space" : "lock", (unsigned long long)lock, t->of_name,
				 t->ranges ? "pawl_range" : "pawl_lock");
	return error_note(rc,
			  rc == PAWL_ERR_TIMEOUT ? "the deadline has passed" : pawl_strerror(rc));
}
