/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes for bpftrace, perf and systemtap (PAWL_PROBES=1), by <sys/sdt.h>. A probe to which no
 * program is attached is a no-operation instruction.
 *
 *   pawl:acquire_wait  table, lock, mode, time waited so far     once an acquire
 *   pawl:acquired      table, lock, mode, time of the acquire, whether it waited
 *   pawl:release       table, lock, mode, time of the hold
 *   pawl:handover      table, lock, rank that had the lock, level  before acquired
 *
 * table is its name, or its description if it has none (char *); times are in nanoseconds; lock is
 * the space for ranges. Level is an index of complex, package, node, network; 4: unknown, and then
 * the rank is -1. acquire_wait comes when a client has waited for some microseconds; shorter waits
 * show in acquired only.
 */
#include <pawl.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "observe/observers.h"

#ifdef PAWL_HAVE_SDT
#include <sys/sdt.h>

struct probes {
	const struct observe *of;
	uint64_t *announced; /* [max_held] begin of the last acquire of the slot that waited */
};

static const char *name_of(const struct probes *p)
{
	return p->of->table.name[0] ? p->of->table.name : p->of->table.about;
}

static void acquired(void *state, const struct observe_record *r)
{
	const struct probes *p = state;

	if (r->code != PAWL_SUCCESS)
		return;
	if (r->waited)
		DTRACE_PROBE4(pawl, handover, name_of(p), r->lock, r->from, r->level);
	DTRACE_PROBE5(pawl, acquired, name_of(p), r->lock, r->mode, r->acquired_ns - r->begin_ns,
		      r->waited);
}

static void release(void *state, const struct observe_record *r)
{
	DTRACE_PROBE4(pawl, release, name_of(state), r->lock, r->mode,
		      r->release_ns - r->acquired_ns);
}

static void waiting(void *state, const struct observe_record *r, uint64_t waited_ns)
{
	const struct probes *p = state;

	if (!r || p->announced[r->slot] == r->begin_ns)
		return;
	p->announced[r->slot] = r->begin_ns;
	DTRACE_PROBE4(pawl, acquire_wait, name_of(p), r->lock, r->mode, waited_ns);
}

static void close_probes(void *state)
{
	struct probes *p = state;

	free(p->announced);
	free(p);
}

static int open_probes(const struct observe *o, const struct observer **calls, void **state)
{
	static const struct observer observer = {
	    .acquired = acquired,
	    .release = release,
	    .waiting = waiting,
	    .close = close_probes,
	};
	struct probes *p = calloc(1, sizeof *p);
	int ok;

	if (p)
		p->announced = calloc((size_t)o->table.setup->max_held, sizeof *p->announced);
	ok = p && p->announced;
	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, o->table.comm);
	if (!ok) {
		if (p)
			close_probes(p);
		return error_set(PAWL_ERR_NOMEM, "out of memory for PAWL_PROBES");
	}
	p->of = o;
	*calls = &observer;
	*state = p;
	return PAWL_SUCCESS;
}

#else

static int open_probes(const struct observe *o, const struct observer **calls, void **state)
{
	(void)o;
	(void)calls;
	(void)state;
	return error_set(PAWL_ERR_UNSUPPORTED,
			 "PAWL_PROBES: this libpawl was built without <sys/sdt.h>");
}

#endif

int observe_open_probes(const struct observe *o, const struct observer **calls, void **state)
{
	char value[OBSERVE_SETTING];
	int rc = observe_setting(o->table.comm, "PAWL_PROBES", value);

	if (rc != PAWL_SUCCESS || !value[0])
		return rc;
	if (strcmp(value, "1") != 0)
		return error_set(PAWL_ERR_OPTION,
				 "PAWL_PROBES: \"%s\"; accepted: 0, no, off, false, 1, yes, on,"
				 " true",
				 value);
	return open_probes(o, calls, state);
}
