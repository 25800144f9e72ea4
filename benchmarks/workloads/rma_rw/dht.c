/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed hash table of the RMA-RW paper (HPDC'16), section 5.3. Each
 * rank could have such a volume; as in the paper, all ranks but one operate on the
 * volume of that one:
 *   word 0              the next free element of the heap
 *   bucket: key, next, last   the element, its successor, the last of the chain
 *   heap element: key, next   for keys that collide
 * An insert puts its key into the empty bucket, or takes an element of the heap
 * and appends it to the chain; a look-up follows the chain.
 *
 * With one lock for the volume, gets and puts are plain. Without a lock
 * ("fompi-a"), the bucket and the end of the chain are taken by compare-and-swap,
 * the heap by fetch-and-add. An element is linked after it became the
 * last one, so a look-up may miss it, and those behind it, for a moment.
 *
 * Checked: a rank finds its own keys while others insert (under locks),
 * and at the end the volume has the inserted keys and no others.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"

enum { KEY, NEXT, LAST, BUCKET_WORDS, HEAP_WORDS = 2, HEADER = 1 };
enum { FEW = 2000, MANY = 100000 };

static struct {
	MPI_Win win;
	int64_t *volume; /* meaningful at the owner only */
	uint64_t buckets, heap, seed;
	int owner;
	uint64_t inserted, missed;
} dht;

static MPI_Aint bucket_at(uint64_t b)
{
	return (MPI_Aint)(HEADER + b * BUCKET_WORDS);
}

/* Elements of the heap are numbered 1, 2, ...; 0 is none. */
static MPI_Aint heap_at(int64_t e)
{
	return (MPI_Aint)(HEADER + dht.buckets * BUCKET_WORDS) + (MPI_Aint)(e - 1) * HEAP_WORDS;
}

static int64_t key_of(int rank, uint64_t i)
{
	uint64_t state = random_seed(dht.seed + (uint64_t)rank, (int)(i & 0x3fffffff));

	return (int64_t)(random_next(&state) >> 1 | 1);
}

static uint64_t bucket_of(int64_t key)
{
	return ((uint64_t)key >> 20) % dht.buckets;
}

/* --------------------------------------------------------------- operations */

static void get(int64_t *to, int words, MPI_Aint at)
{
	MPI_Get(to, words, MPI_INT64_T, dht.owner, at, words, MPI_INT64_T, dht.win);
}

static void put(const int64_t *from, int words, MPI_Aint at)
{
	MPI_Put(from, words, MPI_INT64_T, dht.owner, at, words, MPI_INT64_T, dht.win);
}

static void flush(void)
{
	MPI_Win_flush(dht.owner, dht.win);
}

static int64_t fetch_op(int64_t operand, MPI_Aint at, MPI_Op op)
{
	int64_t old;

	MPI_Fetch_and_op(&operand, &old, MPI_INT64_T, dht.owner, at, op, dht.win);
	flush();
	return old;
}

static int64_t cas(int64_t expected, int64_t desired, MPI_Aint at)
{
	int64_t old;

	MPI_Compare_and_swap(&desired, &expected, &old, MPI_INT64_T, dht.owner, at, dht.win);
	flush();
	return old;
}

/* --------------------------------------------------------- by atomics alone */

static void insert_atomic(int64_t key)
{
	MPI_Aint at = bucket_at(bucket_of(key));
	int64_t mine, last, seen;

	if (cas(0, key, at + KEY) == 0)
		return;
	mine = fetch_op(1, 0, MPI_SUM) + 1;
	fetch_op(key, heap_at(mine) + KEY, MPI_REPLACE);
	last = fetch_op(0, at + LAST, MPI_NO_OP);
	while ((seen = cas(last, mine, at + LAST)) != last)
		last = seen;
	fetch_op(mine, (last ? heap_at(last) : at) + NEXT, MPI_REPLACE);
}

static bool find_atomic(int64_t key)
{
	MPI_Aint at = bucket_at(bucket_of(key));

	for (;;) {
		int64_t next;

		if (fetch_op(0, at + KEY, MPI_NO_OP) == key)
			return true;
		next = fetch_op(0, at + NEXT, MPI_NO_OP);
		if (!next)
			return false;
		at = heap_at(next);
	}
}

/* -------------------------------------------------------------- under a lock */

static void insert_locked(int64_t key)
{
	MPI_Aint at = bucket_at(bucket_of(key));
	int64_t bucket[BUCKET_WORDS], free_element, element[HEAP_WORDS] = {key, 0};

	get(bucket, BUCKET_WORDS, at);
	get(&free_element, 1, 0);
	flush();
	if (bucket[KEY] == 0) {
		put(&key, 1, at + KEY);
	} else {
		int64_t after = free_element + 1, mine = after;

		put(&after, 1, 0);
		put(element, HEAP_WORDS, heap_at(mine));
		put(&mine, 1, (bucket[LAST] ? heap_at(bucket[LAST]) : at) + NEXT);
		put(&mine, 1, at + LAST);
		flush();
		return;
	}
	flush();
}

static bool find_locked(int64_t key)
{
	MPI_Aint at = bucket_at(bucket_of(key));

	for (;;) {
		int64_t element[HEAP_WORDS];

		get(element, HEAP_WORDS, at);
		flush();
		if (element[KEY] == key)
			return true;
		if (!element[NEXT])
			return false;
		at = heap_at(element[NEXT]);
	}
}

/* ------------------------------------------------------------------ the loop */

static void acquire(struct trial *t, int mode)
{
	if (t->table && trial_refused(pawl_lock_acquire(t->table, 0, mode)))
		trial_abort(t, "acquire");
}

static void release(struct trial *t)
{
	if (t->table && has_failed(pawl_lock_release(t->table, 0)))
		trial_abort(t, "release");
}

static void insert_one(struct trial *t)
{
	int64_t key = key_of(t->team->rank, dht.inserted);

	acquire(t, PAWL_EXCLUSIVE);
	(t->table ? insert_locked : insert_atomic)(key);
	release(t);
	dht.inserted++;
	t->exclusive++;
}

/* Every other time a key that this rank inserted, which must be there. */
static void find_one(struct trial *t)
{
	bool shares = t->table && (t->contestant->kind->capabilities & PAWL_CAP_SHARED);
	uint64_t x = random_next(&t->random);
	bool own = dht.inserted && (x >> 60) % 2;
	int64_t key = own ? key_of(t->team->rank, x % dht.inserted) : (int64_t)(x >> 1);
	bool found;

	acquire(t, shares ? PAWL_SHARED : PAWL_EXCLUSIVE);
	found = (t->table ? find_locked : find_atomic)(key);
	release(t);
	dht.missed += own && !found && t->table;
	t->exclusive += t->table && !shares;
}

void dht_run(struct trial *t)
{
	const uint64_t start = ticks();
	const uint32_t inserts = (uint32_t)(t->set->fw / 100 * 0x1p31);
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		if (random_next(&t->random) >> 33 < inserts)
			insert_one(t);
		else
			find_one(t);
		times_add(&t->hist, ticks() - now);
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* ---------------------------------------------------------- set-up, clean-up */

uint64_t dht_iterations(const struct trial *t)
{
	if (t->set->iterations)
		return t->set->iterations;
	return t->team->nodes > 1 ? FEW : MANY;
}

int dht_open(struct trial *t)
{
	uint64_t total = dht_iterations(t) * (uint64_t)t->team->ranks;
	double inserts = (double)total * t->set->fw / 100;
	MPI_Aint words;

	dht.owner = 0;
	if (t->table)
		pawl_table_home(t->table, 0, &dht.owner);
	dht.seed = random_seed(t->set->seed, 1 << 30);
	dht.inserted = dht.missed = 0;
	for (dht.buckets = 1024; (double)dht.buckets < inserts && dht.buckets < 1u << 26;)
		dht.buckets *= 2;
	dht.heap = t->set->fw > 0 ? total : 1;
	if (dht.heap > UINT64_C(1) << 28)
		return BENCH_USAGE;
	words = (MPI_Aint)(HEADER + dht.buckets * BUCKET_WORDS + dht.heap * HEAP_WORDS);
	MPI_Win_allocate(t->team->rank == dht.owner ? words * 8 : 8, 8, MPI_INFO_NULL,
			 t->team->comm, &dht.volume, &dht.win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, dht.win);
	memset(dht.volume, 0, (size_t)(t->team->rank == dht.owner ? words * 8 : 8));
	MPI_Win_sync(dht.win);
	/* All ranks but the owner are active, if there are others. */
	t->active = t->team->ranks > 1 ? t->team->ranks - 1 : 1;
	t->is_active = t->team->ranks == 1 || t->team->rank != dht.owner;
	return BENCH_OK;
}

/* The next of a chain, or 0; a broken lock leaves anything there. */
static int64_t successor(MPI_Aint at, uint64_t *steps)
{
	int64_t e = dht.volume[at + NEXT];

	return e > 0 && (uint64_t)e <= dht.heap && (*steps)++ <= dht.heap ? e : 0;
}

static bool is_there(int64_t key)
{
	MPI_Aint at = bucket_at(bucket_of(key));
	uint64_t steps = 0;

	while (dht.volume[at + KEY] != key) {
		int64_t e = successor(at, &steps);

		if (!e)
			return false;
		at = heap_at(e);
	}
	return true;
}

static uint64_t count_elements(void)
{
	uint64_t elements = 0, steps = 0;

	for (uint64_t b = 0; b < dht.buckets; b++) {
		MPI_Aint at = bucket_at(b);

		elements += dht.volume[at + KEY] != 0;
		for (int64_t e; (e = successor(at, &steps)) != 0; elements++)
			at = heap_at(e);
	}
	return elements;
}

/* The owner counts the keys and looks all of them up. */
static uint64_t count_wrong(const struct team *team, const uint64_t *inserted)
{
	uint64_t total = 0, wrong = 0, held = count_elements();

	for (int r = 0; r < team->ranks; r++) {
		for (uint64_t i = 0; i < inserted[r]; i++)
			wrong += !is_there(key_of(r, i));
		total += inserted[r];
	}
	return wrong + (held > total ? held - total : total - held);
}

void dht_close(struct trial *t)
{
	const struct team *team = t->team;
	uint64_t *inserted = malloc(sizeof *inserted * (size_t)team->ranks);

	MPI_Allgather(&dht.inserted, 1, MPI_UINT64_T, inserted, 1, MPI_UINT64_T, team->comm);
	MPI_Win_sync(dht.win);
	t->violations += dht.missed;
	if (team->rank == dht.owner)
		t->violations += count_wrong(team, inserted);
	free(inserted);
	MPI_Win_unlock_all(dht.win);
	MPI_Win_free(&dht.win);
}
