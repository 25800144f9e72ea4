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
 * 10. N nodes of M: --option=topology="node:N core:M" and --ranks=N*M; another machine is named.
 *
 * STAY          ecsb 10: 12.0, 12.1, 12.1; ecsb 50: 9.05, 10.2, 11.0; ecsb 100: 13.1, 15.4, 17.6.
 *               But 1.70, 2.09, 2.15, p99 0.27, 0.46, 0.86 ms: 16 nodes of 8, ecsb 100
 *               --section=50 --think=200 --iterations=500. With 64, a multiple of MOST_PASSES + 1,
 *               the slowest rank of 5 nodes of 48 has 0.05 of the mean of ecsb 100
 *               --iterations=834, with 61 0.94
 * TRIP_NS       same; decides where round trips are long: two hosts over TCP have about 1.4 M ecsb
 *               100, 0.4 M if stays do not follow the round trip
 * STAY_NS       ecsb 100 --section=1000: 0.840, 0.897, 0.930, p99 1.4, 2.5, 4.4 ms
 * TIMES_SHIFT   (2, 5) 4.44, 4.54: warb 50 --iterations=1000 --seed=1
 * LOOKS         (0, 32, 64, 128) 153, 179, 193, 196, p99 3.6, 3.2, 2.3, 2.1 us: 4 nodes of 12,
 *               cloudlab-cx3-20nodes, locktable --fw=20 --locks=40 --locality=100 --seed=7 with
 *               --iterations=1000
 * WRITES_LOOKS  (67, 90 %, none) 23.2, 23.5, 18.7, p99 5, 5, 23 us: 2 nodes of 16, locktable
 *               --fw=100 --locks=14 --locality=100 --iterations=1000; (67, 90 %) 82.8, 78.6, p99
 *               2.5, 7.5 us: as for LOOKS, --locks=20 --fw=75
 * MANY_SHIFT    (4, 5, 6, none) 7.60, 7.63, 7.75, 6.87, p99 315, 315, 315, 365 us: 128 nodes of
 *               one, ecsb 5; 4.38, 4.38, 4.53, 2.72: 512 nodes, --iterations=40
 * COUNTED       C 1: 427, 410, 412; L 5: 320, 318, 316; V 100: 114, 115, 113. 64 tell too seldom
 *               that 1 % are away, for which SOME pays: 205, 232, 235: 16 nodes of 4, xc30-aries,
 *               locktable --fw=20 --locks=1000 --locality=99 --section=100 --iterations=312
 *               --steady --seed=719
 * MANY_LOCKS    (256, 512, 1024) 44.7, 44.7, 37.9: 12 nodes of 8, locktable --fw=10 --locks=1000
 *               --locality=80 --section=1000 --iterations=208 --steady --seed=732; (64, 256, 512)
 *               38.1, 44.3, 44.3, p99 15, 10, 10 us: 24 nodes of 3, cx5-6nodes, locktable --fw=35
 *               --locks=100 --locality=85 --section=50 --iterations=277 --steady --seed=728. In a
 *               smaller table the first sharer of a node caches the lock, and the others need no
 *               far operation
 * MEAN_WEIGHT   (32, 64, 128, 256) wcsb 20: 0.715, 0.708, 0.748, 0.746; warb 35: 4.01, 4.28, 4.56,
 *               4.94. The greater it is, the later it follows a change
 * MEAN_FIRST    (1, 2, 4, 8) 34.1, 40.1, 41.5, 44.2: 48 nodes of 2, xc30-aries, locktable --fw=35
 *               --locks=20 --locality=99 --iterations=208 --seed=722; 6.36, 6.64, 6.67, 6.63, p99
 *               25, 18, 16, 17 us: the second command of LONG_TRIPS
 * WRITES_SOME   (20, 40 %) 13.4, 6.23: 2 nodes of 32, xc30-aries, micro --fw=35 --locks=4 with
 *               --iterations=312 --steady --seed=302. (15, 17, 20, 24 %) 23.1, 22.2, 18.3, 17.5: 12
 *               nodes, --option=topology="node:12 package:2 core:2", locktable --fw=20 --locks=20
 *               --locality=90 --iterations=832. Where fewer are exclusive, sharers are in together
 * WRITES_OFTEN  (15, 30, 60 %) wcsb 20: 0.677, 0.748, 0.745; C 20: 91.0, 77.9, 77.5
 * WRITES_QUEUE  (20, 40, 80 %) 6.23, 6.23, 5.81, p99 7, 7, 11 us: 3 nodes of 8, cx5-6nodes, micro
 *               --fw=50 --locks=1000 --zipf=0.5 --iterations=1250; 40.4, 56.4, 56.4, and 40.4 with
 *               30 %: 48 nodes of one, cloudlab-cx3-20nodes, locktable --fw=20 --locks=1000
 *               --locality=90 --iterations=416 --steady --seed=731
 * LONG_TRIPS    (4, 8, 16) 3.34, 3.32, 2.29: 8 nodes of 6, cloudlab-cx3-20nodes, warb 35 with
 *               --iterations=416 --steady --seed=724; 3.64, 6.67, 6.67: 48 nodes of one, the same
 *               machine, locktable --fw=35 --locks=20 --locality=80 --burst=100 --rest=50000 with
 *               the same options
 * GATHER_TRIPS  (0, 6, 12, 24) 10.5, 13.4, 14.6, 15.4, p99 15, 17, 20, 23 us: 6 nodes of 12,
 *               cx5-6nodes, --option=topology="node:6 package:2 core:6" --bench=warb --fw=2
 *               --iterations=277 --steady --seed=724; 64 nodes of one, the same machine, sob 2 with
 *               --iterations=312 --steady --seed=729: 8.67, 9.50, 10.1, 11.1, p99 44, 54, 61, 79
 * PAYS_NODES    (64, 128, 256) p99 of 128 nodes, ecsb 5 --think=1000000: 16, 19, 47 us
 * PAYS_MOST     (1, 2, 4) p99 of 512 nodes likewise: 1.9, 0.2, 0.2 ms; ecsb 0.05 --think=100000
 *               --seconds=0.01: 4.63, 0.814, 0.331. With 0, shares always pay: 2,560 nodes with
 *               --think=10000000 --seconds=0.3 have 74 ms, not 54 us
 * UNUSED_MOST   (7, 15) 129, 110: 6 nodes of 16, cloudlab-cx3-20nodes, locktable --fw=2
 *               --locks=100 --locality=99 --iterations=1000 --seed=730
 * FIRST_PAYS    30.7, 271, 271: 24 nodes of 3, locktable --fw=1 --locks=10000 --locality=50 with
 *               --iterations=277 --seed=732
 * NEAR_OWNS     (15, 30, 60 %) 5.74, 6.38, 6.38: 4 nodes of 6, cx5-6nodes, micro --fw=100
 *               --locks=100000 --zipf=0.5 --iterations=1250; 1.11, 1.11, 0.844: 2 nodes of 2,
 *               xc30-aries, likewise with --iterations=7500
 * TAKE_NS       same; bounds how long sharers wait for one that is in, and that waits for them
 * SOON_NS       (62, 125, 250, 500) ecsb 100: 15.7, 15.4, 15.7, 15.5; 16 nodes of 8, ecsb 100
 *               --section=50 --think=200 --iterations=1000: 2.16, 2.09, 3.04, 3.12, p99 0.45, 0.46,
 *               1.3, 1.3 ms; 4 nodes of 32, micro --fw=75 --locks=4 --zipf=0.8 --section=300
 *               --think=200: 2.74, 3.26, 2.45, 2.26
 *
 * These are as great as their fields allow, since less is worse:
 * MOST_PASSES   (8, 16, 31) ecsb 100: 10.7, 13.3, 15.4; ecsb 50: 7.54, 9.75, 10.9
 * MOST_WRITERS  (15, 30) warb 35: 4.24, 4.22, p99 153, 157 us; 0.854, 0.985: 64 nodes of one,
 *               warb 75 --iterations=312 --seed=722
 * UNSEEN_MOST   (0, 1, 3) 20.3, 22.4, 23.2: --option=topology="node:2 core:16" --ranks=32
 *               --bench=locktable --fw=100 --locks=14 --locality=100 --iterations=1000
 * MOST_BESIDE   (8, 15) same; bounds how long a client waits beside the queue
 * LONG_MOST     (7, 15) warb 35, as for LONG_TRIPS: 3.16, 3.28
 * SOON_MOST     (1, 3) ecsb 35 --think=200 --iterations=1000, 32 nodes of 3: 2.85, 2.98, p99 133,
 *               121 us
 * MET_MOST      (0, 1, 3) 11.4, 12.0, 12.1, p99 6.4, 4.7, 4.7 us: 2 nodes of 2, locktable --fw=20
 *               --locks=1000 --locality=95 --iterations=20000
 * RUN_CACHES    (2, 3) M 100: 30.8, 31.1
 */
enum {
	/* Further acquires by a node that others wait for. In a multiple of the head and those that
	 * pass it, the same clients would pass in each stay; */
	STAY = 61,
	TRIP_NS = 2000, /* so many for each such part of a round trip; */
	STAY_NS = 32000 /* fewer, if they take longer than this */
};
enum { TIMES_SHIFT = 2 };      /* times of a moving mean, as a power of two */
enum { PASSES_AS_BUILT = 31 }; /* acquires that pass the head of a node's queue */
#define MOST_PASSES ATTEMPTS_OR(PASSES_AS_BUILT, 2)
_Static_assert((int)PASSES_AS_BUILT < 1 << PASSES_BITS, "W counts the passes");
_Static_assert((int)STAY % ((int)PASSES_AS_BUILT + 1) != 0, "other clients pass in each stay");
#define UNSEEN_MOST ATTEMPTS_OR(3, 1)  /* grants within a node between two looks at W */
#define LOOKS ATTEMPTS_OR(64, 2)       /* at W, in an acquire, before the client queues */
#define MOST_BESIDE ATTEMPTS_OR(15, 2) /* waits beside the queue in an acquire */
/* Nodes with writers in a row while sharers are promised S. Where so many nodes are asked that to
 * recall them takes longer than these, one is counted in 4, 16 or 64. */
enum { WRITERS_AS_BUILT = 30, MANY_SHIFT = 5, MANY_STEP = 2, MANY_BITS = 2 };
#define MOST_WRITERS ATTEMPTS_OR(WRITERS_AS_BUILT, 2)
#define COUNTED ATTEMPTS_OR(128, 3)     /* acquires that decide what locks are at first */
#define MANY_LOCKS ATTEMPTS_OR(512, 3)  /* of a table in which clients seldom meet at one */
#define MEAN_WEIGHT ATTEMPTS_OR(128, 8) /* acquires, or round trips, of a moving mean */
#define UNUSED_MOST ATTEMPTS_OR(15, 1)  /* shares of no use that count: more than half decide */
#define MET_MOST ATTEMPTS_OR(3, 1)      /* recalls that a client takes to forget a lock with SOME */
#define UNCACHED_ALWAYS ATTEMPTS_OR(false, true)
/* T: until sharers are looked for at the node before; at all nodes */
#define TAKE_NS ATTEMPTS_OR(UINT64_C(200000), UINT64_C(1000))
#define TAKE_ALL_NS (16 * TAKE_NS)
#define LONG_MOST ATTEMPTS_OR(15, 1) /* long waits that are counted: more than half decide */
#define SOON_MOST ATTEMPTS_OR(3, 1)  /* returns that are counted: more than half decide */
enum {
	MEAN_ONE = 16384,
	MEAN_FIRST = 4, /* for so many times more counts each of the first MEAN_WEIGHT */
	/* The mean of exclusive acquires from which on these are not few; are many; */
	WRITES_SOME = MEAN_ONE * 3 / 20,
	WRITES_OFTEN = MEAN_ONE * 3 / 10,
	WRITES_QUEUE = MEAN_ONE * 2 / 5, /* too many to let sharers use a lock in no queue; */
	WRITES_LOOKS = MEAN_ONE * 2 / 3, /* to look at W before the client queues */
	PAYS_NODES = 128, /* of so many nodes, each has to use a share once for it to pay; */
	PAYS_MOST = 2,    /* of more, so often at most */
	FIRST_PAYS = 2,   /* first shares that are worth a message to each node */
	/* The part of acquires at home for which a look at W there pays. */
	NEAR_OWNS = MEAN_ONE * 3 / 10,
	RUN_CACHES = 3,    /* visits in a row, of which the last one keeps X */
	LONG_TRIPS = 8,    /* round trips in a long wait */
	GATHER_TRIPS = 12, /* round trips for which a writer waits for others at most */
	/* A client that comes back in less passes others, and is passed by them; a hold that takes
	 * less is brief. */
	SOON_NS = 125
};

/* The policy's part of a directory. */
enum { WRITERS_BITS = 5 };
_Static_assert(WRITERS_AS_BUILT + 1 < 1 << WRITERS_BITS, "a count that is full ends the row");
enum {
	P_RUN = DIR_POLICY_SHIFT, /* 2 bits */
	P_WRITERS = P_RUN + 2,    /* WRITERS_BITS */
	/* HITS of W at the owner, at the last visit; or the round of shares, its lowest bit */
	P_HITS = P_WRITERS + WRITERS_BITS,
	P_INTENTS = P_HITS + HITS_BITS, /* the lock has been acquired with intent */
	P_UNUSED = P_INTENTS + 1,       /* the nodes recalled had used their shares too seldom */
	P_MANY = P_UNUSED + 1           /* MANY_BITS; how many nodes were asked for them */
};
_Static_assert((int)P_MANY + (int)MANY_BITS == (int)DIR_POLICY_SHIFT + (int)DIR_POLICY_BITS,
	       "the fields fit");

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

static inline int policy_nodes(const struct lock_setup *s)
{
	const struct cached_constants *k = s->state;

	return k->nodes;
}

/* Whether the table has so many locks that clients seldom meet at one, or meet it again. Where
 * locks are owned at first, shares are taken to be of no use there, until writers find otherwise.
 */
static inline bool policy_has_many_locks(const struct lock_setup *s)
{
	return s->n >= (uint64_t)MANY_LOCKS;
}

/* Whether no sharer is to use a lock uncached, where so many of MEAN_ONE acquires are exclusive:
 * where these are many, or not few, and clients often meet at a lock, to keep the queue (S5) is
 * better. */
static inline bool policy_avoids_uncached(const struct lock_setup *s, int64_t writes)
{
	return writes >= (policy_has_many_locks(s) ? WRITES_QUEUE : WRITES_SOME) &&
	       !UNCACHED_ALWAYS;
}

/* What locks are at first, after so many acquires of the table, so many of them exclusive, and so
 * many away from home. Once it is known, it is known for all greater numbers. That a lock which its
 * home's node has at first has SOME saves a sharer away from home a round trip, and costs a writer
 * half of one: it has to look for sharers, unless the home's node has X. */
static inline enum first policy_first(const struct lock_setup *s, int64_t acquires, int64_t writes,
				      int64_t away, bool ordered)
{
	const int nodes = policy_nodes(s);

	if (acquires < COUNTED && writes * nodes <= FIRST_PAYS * COUNTED)
		return FIRST_UNKNOWN;
	/* Not if none is away: other nodes do not use the locks. */
	if (writes * nodes < FIRST_PAYS * away)
		return FIRST_SHARED;
	if (!ordered && (acquires - away) * MEAN_ONE < NEAR_OWNS * acquires)
		return FIRST_NONE;
	return away && !policy_avoids_uncached(s, writes * MEAN_ONE / acquires) ? FIRST_SOME
										: FIRST_OWNED;
}

/* The client's moving mean of exclusive acquires; where it begins; and after one more. */
static inline void policy_start(struct cached_slot *own)
{
	own->writes = WRITES_OFTEN / 2;
}

static inline void policy_note_acquire(struct cached_slot *own, bool exclusive, uint64_t acquires)
{
	const int off = (exclusive ? MEAN_ONE : 0) - own->writes;

	own->writes = (int16_t)(own->writes + (acquires < (uint64_t)MEAN_WEIGHT
						   ? off / (MEAN_WEIGHT / MEAN_FIRST)
						   : off / (int)MEAN_WEIGHT));
}

/* How often a client that W excludes looks at it before it queues. Where most are exclusive, they
 * would take the line from each other, and a queue is better. */
static inline int policy_looks(const struct cached_slot *own)
{
	return own->writes < (int)WRITES_LOOKS ? LOOKS : 0;
}

/* Whether most waits have been long of late. */
static inline bool policy_waits_long(const struct cached_slot *own)
{
	return (int)own->long_waits > LONG_MOST / 2;
}

static inline unsigned policy_moved(unsigned count, int more, int most)
{
	const int now = (int)count + more;

	return (unsigned)(now < 0 ? 0 : now > most ? most : now);
}

/* The client, which does not hit the lock, comes back to it now. */
static inline void policy_note_return(struct cached_slot *own, uint64_t now)
{
	const bool is_soon = own->since_ns && now - own->since_ns < SOON_NS;

	own->soon = policy_moved(own->soon, is_soon ? 1 : -1, SOON_MOST) & 3;
}

/* Whether the client has come back soon most times of late, where exclusive clients are not few.
 * Such a client is better off if it passes others, and they pass it. */
static inline bool policy_is_soon(const struct cached_slot *own)
{
	return (int)own->soon > SOON_MOST / 2 && own->writes >= WRITES_SOME;
}

/* Whether the head of QUEUE lets clients that come back soon pass, as it does so itself. */
static inline bool policy_lets_pass(const struct cached_slot *own)
{
	return ATTEMPTS_OR(policy_is_soon(own), true);
}

/* Whether the client acquires the lock again at once, and holds it briefly, and its node has
 * several clients for each lock. The more such clients exclude others, the more they gain by a stay
 * of their node, which sharers would end. (32 nodes of 2, cloudlab-cx3-20nodes, ecsb 35: 9.42 M
 * acquires a second, 8.78 M if no client is so. 24 nodes of one, the same machine, ecsb 50: 1.03,
 * 0.64 if one client is enough; 32 nodes of 3, micro --fw=35 --locks=4 --zipf=0: 5.59, 3.84 if
 * several are enough for four locks. All with --iterations=1000.) */
static inline bool policy_is_brief(const struct lock_setup *s, const struct cached_slot *own)
{
	return policy_is_soon(own) && own->hold_ns < SOON_NS &&
	       (uint64_t)s->topo->nranks >= 2 * s->n * (uint64_t)policy_nodes(s);
}

/* E: whether a sharer acquires as an exclusive client does, if one is behind it: where these are
 * not few, and holds are brief, to change W costs more than sharers gain by being in together. */
static inline bool policy_is_as_writer(const struct cached_slot *own)
{
	return ATTEMPTS_OR(own->hold_ns < SOON_NS, true) && own->writes >= WRITES_SOME;
}

/* Whether sharers are many, for what this client has acquired lately: so what a writer recalls is
 * given back to them, and a sharer of a lock that its home's node has makes that share, too. Where
 * clients wait for other nodes, sharers that come in together make up for more writers; but not at
 * home, where a writer that finds X needs no message. (66.9 M acquires a second, 31.6 M if
 * clients at home share as others do: --machine=xc30-aries --option=topology="node:48 core:2"
 * --ranks=96 --bench=locktable --fw=35 --locks=20 --locality=99 --iterations=208 --steady
 * --seed=722.) Waits are those of clients that queued behind another node, and long ones. (warb 35
 * and sob 50, both with --iterations=300: 5.21, 0.815; 4.73, 0.607 if only long ones count; 3.20,
 * 0.656 if only the others do.) */
static inline bool policy_shares(const struct lock_setup *s, const struct cached_slot *own)
{
	const bool waits = (own->queued && own->me != own->home) || policy_waits_long(own);

	return own->writes < WRITES_OFTEN || (waits && !policy_is_brief(s, own));
}

/* L1: whether a sharer that is not the head of QUEUE takes W that has been handed over. Where
 * sharers are many, they are to enter together, from the queue. (11.5 M acquires a second, 4.44 M
 * without those that come back soon: --machine=cloudlab-cx3-20nodes --ranks=72
 * --option=topology="node:12 core:6" --bench=ecsb --fw=30 --iterations=13000.) */
static inline bool policy_takes_handed(const struct lock_setup *s, const struct cached_slot *own)
{
	return !policy_shares(s, own) || (policy_is_soon(own) && policy_is_as_writer(own));
}

/* S5: whether a sharer keeps the queue as an exclusive client does. Where exclusive clients are not
 * few, one of them is likely to be next, and would recall what the sharer caches. Where waits are
 * long, sharers gain more by being in together. */
static inline bool policy_keeps_for_sharers(const struct cached_slot *own)
{
	return own->writes >= WRITES_SOME && (!policy_waits_long(own) || UNCACHED_ALWAYS);
}

static inline bool policy_is_unused(int64_t d, int hits)
{
	return policy_get(d, P_HITS, HITS_BITS) == hits;
}

/* The head has recalled X, and the owner has had so many hits: visits in a row by one node, in
 * which the owner has not used the lock; 0: it has not between the last two, which were by two
 * nodes. */
static inline int64_t policy_note_visit(int64_t d, int me, int hits)
{
	const bool unused = policy_is_unused(d, hits);
	const int run = !unused ? 1 : dir_visitor(d) == me ? policy_get(d, P_RUN, 2) + 1 : 0;

	return policy_set(policy_set(dir_visited(d, me), P_RUN, 2, run), P_HITS, HITS_BITS, hits);
}

/* The round of shares. It differs from the one before, so W of a node tells whether the node has
 * used the lock since it was given back. */
static inline int policy_round(int64_t d)
{
	return policy_get(d, P_HITS, 1);
}

static inline int64_t policy_next_round(int64_t d)
{
	return policy_set(d, P_HITS, 1, !policy_round(d));
}

/* Uses of a share by its node since it was given back. The node has had no hit in the first round;
 * and 32 of them look like none. A miss at home needs no far operation, so what the home's node has
 * used does not tell that the shares of other nodes pay, unless one use is enough. (15.3 M acquires
 * a second, p99 19 us; 13.0 M, 29 us if it does: --machine=cloudlab-cx3-20nodes
 * --option=topology="node:48 core:1" --ranks=48 --bench=locktable --fw=10 --locks=100
 * --locality=80 --section=1000 --iterations=1664 --seed=737.) */
static inline int policy_uses(const struct lock_setup *s, int hits, bool at_home)
{
	if (at_home)
		return (int64_t)policy_nodes(s) * policy_nodes(s) <= PAYS_NODES;
	return hits ? hits : 1;
}

/* The head has recalled the shares of so many nodes, which others have used so often. The more
 * nodes there are, the longer a recall keeps all of them from the lock, and the more often each
 * share has to be used. */
static inline int64_t policy_note_share(const struct lock_setup *s, int64_t d, int nodes, int hits)
{
	const int each =
	    policy_nodes(s) < PAYS_MOST * PAYS_NODES ? policy_nodes(s) : PAYS_MOST * PAYS_NODES;
	int many = 0;

	while (many + 1 < 1 << MANY_BITS && nodes >> (MANY_SHIFT + many * MANY_STEP))
		many++;
	d = policy_set(d, P_MANY, MANY_BITS, many);
	return policy_set(d, P_UNUSED, 1, (int64_t)hits * PAYS_NODES < (int64_t)nodes * each);
}

/* Whether the home's node, which has had X, is to have it again: it has used the lock since the
 * visit before; or this node did not make that visit, and it is the first one in a row to find no
 * use; or to look at W of the home's node costs others no round trip. (14.4 M acquires a second
 * without the second of these, 15.7 M:
 * --machine=cloudlab-cx3-20nodes --option=topology="node:16 core:4" --ranks=64 --bench=locktable
 * --locality=50 --locks=10000 --fw=100 --iterations=300.) */
static inline bool policy_goes_home(int64_t d, int me, int hits, bool ordered)
{
	return ordered || !policy_is_unused(d, hits) ||
	       (dir_visitor(d) != me && policy_get(d, P_RUN, 2) > 0);
}

/* Whether nodes that are recalled will have their mode again, or the home's node will have X. Where
 * shares do not pay, a writer of the home's node promises none: to take back what was promised
 * is a round trip (L4), and that node is the next to use the lock. Nor does any, of many nodes:
 * a sharer that is next would give them all back (S1). (43.5 M acquires a second, 34.3 M without:
 * --machine=cloudlab-cx3-20nodes --option=topology="node:4 core:12" --ranks=48 --bench=locktable
 * --fw=20 --locks=20 --locality=99 --iterations=1000.) */
static inline bool policy_lends(const struct lock_setup *s, const struct cached_slot *own,
				int64_t d)
{
	if (dir_mode(d) == MODE_X)
		return own->me != own->home && policy_get(d, P_RUN, 2) < RUN_CACHES;
	return policy_shares(s, own) && !((own->me == own->home || policy_nodes(s) >= PAYS_NODES) &&
					  policy_get(d, P_UNUSED, 1));
}

/* Whether a node that leaves the queue, with nothing to give back, keeps X; else the home's node
 * gets it. */
static inline bool policy_keeps(int64_t d)
{
	return policy_get(d, P_RUN, 2) >= RUN_CACHES;
}

/* Whether a node that leaves the queue gives back what it has recalled. */
static inline bool policy_gives_back(const struct lock_setup *s, const struct cached_slot *own,
				     int64_t d)
{
	return dir_mode(d) == MODE_X || (policy_shares(s, own) && !policy_get(d, P_UNUSED, 1));
}

/* Nodes have used the shares that they had last too seldom. */
static inline bool policy_is_unused_share(int64_t d)
{
	return policy_get(d, P_UNUSED, 1) || UNCACHED_ALWAYS;
}

/* Whether sharers may use a lock with this directory uncached. Where the home's node has X, it
 * keeps that so. Where nodes have S, it takes as many far operations as a share that nobody uses,
 * and one round trip less where order is kept. */
static inline bool policy_allows_uncached(int64_t d, bool ordered)
{
	if (policy_has_intents(d))
		return false;
	return dir_mode(d) == MODE_X || dir_is_empty(d) || (ordered && policy_is_unused_share(d));
}

/* What shares have been good for, as this client has seen it: whether those that it recalled, or
 * found given back, had been used. It counts for more, the more nodes were asked for them. (p99
 * 47 us, 79 us if all count alike: --machine=cx6-4nodes --option=topology="node:512 core:1"
 * --ranks=512 --fw=5 --think=2000000 --seconds=0.3.) */
static inline void policy_note_use(struct cached_slot *own, int64_t d)
{
	const int counts = 1 << policy_get(d, P_MANY, MANY_BITS);

	own->unused =
	    policy_moved(own->unused, policy_is_unused_share(d) ? counts : -counts, UNUSED_MOST) &
	    15;
}

/* The directory of a lock that its home's node owns at first, as if that had used it. */
static inline int64_t policy_owned(const struct lock_setup *s, int home)
{
	return policy_set(dir_owned(INT64_C(1) << P_RUN, home), P_UNUSED, 1,
			  policy_has_many_locks(s));
}

/* The client has been told that locks are owned at first. */
static inline void policy_note_owned(const struct lock_setup *s, struct cached_slot *own)
{
	if (policy_has_many_locks(s))
		own->unused = (UNUSED_MOST / 2 + 1) & 15;
}

/* Whether shares have been of no use. */
static inline bool policy_has_no_use(const struct cached_slot *own)
{
	return UNCACHED_ALWAYS || (int)own->unused > UNUSED_MOST / 2;
}

/* Whether a sharer that is in no queue finds SOME in TAIL while the queue is empty, or puts it
 * there (U2). (40.5 M acquires a second, 36.2 M if sharers try in other tables, too:
 * --machine=xc30-aries --option=topology="node:6 core:3" --ranks=18 --bench=locktable --fw=20
 * --locks=100000 --locality=99 --section=300 --iterations=1111 --lengthen=2 --seed=733.) */
static inline bool policy_expects_some(const struct cached_slot *own, bool ordered)
{
	return UNCACHED_ALWAYS || ordered || own->first == FIRST_SOME;
}

/* Whether a writer that leaves the queue lets sharers use the lock uncached without a miss. */
static inline bool policy_leaves_some(const struct lock_setup *s, const struct cached_slot *own,
				      bool ordered)
{
	if (policy_avoids_uncached(s, own->writes))
		return false;
	return own->first == FIRST_SOME || (own->first == FIRST_UNKNOWN && policy_has_no_use(own) &&
					    policy_expects_some(own, ordered));
}

/* Uncached acquires for one that joins the sharers, which shows whether shares are of use now: the
 * more, the more nodes a recall asks for each that has joined. */
static inline int policy_uncached_most(const struct lock_setup *s)
{
	const int most = COUNTED * ((policy_nodes(s) + SET_BITS - 1) / SET_BITS);

	return most < UINT8_MAX ? most : UINT8_MAX;
}

/* Whether the head, a sharer, uses the lock uncached. */
static inline bool policy_shares_uncached(const struct lock_setup *s, struct cached_slot *own,
					  int64_t d, bool ordered)
{
	if (own->me == own->home || !policy_allows_uncached(d, ordered) ||
	    policy_avoids_uncached(s, own->writes))
		return false;
	policy_note_use(own, d); /* what the last writer has found */
	if (!policy_has_no_use(own) || !policy_expects_some(own, ordered))
		return false;
	if (++own->uncached < policy_uncached_most(s))
		return true;
	own->uncached = 0;
	return false;
}

/* Whether a sharer tries that before it misses. Where waits are long, others are in the queue.
 * (492 k acquires a second, 457 k without that:
 * --machine=cx6-4nodes --option=topology="node:512 core:1" --ranks=512 --fw=5 --think=1000000
 * --seconds=0.1.) */
static inline bool policy_tries_uncached(const struct lock_setup *s, const struct cached_slot *own,
					 bool ordered)
{
	return policy_has_no_use(own) && policy_expects_some(own, ordered) &&
	       (UNCACHED_ALWAYS || !policy_waits_long(own)) && own->me != own->home &&
	       own->uncached < policy_uncached_most(s) - 1 &&
	       !policy_avoids_uncached(s, own->writes);
}

/* Whether an exclusive client may meet uncached sharers where order is kept, so that it gets
 * UNCACHED with W: if it got that later, it would need one more round trip. One of the last
 * MET_MOST locks that it recalled had SOME. */
static inline bool policy_meets_uncached(const struct cached_slot *own)
{
	return own->met > 0;
}

/* The client, which excludes sharers, recalls a lock with SOME, or one without. */
static inline void policy_note_some(struct cached_slot *own, bool some)
{
	own->met = some ? MET_MOST : policy_moved(own->met, -1, MET_MOST) & 3;
}

/* What has been recalled is given back, or not. */
static inline int64_t policy_note_end(int64_t d)
{
	return policy_set(d, P_WRITERS, WRITERS_BITS, 0);
}

/* A moving mean of times. */
static inline void policy_mean(uint32_t *mean, uint64_t ns)
{
	const uint64_t most = UINT32_MAX >> TIMES_SHIFT, last = ns < most ? ns : most;

	*mean += (uint32_t)(last >> TIMES_SHIFT) - (*mean >> TIMES_SHIFT);
}

/* For how long a writer is to wait for others, as this client has seen since its last exclusive
 * acquire: what it has waited as a sharer is what it gains if writers come together. No longer than
 * it has not waited, since after such a time most clients wait as writers; and the less, the
 * smaller the part of its time is that it has waited: then the lock does not limit the clients. */
static inline uint64_t policy_shared_ns(const struct cached_slot *own, uint64_t now)
{
	const uint64_t from = own->wrote_ns + own->shared_ns, waited = own->shared_ns;
	const uint64_t ran = own->wrote_ns && now > from ? now - from : 0;

	return ran <= waited ? ran : waited * waited / ran;
}

/* The client has waited from `begin` to now, at a lock that it did not hit. */
static inline void policy_note_wait(struct cached_slot *own, uint64_t begin, uint64_t now,
				    bool exclusive)
{
	const uint64_t ns = now - begin;
	const bool is_long = ns > (uint64_t)LONG_TRIPS * own->trip_ns;

	own->long_waits = policy_moved(own->long_waits, is_long ? 1 : -1, LONG_MOST) & 15;
	if (exclusive) {
		policy_mean(&own->gather_ns, policy_shared_ns(own, begin));
		own->wrote_ns = now;
		own->shared_ns = 0;
	} else if (own->returns && ns < UINT32_MAX - own->shared_ns) {
		own->shared_ns += (uint32_t)ns;
	}
}

/* How long a writer waits for others before it recalls shares: sharers go on meanwhile, and one
 * recall serves all writers. */
static inline uint64_t policy_gather_ns(const struct cached_slot *own, bool exclusive, int64_t d)
{
	const uint64_t most = (uint64_t)GATHER_TRIPS * own->trip_ns;

	if (!exclusive || !dir_is_open(d) || dir_mode(d) != MODE_S)
		return 0;
	return own->gather_ns < most ? own->gather_ns : most;
}

/* Whether the node grants to the next one without giving back what it has recalled before. */
static inline bool policy_passes_on(struct cached_slot *own, int64_t *d)
{
	if (dir_is_empty(*d))
		return true;
	if (++own->passed_on < 1 << policy_get(*d, P_MANY, MANY_BITS) * MANY_STEP)
		return true;
	own->passed_on = 0;
	*d = policy_set(*d, P_WRITERS, WRITERS_BITS, policy_get(*d, P_WRITERS, WRITERS_BITS) + 1);
	return policy_get(*d, P_WRITERS, WRITERS_BITS) <= MOST_WRITERS;
}

/* The client has held a lock for which others wait for so long. */
static inline void policy_note_hold(struct cached_slot *own, uint64_t ns)
{
	policy_mean(&own->hold_ns, ns);
}

/* A round trip has taken so long. A client that lost its processor meanwhile says little. */
static inline void policy_note_trip(struct cached_slot *own, uint64_t ns)
{
	const uint64_t trip = own->trip_ns, most = UINT32_MAX / 2, now = ns < most ? ns : most;

	if (!trip || now < trip)
		own->trip_ns = (uint32_t)now;
	else
		own->trip_ns += (uint32_t)((now < 2 * trip ? now - trip : trip) / MEAN_WEIGHT);
}

/* Whether USES counts this acquire of a stay: each, or, unless the user says how long a stay is,
 * one in so many, where round trips are long. */
static inline bool policy_counts(const struct lock_setup *s, struct cached_slot *own)
{
	const uint32_t trips = own->trip_ns / TRIP_NS;

	if (adaptive_options_of(s)->stay < 0 &&
	    ++own->uncounted < (trips < UINT8_MAX ? trips : UINT8_MAX))
		return false;
	own->uncounted = 0;
	return true;
}

/* `most` acquires, or fewer if sections are long. */
static inline int64_t policy_by_hold(const struct cached_slot *own, int64_t most)
{
	const uint64_t stay_ns = own->hold_ns * (uint64_t)STAY;

	return stay_ns <= STAY_NS ? most : most * STAY_NS / (int64_t)stay_ns;
}

/* Acquires by others of a node while other nodes wait. */
static inline int64_t policy_stay(const struct lock_setup *s, const struct cached_slot *own)
{
	const struct adaptive_options *o = adaptive_options_of(s);

	return o->stay < 0 ? policy_by_hold(own, STAY) : o->stay;
}

/* G: whether the next client of the node is granted W without a look at it: a look takes a cache
 * line from those that come. Where clients return to the lock at once, others pass the head
 * meanwhile, which is better still. (2.98 M acquires a second, 2.54 M without those that come back
 * later: --machine=cx5-6nodes --option=topology="node:3 package:2 core:12" --ranks=72 --fw=100
 * --section=50 --think=2000 --iterations=500.) */
static inline bool policy_grants_unseen(const struct lock_setup *s, const struct cached_slot *own)
{
	return ATTEMPTS_OR(!own->returns || !policy_is_soon(own), true) &&
	       (int)own->unseen < UNSEEN_MOST && policy_stay(s, own) >= STAY;
}

/* Acquires that pass the head of a node's queue: by clients that return to the lock, which have its
 * line. Others would keep those that wait from the locks that they use next. (40.4 M acquires a
 * second with others, 51.7 M without: the command of UNSEEN_MOST, --fw=20 --locks=30.) */
static inline int64_t policy_passes(const struct lock_setup *s, const struct cached_slot *own)
{
	if (!ATTEMPTS_OR(own->returns, true) || adaptive_options_of(s)->patience == 0)
		return 0;
	return policy_by_hold(own, MOST_PASSES);
}

/* Whether others of a node may enter although other nodes wait, by its W. */
static inline bool policy_stays(const struct lock_setup *s, const struct cached_slot *own,
				int64_t w)
{
	return (w & USES) >> USES_SHIFT < policy_stay(s, own);
}

#endif
