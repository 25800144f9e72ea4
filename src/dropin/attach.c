/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which windows get locks of Pawl, and which of a pool.
 *
 * The processes of a new window agree by one MPI_Allreduce: that all of them want
 * and can have our locks, on the same kind and options; and on a number in a pool
 * that is free at all of them. What the layer cannot give is told once, and the
 * window keeps the locks of the MPI; a mistake of the user is an error, and there is
 * no window. Byte ranges (info key pawl_ranges) are a table of the window's own, as large
 * as the window; what it takes of the options goes to it, what both take to both.
 *
 * With MPI_THREAD_MULTIPLE two threads may make windows over congruent
 * communicators at one time, and in different order on different processes. So the
 * processes compare which pools they know, and after choosing a number make sure
 * that everybody got it; if not, they begin again. Processes may have different thread levels;
 * the latter is done if any of them has MPI_THREAD_MULTIPLE.
 *
 * Pools live until MPI_Finalize, which deletes the attributes of MPI_COMM_SELF, the last one
 * first. Libraries free their windows in such attributes, too, so ours is set in MPI_Init, and
 * comes last. Where MPI_Init did not come by this layer it is set with the first window; then
 * pools live on until the last window is freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dropin/dropin.h"

/* What the processes tell each other; combined by bitwise and. */
enum {
	FIT, /* bits, enum fit */
	KEY,
	NOT_KEY, /* equal if and only if both come out as complements */
	POOLS,
	NOT_POOLS,      /* the same for the pools that are known */
	SALT,           /* of rank 0 */
	FREE,           /* numbers that are free, by pool */
	MOST_POOLS = 8, /* of one group and key; more windows have to do without */
	WORDS = FREE + MOST_POOLS
};
/* ALONE: this process has no MPI_THREAD_MULTIPLE, so no other window of its is being made. */
enum fit { WANTED = 1, ABLE = 2, SANE = 4, ALONE = 8 };
enum { FIRST_IDS = 16 };

static const char default_kind[] = "mgl";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct pool *pools;                               /* by name */
static int users;                                        /* windows with a pool */
static int at_end = MPI_KEYVAL_INVALID;
static bool comes_last; /* at_end */
static bool over;       /* pools go with the last window */
static _Atomic(uint64_t) salts;

/* ------------------------------------------------------------ what is asked */

struct request {
	const char *kind;
	char kind_text[MPI_MAX_INFO_VAL + 1];
	MPI_Info options; /* keys pawl_* for the table */
	uint64_t key;
	const char *ranges; /* kind of a table of byte ranges, or NULL; */
	MPI_Info range_options;
	uint64_t range_key;
	bool wanted, direct;
	bool mistake;  /* of the user */
	char why[512]; /* it cannot be had; or "" */
};

static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h * 31;
}

bool dropin_has_option(const char *kind, const char *name)
{
	const struct pawl_kind *k = kind ? pawl_kind_find(kind) : NULL;
	const size_t len = strlen(name);

	for (const char *p = k ? k->options : ""; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (strcspn(p, " ") == len && strncmp(p, name, len) == 0)
			return true;
	return false;
}

/* A sum: keys come in any order. */
static uint64_t sum_of(const char *key, const char *value)
{
	return hash(hash(UINT64_C(14695981039346656037), key), value);
}

/* What the layer decides, and no window. */
static bool is_ours(const char *key, const char *value)
{
	return strcmp(key, "pawl_final") == 0 || strcmp(key, "pawl_distribution") == 0 ||
	       (strcmp(key, "pawl_owner") == 0 && strcmp(value, "process") != 0);
}

/* An option that only one of the two kinds has is meant for that one. */
static void copy_option(struct request *r, const char *key, const char *value)
{
	const char *name = key + strlen("pawl_");
	const bool targets = dropin_has_option(r->kind, name),
		   ranges = dropin_has_option(r->ranges, name);

	if (targets || !ranges) {
		PMPI_Info_set(r->options, key, value);
		r->key += sum_of(key, value);
	}
	if (r->ranges && (ranges || !targets)) {
		PMPI_Info_set(r->range_options, key, value);
		r->range_key += sum_of(key, value);
	}
}

/* Which kinds; options are for them. */
static void copy_name(struct request *r, const char *key, const char *value)
{
	if (strcmp(key, "pawl_lock") == 0) {
		snprintf(r->kind_text, sizeof r->kind_text, "%s", value);
		r->kind = r->kind_text;
	} else if (strcmp(key, "pawl_ranges") == 0) {
		r->mistake = !ranges_kind(value, &r->ranges, r->why, sizeof r->why);
	}
}

static bool is_name(const char *key)
{
	return strcmp(key, "pawl_lock") == 0 || strcmp(key, "pawl_ranges") == 0;
}

static bool no_locks(MPI_Info info)
{
	char value[16];
	int there;

	PMPI_Info_get(info, "no_locks", sizeof value - 1, value, &there);
	return there && strcmp(value, "true") == 0;
}

/* The names, or all others of our keys. */
static void read_info(struct request *r, MPI_Info info, bool names)
{
	int n = 0;

	if (info != MPI_INFO_NULL)
		PMPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n; i++) {
		char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
		int there;

		PMPI_Info_get_nthkey(info, i, key);
		if (strncmp(key, "pawl_", 5) != 0 || is_name(key) != names)
			continue;
		PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
		if (there && !names && is_ours(key, value)) {
			r->mistake = true;
			snprintf(r->why, sizeof r->why,
				 "info key %s=%.64s: of windows the layer decides this (locks are"
				 " the process's, and live with their targets)",
				 key, value);
		} else if (there && names)
			copy_name(r, key, value);
		else if (there)
			copy_option(r, key, value);
	}
}

/* Readers share it, it has a try-acquire (the MPI's own has not), it needs no thread of its own,
 * and it takes nobody for dead: programs that know nothing of leases hold locks as long as they
 * like. */
static bool is_usable(const struct pawl_kind *k)
{
	const unsigned wanted = PAWL_CAP_SHARED | PAWL_CAP_TRY;

	return (k->capabilities & (wanted | PAWL_CAP_RANGES)) == wanted &&
	       !strstr(k->options, "lease") && strcmp(k->name, "rpc") != 0;
}

/* "rma-rw, mgl, ...": the kinds that have what a window needs. */
static const char *usable_kinds(char *text, size_t len)
{
	const struct pawl_kind *k;
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; (k = pawl_kind_get(i)) && used < len; i++)
		if (is_usable(k))
			used += (size_t)snprintf(text + used, len - used, "%s, ", k->name);
	return text;
}

static void check_kind(struct request *r)
{
	const struct pawl_kind *k = pawl_kind_find(r->kind);
	char kinds[128];

	if (strcmp(r->kind, "native") == 0)
		r->wanted = false;
	else if (!k || !is_usable(k))
		snprintf(r->why, sizeof r->why,
			 "PAWL_LOCK (info key pawl_lock): \"%s\" is %s; accepted: %snative",
			 r->kind,
			 !k                                  ? "no lock of Pawl"
			 : k->capabilities & PAWL_CAP_SHARED ? "no lock that fits windows"
							     : "no lock that readers can share",
			 usable_kinds(kinds, sizeof kinds));
	r->mistake = r->why[0] != '\0';
}

/* Whether the operations on such a window of one node's processes are loads and
 * stores: shared ones, and with Open MPI (osc/sm) those that the MPI allocates. */
static bool is_direct(MPI_Win win)
{
	int *flavor, flag;

	PMPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
	if (!flag)
		return false;
#ifdef OPEN_MPI
	if (*flavor == MPI_WIN_FLAVOR_ALLOCATE)
		return true;
#endif
	return *flavor == MPI_WIN_FLAVOR_SHARED;
}

static void set_progress(struct request *r, bool direct)
{
	int len, there;

	PMPI_Info_get_valuelen(r->options, "pawl_progress", &len, &there);
	if (there)
		return;
	PMPI_Info_set(r->options, "pawl_progress", direct ? "lazy" : "eager");
	PMPI_Info_set(r->range_options, "pawl_progress", direct ? "lazy" : "eager");
	r->key += direct;
}

static void read_request(struct request *r, MPI_Comm comm, MPI_Info info, MPI_Win win)
{
	const char *env = getenv("PAWL_LOCK");
	int size, flag, *model;

	*r = (struct request){.kind = default_kind, .wanted = true};
	PMPI_Info_create(&r->options);
	PMPI_Info_create(&r->range_options);
	r->wanted = info == MPI_INFO_NULL || !no_locks(info);
	read_info(r, info, true);
	if (env)
		r->kind = env;
	if (!r->mistake)
		check_kind(r);
	read_info(r, info, false);
	if (r->ranges)
		r->range_key = hash(r->range_key, r->ranges);
	r->direct = is_direct(win);
	set_progress(r, r->direct);
	r->key = hash(r->key, r->kind);
	PMPI_Comm_size(comm, &size);
	if (size == 1 && !r->ranges)
		r->wanted = false; /* nobody to keep out */
	PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
	if (!r->why[0] && (!flag || *model != MPI_WIN_UNIFIED))
		snprintf(r->why, sizeof r->why,
			 "the MPI gives this window the separate memory model, and MPI_WIN_UNIFIED"
			 " is needed");
}

/* ---------------------------------------------------------------- agreement */

static bool usable(const struct pool *p, uint64_t key, MPI_Comm comm)
{
	int same;

	if (p->key != key)
		return false;
	PMPI_Comm_compare(p->comm, comm, &same);
	return same == MPI_IDENT || same == MPI_CONGRUENT;
}

/* Those for such windows, by name. */
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

static bool has_threads(void)
{
	int level;

	PMPI_Query_thread(&level);
	return level == MPI_THREAD_MULTIPLE;
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
		     (has_threads() ? 0 : ALONE);
	words[KEY] = r->key ^ r->range_key;
	words[NOT_KEY] = ~words[KEY];
	words[POOLS] = names;
	words[NOT_POOLS] = ~names;
	words[SALT] = rank == 0 ? new_salt() : UINT64_MAX;
}

/* The k-th bit that is set, counted round. */
static int pick_bit(uint64_t bits, uint64_t k)
{
	k %= (uint64_t)__builtin_popcountll(bits);
	while (k--)
		bits &= bits - 1;
	return __builtin_ctzll(bits);
}

/* Take a number that is free everywhere; false: somebody was faster somewhere. */
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

static bool is_mistake(int code)
{
	return code == PAWL_ERR_OPTION || code == PAWL_ERR_KIND || code == PAWL_ERR_ARG ||
	       code == PAWL_ERR_TOPOLOGY;
}

/* Whether windows of other threads may be made at the same time, on any process. */
static bool threads_race(const uint64_t *words)
{
	return !(words[FIT] & ALONE);
}

/* What the processes said together; if it is no, why. */
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

/* What all processes say; false if the pools they know differ (for a moment). */
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

/* A pool with a number that is free everywhere, and that number; or NULL. */
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

/* One more pool for such windows; false: that cannot be. */
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
	rc = pool_create(comm, r->kind, r->options, n ? POOL_IDS : FIRST_IDS, &fresh);
	if (rc != PAWL_SUCCESS) {
		snprintf(r->why, sizeof r->why, "%s", pawl_error_message());
		r->mistake = is_mistake(rc);
		return false;
	}
	fresh->key = r->key;
	fresh->name = words[SALT];
	add_pool(fresh);
	return true;
}

/* Find or make a pool with room, and take a number. NULL: not for this window,
 * on all processes alike. */
static struct pool *agree(MPI_Comm comm, struct request *r, int *id)
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
		if (pool && take_id(comm, pool, *id, threads_race(words)))
			return pool;
		if (!pool && !more_room(comm, r, words, n))
			return NULL;
	}
}

/* ------------------------------------------------------------------- windows */

/* By name, which is the same order on all processes. Collective. */
static void free_pools(void)
{
	report_print();
	while (pools) {
		struct pool *p = pools;

		pools = p->next;
		pool_free(p);
	}
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF while the MPI still works. */
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

static void arrange_end(bool first)
{
	int initialized;

	/* Sessions have no MPI_COMM_SELF, and do not tell when they end. */
	PMPI_Initialized(&initialized);
	pthread_mutex_lock(&lock);
	if (initialized && at_end == MPI_KEYVAL_INVALID) {
		comes_last = first;
		PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &at_end, NULL);
		PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL);
	}
	pthread_mutex_unlock(&lock);
}

void dropin_begin(void)
{
	bypass_seen();
	arrange_end(true);
}

static void use_pool(struct window *w, struct pool *p, int id)
{
	w->pool = p;
	w->id = id;
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
}

/* Collective, if it is the last window after MPI_Finalize began. */
static void leave_pool(const struct window *w)
{
	bool last;

	pthread_mutex_lock(&lock);
	w->pool->used &= ~(UINT64_C(1) << w->id);
	last = --users == 0 && over && !comes_last;
	pthread_mutex_unlock(&lock);
	if (last)
		free_pools();
}

/* Known under its handle, without locks yet. */
static struct window *window_new(MPI_Win win, MPI_Comm comm)
{
	struct window *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	PMPI_Comm_size(comm, &w->size);
	w->win = win;
	w->threads = has_threads();
	w->comm = MPI_COMM_NULL;
	w->held = calloc((size_t)w->size, sizeof *w->held);
	if (w->held && windows_add(w)) {
		pthread_mutex_init(&w->door, NULL);
		pthread_mutex_init(&w->epochs, NULL);
		return w;
	}
	free(w->held);
	free(w);
	return NULL;
}

/* No longer under its handle. */
static void window_free(struct window *w)
{
	if (w->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&w->comm);
	if (w->pool)
		leave_pool(w);
	pthread_mutex_destroy(&w->door);
	pthread_mutex_destroy(&w->epochs);
	free(w->held);
	free(w);
}

/* After the rest. What the program asks for by name and cannot have is told; only a mistake
 * costs it the window. */
static void add_ranges(struct window *w, MPI_Comm comm, struct request *r)
{
	int rc = ranges_open(w, comm, r->ranges, r->range_options);

	if (rc == PAWL_SUCCESS)
		return;
	snprintf(r->why, sizeof r->why, "%s",
		 rc == PAWL_ERR_NOMEM ? pawl_strerror(rc) : pawl_error_message());
	r->mistake = is_mistake(rc);
	if (!r->mistake)
		report_once(comm, "a window has no byte ranges", r->why);
}

/* What is said of a window that gets no locks of ours; MPI_SUCCESS: those of the MPI. */
static int refuse(MPI_Comm comm, const struct request *r, struct window *w, MPI_Win *handle)
{
	if (!r->mistake) {
		if (r->wanted)
			report_once(comm, "windows keep the locks of the MPI", r->why);
		return MPI_SUCCESS;
	}
	report_once(comm, "no window", r->why);
	if (w) {
		windows_remove(w);
		window_free(w);
	}
	next_Win_free(handle);
	PMPI_Comm_call_errhandler(comm, MPI_ERR_INFO);
	return MPI_ERR_INFO;
}

int dropin_attach(MPI_Comm comm, MPI_Info info, MPI_Win *handle)
{
	struct window *w = windows_find(*handle);
	struct pool *pool;
	struct request r;
	int id = 0;

	bypass_seen();
	if (w)
		bypass_stale(w, comm);
	read_request(&r, comm, info, *handle);
	w = window_new(*handle, comm);
	if (!w && r.wanted && !r.why[0])
		snprintf(r.why, sizeof r.why, "out of memory");
	pool = agree(comm, &r, &id);
	if (pool) {
		use_pool(w, pool, id);
		if (r.ranges)
			add_ranges(w, comm, &r);
	}
	PMPI_Info_free(&r.options);
	PMPI_Info_free(&r.range_options);
	if (!pool || r.mistake)
		return refuse(comm, &r, w, handle);
	w->direct = r.direct && !pool->far;
	arrange_end(false);
	report_begin(w, comm, r.kind);
	return MPI_SUCCESS;
}

int dropin_free(struct window *w, MPI_Win *win)
{
	int rc, held = w ? atomic_load_explicit(&w->locks, memory_order_relaxed) : 0;

	if (held)
		return dropin_raise(*win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_free while this process holds %d locks of the window",
				    held);
	if (!w)
		return next_Win_free(win);
	report_window(w);
	/* Once it is free the MPI may give the handle to another window. */
	windows_remove(w);
	rc = next_Win_free(win);
	if (rc != MPI_SUCCESS) {
		windows_add(w);
		return rc;
	}
	ranges_close(w);
	window_free(w);
	return rc;
}
