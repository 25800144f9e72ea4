/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors agree with themselves: the capabilities that users see are those of the
 * blocks (lock.h), and a block has the calls that go together. Prints TAP; any failed check fails
 * the program.
 */
#include <string.h>

#include <pawl.h>

#include "lock/kinds.h"
#include "lock/list.h"
#include "tests/tap.h"

static void check(bool good, const struct lock_protocol *p, const char *what)
{
	ok(good, "%s: %s", p->kind.name, what);
}

static bool says(const struct lock_protocol *p, unsigned capability)
{
	return (p->kind.capabilities & capability) != 0;
}

static bool has_option(const struct lock_protocol *p, const char *name)
{
	for (const struct option_spec *o = p->options; o && o->is.name; o++)
		if (strcmp(o->is.name, name) == 0)
			return true;
	return false;
}

/* A capability is listed if and only if its block is there. */
static void capabilities(const struct lock_protocol *p)
{
	check(says(p, PAWL_CAP_TRY) == (p->try_acquire != NULL), p, "try: try_acquire");
	check(says(p, PAWL_CAP_TIMED) == (p->timed != NULL), p, "timed: block timed");
	check(says(p, PAWL_CAP_RECOVERS) == (p->recover != NULL), p, "recovers: block recover");
	check(says(p, PAWL_CAP_RANGES) == (p->range != NULL), p, "ranges: block range");
	check(says(p, PAWL_CAP_INTENT) == (p->part != NULL), p, "intent: block part");
	check(says(p, PAWL_CAP_OPTIMISTIC) == (p->read != NULL), p, "optimistic: block read");
	check(says(p, PAWL_CAP_UPGRADE) == (p->change != NULL), p, "upgrade: block change");
	check(!says(p, PAWL_CAP_UPGRADE) || says(p, PAWL_CAP_SHARED), p, "upgrade: shared, too");
	check(!says(p, PAWL_CAP_OPTIMISTIC) || says(p, PAWL_CAP_SHARED), p,
	      "optimistic: shared, too");
	check(!says(p, PAWL_CAP_THREADS) || p->mpi, p, "threads: only where block mpi is");
	check(!says(p, PAWL_CAP_RECOVERS) || has_option(p, "lease"), p, "recovers: option lease");
	check(!says(p, PAWL_CAP_INTENT) || says(p, PAWL_CAP_SHARED), p, "intent: shared, too");
	check(!p->check || !p->check->overtakes || says(p, PAWL_CAP_FAIR), p,
	      "a bound on overtaking: fair");
}

/* Whether programs get it: baselines promise less. */
LIBRARY_KINDS(KIND_DECLARE)

static bool is_of_library(const struct lock_protocol *p)
{
	const struct lock_protocol *const library[] = {LIBRARY_KINDS(KIND_ADDRESS)};

	for (size_t i = 0; i < sizeof library / sizeof library[0]; i++)
		if (library[i] == p)
			return true;
	return false;
}

/* Calls that each kind has, and calls that go together. */
static void blocks(const struct lock_protocol *p)
{
	const struct lock_range_calls *r = p->range;

	check(p->kind.name && p->kind.summary && p->kind.reference, p, "is described");
	check(kinds_find(p->kind.name) == p, p, "no other has its name");
	check((p->layout || p->home_bytes) && p->acquire && p->release, p,
	      "layout, acquire, release");
	check(!p->destroy || p->state_bytes, p, "destroy: constants");
	check(!p->timed || !p->timed->resume == !p->timed->passed, p, "resume and passed");
	check(!p->recover || p->recover->abandon, p, "recover: abandon");
	check(!p->recover || !is_of_library(p) ||
		  (p->recover->life && !p->recover->unchecked_release),
	      p, "recover: a kind of the library tells the next holder, and checks releases");
	check(!r || (r->keeps_out && !r->grow == !r->shrink && !r->grow == !r->forget), p,
	      "range: keeps_out; grow, shrink and forget");
	check(!p->part || (p->part->acquire && p->part->release), p, "part: acquire and release");
	check(!p->change || (p->change->upgrade && p->change->downgrade), p,
	      "change: upgrade and downgrade");
	check(!p->read || (p->read->begin && p->read->validate), p, "read: begin and validate");
	check(!p->mpi || (p->mpi->open && p->mpi->close), p, "mpi: open and close");
	check(!p->check || p->check->idle, p, "check: idle");
}

int main(void)
{
	const struct lock_protocol *p;

	for (int i = 0; (p = kinds_get(i)); i++) {
		capabilities(p);
		blocks(p);
	}
	return tap_plan();
}
