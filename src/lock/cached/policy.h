/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lock of kind cached is worth caching for: all decisions, and all constants. */
#ifndef LOCK_CACHED_POLICY_H
#define LOCK_CACHED_POLICY_H

#include "lock/cached/directory.h"

/*
 * The constants. Behind each: M acquires a second with half of it, it, and twice it, by
 *   pawl-sim --machine=cx6-4nodes --lock=cached --bench=B --fw=PERCENT
 * where B is ecsb, or L: locktable --locality=95, V: locktable --locality=80, M: micro --zipf=0.8
 * --locks=1000. "same": to three digits in ecsb 20 and 1.
 *
 * STAY          ecsb 100: 8.46, 8.85, 9.28; ecsb 20: 4.25, 4.69, 4.30
 * MOST_PASSES   ecsb 100: 6.81, 8.85, 11.6, for longer waits; ecsb 20: same
 * MOST_BESIDE   same; bounds how long a client waits beside the queue
 * MOST_WRITERS  same (with 30); bounds how long what is promised is kept back
 * SHARING_PAYS  ecsb 1: 17.2, 17.2, 16.6; L 10: 126, 134, 133
 * SCORE_FIRST   (4, 8, 15) ecsb 1: 16.6, 17.2, 18.1; L 10: 133, 134, 122
 * SCORE_WRITER  ecsb 1: 18.6, 17.2, 16.6; L 10: 125, 134, 139
 * RUN_CACHES    (2, 3) V 100: 72.4, 73.3; M 100: 28.6, 28.8
 */
enum { STAY = 64 };                    /* further acquires by a node that others wait for */
#define MOST_PASSES ATTEMPTS_OR(16, 2) /* acquires that pass the head of a node's queue */
#define MOST_BESIDE ATTEMPTS_OR(8, 2)  /* waits beside the queue in an acquire */
/* Nodes with writers in a row while sharers are promised S. */
#define MOST_WRITERS ATTEMPTS_OR(16, 2)
#define SHARING_PAYS ATTEMPTS_OR(6, 4) /* score from which on sharers are many */
#define SCORE_FIRST ATTEMPTS_OR(8, 5)  /* score of a lock at first */
enum {
	SCORE_MOST = 15,
	SCORE_WRITER = 4, /* an exclusive miss costs so much, a shared one gains 1 */
	RUN_CACHES = 3    /* visits in a row, of which the last one keeps X */
};

/* The policy's part of a directory. TOLD: SCORE has been set. */
enum {
	P_SCORE = DIR_POLICY_SHIFT, /* 4 bits */
	P_RUN = P_SCORE + 4,        /* 2 */
	P_WRITERS = P_RUN + 2,      /* 5 */
	P_HITS = P_WRITERS + 5,     /* HITS of W at the owner, at the last visit */
	P_TOLD = P_HITS + HITS_BITS,
	P_ASKED = P_TOLD + 1 /* MODE of the home's node has WANT */
};
_Static_assert((int)P_ASKED < (int)DIR_POLICY_SHIFT + (int)DIR_POLICY_BITS, "the fields fit");

static inline int policy_get(int64_t d, int shift, int bits)
{
	return (int)((d >> shift) & ((INT64_C(1) << bits) - 1));
}

static inline int64_t policy_set(int64_t d, int shift, int bits, int value)
{
	int most = (1 << bits) - 1, within = value < 0 ? 0 : value > most ? most : value;

	return (d & ~((int64_t)most << shift)) | (int64_t)within << shift;
}

/* A client has missed, and is the head. */
static inline int64_t policy_note_miss(int64_t d, bool exclusive)
{
	int score = (d >> P_TOLD) & 1 ? policy_get(d, P_SCORE, 4) : SCORE_FIRST;

	score += exclusive ? -SCORE_WRITER : 1;
	return policy_set(d | INT64_C(1) << P_TOLD, P_SCORE, 4,
			  score > SCORE_MOST ? SCORE_MOST : score);
}

/* Whether sharers are many, so that what a writer recalls is given back to them. */
static inline bool policy_shares(int64_t d)
{
	return policy_get(d, P_SCORE, 4) >= SHARING_PAYS;
}

static inline bool policy_has_asked(int64_t d)
{
	return (d >> P_ASKED) & 1;
}

static inline int64_t policy_note_asked(int64_t d, bool asked)
{
	return policy_set(d, P_ASKED, 1, asked);
}

static inline bool policy_is_unused(int64_t d, int hits)
{
	return policy_get(d, P_HITS, HITS_BITS) == hits;
}

/* The head has recalled X, and the owner has had so many hits: visits in a row, in which the owner
 * has not used the lock. */
static inline int64_t policy_note_visit(int64_t d, int me, int hits)
{
	bool again = dir_visitor(d) == me && policy_is_unused(d, hits);
	int run = again ? policy_get(d, P_RUN, 2) + 1 : 1;

	return policy_set(policy_set(dir_visited(d, me), P_RUN, 2, run), P_HITS, HITS_BITS, hits);
}

/* Whether the home's node, which has had X, is to have it again: it has used the lock since the
 * visit before, or to look at its W costs others no round trip. */
static inline bool policy_goes_home(int64_t d, int hits, bool ordered)
{
	return ordered || !policy_is_unused(d, hits);
}

/* Whether nodes that are recalled will have their mode again, or the home's node will have X. */
static inline bool policy_lends(int64_t d, int me, int home)
{
	if (dir_mode(d) == MODE_X)
		return me != home && policy_get(d, P_RUN, 2) < RUN_CACHES;
	return policy_shares(d);
}

/* Whether a node that leaves the queue, with nothing to give back, keeps X; else the home's node
 * gets it. */
static inline bool policy_keeps(int64_t d)
{
	return policy_get(d, P_RUN, 2) >= RUN_CACHES;
}

/* Whether a node that leaves the queue gives back what it has recalled. */
static inline bool policy_gives_back(int64_t d)
{
	return dir_mode(d) == MODE_X || policy_shares(d);
}

/* What has been recalled is given back, or not. */
static inline int64_t policy_note_end(int64_t d)
{
	return policy_set(d, P_WRITERS, 5, 0);
}

/* Whether the node grants to the next one without giving back what it has recalled before. */
static inline bool policy_passes_on(int64_t *d)
{
	if (dir_is_empty(*d))
		return true;
	*d = policy_set(*d, P_WRITERS, 5, policy_get(*d, P_WRITERS, 5) + 1);
	return policy_get(*d, P_WRITERS, 5) <= MOST_WRITERS;
}

/* Whether others of a node may enter although other nodes wait, by its W. */
static inline bool policy_stays(const struct lock_setup *s, int64_t w)
{
	const struct cached_options *o = lock_options(s);

	return (w & USES) >> USES_SHIFT < (o->stay < 0 ? STAY : o->stay);
}

#endif
