/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lock is worth caching for: all decisions, and their constants. */
#ifndef LOCK_CACHED_POLICY_H
#define LOCK_CACHED_POLICY_H

#include "lock/cached/directory.h"

/*
 * The constants. Behind each: M acquires a second with half of it, it, and twice it, by
 *   pawl-sim --machine=cx6-4nodes --lock=adaptive --iterations=100 --bench=B --fw=PERCENT
 * where B is ecsb, or L: locktable --locality=95 --locks=10000, V: locktable --locality=80,
 * M: micro --zipf=0.8 --locks=1000, C: micro --locks=100000. "same": to three digits in ecsb 1 and
 * 10.
 *
 * STAY          ecsb 100: 7.01, 8.38, 9.37; ecsb 20: 3.68, 4.18, 3.72
 * STAY_NS       wcsb 20: 0.482, 0.452, 0.428; all exclusive sections of 1 us lose with half
 * MOST_PASSES   ecsb 100: 6.94, 8.38, 10.7 (31), for longer waits; ecsb 20: 4.11, 4.18, 4.09
 * MOST_BESIDE   same; bounds how long a client waits beside the queue
 * MOST_WRITERS  ecsb 10: 7.41, 7.73, 7.71 (30); bounds how long what is promised is kept back
 * COUNTED       C 1: 425, 410, 412; L 5: 293, 289, 283
 * MEAN_WEIGHT   ecsb 10: 6.54, 7.73, 7.73; ecsb 20: 4.09, 4.18, 4.23
 * WRITES_OFTEN  ecsb 10: 5.62, 7.73, 7.73; ecsb 20: 4.27, 4.18, 4.39; ecsb 50: 5.08, 4.76, 2.79
 * FIRST_PAYS    C 20: 75.3, 75.3, 75.3; C 50: 37.6, 37.7, 33.6
 * NEAR_OWNS     same; decides only where the transport keeps no order
 * RUN_CACHES    (2, 3) V 100: 98.5, 98.2; M 100: 28.8, 28.7
 * SOON_NS       warb 100: 2.82, 2.82, 2.25; 1.82 if all clients come back soon
 */
enum {
	STAY = 64,       /* further acquires by a node that others wait for; fewer, */
	STAY_NS = 64000, /* if they take longer than this, */
	STAY_LEAST = 8   /* but at least this part */
};
enum { HOLD_SHIFT = 2 };       /* holds of a moving mean, as a power of two */
enum { PASSES_AS_BUILT = 16 }; /* acquires that pass the head of a node's queue */
#define MOST_PASSES ATTEMPTS_OR(PASSES_AS_BUILT, 2)
_Static_assert((int)PASSES_AS_BUILT < 1 << PASSES_BITS, "W counts the passes");
#define MOST_BESIDE ATTEMPTS_OR(8, 2) /* waits beside the queue in an acquire */
/* Nodes with writers in a row while sharers are promised S. */
#define MOST_WRITERS ATTEMPTS_OR(16, 2)
#define COUNTED ATTEMPTS_OR(128, 3)    /* acquires that decide what locks are at first */
#define MEAN_WEIGHT ATTEMPTS_OR(16, 2) /* acquires of a moving mean */
enum {
	MEAN_ONE = 1024,
	WRITES_OFTEN =
	    MEAN_ONE * 3 / 10, /* mean of exclusive acquires from which on these are many */
	FIRST_PAYS = 2,        /* first shares that are worth a message to each node */
	NEAR_OWNS = 5,  /* 1 / the part of acquires at home for which a look at W there pays */
	RUN_CACHES = 3, /* visits in a row, of which the last one keeps X */
	SOON_NS = 1000  /* a client that comes back in less passes others, and is passed by them */
};

/* The policy's part of a directory. */
enum {
	P_RUN = DIR_POLICY_SHIFT,     /* 2 bits */
	P_WRITERS = P_RUN + 2,        /* 5 */
	P_HITS = P_WRITERS + 5,       /* HITS of W at the owner, at the last visit */
	P_ASKED = P_HITS + HITS_BITS, /* MODE of the home's node has WANT */
	P_INTENTS = P_ASKED + 1,      /* the lock has been acquired with intent */
	P_UNUSED = P_INTENTS + 1      /* the shares that were recalled had not been used */
};
_Static_assert((int)P_UNUSED < (int)DIR_POLICY_SHIFT + (int)DIR_POLICY_BITS, "the fields fit");

static inline int policy_get(int64_t d, int shift, int bits)
{
	return (int)((d >> shift) & ((INT64_C(1) << bits) - 1));
}

static inline int64_t policy_set(int64_t d, int shift, int bits, int value)
{
	int most = (1 << bits) - 1, within = value < 0 ? 0 : value > most ? most : value;

	return (d & ~((int64_t)most << shift)) | (int64_t)within << shift;
}

/* A client that acquires in this mode is the head. */
static inline int64_t policy_note_mode(int64_t d, int mode)
{
	return mode & (PAWL_INTENT | PAWL_INTENT_SHARED) ? d | INT64_C(1) << P_INTENTS : d;
}

static inline bool policy_has_intents(int64_t d)
{
	return (d >> P_INTENTS) & 1;
}

/* What locks are at first, after so many acquires of the table, so many of them exclusive, and so
 * many away from home. Once it is known, it is known for all greater numbers. */
static inline enum first policy_first(int64_t acquires, int64_t writes, int64_t away, int nodes,
				      bool ordered)
{
	if (acquires < COUNTED && writes * nodes <= FIRST_PAYS * COUNTED)
		return FIRST_UNKNOWN;
	if (writes * nodes <= FIRST_PAYS * away)
		return FIRST_SHARED;
	return ordered || (acquires - away) * NEAR_OWNS >= acquires ? FIRST_OWNED : FIRST_NONE;
}

/* The client's moving mean of exclusive acquires; where it begins; and after one more. */
static inline void policy_start(struct cached_slot *own)
{
	own->writes = WRITES_OFTEN / 2;
}

static inline void policy_note_acquire(struct cached_slot *own, bool exclusive)
{
	const int now = exclusive ? MEAN_ONE : 0;

	own->writes = (int16_t)(own->writes + (now - own->writes) / (int)MEAN_WEIGHT);
}

/* Whether sharers are many, for what this client has acquired lately: so what a writer recalls is
 * given back to them, and a sharer of a lock that its home's node has makes that share, too. */
static inline bool policy_shares(const struct cached_slot *own)
{
	return own->writes < WRITES_OFTEN;
}

static inline bool policy_is_soon(const struct cached_slot *own, uint64_t now)
{
	return own->since_ns && now - own->since_ns < SOON_NS;
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

/* The head has recalled the shares of other nodes, which have had so many hits together. */
static inline int64_t policy_note_share(int64_t d, int hits)
{
	bool unused = policy_is_unused(d, hits);

	return policy_set(policy_set(d, P_HITS, HITS_BITS, hits), P_UNUSED, 1, unused);
}

/* Whether the home's node, which has had X, is to have it again: it has used the lock since the
 * visit before, or to look at its W costs others no round trip. */
static inline bool policy_goes_home(int64_t d, int hits, bool ordered)
{
	return ordered || !policy_is_unused(d, hits);
}

/* Whether nodes that are recalled will have their mode again, or the home's node will have X. */
static inline bool policy_lends(const struct cached_slot *own, int64_t d)
{
	if (dir_mode(d) == MODE_X)
		return own->me != own->home && policy_get(d, P_RUN, 2) < RUN_CACHES;
	return policy_shares(own);
}

/* Whether a node that leaves the queue, with nothing to give back, keeps X; else the home's node
 * gets it. */
static inline bool policy_keeps(int64_t d)
{
	return policy_get(d, P_RUN, 2) >= RUN_CACHES;
}

/* Whether a node that leaves the queue gives back what it has recalled. */
static inline bool policy_gives_back(const struct cached_slot *own, int64_t d)
{
	return dir_mode(d) == MODE_X || (policy_shares(own) && !policy_get(d, P_UNUSED, 1));
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

/* The client has held a lock for which others wait for so long. */
static inline void policy_note_hold(struct cached_slot *own, uint64_t ns)
{
	const uint64_t most = UINT32_MAX >> HOLD_SHIFT, last = ns < most ? ns : most;

	own->hold_ns += (uint32_t)(last >> HOLD_SHIFT) - (own->hold_ns >> HOLD_SHIFT);
}

/* `most` acquires, or fewer if sections are long. */
static inline int64_t policy_by_hold(const struct cached_slot *own, int64_t most)
{
	const uint64_t stay_ns = own->hold_ns * (uint64_t)STAY;

	if (stay_ns <= STAY_NS)
		return most;
	return stay_ns < STAY_NS * STAY_LEAST ? most * STAY_NS / (int64_t)stay_ns
					      : most / STAY_LEAST;
}

/* Acquires by others of a node while other nodes wait. */
static inline int64_t policy_stay(const struct lock_setup *s, const struct cached_slot *own)
{
	const struct adaptive_options *o = adaptive_options_of(s);

	return o->stay < 0 ? policy_by_hold(own, STAY) : o->stay;
}

/* Acquires that pass the head of a node's queue. */
static inline int64_t policy_passes(const struct lock_setup *s, const struct cached_slot *own)
{
	return adaptive_options_of(s)->patience == 0 ? 0 : policy_by_hold(own, MOST_PASSES);
}

/* Whether others of a node may enter although other nodes wait, by its W. */
static inline bool policy_stays(const struct lock_setup *s, const struct cached_slot *own,
				int64_t w)
{
	return (w & USES) >> USES_SHIFT < policy_stay(s, own);
}

#endif
