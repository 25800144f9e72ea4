/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and times by lock and call site; see tallies.h. */
#include "observe/tallies.h"

#include <string.h>

#include "base/hash.h"

void tallies_clear(struct tallies *t)
{
	memset(t, 0, sizeof *t);
	for (int i = 0; i < TALLIES; i++)
		t->entry[i].site = -1;
}

void tally_add(struct tally *to, const struct tally *from)
{
	to->acquires += from->acquires;
	to->contended += from->contended;
	to->wait_ns += from->wait_ns;
	to->hold_ns += from->hold_ns;
	to->far += from->far;
	for (int i = 0; i < OBSERVE_LEVELS; i++)
		to->handed[i] += from->handed[i];
	if (from->wait_most_ns > to->wait_most_ns) {
		to->wait_most_ns = from->wait_most_ns;
		to->wait_rank = from->wait_rank;
	}
	if (from->hold_most_ns > to->hold_most_ns) {
		to->hold_most_ns = from->hold_most_ns;
		to->hold_rank = from->hold_rank;
	}
}

/* ---------------------------------------------------------------------- sites */

static const char others[] = "(other call sites)";

/* The last place is for sites without room. */
static struct site *new_site(struct tallies *t, int *index)
{
	*index = (int)t->n_sites;
	if (t->n_sites < TALLY_SITES - 1) {
		t->n_sites++;
		return &t->sites[*index];
	}
	*index = TALLY_SITES - 1;
	if (t->n_sites < TALLY_SITES) {
		t->n_sites = TALLY_SITES;
		memcpy(t->sites[*index].module, others, sizeof others);
	}
	return NULL;
}

int tallies_site(struct tallies *t, const void *address)
{
	struct site *s;
	int i;

	for (i = 0; i < t->n_sites; i++)
		if (t->sites[i].address == address)
			return i;
	s = new_site(t, &i);
	if (s)
		s->address = address;
	return i;
}

static int same_site(struct tallies *t, const struct site *site)
{
	struct site *s;
	int i;

	for (i = 0; i < t->n_sites; i++)
		if (t->sites[i].offset == site->offset &&
		    strcmp(t->sites[i].module, site->module) == 0)
			return i;
	s = new_site(t, &i);
	if (s) {
		*s = *site;
		memset(&s->rest, 0, sizeof s->rest);
	}
	return i;
}

/* ---------------------------------------------------------------------- locks */

/* Whether a has been waited for less than b, or acquired less. */
static bool is_colder(const struct tally *a, const struct tally *b)
{
	return a->wait_ns != b->wait_ns ? a->wait_ns < b->wait_ns : a->acquires < b->acquires;
}

struct tally *tallies_find(struct tallies *t, uint64_t lock, int site)
{
	uint64_t h = hash_add(hash_add(HASH_BEGIN, lock), (uint64_t)site);
	struct lock_tally *set = &t->entry[(h ^ h >> 29) % TALLY_SETS * TALLY_WAYS], *coldest = set;

	for (struct lock_tally *e = set; e < set + TALLY_WAYS; e++) {
		if (e->site == site && e->lock == lock)
			return &e->tally;
		if (e->site < 0) {
			coldest = e;
			break;
		}
		if (is_colder(&e->tally, &coldest->tally))
			coldest = e;
	}
	if (coldest->site >= 0)
		tally_add(&t->sites[coldest->site].rest, &coldest->tally);
	*coldest = (struct lock_tally){.lock = lock, .site = site};
	return &coldest->tally;
}

static bool is_among(uint64_t lock, uint64_t first, uint64_t n, uint64_t extra)
{
	return lock - first < n || lock == extra;
}

void tallies_merge(struct tallies *to, const struct tallies *from, uint64_t first, uint64_t n,
		   uint64_t extra, bool everything)
{
	int site[TALLY_SITES];

	for (int i = 0; i < from->n_sites; i++) {
		struct site s = from->sites[i];

		if (s.address)
			sites_locate(&s);
		s.address = NULL;
		site[i] = same_site(to, &s);
		if (everything)
			tally_add(&to->sites[site[i]].rest, &s.rest);
	}
	for (int i = 0; i < TALLIES; i++) {
		const struct lock_tally *e = &from->entry[i];

		if (e->site >= 0 && (everything || is_among(e->lock, first, n, extra)))
			tally_add(tallies_find(to, e->lock, site[e->site]), &e->tally);
	}
}

/* A free entry ends its set's search, so the others of the set move up. */
void tallies_remove(struct tallies *t, uint64_t first, uint64_t n, uint64_t extra)
{
	for (int s = 0; s < TALLIES; s += TALLY_WAYS) {
		int kept = s;

		for (int i = s; i < s + TALLY_WAYS; i++) {
			struct lock_tally e = t->entry[i];

			t->entry[i].site = -1;
			if (e.site >= 0 && !is_among(e.lock, first, n, extra))
				t->entry[kept++] = e;
		}
	}
}
