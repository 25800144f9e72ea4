/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * POET: a distributed hash table that caches the results of a simulation of reactive transport.
 * Lübke, De Lucia, Christgau, Petri, Schnor, "A fast MPI-based Distributed Hash-Table as Surrogate
 * Model demonstrated in a coupled reactive transport HPC simulation", arXiv 2504.14374. The paper
 * compares a lock for the table's part at each rank (coarse-grained), a lock for each bucket
 * (fine-grained), both with MPI's operations, and no lock, with a checksum in each bucket.
 *
 * All ranks have buckets: a key of 80 bytes, a value of 104 bytes, a checksum. A key has a few
 * candidates among the buckets. A write takes the first candidate that is empty or has the key; if
 * all have other keys, it evicts that of the last. A read looks at the candidates in order. A
 * bucket is got and put as a whole, which is not atomic.
 *
 * Bucket b is under lock b mod --locks, at the home of that lock. With as many locks as ranks all
 * candidates of a key are under one lock, which is held from the first to the last: the paper's
 * coarse-grained table. With as many locks as buckets, which is the default, it is the fine-grained
 * one. "poet-free" has no lock; what it reads counts if the checksum is right.
 *
 * Each rank writes its keys once before the loop. Keys are drawn uniformly, or by Zipf's law
 * (--zipf). The rank of a key is the only one that writes it (--fw), each time with the next
 * version, from which all words of the value follow.
 *
 * Checked: no value is torn; a rank that reads its own key finds the version that it wrote last, or
 * nothing; and at the end the keys that are lost are not more than those that were evicted. Without
 * locks two clients may take the same bucket at a time, and the key of one of them is lost, as in
 * the paper: a cache may lose keys. There only torn values with a right checksum are errors.
 *
 * TEST_BREAK=1 leaves out the locks, so that a test sees whether the checks notice.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/workloads/apps/poet.h"
#include "benchmarks/workloads/citron/ranges.h"

enum { KEY_WORDS = 10, VALUE_WORDS = 13, WORDS = KEY_WORDS + VALUE_WORDS + 1, CANDIDATES = 6 };
enum { READ, WRITE };

const char *const poet_series[] = {"read", "write", NULL};

struct bucket {
	uint64_t key[KEY_WORDS];     /* [0] is the number of the key plus 1; 0: empty */
	uint64_t value[VALUE_WORDS]; /* [0] is the version */
	uint64_t checksum;
};
_Static_assert(sizeof(struct bucket) == WORDS * sizeof(uint64_t), "a bucket has no holes");

/* Where the buckets under a lock are. */
struct part {
	int rank;
	MPI_Aint first; /* bucket */
};

static struct {
	MPI_Win win;
	struct bucket *mine;
	struct part *part; /* [locks] */
	uint64_t locks, keys;
	struct zipf law;
	uint64_t *version; /* [own keys] the latest one written */
	uint64_t evicted, wrong;
} poet;

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xd1342543de82ef95);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* --------------------------------------------------------------------- buckets */

static uint64_t checksum_of(const struct bucket *b)
{
	uint64_t sum = 0;

	for (int i = 0; i < KEY_WORDS; i++)
		sum = mix(sum, b->key[i]);
	for (int i = 0; i < VALUE_WORDS; i++)
		sum = mix(sum, b->value[i]);
	return sum;
}

static void fill(struct bucket *b, uint64_t key, uint64_t version)
{
	b->key[0] = key + 1;
	for (int i = 1; i < KEY_WORDS; i++)
		b->key[i] = mix(key, (uint64_t)i);
	b->value[0] = version;
	for (int i = 1; i < VALUE_WORDS; i++)
		b->value[i] = mix(key + version, (uint64_t)i);
	b->checksum = checksum_of(b);
}

/* Whether all words of a bucket were written together. */
static bool is_whole(const struct bucket *b)
{
	struct bucket right;

	if (b->key[0] == 0)
		return true;
	fill(&right, b->key[0] - 1, b->value[0]);
	return memcmp(b, &right, sizeof right) == 0;
}

/* Candidates of a key are all under one lock if there are as many locks as ranks. */
static uint64_t candidate(const struct trial *t, uint64_t key, int i)
{
	uint64_t ranks = (uint64_t)t->team->ranks, rank = mix(key, 100) % ranks;

	return mix(key, 101 + (uint64_t)i) % (POET_BUCKETS / ranks) * ranks + rank;
}

static MPI_Aint place_of(uint64_t bucket)
{
	return (poet.part[bucket % poet.locks].first + (MPI_Aint)(bucket / poet.locks)) *
	       (MPI_Aint)sizeof(struct bucket);
}

static void get(uint64_t bucket, struct bucket *to)
{
	int rank = poet.part[bucket % poet.locks].rank;

	MPI_Get(to, WORDS, MPI_UINT64_T, rank, place_of(bucket), WORDS, MPI_UINT64_T, poet.win);
	MPI_Win_flush(rank, poet.win); /* orders the get before the look at the bucket */
}

static void put_words(uint64_t bucket, const struct bucket *from, int first, int words)
{
	int rank = poet.part[bucket % poet.locks].rank;
	MPI_Aint at = place_of(bucket) + first * (MPI_Aint)sizeof(uint64_t);

	MPI_Put((const uint64_t *)from + first, words, MPI_UINT64_T, rank, at, words, MPI_UINT64_T,
		poet.win);
	/* orders the put before the release; pairs with the next holder's acquire, then its get */
	MPI_Win_flush(rank, poet.win);
}

/* Under TEST_BREAK in two parts, with time between them, so that other ranks find half a bucket
 * whatever the MPI and the number of cores. */
static void put(uint64_t bucket, const struct bucket *from)
{
	if (!ranges_are_broken()) {
		put_words(bucket, from, 0, WORDS);
		return;
	}
	put_words(bucket, from, 0, WORDS / 2);
	sched_yield();
	put_words(bucket, from, WORDS / 2, WORDS - WORDS / 2);
}

/* ----------------------------------------------------------------------- locks */

static void enter(const struct trial *t, uint64_t bucket, int mode)
{
	if (!t->table || ranges_are_broken())
		return;
	if (trial_refused(pawl_lock_acquire(t->table, bucket % poet.locks, mode)))
		trial_abort(t, "acquire");
}

static void leave(struct trial *t, uint64_t bucket)
{
	if (t->table && !ranges_are_broken())
		trial_release(t, bucket % poet.locks);
}

/* Whether the next candidate is under the lock that is held. */
static bool stays(uint64_t bucket, uint64_t next)
{
	return bucket % poet.locks == next % poet.locks;
}

/* ------------------------------------------------------------------- operations */

/* Look at the candidates of a key in order, under their locks, until done() is true, which may put
 * the bucket. Returns whether it was. */
static bool search(struct trial *t, uint64_t key, int mode,
		   bool (*done)(struct trial *t, uint64_t key, uint64_t bucket, struct bucket *b,
				bool is_last))
{
	uint64_t at = candidate(t, key, 0);
	bool ended = false;
	struct bucket b;

	enter(t, at, mode);
	for (int i = 0; i < CANDIDATES; i++) {
		get(at, &b);
		if (t->table && !is_whole(&b))
			poet.wrong++;
		ended = done(t, key, at, &b, i == CANDIDATES - 1);
		if (ended || i == CANDIDATES - 1)
			break;
		if (!stays(at, candidate(t, key, i + 1))) {
			leave(t, at);
			enter(t, candidate(t, key, i + 1), mode);
		}
		at = candidate(t, key, i + 1);
	}
	leave(t, at);
	return ended;
}

static bool write_here(struct trial *t, uint64_t key, uint64_t bucket, struct bucket *b,
		       bool is_last)
{
	uint64_t *version = &poet.version[key / (uint64_t)t->team->ranks];

	if (b->key[0] != 0 && b->key[0] != key + 1 && !is_last)
		return false;
	poet.evicted += b->key[0] != 0 && b->key[0] != key + 1;
	fill(b, key, ++*version);
	put(bucket, b);
	return true;
}

/* The version of a key that is read; the rank that writes it knows which is the latest. */
static void check_version(const struct trial *t, uint64_t key, const struct bucket *b)
{
	uint64_t ranks = (uint64_t)t->team->ranks;

	if (t->table && key % ranks == (uint64_t)t->team->rank &&
	    b->value[0] != poet.version[key / ranks])
		poet.wrong++;
}

static bool read_here(struct trial *t, uint64_t key, uint64_t bucket, struct bucket *b,
		      bool is_last)
{
	(void)bucket;
	(void)is_last;
	if (b->key[0] != key + 1)
		return false;
	if (!t->table && checksum_of(b) != b->checksum)
		return false;
	if (!t->table && !is_whole(b))
		poet.wrong++;
	check_version(t, key, b);
	return true;
}

static uint64_t draw(struct trial *t)
{
	if (t->set->zipf > 0)
		return zipf_spread(zipf_next(&poet.law, &t->random), poet.keys);
	return (random_next(&t->random) >> 16) % poet.keys;
}

static void turn(struct trial *t, uint32_t writes)
{
	uint64_t ranks = (uint64_t)t->team->ranks, key = draw(t), start = ticks(), took;
	bool is_write = (uint32_t)(random_next(&t->random) >> 33) < writes;

	if (is_write)
		search(t, key - key % ranks + (uint64_t)t->team->rank, PAWL_EXCLUSIVE, write_here);
	else
		search(t, key, contestant_shares(t->contestant) ? PAWL_SHARED : PAWL_EXCLUSIVE,
		       read_here);
	took = ticks() - start;
	times_add(&t->hist, took);
	times_add(&t->series[is_write ? WRITE : READ], took);
	t->exclusive += is_write;
	t->bytes += VALUE_WORDS * sizeof(uint64_t);
}

void poet_run(struct trial *t)
{
	const uint64_t start = ticks();
	const uint32_t writes = (uint32_t)(t->set->fw / 100 * 0x1p31);
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		turn(t, writes);
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* ------------------------------------------------------------ set-up, clean-up */

/* The parts of all locks; returns the number of buckets of this rank, or -1. */
static MPI_Aint divide(const struct trial *t)
{
	MPI_Aint each = (MPI_Aint)((POET_BUCKETS + poet.locks - 1) / poet.locks);
	MPI_Aint *used = calloc((size_t)t->team->ranks, sizeof *used), mine;

	poet.part = malloc(sizeof *poet.part * poet.locks);
	if (!used || !poet.part) {
		free(used);
		return -1;
	}
	for (uint64_t l = 0; l < poet.locks; l++) {
		int home = (int)(l % (uint64_t)t->team->ranks);

		if (t->table)
			pawl_table_home(t->table, l, &home);
		poet.part[l] = (struct part){home, used[home]};
		used[home] += each;
	}
	mine = used[t->team->rank];
	free(used);
	return mine;
}

int poet_open(struct trial *t, char *why, size_t whylen)
{
	uint64_t ranks = (uint64_t)t->team->ranks, failed;
	MPI_Aint buckets, bytes;

	if (t->set->n > POET_BUCKETS) {
		snprintf(why, whylen, "--locks: more than the %d buckets", POET_BUCKETS);
		return BENCH_USAGE;
	}
	memset(&poet, 0, sizeof poet);
	poet.locks = t->table ? t->set->n : ranks;
	poet.keys = POET_KEYS / ranks * ranks;
	zipf_start(&poet.law, poet.keys, t->set->zipf);
	poet.version = calloc(poet.keys / ranks, sizeof *poet.version);
	buckets = divide(t);
	failed = team_sum(t->team, buckets < 0 || !poet.version);
	if (failed) {
		snprintf(why, whylen, "out of memory");
		return BENCH_USAGE;
	}
	bytes = (buckets + 1) * (MPI_Aint)sizeof(struct bucket);
	MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, t->team->comm, (void *)&poet.mine, &poet.win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, poet.win);
	memset(poet.mine, 0, (size_t)bytes);
	MPI_Win_sync(poet.win);
	/* A barrier: no rank goes on before all buckets are empty. */
	team_wait(t->team, true);
	for (uint64_t own = 0; own < poet.keys / ranks; own++)
		search(t, own * ranks + (uint64_t)t->team->rank, PAWL_EXCLUSIVE, write_here);
	team_wait(t->team, true);
	return BENCH_OK;
}

/* The keys of this rank that were written and cannot be found. */
static uint64_t count_lost(struct trial *t)
{
	uint64_t ranks = (uint64_t)t->team->ranks, lost = 0;

	for (uint64_t own = 0; own < poet.keys / ranks; own++)
		if (poet.version[own])
			lost += !search(t, own * ranks + (uint64_t)t->team->rank, PAWL_EXCLUSIVE,
					read_here);
	return lost;
}

void poet_close(struct trial *t)
{
	uint64_t evicted, lost;

	/* All ranks have ended their loops. */
	lost = count_lost(t);
	lost = team_sum(t->team, lost);
	evicted = team_sum(t->team, poet.evicted);
	t->violations += poet.wrong;
	if (t->table && t->team->rank == 0 && lost > evicted)
		t->violations += lost - evicted;
	MPI_Win_unlock_all(poet.win);
	MPI_Win_free(&poet.win);
	free(poet.part);
	free(poet.version);
}
