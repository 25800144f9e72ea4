/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on several locks. */
#include <stdlib.h>

#include "base/error.h"
#include "table/table.h"

/* The items of a call, in ascending order of their locks. */
enum { FEW = 32 };
struct items {
	struct client_many few[FEW], *all;
};

/* item.code is the place in the caller's array until the order is checked. */
static int compare(const void *a, const void *b)
{
	const struct client_many *x = a, *y = b;

	return x->lock < y->lock ? -1 : x->lock > y->lock;
}

static void sort(struct client_many *m, size_t n)
{
	size_t i = 1;

	while (i < n && m[i - 1].lock < m[i].lock)
		i++;
	if (i < n && n > FEW) {
		qsort(m, n, sizeof *m, compare); /* may allocate */
		return;
	}
	for (; i < n; i++) {
		struct client_many one = m[i];
		size_t at = i;

		for (; at > 0 && compare(&one, &m[at - 1]) < 0; at--)
			m[at] = m[at - 1];
		m[at] = one;
	}
}

static int check_order(const pawl_table *t, const struct client_many *m, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (m[i - 1].lock == m[i].lock)
			return error_set(PAWL_ERR_ARG,
					 "locks: lock %llu%s is both locks[%d] and locks[%d]: name"
					 " each lock once",
					 (unsigned long long)m[i].lock, t->of_name,
					 m[i - 1].code < m[i].code ? m[i - 1].code : m[i].code,
					 m[i - 1].code < m[i].code ? m[i].code : m[i - 1].code);
	return PAWL_SUCCESS;
}

static void drop(struct items *items)
{
	if (items->all != items->few)
		free(items->all);
}

/* Fill in the items and sort them; drop() has to be called also after a failure. */
static int collect(const pawl_table *t, size_t n, const uint64_t locks[], const int modes[],
		   struct items *items)
{
	items->all = items->few;
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	if (n > 0 && !locks)
		return error_set(PAWL_ERR_ARG, "locks is null");
	if (n > (size_t)t->setup.max_held)
		return error_set(PAWL_ERR_TOO_MANY,
				 "n: %zu locks, and option max_held allows %d (1 to 65535)", n,
				 t->setup.max_held);
	if (n > FEW)
		items->all = malloc(n * sizeof *items->all);
	if (!items->all)
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		items->all[i] = (struct client_many){
		    .lock = locks[i],
		    .mode = modes ? modes[i] : PAWL_EXCLUSIVE,
		    .code = (int)i,
		};
	sort(items->all, n);
	return check_order(t, items->all, n);
}

/* records: of the acquires, for observers; NULL if there are none. */
static int enter(pawl_table *t, struct client_many *m, size_t n, uint64_t deadline_ns, bool tries,
		 const void *site, struct observe_record *records)
{
	uint64_t about = 0;
	int rc = client_claim_many(&t->clients, m, n, &about);

	if (rc != PAWL_SUCCESS)
		return call_refused_lock(t, about, rc);
	for (size_t i = 0; i < n && records; i++)
		records[i] = observe_begin(t->observe, m[i].slot, m[i].mode, NULL, site);
	rc = client_enter_many(&t->clients, m, n, deadline_ns, tries, &about);
	for (size_t i = 0; i < n && records; i++)
		observe_acquired(t->observe, &records[i], m[i].slot,
				 client_has_got(rc) || m[i].lock == about ? rc : PAWL_ERR_BUSY);
	return rc == PAWL_SUCCESS ? rc : call_refused_lock(t, about, rc);
}

static RMA_SLOW_PATH int enter_observed(pawl_table *t, struct client_many *m, size_t n,
					uint64_t deadline_ns, bool tries, const void *site)
{
	struct observe_record *records = malloc((n + !n) * sizeof *records);
	int rc;

	if (!records)
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	rc = enter(t, m, n, deadline_ns, tries, site, records);
	free(records);
	return rc;
}

static int acquire(pawl_table *t, size_t n, const uint64_t locks[], const int modes[],
		   const double *seconds, bool tries, const void *site)
{
	struct items items;
	uint64_t deadline_ns = 0;
	int rc = collect(t, n, locks, modes, &items);

	for (size_t i = 0; i < n && rc == PAWL_SUCCESS; i++)
		rc = call_check_lock(t, items.all[i].lock, items.all[i].mode);
	if (rc == PAWL_SUCCESS && tries)
		rc = call_check_try(t);
	if (rc == PAWL_SUCCESS && seconds)
		rc = call_check_time(t, *seconds, &deadline_ns);
	if (rc == PAWL_SUCCESS)
		rc = t->observe ? enter_observed(t, items.all, n, deadline_ns, tries, site)
				: enter(t, items.all, n, deadline_ns, tries, site, NULL);
	drop(&items);
	return rc;
}

int pawl_lock_acquire_many(pawl_table *t, size_t n, const uint64_t locks[], const int modes[])
{
	return acquire(t, n, locks, modes, NULL, false, OBSERVE_SITE());
}

int pawl_lock_try_acquire_many(pawl_table *t, size_t n, const uint64_t locks[], const int modes[])
{
	return acquire(t, n, locks, modes, NULL, true, OBSERVE_SITE());
}

int pawl_lock_timed_acquire_many(pawl_table *t, size_t n, const uint64_t locks[], const int modes[],
				 double seconds)
{
	return acquire(t, n, locks, modes, &seconds, false, OBSERVE_SITE());
}

static int find(pawl_table *t, struct client_many *m)
{
	int rc = call_check_name(t, m->lock);

	if (rc != PAWL_SUCCESS)
		return rc;
	m->slot = client_find(&t->clients, m->lock);
	return m->slot ? PAWL_SUCCESS : call_not_held(t, m->lock);
}

static int leave(pawl_table *t, struct client_many *m, size_t n, const void *site)
{
	uint64_t about = 0;
	int rc;

	for (size_t i = 0; i < n && t->observe; i++)
		observe_release(t->observe, m[i].slot, site);
	client_leave_many(&t->clients, m, n);
	for (size_t i = 0; i < n && t->observe; i++)
		observe_released(t->observe, m[i].slot, m[i].code);
	rc = client_give_back_many(&t->clients, m, n, &about);
	return rc == PAWL_SUCCESS ? rc : call_failed_lock(t, about, rc);
}

int pawl_lock_release_many(pawl_table *t, size_t n, const uint64_t locks[])
{
	struct items items;
	int rc = collect(t, n, locks, NULL, &items);

	for (size_t i = 0; i < n && rc == PAWL_SUCCESS; i++)
		rc = find(t, &items.all[i]);
	if (rc == PAWL_SUCCESS)
		rc = leave(t, items.all, n, OBSERVE_SITE());
	drop(&items);
	return rc;
}
