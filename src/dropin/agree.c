/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agree on a pool for a new window, and on an id in it.
 *
 * The processes of the window agree by one MPI_Allreduce that all of them want and can have Pawl
 * locks, of the same kind and with the same options, and on an id in a pool that is free on all of
 * them.
 *
 * With MPI_THREAD_MULTIPLE, two threads may create windows over congruent communicators at the same
 * time, and in a different order on different processes. So the processes compare which pools they
 * know. After they have chosen an id they check that all of them got it; if not, they start again.
 * The second step is done if any process has MPI_THREAD_MULTIPLE; thread levels may differ.
 *
 * Pools live until MPI_Finalize, which deletes the attributes of MPI_COMM_SELF, the newest first.
 * Libraries free their windows in such attributes, too. So this layer sets its attribute in
 * MPI_Init, and it is deleted last. If MPI_Init did not go through this layer, the attribute is set
 * with the first window, and pools then live until the last window is freed.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dropin/request.h"

/* What the processes exchange, combined by bitwise and. */
enum {
	FIT, /* bits, enum fit */
	KEY,
	NOT_KEY, /* the processes agree if and only if the results are complements */
	POOLS,
	NOT_POOLS,      /* the same, for the pools that a process knows */
	SALT,           /* of rank 0; all ones on other ranks */
	FREE,           /* bits of free ids, for each pool */
	MOST_POOLS = 8, /* of one group and key; further windows keep the MPI's locks */
	WORDS = FREE + MOST_POOLS
};
/* ALONE: this process has no MPI_THREAD_MULTIPLE, so it creates one window at a time. */
enum fit { WANTED = 1, ABLE = 2, SANE = 4, ALONE = 8 };
enum { FIRST_IDS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the variables below */
static struct pool *pools;                               /* sorted by name */
static int users;                                        /* number of windows that have a pool */
static int at_end = MPI_KEYVAL_INVALID;
static bool comes_last; /* at_end is the last attribute to be deleted */
static bool over;       /* free the pools with the last window */
static _Atomic(uint64_t) salts;

static bool usable(const struct pool *p, uint64_t key, MPI_Comm comm)
{
	int same;

	if (p->key != key || (p->is_brief && p->used))
		return false;
	PMPI_Comm_compare(p->comm, comm, &same);
	return same == MPI_IDENT || same == MPI_CONGRUENT;
}

/* The pools that such a window may use, sorted by name. */
static int usable_pools(struct pool **list, uint64_t key, MPI_Comm comm)
{
	int n = 0;

	for (struct pool *p = pools; p && n < MOST_POOLS; p = p->next)
		if (usable(p, key, comm))
			list[n++] = p;
	return n;
}

static uint64_t all_ids(const struct pool *p)
{
	return p->ids == POOL_IDS ? UINT64_MAX : (UINT64_C(1) << p->ids) - 1;
}

static uint64_t new_salt(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_nsec * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)t.tv_sec << 20) ^
	       atomic_fetch_add(&salts, 1);
}

static void propose(uint64_t *words, const struct request *r, struct pool **list, int n, int rank)
{
	uint64_t names = UINT64_C(1) + (uint64_t)n;

	for (int i = 0; i < MOST_POOLS; i++) {
		words[FREE + i] = i < n ? all_ids(list[i]) & ~list[i]->used : 0;
		if (i < n)
			names = names * UINT64_C(0x9e3779b97f4a7c15) + list[i]->name;
	}
	words[FIT] = (r->wanted ? WANTED : 0) | (r->why[0] ? 0 : ABLE) | (r->mistake ? 0 : SANE) |
		     (dropin_has_threads() ? 0 : ALONE);
	words[KEY] = r->key ^ r->range_key;
	words[NOT_KEY] = ~words[KEY];
	words[POOLS] = names;
	words[NOT_POOLS] = ~names;
	words[SALT] = rank == 0 ? new_salt() : UINT64_MAX;
}

/* The k-th set bit, modulo the number of set bits. */
static int pick_bit(uint64_t bits, uint64_t k)
{
	k %= (uint64_t)__builtin_popcountll(bits);
	while (k--)
		bits &= bits - 1;
	return __builtin_ctzll(bits);
}

/* Take an id that was free everywhere. False: on some process another thread has taken it
 * meanwhile. */
static bool take_id(MPI_Comm comm, struct pool *p, int id, bool race)
{
	uint64_t bit = UINT64_C(1) << id;
	int got, all;

	pthread_mutex_lock(&lock);
	got = !(p->used & bit);
	p->used |= bit;
	pthread_mutex_unlock(&lock);
	all = got;
	if (race)
		PMPI_Allreduce(&got, &all, 1, MPI_INT, MPI_MIN, comm);
	if (got && !all) {
		pthread_mutex_lock(&lock);
		p->used &= ~bit;
		pthread_mutex_unlock(&lock);
	}
	return all;
}

static void add_pool(struct pool *p)
{
	struct pool **at = &pools;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->name < p->name)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	pthread_mutex_unlock(&lock);
}

/* Whether, on any process, other threads may create windows at the same time. */
static bool threads_race(const uint64_t *words)
{
	return !(words[FIT] & ALONE);
}

/* Whether all processes can proceed, by their combined words; if not, r->why has the reason. */
static bool fits(const uint64_t *words, struct request *r)
{
	r->mistake = !(words[FIT] & SANE) || words[KEY] != ~words[NOT_KEY];
	if (!r->mistake && !(words[FIT] & WANTED)) {
		r->wanted = false;
		return false;
	}
	if (!r->mistake && words[FIT] & ABLE)
		return true;
	if (!r->why[0])
		snprintf(r->why, sizeof r->why, "%s",
			 words[KEY] != ~words[NOT_KEY]
			     ? "PAWL_LOCK or the info keys pawl_* differ between processes"
			     : "another process cannot have it");
	return false;
}

/* Combine the words of all processes. False: the processes know different pools, because another
 * window is being created; that ends soon. */
static bool ask(MPI_Comm comm, const struct request *r, uint64_t *words, struct pool **list, int *n)
{
	int rank;

	PMPI_Comm_rank(comm, &rank);
	pthread_mutex_lock(&lock);
	*n = usable_pools(list, r->key, comm);
	propose(words, r, list, *n, rank);
	pthread_mutex_unlock(&lock);
	PMPI_Allreduce(MPI_IN_PLACE, words, WORDS, MPI_UINT64_T, MPI_BAND, comm);
	return words[POOLS] == ~words[NOT_POOLS];
}

/* A pool with an id that is free everywhere, and the id; NULL: there is none. */
static struct pool *choose(const uint64_t *words, struct pool **list, int n, int *id)
{
	for (int i = 0; i < n; i++) {
		if (!words[FREE + i])
			continue;
		*id = pick_bit(words[FREE + i], threads_race(words) ? words[SALT] : 0);
		return list[i];
	}
	return NULL;
}

/* Create one more pool for such windows. False: it failed, and r->why has the reason. */
static bool more_room(MPI_Comm comm, struct request *r, const uint64_t *words, int n)
{
	struct pool *fresh;
	int rc;

	if (n == MOST_POOLS) {
		snprintf(r->why, sizeof r->why,
			 "there are %d windows over one group of processes already",
			 FIRST_IDS + (MOST_POOLS - 1) * POOL_IDS);
		return false;
	}
	rc = pool_create(comm, r->kind, r->options, r->direct, n ? POOL_IDS : FIRST_IDS, &fresh);
	if (rc != PAWL_SUCCESS) {
		snprintf(r->why, sizeof r->why, "%s", pawl_error_message());
		r->mistake = options_is_mistake(rc);
		return false;
	}
	fresh->key = r->key;
	fresh->name = words[SALT];
	add_pool(fresh);
	return true;
}

/* Find or create a pool with a free id, and take the id. */
struct pool *agree_on_pool(MPI_Comm comm, struct request *r, int *id)
{
	struct pool *list[MOST_POOLS], *pool;
	uint64_t words[WORDS];
	int n;

	for (;;) {
		bool known = ask(comm, r, words, list, &n);

		if (!fits(words, r))
			return NULL;
		if (!known)
			continue;
		pool = choose(words, list, n, id);
		if (pool && take_id(comm, pool, *id, threads_race(words))) {
			pthread_mutex_lock(&lock);
			users++;
			pthread_mutex_unlock(&lock);
			return pool;
		}
		if (!pool && !more_room(comm, r, words, n))
			return NULL;
	}
}

/* --------------------------------------------------------------- their end */

/* In the order of their names, which is the same on all processes. Collective. */
static void free_pools(void)
{
	report_print();
	while (pools) {
		struct pool *p = pools;

		pools = p->next;
		pool_free(p);
	}
}

/* MPI_Finalize calls this while MPI still works. */
static int finish(MPI_Comm comm, int keyval, void *value, void *extra)
{
	bool last;

	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	pthread_mutex_lock(&lock);
	over = true;
	last = comes_last || users == 0;
	pthread_mutex_unlock(&lock);
	report_print();
	if (last)
		free_pools();
	return MPI_SUCCESS;
}

void agree_on_end(bool first)
{
	int initialized;

	/* A session has no MPI_COMM_SELF and gives no notice of its end. */
	PMPI_Initialized(&initialized);
	pthread_mutex_lock(&lock);
	if (initialized && at_end == MPI_KEYVAL_INVALID) {
		comes_last = first;
		PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &at_end, NULL);
		PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL);
	}
	pthread_mutex_unlock(&lock);
}

static void remove_pool(const struct pool *p)
{
	struct pool **at = &pools;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

void agree_leave_pool(const struct window *w)
{
	struct pool *p = w->pool;
	bool last, ends;

	pthread_mutex_lock(&lock);
	p->used &= ~(UINT64_C(1) << w->id);
	ends = p->is_brief && !p->used;
	if (ends)
		remove_pool(p);
	last = --users == 0 && over && !comes_last;
	pthread_mutex_unlock(&lock);
	if (ends)
		pool_free(p);
	if (last)
		free_pools();
}
