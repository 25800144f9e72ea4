/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agree on a pool for a new window, and on an id in it: when the MPI has made the window, or, for
 * MPI_Win_allocate, before.
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
 * A pool ends with its last window, in MPI_Win_free. To end it is collective over its processes.
 * All of them are there: a process leaves the pool after the MPI has freed the window, and
 * MPI_Win_free of the MPI returns on no process before it is called on all of them. So each of them
 * leaves, whatever the program does, and in the MPI_Allreduce by which they decide no process waits
 * for one that does not come. Without MPI_THREAD_MULTIPLE the window is the last one on all of them
 * or on none, since windows over one group are created and freed in one order. With it, threads may
 * create and free other windows of the pool meanwhile. So the processes of such a pool decide with
 * each window that they leave, one thread of each at a time: the k-th decision of one process meets
 * the k-th of the others, for whichever windows, and ends the pool if none of them has one then.
 * Until the decision no thread takes an id of a pool that has no window.
 *
 * A program may create and free a window over one group again and again. So a pool that is the
 * second one of its group and key is kept without windows, if none of its processes keeps MOST_IDLE
 * such pools. When a process keeps that many, those over processes of a communicator end, over
 * which a pool is created: their processes are all in that call. All others end in MPI_Finalize.
 *
 * MPI_Finalize deletes the attributes of MPI_COMM_SELF, the newest first. Libraries free their
 * windows in such attributes, too. So this layer sets its attribute in MPI_Init, and it is deleted
 * last. If MPI_Init did not go through this layer, the attribute is set with the first window, and
 * the pools that are left then live until the last window is freed.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/agree.h"
#include "base/pinned.h"
#include "dropin/request.h"

/* What the processes exchange, combined by bitwise and. */
enum {
	FIT, /* bits, enum fit */
	KEY,
	NOT_KEY, /* the processes agree if and only if the results are complements */
	POOLS,
	NOT_POOLS,       /* the same, for the pools that a process knows */
	SALT,            /* of rank 0; all ones on other ranks */
	FREE,            /* bits of free ids, for each pool */
	MOST_LISTED = 8, /* pools of one group and key with free ids */
	WORDS = FREE + MOST_LISTED
};
/* ALONE: this process has no MPI_THREAD_MULTIPLE, so it creates one window at a time. ROOM: it may
 * have one pool more. TIDY: it keeps less than MOST_IDLE pools without windows. SOME: it has a pool
 * of this group and key, without free ids if none is listed. ATOMICS: it wants Pawl's.
 * NO_LOCKS: by its info the program never locks the window. */
enum fit {
	WANTED = 1,
	ABLE = 2,
	SANE = 4,
	ALONE = 8,
	ROOM = 16,
	TIDY = 32,
	SOME = 64,
	ATOMICS = 128,
	NO_LOCKS = 256
};
enum { FIRST_IDS = 16, MOST_IDLE = 8, ENDED = 16 };
/* A process of MPICH has 2048 context ids, of which a pool takes 3. The program needs some. */
#ifdef MPICH_VERSION
enum { MOST_POOLS = 256 };
#else
enum { MOST_POOLS = 1 << 20 };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the variables below */
static struct pool *pools;                               /* sorted by name */
static int users;                                        /* number of windows that have a pool */
static int n_pools, idle;     /* number of pools, and of those without windows */
static uint64_t ended[ENDED]; /* groups and keys of the pools that ended last */
static unsigned n_ended;
static bool watching;   /* MPI_Finalize will call finish() */
static bool comes_last; /* that attribute is the last one to be deleted */
static bool over;       /* free the pools with the last window */
static _Atomic(uint64_t) salts;

static bool usable(const struct pool *p, uint64_t key, MPI_Comm comm)
{
	int same;

	if (p->key != key || p->is_leaving)
		return false;
	PMPI_Comm_compare(p->comm, comm, &same);
	return same == MPI_IDENT || same == MPI_CONGRUENT;
}

static uint64_t free_ids(const struct pool *p)
{
	const uint64_t all = p->ids == POOL_IDS ? UINT64_MAX : (UINT64_C(1) << p->ids) - 1;

	return all & ~p->used;
}

/* The pools with free ids that such a window may use, sorted by name; some: there is a pool. */
static int usable_pools(struct pool **list, uint64_t key, MPI_Comm comm, bool *some)
{
	int n = 0;

	*some = false;
	for (struct pool *p = pools; p && n < MOST_LISTED; p = p->next) {
		if (!usable(p, key, comm))
			continue;
		*some = true;
		if (free_ids(p))
			list[n++] = p;
	}
	return n;
}

static uint64_t new_salt(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_nsec * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)t.tv_sec << 20) ^
	       atomic_fetch_add(&salts, 1);
}

static void propose(uint64_t *words, const struct request *r, struct pool **list, int n, bool some,
		    int rank)
{
	uint64_t names = UINT64_C(1) + (uint64_t)n;

	for (int i = 0; i < MOST_LISTED; i++) {
		words[FREE + i] = i < n ? free_ids(list[i]) : 0;
		if (i < n)
			names = names * UINT64_C(0x9e3779b97f4a7c15) + list[i]->name;
	}
	words[FIT] = (r->wanted ? WANTED : 0) | (r->why[0] ? 0 : ABLE) | (r->mistake ? 0 : SANE) |
		     (dropin_has_threads() ? 0 : ALONE) | (n_pools < MOST_POOLS ? ROOM : 0) |
		     (idle < MOST_IDLE ? TIDY : 0) | (some ? SOME : 0) |
		     (r->atomics ? ATOMICS : 0) | (r->no_locks ? NO_LOCKS : 0);
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

static void take_bit(struct pool *p, uint64_t bit)
{
	idle -= !p->used;
	p->used |= bit;
}

static void give_bit(struct pool *p, uint64_t bit)
{
	p->used &= ~bit;
	idle += !p->used;
}

/* Take an id that was free everywhere. False: on some process another thread has taken it
 * meanwhile. */
static bool take_id(MPI_Comm comm, struct pool *p, int id, bool race)
{
	uint64_t bit = UINT64_C(1) << id;
	int got, all;

	pthread_mutex_lock(&lock);
	got = !(p->used & bit) && !p->is_leaving;
	if (got)
		take_bit(p, bit);
	pthread_mutex_unlock(&lock);
	all = got;
	if (race)
		PMPI_Allreduce(&got, &all, 1, MPI_INT, MPI_MIN, comm);
	if (got && !all) {
		pthread_mutex_lock(&lock);
		give_bit(p, bit);
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
	n_pools++;
	idle++;
	for (int i = 0; i < ENDED; i++)
		p->is_repeated = p->is_repeated || ended[i] == (p->key ^ p->group);
	pthread_mutex_unlock(&lock);
}

/* Collective. */
static void end_pool(struct pool *p)
{
	struct pool **at = &pools;

	pthread_mutex_lock(&lock);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	n_pools--;
	idle -= !p->used;
	ended[n_ended++ % ENDED] = p->key ^ p->group;
	pthread_mutex_unlock(&lock);
	pool_free(p);
}

/* End the pools without windows whose processes are all in comm. Collective over comm, of which no
 * process has MPI_THREAD_MULTIPLE: so all processes of a pool have the same windows in it. */
static void end_idle(MPI_Comm comm)
{
	struct pool *next;

	for (struct pool *p = pools; p; p = next) {
		next = p->next;
		if (!p->used && pool_is_within(p, comm))
			end_pool(p);
	}
}

/* Whether, on any process, other threads may create windows at the same time. */
static bool threads_race(const uint64_t *words)
{
	return !(words[FIT] & ALONE);
}

/* All processes get the reason of the first one that has one. */
static void share_reason(MPI_Comm comm, struct request *r)
{
	char why[sizeof r->why];
	int first = share_text(comm, r->why[0], r->why, sizeof r->why);

	if (first == 0) /* which prints it */
		return;
	memcpy(why, r->why, sizeof why);
	snprintf(r->why, sizeof r->why, "rank %d: %.450s", first, why);
}

/* Whether all processes can proceed, by their combined words; if not, r->why has the reason. The
 * key of a process that cannot have the locks may be anything. */
static bool fits(MPI_Comm comm, const uint64_t *words, struct request *r)
{
	const bool able = words[FIT] & ABLE, differ = words[KEY] != ~words[NOT_KEY];

	r->atomics = words[FIT] & ATOMICS;
	r->no_locks = words[FIT] & NO_LOCKS;
	r->mistake = !(words[FIT] & SANE) || (able && differ);
	if (!r->mistake && !(words[FIT] & WANTED)) {
		r->wanted = false;
		return false;
	}
	if (!r->mistake && able)
		return true;
	if (!able)
		share_reason(comm, r);
	else if (!r->why[0])
		snprintf(r->why, sizeof r->why,
			 "PAWL_LOCK, PAWL_ATOMICS or the info keys pawl_* differ between"
			 " processes");
	return false;
}

/* Combine the words of all processes. False: the processes know different pools, because a thread
 * is creating or freeing another window; that ends soon. */
static bool ask(MPI_Comm comm, const struct request *r, uint64_t *words, struct pool **list, int *n)
{
	bool some;
	int rank;

	PMPI_Comm_rank(comm, &rank);
	pthread_mutex_lock(&lock);
	*n = usable_pools(list, r->key, comm, &some);
	for (int i = 0; i < *n; i++)
		list[i]->choosers++;
	propose(words, r, list, *n, some, rank);
	pthread_mutex_unlock(&lock);
	presence_allreduce(comm, words, WORDS);
	return words[POOLS] == ~words[NOT_POOLS];
}

static void choose_no_more(struct pool **list, int n)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n; i++)
		list[i]->choosers--;
	pthread_mutex_unlock(&lock);
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
static bool more_room(MPI_Comm comm, struct request *r, const uint64_t *words)
{
	const int ids = words[FIT] & SOME ? POOL_IDS : FIRST_IDS;
	struct pool *fresh;
	int rc;

	if (!(words[FIT] & TIDY) && !threads_race(words))
		end_idle(comm);
	if (!(words[FIT] & ROOM)) {
		snprintf(r->why, sizeof r->why,
			 "this process, or another one, has windows over %d"
			 " groups of processes, or with different options, already",
			 MOST_POOLS);
		return false;
	}
	rc = pool_create(comm, r, ids, &fresh);
	if (rc != PAWL_SUCCESS) {
		r->mistake = options_is_mistake(rc);
		return false;
	}
	fresh->key = r->key;
	fresh->name = words[SALT];
	fresh->races = threads_race(words);
	add_pool(fresh);
	return true;
}

/* Find or create a pool with a free id, and take the id. */
struct pool *agree_on_pool(MPI_Comm comm, struct request *r, int *id)
{
	struct pool *list[MOST_LISTED], *pool;
	uint64_t words[WORDS];
	int n;

	if (!presence_is_full(comm, "windows keep the locks of the MPI")) {
		r->wanted = r->mistake = r->atomics = false;
		return NULL;
	}
	for (;;) {
		bool known = ask(comm, r, words, list, &n), taken = false;
		const bool fit = fits(comm, words, r);

		/* Without threads they differ for good: on some processes a window was freed past
		 * this layer. */
		if (!known && !threads_race(words))
			known = true, pool = NULL;
		else
			pool = known ? choose(words, list, n, id) : NULL;
		if (fit && pool)
			taken = take_id(comm, pool, *id, threads_race(words));
		choose_no_more(list, n);
		if (taken) {
			pthread_mutex_lock(&lock);
			users++;
			pthread_mutex_unlock(&lock);
			return pool;
		}
		if (!fit || (known && !pool && !more_room(comm, r, words)))
			return NULL;
	}
}

/* --------------------------------------------------------------- their end */

/* In the order of their names, which is the same on all processes. Collective. */
static void free_pools(void)
{
	report_print();
	while (pools)
		end_pool(pools);
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

bool agree_on_end(bool first)
{
	const char *failed;
	int initialized;
	bool done;

	/* A session has no MPI_COMM_SELF and gives no notice of its end. */
	PMPI_Initialized(&initialized);
	if (!initialized)
		return true;
	pthread_mutex_lock(&lock);
	if (!watching) {
		comes_last = first;
		watching = call_at_end(MPI_COMM_SELF, finish, &failed) == MPI_SUCCESS;
	}
	done = watching;
	pthread_mutex_unlock(&lock);
	return done;
}

/* Whether this process would keep the pool, which has no windows. */
static bool keeps(const struct pool *p)
{
	return p->is_repeated && !p->is_brief && !over && idle <= MOST_IDLE;
}

/* The process leaves a window. Whether its pool ends: no process has another window or is about to
 * have one, and some process does not keep it. */
static bool decide(struct pool *p, uint64_t bit)
{
	enum { UNUSED = 1, KEEPS = 2 };
	int all, here = 0;

	pthread_mutex_lock(&lock);
	give_bit(p, bit);
	p->is_leaving = !p->used && !p->choosers;
	if (p->is_leaving)
		here = UNUSED | (keeps(p) ? KEEPS : 0);
	pthread_mutex_unlock(&lock);
	all = here;
	if (here || p->races)
		PMPI_Allreduce(&here, &all, 1, MPI_INT, MPI_BAND, p->comm);
	return all == UNUSED;
}

/* Without a message to other processes, which may have a window: the pool stays for the next. */
void agree_give_back(const struct window *w)
{
	pthread_mutex_lock(&lock);
	give_bit(w->pool, UINT64_C(1) << w->id);
	users--;
	pthread_mutex_unlock(&lock);
}

void agree_leave_pool(const struct window *w)
{
	struct pool *p = w->pool;
	bool last, ends;

	pthread_mutex_lock(&p->leaving);
	ends = decide(p, UINT64_C(1) << w->id);
	pthread_mutex_lock(&lock);
	p->is_leaving = ends;
	last = --users == 0 && over && !comes_last;
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&p->leaving);
	if (ends)
		end_pool(p);
	if (last)
		free_pools();
}
