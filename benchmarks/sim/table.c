/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed hash table of dht.c in virtual time: the volume of one rank, on which all other
 * ranks operate. Its words are the application's bytes of the world.
 *
 * A message of dht.c that carries adjacent words is one operation here; the other words are
 * read directly when it completes.
 */
#include "sim_bench.h"

enum { KEY, NEXT, LAST, BUCKET_WORDS, HEAP_WORDS = 2, HEADER = 1, LEAST_BUCKETS = 1024 };

static uint64_t bucket_at(uint64_t b)
{
	return HEADER + b * BUCKET_WORDS;
}

/* Elements of the heap are numbered 1, 2, ...; 0 is none. */
static uint64_t heap_at(const struct sim_run *run, int64_t e)
{
	return HEADER + run->buckets * BUCKET_WORDS + (uint64_t)(e - 1) * HEAP_WORDS;
}

static int64_t *memory(struct sim_run *run, uint64_t at)
{
	return sim_word(run->world, run->owner, run->world->setup.bytes + at * 8);
}

static struct rma_word word(struct sim_rank *r, uint64_t at)
{
	const struct lock_setup *s = &r->world->setup;

	return rma_word(&r->rma, s->domain, sim_run_of(r)->owner, s->bytes + at * 8);
}

static int64_t key_of(const struct sim_run *run, int rank, uint64_t i)
{
	uint64_t state = random_seed(run->set->seed + (uint64_t)rank, (int)(i & 0x3fffffff));

	return (int64_t)(random_next(&state) >> 1 | 1);
}

static uint64_t bucket_of(const struct sim_run *run, int64_t key)
{
	return bucket_at(((uint64_t)key >> 20) % run->buckets);
}

/* ------------------------------------------------------------------ operations */

static void flush(struct sim_rank *r)
{
	/* orders what was started before what comes next */
	rma_flush(&sim_part_of(r)->data, word(r, 0));
}

static int64_t get(struct sim_rank *r, uint64_t at)
{
	int64_t value;

	rma_get(&sim_part_of(r)->data, word(r, at), &value);
	flush(r);
	return value;
}

static void put(struct sim_rank *r, uint64_t at, int64_t value)
{
	rma_put(&sim_part_of(r)->data, word(r, at), value);
}

static int64_t fetch_op(struct sim_rank *r, uint64_t at, enum rma_op op, int64_t operand)
{
	int64_t old;

	rma_fao(&sim_part_of(r)->data, word(r, at), op, operand, &old);
	flush(r);
	return old;
}

static int64_t cas(struct sim_rank *r, uint64_t at, int64_t expected, int64_t desired)
{
	int64_t old;

	rma_cas(&sim_part_of(r)->data, word(r, at), expected, desired, &old);
	flush(r);
	return old;
}

/* ----------------------------------------------------------- by atomics alone */

static void insert_atomic(struct sim_rank *r, int64_t key)
{
	struct sim_run *run = sim_run_of(r);
	uint64_t at = bucket_of(run, key);
	int64_t mine, last, seen;

	if (cas(r, at + KEY, 0, key) == 0)
		return;
	mine = fetch_op(r, 0, RMA_SUM, 1) + 1;
	fetch_op(r, heap_at(run, mine) + KEY, RMA_REPLACE, key);
	last = fetch_op(r, at + LAST, RMA_SUM, 0);
	while ((seen = cas(r, at + LAST, last, mine)) != last)
		last = seen;
	fetch_op(r, (last ? heap_at(run, last) : at) + NEXT, RMA_REPLACE, mine);
}

static bool find_atomic(struct sim_rank *r, int64_t key)
{
	struct sim_run *run = sim_run_of(r);
	uint64_t at = bucket_of(run, key);

	for (;;) {
		int64_t next;

		if (fetch_op(r, at + KEY, RMA_SUM, 0) == key)
			return true;
		next = fetch_op(r, at + NEXT, RMA_SUM, 0);
		if (!next)
			return false;
		at = heap_at(run, next);
	}
}

/* ----------------------------------------------------------------- under a lock */

static void insert_locked(struct sim_rank *r, int64_t key)
{
	struct sim_run *run = sim_run_of(r);
	uint64_t at = bucket_of(run, key);
	int64_t taken, bucket, last, mine;

	rma_get(&sim_part_of(r)->data, word(r, at), &bucket);
	rma_get(&sim_part_of(r)->data, word(r, 0), &taken);
	flush(r);
	if (bucket == 0) {
		put(r, at + KEY, key);
		flush(r);
		return;
	}
	mine = taken + 1;
	last = *memory(run, at + LAST);
	put(r, 0, mine);
	put(r, heap_at(run, mine) + KEY, key);
	put(r, (last ? heap_at(run, last) : at) + NEXT, mine);
	put(r, at + LAST, mine);
	flush(r);
}

static bool find_locked(struct sim_rank *r, int64_t key)
{
	struct sim_run *run = sim_run_of(r);
	uint64_t at = bucket_of(run, key);

	while (get(r, at + KEY) != key) {
		int64_t next = *memory(run, at + NEXT);

		if (!next)
			return false;
		at = heap_at(run, next);
	}
	return true;
}

/* ------------------------------------------------------------------------ turns */

static void insert_one(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);
	int64_t key = key_of(run, r->id, part->inserted);

	sim_enter(r, 0, PAWL_EXCLUSIVE);
	(run->contestant->kind ? insert_locked : insert_atomic)(r, key);
	sim_leave(r);
	part->inserted++;
}

/* Every other time a key that this rank inserted, which must be there. */
static void find_one(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);
	bool locked = run->contestant->kind != NULL;
	bool shares = locked && (run->contestant->kind->capabilities & PAWL_CAP_SHARED);
	uint64_t x = sim_random(&r->random);
	bool own = part->inserted && (x >> 60) % 2;
	int64_t key = own ? key_of(run, r->id, x % part->inserted) : (int64_t)(x >> 1);
	bool found;

	sim_enter(r, 0, shares ? PAWL_SHARED : PAWL_EXCLUSIVE);
	found = (locked ? find_locked : find_atomic)(r, key);
	sim_leave(r);
	part->missed += own && !found && locked;
}

void sim_table_turn(struct sim_rank *r)
{
	const struct settings *s = sim_run_of(r)->set;

	if (sim_random(&r->random) >> 33 < (uint64_t)(s->fw / 100 * 0x1p31))
		insert_one(r);
	else
		find_one(r);
}

/* ---------------------------------------------------------- set-up and the check */

uint64_t sim_table_bytes(struct sim_run *run)
{
	/* The most keys that may be inserted, including those in progress at the end. */
	uint64_t turns = run->warm + run->most + (uint64_t)run->ranks;

	for (run->buckets = LEAST_BUCKETS;
	     (double)run->buckets < (double)turns * run->set->fw / 100;)
		run->buckets *= 2;
	run->heap = turns;
	return (HEADER + run->buckets * BUCKET_WORDS + run->heap * HEAP_WORDS) * 8;
}

static bool is_there(struct sim_run *run, int64_t key)
{
	uint64_t at = bucket_of(run, key), steps = 0;

	while (*memory(run, at + KEY) != key) {
		int64_t e = *memory(run, at + NEXT);

		if (e <= 0 || (uint64_t)e > run->heap || steps++ > run->heap)
			return false;
		at = heap_at(run, e);
	}
	return true;
}

uint64_t sim_table_wrong(struct sim_run *run)
{
	uint64_t inserted = 0, wrong = 0, held = (uint64_t)*memory(run, 0);

	for (uint64_t b = 0; b < run->buckets; b++)
		held += *memory(run, bucket_at(b) + KEY) != 0;
	for (int id = 0; id < run->ranks; id++) {
		const struct sim_part *part = &run->part[id];

		inserted += part->inserted;
		wrong += part->missed;
		for (uint64_t i = 0; i < part->inserted; i++)
			wrong += !is_there(run, key_of(run, id, i));
	}
	return wrong + (held > inserted ? held - inserted : inserted - held);
}
