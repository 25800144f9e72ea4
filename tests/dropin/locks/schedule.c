/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs of window calls, drawn from a seed: shared and exclusive locks of targets in
 * several windows, nested ones, MPI_Win_lock_all, MPI_MODE_NOCHECK, flushes, accesses and pauses;
 * and messages inside and between the epochs, so that a rank within an epoch waits for what
 * another one does within its own.
 *
 * Each program ends on an MPI that grants a lock sooner or later unless a holder excludes it. To
 * see that, the program is drawn again, or loses a message, while it has a cycle of ranks each of
 * which may be stuck at an event because of the next one: at a receive, because the next one is
 * stuck before the send; at a lock, because the next one is stuck while it holds a lock in
 * conflict (in MPI_Win_lock_all, perhaps before it has the lock); and none of these events is
 * known to precede another one. Open MPI's osc/ucx grants locks in this way. MPIs that serve in
 * the order of arrival do not: there a lock may also wait for one that waits.
 *
 * Each rank draws the whole program, and runs its own part. The words then have known values.
 *
 *   --seed N, --programs N   the first seed, and how many (default 1, 3)
 *   --native 1               natively: on one host the window that Open MPI gives to osc/sm, which
 *                            serves in order, is left out; no MPI_MODE_NOCHECK with MPICH, where
 *                            no exclusive lock of that target returns after it; no rank that polls
 *                            its own window between hosts with Open MPI, which shows it nothing
 *   --late N                 no random programs, but one of 3 ranks, N times: the second reader
 *                            of a target comes after a writer has waited for LATE_S
 */
#include "tests/dropin/area.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 6, MOST_OPS = 96, MOST_WINDOWS = 3, MOST_SECTIONS = 5, MOST_STEPS = 200000 };
enum { CHANGES, INVERSE, ATOMIC, WORDS };
/* The layer says that a writer waits when its first turn of those that end after 5 s has ended,
 * which is after 7.1 to 7.5 s. */
enum { LATE_S = 9 };

enum kind {
	LOCK,
	LOCK_ALL,
	UNLOCK,
	UNLOCK_ALL,
	LOOK,
	CHANGE,
	ADD,
	FLUSH,
	FLUSH_ALL,
	SEND,
	RECV,
	NAP
};

static const char *const names[] = {"lock",      "lock_all", "unlock",  "unlock_all",
				    "look",      "change",   "add",     "flush",
				    "flush_all", "send",     "receive", "nap"};

struct op {
	enum kind kind;
	int window, target; /* or the other rank of a message, */
	int number;         /* and its number; of a lock: where it is released */
	bool exclusive, nocheck;
};

struct program {
	struct op op[MOST_RANKS][MOST_OPS];
	int n[MOST_RANKS], ranks, windows, messages;
	/* Of each operation: how many of each other rank have ended when it ends. */
	int before[MOST_RANKS][MOST_OPS][MOST_RANKS];
	long steps; /* of the search for cycles */
	uint64_t seed;
};

/* ------------------------------------------------------------------ drawing */

static void append(struct program *p, int rank, struct op op)
{
	if (p->n[rank] < MOST_OPS)
		p->op[rank][p->n[rank]++] = op;
}

/* Some accesses within an epoch. */
static void draw_accesses(struct program *p, int rank, struct op lock, uint64_t *seed)
{
	static const enum kind kinds[] = {LOOK, ADD, FLUSH, NAP, NAP, FLUSH_ALL};

	for (int i = (int)random_below(seed, 3); i >= 0; i--) {
		struct op op = lock;

		op.number = (int)random_below(seed, 2);
		op.kind = kinds[random_below(seed, sizeof kinds / sizeof kinds[0])];
		if (lock.kind == LOCK_ALL)
			op.target = (int)random_below(seed, (uint32_t)p->ranks);
		else if (lock.exclusive && op.kind == LOOK)
			op.kind = CHANGE;
		append(p, rank, op);
	}
}

/* Of a target from least on; many locks are of few targets. */
static struct op draw_lock(const struct program *p, int window, int least, uint64_t *seed)
{
	struct op lock = {.kind = LOCK, .window = window};
	int targets = p->ranks - least;

	if (targets > 2 && random_below(seed, 2))
		targets = 2;
	lock.target = least + (int)random_below(seed, (uint32_t)targets);
	lock.exclusive = random_below(seed, 5) < 2;
	if (least == 0 && random_below(seed, 4) == 0) {
		lock.kind = LOCK_ALL;
		lock.exclusive = false;
	}
	return lock;
}

static void draw_section(struct program *p, int rank, int window, int least, uint64_t *seed)
{
	struct op lock = draw_lock(p, window, least, seed), unlock = lock;
	bool another = random_below(seed, 3) == 0;

	unlock.kind = lock.kind == LOCK ? UNLOCK : UNLOCK_ALL;
	append(p, rank, lock);
	draw_accesses(p, rank, lock, seed);
	if (another && lock.kind == LOCK && lock.target + 1 < p->ranks && random_below(seed, 2)) {
		draw_section(p, rank, window, lock.target + 1, seed);
		draw_accesses(p, rank, lock, seed);
	} else if (another && window + 1 < p->windows) {
		draw_section(p, rank, window + 1, 0, seed);
		draw_accesses(p, rank, lock, seed);
	}
	append(p, rank, unlock);
}

static void draw_sections(struct program *p, uint64_t *seed)
{
	for (int r = 0; r < p->ranks; r++) {
		p->n[r] = 0;
		for (int i = 1 + (int)random_below(seed, MOST_SECTIONS); i > 0; i--) {
			append(p, r, (struct op){.kind = NAP});
			draw_section(p, r, (int)random_below(seed, (uint32_t)p->windows), 0, seed);
		}
	}
}

static void insert(struct program *p, int rank, int at, struct op op)
{
	memmove(&p->op[rank][at + 1], &p->op[rank][at], (size_t)(p->n[rank]++ - at) * sizeof op);
	p->op[rank][at] = op;
}

static void drop(struct program *p, int rank, enum kind kind, int number)
{
	for (int i = 0; i < p->n[rank]; i++)
		if (p->op[rank][i].kind == kind && p->op[rank][i].number == number) {
			memmove(&p->op[rank][i], &p->op[rank][i + 1],
				(size_t)(--p->n[rank] - i) * sizeof p->op[rank][i]);
			return;
		}
}

/* ------------------------------------------------------- whether it may end */

/* The place of an operation of this rank; a release for a lock. */
static int find(const struct program *p, int rank, enum kind kind, int number)
{
	int i = 0;

	while (p->op[rank][i].kind != kind || p->op[rank][i].number != number)
		i++;
	return i;
}

static void find_releases(struct program *p, int rank)
{
	for (int i = 0; i < p->n[rank]; i++) {
		struct op *a = &p->op[rank][i];
		enum kind ends = a->kind == LOCK ? UNLOCK : UNLOCK_ALL;

		if (a->kind > LOCK_ALL)
			continue;
		a->number = i + 1;
		while (p->op[rank][a->number].kind != ends ||
		       p->op[rank][a->number].window != a->window ||
		       p->op[rank][a->number].target != a->target)
			a->number++;
	}
}

/* Run the program without locks, to see what precedes what. False: messages wait for each other. */
static bool order(struct program *p)
{
	int done[MOST_RANKS] = {0}, ended = 0, moved = 1;

	for (int r = 0; r < p->ranks; r++)
		find_releases(p, r);
	while (moved && ended < p->ranks) {
		moved = ended = 0;
		for (int r = 0; r < p->ranks; r++) {
			for (; done[r] < p->n[r]; done[r]++, moved++) {
				const struct op *a = &p->op[r][done[r]];
				int *now = p->before[r][done[r]], at = 0;

				memset(now, 0, sizeof p->before[r][0]);
				if (done[r] > 0)
					memcpy(now, p->before[r][done[r] - 1],
					       sizeof p->before[r][0]);
				now[r] = done[r];
				if (a->kind != RECV)
					continue;
				at = find(p, a->target, SEND, a->number);
				if (at >= done[a->target])
					break;
				for (int q = 0; q < p->ranks; q++)
					if (now[q] < p->before[a->target][at][q])
						now[q] = p->before[a->target][at][q];
				if (now[a->target] < at + 1)
					now[a->target] = at + 1;
			}
			ended += done[r] == p->n[r];
		}
	}
	return ended == p->ranks;
}

struct event {
	int rank, at;
};

/* Whether a has ended when b begins. */
static bool precedes(const struct program *p, struct event a, struct event b)
{
	return b.at > 0 && p->before[b.rank][b.at - 1][a.rank] > a.at;
}

static bool conflict(const struct op *a, const struct op *b)
{
	return a->window == b->window && (a->exclusive || b->exclusive) &&
	       (a->kind == LOCK_ALL || b->kind == LOCK_ALL || a->target == b->target);
}

/* Whether one rank that is stuck at b may keep another one stuck at a. */
static bool may_hold_up(const struct program *p, struct event a, struct event b)
{
	const struct op *waits = &p->op[a.rank][a.at];

	if (waits->kind == RECV)
		return waits->target == b.rank && find(p, b.rank, SEND, waits->number) >= b.at;
	for (int i = 0; i <= b.at; i++) {
		const struct op *has = &p->op[b.rank][i];

		if (has->kind <= LOCK_ALL && has->number >= b.at && conflict(has, waits) &&
		    (i < b.at || has->kind == LOCK_ALL))
			return true;
	}
	return false;
}

/* Whether a cycle goes on from the last one of these events. */
static bool has_cycle(struct program *p, struct event *path, int n)
{
	if (++p->steps > MOST_STEPS || (n > 1 && may_hold_up(p, path[n - 1], path[0])))
		return true;
	for (int r = path[0].rank + 1; r < p->ranks; r++)
		for (int i = 0; i < p->n[r]; i++) {
			struct event next = {r, i};
			bool fits = p->op[r][i].kind <= LOCK_ALL || p->op[r][i].kind == RECV;

			for (int k = 0; k < n && fits; k++)
				fits = path[k].rank != r && !precedes(p, path[k], next) &&
				       !precedes(p, next, path[k]);
			if (!fits || !may_hold_up(p, path[n - 1], next))
				continue;
			path[n] = next;
			if (has_cycle(p, path, n + 1))
				return true;
		}
	return false;
}

static bool ends(struct program *p)
{
	struct event path[MOST_RANKS + 1];

	if (!order(p))
		return false;
	p->steps = 0;
	for (int r = 0; r < p->ranks; r++)
		for (int i = 0; i < p->n[r]; i++) {
			path[0] = (struct event){r, i};
			if ((p->op[r][i].kind <= LOCK_ALL || p->op[r][i].kind == RECV) &&
			    has_cycle(p, path, 1))
				return false;
		}
	return true;
}

/* Whether all locks of other ranks that conflict with this one precede it, or follow it. */
static bool is_alone(const struct program *p, int rank, int at)
{
	const struct op *a = &p->op[rank][at];

	for (int r = 0; r < p->ranks; r++)
		for (int i = 0; i < p->n[r] && r != rank; i++) {
			const struct op *b = &p->op[r][i];

			if (b->kind <= LOCK_ALL && conflict(a, b) &&
			    !precedes(p, (struct event){r, b->number}, (struct event){rank, at}) &&
			    !precedes(p, (struct event){rank, a->number}, (struct event){r, i}))
				return false;
		}
	return true;
}

static void draw(struct program *p, uint64_t seed)
{
	do
		draw_sections(p, &seed);
	while (!ends(p));
	p->messages = 0;
	for (int i = 0; i < 6 * p->ranks; i++) {
		int from = (int)random_below(&seed, (uint32_t)p->ranks);
		int to = (int)random_below(&seed, (uint32_t)p->ranks);

		if (from == to || p->n[from] == MOST_OPS || p->n[to] == MOST_OPS)
			continue;
		insert(p, from, (int)random_below(&seed, (uint32_t)p->n[from] + 1),
		       (struct op){.kind = SEND, .target = to, .number = i});
		insert(p, to, (int)random_below(&seed, (uint32_t)p->n[to] + 1),
		       (struct op){.kind = RECV, .target = from, .number = i});
		p->messages++;
		if (!ends(p)) {
			drop(p, from, SEND, i);
			drop(p, to, RECV, i);
			p->messages--;
		}
	}
	if (!ends(p))
		fail("the program has changed");
}

static void print(const struct program *p)
{
	for (int r = 0; r < p->ranks && tap_rank == 0; r++)
		for (int i = 0; i < p->n[r]; i++) {
			const struct op *op = &p->op[r][i];

			note("rank %d, operation %d: %s%s, window %d, rank %d, number %d", r, i,
			     op->exclusive ? "exclusive " : "", names[op->kind], op->window,
			     op->target, op->number);
		}
}

/* ------------------------------------------------------------------ running */

static void look(struct area *a, int target)
{
	int64_t w[ATOMIC], again[ATOMIC];

	area_get(a, target, CHANGES, ATOMIC, w);
	linger(1e-5);
	area_get(a, target, CHANGES, ATOMIC, again);
	expect(w[INVERSE] == -w[CHANGES] && again[CHANGES] == w[CHANGES],
	       "violation: words of %d changed under a shared holder", target);
}

static void change(struct area *a, int target)
{
	int64_t w[ATOMIC];

	area_get(a, target, CHANGES, ATOMIC, w);
	w[CHANGES]++;
	area_put(a, target, CHANGES, 1, &w[CHANGES]);
	w[INVERSE]--;
	area_put(a, target, INVERSE, 1, &w[INVERSE]);
}

static void flush(struct area *a, const struct op *op)
{
	bool local = op->number & 1;

	if (op->kind == FLUSH_ALL)
		local ? MPI_Win_flush_local_all(a->win) : MPI_Win_flush_all(a->win);
	else
		local ? MPI_Win_flush_local(op->target, a->win) : MPI_Win_flush(op->target, a->win);
}

/* MPI_MODE_NOCHECK where no other rank is in the way. */
static void lock(const struct program *p, struct area *a, int at, bool may_skip, uint64_t *seed)
{
	const struct op *op = &p->op[a->rank][at];
	bool skips = random_below(seed, 2) && may_skip && is_alone(p, a->rank, at);

	if (op->kind == LOCK && skips)
		MPI_Win_lock(op->exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, op->target,
			     MPI_MODE_NOCHECK, a->win);
	else if (op->kind == LOCK)
		area_lock(a, op->exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, op->target);
	else if (skips)
		MPI_Win_lock_all(MPI_MODE_NOCHECK, a->win);
	else
		area_lock_all(a);
}

static void perform(const struct program *p, struct area *areas, int at, bool may_skip,
		    uint64_t *seed)
{
	static const double naps[] = {1e-5, 1e-4, 1e-3, 5e-3, 2e-2};
	const struct op *op = &p->op[tap_rank][at];
	struct area *a = &areas[op->window];

	now_doing("seed %llu, operation %d: %s%s, window %d, rank %d", (unsigned long long)p->seed,
		  at, op->exclusive ? "exclusive " : "", names[op->kind], op->window, op->target);
	switch (op->kind) {
	case LOCK:
	case LOCK_ALL:
		lock(p, a, at, may_skip, seed);
		break;
	case UNLOCK:
		MPI_Win_unlock(op->target, a->win);
		break;
	case UNLOCK_ALL:
		MPI_Win_unlock_all(a->win);
		break;
	case LOOK:
		look(a, op->target);
		break;
	case CHANGE:
		change(a, op->target);
		break;
	case ADD:
		area_add_atomically(a, op->target, ATOMIC, 1);
		break;
	case FLUSH:
	case FLUSH_ALL:
		flush(a, op);
		break;
	case SEND:
		MPI_Send(NULL, 0, MPI_INT, op->target, op->number, MPI_COMM_WORLD);
		break;
	case RECV:
		MPI_Recv(NULL, 0, MPI_INT, op->target, op->number, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		break;
	case NAP:
	default:
		linger(naps[random_below(seed, sizeof naps / sizeof naps[0])]);
	}
}

static void expect_words(const struct program *p, struct area *a, int window)
{
	int64_t changes = 0, adds = 0;

	for (int r = 0; r < p->ranks; r++)
		for (int i = 0; i < p->n[r]; i++) {
			const struct op *op = &p->op[r][i];

			if (op->window != window || op->target != a->rank)
				continue;
			changes += op->kind == CHANGE;
			adds += op->kind == ADD;
		}
	MPI_Win_lock(MPI_LOCK_SHARED, a->rank, 0, a->win);
	expect(a->mine[CHANGES] == changes && a->mine[INVERSE] == -changes &&
		   a->mine[ATOMIC] == adds,
	       "violation: window %d has %lld, %lld and %lld, not %lld, %lld and %lld", window,
	       (long long)a->mine[CHANGES], (long long)a->mine[INVERSE], (long long)a->mine[ATOMIC],
	       (long long)changes, (long long)-changes, (long long)adds);
	MPI_Win_unlock(a->rank, a->win);
}

static void run(uint64_t seed, int windows, bool may_skip)
{
	static const enum area_flavour flavours[] = {AREA_CREATE, AREA_DYNAMIC, AREA_ALLOCATE};
	static struct program p;
	struct area areas[MOST_WINDOWS];
	uint64_t own = seed * 1000003 + (uint64_t)tap_rank * 7919;

	p.seed = seed;
	p.ranks = tap_size;
	p.windows = windows;
	draw(&p, seed);
	if (tap_verbose)
		print(&p);
	for (int i = 0; i < windows; i++)
		area_open(&areas[i], flavours[i], MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	for (int i = 0; i < p.n[tap_rank]; i++)
		perform(&p, areas, i, may_skip, &own);
	meet();
	for (int i = windows - 1; i >= 0; i--) {
		expect_words(&p, &areas[i], i);
		area_close(&areas[i]);
	}
	result("seed %llu: %d messages", (unsigned long long)seed, p.messages);
}

/* Locks with MPI_MODE_NOCHECK and without, in turn, where no other process is in the way. */
static void run_alone(void)
{
	static const int modes[] = {MPI_MODE_NOCHECK, 0, MPI_MODE_NOCHECK, 0};
	struct area a;

	now_doing("a window of one process");
	area_open(&a, AREA_ALLOCATE, MPI_COMM_SELF, WORDS, MPI_INFO_NULL);
	for (int i = 0; i < 8; i++) {
		MPI_Win_lock(i < 4 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, modes[i % 4], a.win);
		area_add_atomically(&a, 0, ATOMIC, 1);
		MPI_Win_unlock(0, a.win);
	}
	expect(area_word(&a, 0, ATOMIC) == 8, "additions were lost");
	area_close(&a);
	result("a window of one process, with and without MPI_MODE_NOCHECK");
}

/* A rank polls a word of its own window, with each kind of flush, until another one has added to
 * it. */
static void run_polled(void)
{
	const int64_t nothing = 0;
	struct area a;

	now_doing("a word of the own window");
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	for (int kind = 0; kind < 4; kind++) {
		int64_t found = 0;

		meet();
		MPI_Win_lock_all(0, a.win);
		if (a.rank == a.size - 1) {
			area_compute(0.01);
			area_add_atomically(&a, 0, ATOMIC, 1);
		}
		while (a.rank == 0 && found <= kind) {
			MPI_Fetch_and_op(&nothing, &found, MPI_INT64_T, 0, a.at[0] + ATOMIC,
					 MPI_NO_OP, a.win);
			if (kind == 0)
				MPI_Win_flush(0, a.win);
			else if (kind == 1)
				MPI_Win_flush_local(0, a.win);
			else if (kind == 2)
				MPI_Win_flush_all(a.win);
			else
				MPI_Win_flush_local_all(a.win);
		}
		MPI_Win_unlock_all(a.win);
	}
	expect(area_word(&a, 0, ATOMIC) == 4, "additions were lost");
	area_close(&a);
	result("a rank polls a word of its own window");
}

/* Rank 0 leaves its epoch when rank 2 has read in another one; rank 1 has asked for the lock in
 * between. */
static void run_late(void)
{
	struct area a;

	now_doing("a late reader");
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	MPI_Win_set_name(a.win, "late");
	if (a.rank == 0)
		area_lock(&a, MPI_LOCK_SHARED, 0);
	meet();
	if (a.rank != 1)
		sleep(LATE_S);
	if (a.rank == 0)
		MPI_Recv(NULL, 0, MPI_INT, 2, 0, a.comm, MPI_STATUS_IGNORE);
	else
		area_lock(&a, a.rank == 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0);
	if (a.rank == 1)
		change(&a, 0);
	if (a.rank == 2)
		MPI_Send(NULL, 0, MPI_INT, 0, 0, a.comm);
	MPI_Win_unlock(0, a.win);
	meet();
	expect(area_word(&a, 0, CHANGES) == 1, "the writer has not written");
	area_close(&a);
	result("a reader frees the holder for which a writer waits");
}

static bool is_mpich(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	MPI_Get_library_version(text, &len);
	return strstr(text, "MPICH") != NULL;
}

static uint64_t take_number(int *argc, char **argv, const char *name, uint64_t otherwise)
{
	for (int i = 1; i + 1 < *argc; i++)
		if (strcmp(argv[i], name) == 0) {
			otherwise = strtoull(argv[i + 1], NULL, 10);
			memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof argv[0]);
			*argc -= 2;
		}
	return otherwise;
}

int main(int argc, char **argv)
{
	uint64_t first = take_number(&argc, argv, "--seed", 1);
	uint64_t programs = take_number(&argc, argv, "--programs", 3);
	uint64_t late = take_number(&argc, argv, "--late", 0);
	bool native = take_number(&argc, argv, "--native", 0);
	int windows = MOST_WINDOWS;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size < 2 || tap_size > MOST_RANKS) {
		skip("2 to 6 ranks are needed", "random programs");
		return tap_end();
	}
	for (uint64_t i = 0; i < late; i++)
		run_late();
	if (late)
		return tap_end();
	windows -= native && tap_one_host && !is_mpich();
	if (!(native && is_mpich()))
		run_alone();
	if (!native || tap_one_host || is_mpich())
		run_polled();
	for (uint64_t i = 0; i < programs; i++)
		run(first + i, windows, !(native && is_mpich()));
	return tap_end();
}
