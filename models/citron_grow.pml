/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's growth, the tree gets a new root while clients use it: model of src/lock/citron/citron_top.c.
 *
 * What it models. A spine of inner nodes, R_1 below R_2 and so on to R_4; R_x is the root of the
 * tree of height x. Leaves A and B are under R_1, C under R_2, D under R_3, E under R_4, with one
 * unit each. The word S stands for the units behind the tree. TOP (height, settled) describes the
 * tree now. A client knows TOP or an older value, height 1 at first, and may learn the latest one
 * before it asks, by a range of another slot of its rank. Three clients (-DNP=2: two) ask any
 * number of times for any of the ranges in choose_cover(), or with -DW0=w, -DW1=w, -DW2=w for that
 * one only, and may stop between two acquisitions. With -DFAST a range of one leaf is got by the
 * fast path or the slow one, at random. A grower makes the tree higher, up to GROWTHS
 * times (1), each time by one or two levels, with -DSTEP by all at once, and not above MOST (2).
 * -DM=1 (default) or 2: the number of levels that clients look at.
 *
 *   G1 gets the turn at S and reads TOP  G2 sets SHUT in the root  G3 swaps TOP; again if only settled is new
 *   G4 ends the turn at S
 *   L  a look above the first node includes SHUT of the known root; a client that takes the root
 *      itself looks for SHUT after it has raised OCC. A client with the turn at S reads TOP. If
 *      SHUT is set, or TOP has another height: give everything back, wait until TOP differs from
 *      the known value, start again
 *   D1 a client that has raised OCC above old roots that are not settled waits for the clients
 *   below, in the top M levels of their trees
 *   F1 the fast path sets the unit, and announces the client in each (M + 1)th level above its
 *   leaf up to the known root (stripes)  F3 looks as in L; if anything is in the way: undo all, wait
 *   D2 and for OCC of each old root; then a client that has the root itself swaps TOP (height,
 *   settled) for (height, height)
 *
 * What it proves. No two clients have the same unit, whatever height they know; no deadlock
 * (awaits are blocking guards); at the end all words say "free", and the root is open. With
 * -DLIVE=v, under weak fairness, client v gets its range whenever it wants it.
 *
 * What it abstracts. As in citron.pml. C, D, E are leaves at smaller depths than A and B; in the
 * fast path they stand for leaves as deep as these, and each has its own words at the levels below
 * R_2, R_3 and R_4. A node has one stripe. Tickets are places in lines. Left out are the fast path
 * for several leaves, tries, escalation, and failures.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NP=2 W0=0 W1=2 | safe | pass | a leaf, a node above the old root | 47 405 |
 * | NP=2 M=2 MOST=3 STEP W0=0 W1=5 | safe | pass | the same, M = 2, two levels at once | 50 070 |
 * | NP=2 MOST=3 GROWTHS=2 W0=8 W1=6 | safe | pass | the old root and a leaf beside it, two leaves outside, two growths | 177 037 |
 * | NP=2 W0=0 W1=2 LIVE=1 | live4 | pass | a leaf, a node above the old root | 76 523 |
 * | NP=2 MOST=3 GROWTHS=2 W0=0 W1=5 | safe long | pass | a leaf, a node above two old roots, two growths | 229 000 |
 * | FAST NP=2 W0=0 W1=2 | safe | pass | by the fast path or the slow one: a leaf, a node above the old root | 120 783 |
 * | FAST NP=2 M=2 MOST=3 STEP W0=0 W1=5 | safe | pass | ... M = 2, two levels at once | 126 791 |
 * | FAST NP=2 MOST=3 GROWTHS=2 W0=4 W1=5 | safe long | pass | by the fast path or the slow one: a leaf that comes into the tree, a node above two old roots, two growths | 762 405 |
 * | NP=2 | safe long | pass | 2 clients, any ranges | 6 717 989 |
 * | NP=2 M=2 MOST=3 STEP | safe long | pass | the same, M = 2, two levels at once | 9 683 679 |
 * | W0=0 W1=2 W2=4 | safe long | pass | a leaf, a node above the old root, a leaf outside | 3 769 292 |
 * | W0=0 W1=2 W2=4 LIVE=1 | live5 long | pass | a leaf, a node above the old root, a leaf outside | 5 973 854 |
 * | W0=1 W1=2 W2=3 | safe long | pass | the old root, a node above it, two leaves of which one is outside | 5 829 005 |
 * | M=2 MOST=3 STEP W0=0 W1=5 W2=3 | safe long | pass | a leaf, a node above the old root, two leaves of which one is outside, M = 2, two levels at once | 5 100 366 |
 * | NP=2 BREAK_SHUT W0=0 W1=2 | safe | assert | no client looks for SHUT | two holders of a unit |
 * | NP=2 BREAK_D1 W0=0 W1=2 | safe | assert | no D1 | two holders of a unit |
 * | NP=2 M=2 MOST=3 STEP BREAK_D1 W0=0 W1=5 | safe | assert | no D1 | two holders of a unit |
 * | NP=2 BREAK_D2 W0=1 W1=2 | safe | assert | no D2 | two holders of a unit |
 * | NP=2 BREAK_ORDER W0=0 W1=2 | safe | assert | TOP is swapped before SHUT is set | two holders of a unit |
 * | NP=2 BREAK_SPILL W0=4 W1=4 | safe | assert | a client with the turn at S does not read TOP | two holders of a unit |
 * | NP=2 MOST=3 GROWTHS=2 BREAK_SWAP W0=0 W1=2 | safe | deadlock | G3 only once, whatever its result | the root stays shut |
 * | NP=2 MOST=4 GROWTHS=2 BREAK_SETTLED W1=7 | safe long | assert | a client above one old root settles for all | two holders of a unit |
 * | FAST NP=2 BREAK_BITS W0=0 W1=2 | safe | assert | D1 does not look at the bits under an old root | two holders of a unit |
 * | FAST NP=2 BREAK_LOOK W0=0 W1=2 | safe | assert | the fast path looks before it sets the unit | two holders of a unit |
 */
#ifndef M
#define M 1
#endif
#ifndef MOST
#define MOST 2
#endif
#ifndef GROWTHS
#define GROWTHS 1
#endif
#include "citron_wants.inc"

/* nodes 1 to 4: R_1 to R_4; 5 to 9: A to E */
#define NONE 0
#define IS_LEAF(n) ((n) > 4)
#define UP(n) (IS_LEAF(n) -> (n < 7 -> 1 : n - 5) : n + 1)

byte below[5];       /* 0 not used */
bit occ[5], shut[5];
bit taken[10];        /* leaves */
byte line[5];         /* clients with tickets; 0: of S */
byte at[4], place[4]; /* where each client waits for its turn, and how many are before it */
#define NOWHERE 7
byte height = 1, settled = 1; /* TOP */
#ifdef FAST
/* stripes of the (M + 1)th level above the leaves, where A to C, D and E announce themselves; and
 * with M == 1 of R_4, two levels of that kind above all of them */
byte stripe[4];
#if M == 1
#define STRIPE(n) ((n) < 8 -> 0 : (n) - 7)
#define STRIPED(n) ((n) == 9 || (n) == 8 || h >= 2)
#define STRIPED_AGAIN (h >= 4)
#else
#define STRIPE(n) ((n) < 9 -> 0 : 1)
#define STRIPED(n) (h >= 3)
#define STRIPED_AGAIN 0
#endif
#endif
byte owned;                   /* ghost: units that are held */
byte alive = NP + 1;          /* processes that will still ask */

#include "live.inc"

/* w: the units */
#define UNITS(w) (w == 0 -> 1 : (w == 1 -> 3 : (w == 2 || w == 8 -> 7 : (w == 3 -> 6 : (w == 4 -> 4 : \
		 (w == 5 -> 15 : (w == 6 -> 12 : (w == 7 -> 8 : 31))))))))

/* The nodes at the known height; and whether S is needed. */
inline choose_cover()
{
	n0 = NONE; n1 = NONE; spill = 0;
	if
	:: w == 0 -> n0 = 5                                              /* A */
	:: w == 1 -> n0 = 1                                              /* A, B: R_1 */
	:: w == 2 -> n0 = (h == 1 -> 1 : 2); spill = (h == 1)            /* A to C: R_2 */
	:: w == 3 -> n0 = 6; n1 = (h == 1 -> NONE : 7); spill = (h == 1) /* B, C */
	:: w == 4 -> n0 = (h == 1 -> NONE : 7); spill = (h == 1)         /* C */
	:: w == 5 -> n0 = (h < 3 -> h : 3); spill = (h < 3)              /* A to D: R_3 */
	:: w == 6 -> n0 = (h == 1 -> NONE : 7); n1 = (h < 3 -> NONE : 8); spill = (h < 3) /* C, D */
	:: w == 7 -> n0 = (h < 3 -> NONE : 8); spill = (h < 3)           /* D */
	:: w == 8 -> n0 = 1; n1 = (h == 1 -> NONE : 7); spill = (h == 1) /* A to C: R_1 and C */
	:: w == 9 -> n0 = h; spill = (h < 4)                             /* A to E: R_4 */
	fi
}

/* A1: as citron_notified(), depth d being height h - d; one step each */
#define LAST(x) ((x) + M - 1 >= h) /* x is in the top M levels */
#define HIGHER(x) (LAST(x) -> h + 1 : ((x) + 2 * M - 1 > h -> h - M + 1 : (x) + M))
inline announce(n)
{
	i = UP(n);
	do
	:: d_step { i <= h ->
		below[i] = (mine >> i & 1 -> below[i] : below[i] + 1);
		fresh = (mine >> i & 1 -> fresh : fresh | (1 << i));
		mine = mine | (1 << i);
		i = HIGHER(i) }
	:: else -> break
	od;
	i = 0
}

/* only the new ones */
inline withdraw_at(x)
{
	if
	:: d_step { fresh & (1 << x) ->
		assert(below[x] > 0);
		below[x]--; mine = mine & ~(1 << x); fresh = fresh & ~(1 << x) }
	:: else
	fi
}
inline withdraw()
{
	withdraw_at(1);
	withdraw_at(2);
	withdraw_at(3);
	withdraw_at(4)
}

#ifdef BREAK_SHUT
#define LOOK(x) skip
#else
#define LOOK(x) stale = (stale || (x == h && shut[x]))
#endif

/* A3: way is an occupied node above n; stale: the root is shut; without what is above `held` */
inline look_above(n)
{
	i = UP(n);
	do
	:: d_step { i <= h && (held == NONE || UP(held) > i) ->
		way = (occ[i] && way == NONE -> i : way);
		LOOK(i);
		i++ }
	:: else -> break
	od;
	i = 0
}

/* S1: a ticket, and its turn */
inline draw_at(p, x)
{
	atomic {
		place[p] = line[x];
		at[p] = x;
		line[x]++;
		place[p] == 0;
		at[p] = NOWHERE
	}
}
inline draw(n)
{
	if
	:: n != NONE && !IS_LEAF(n) -> draw_at(p, n)
	:: else
	fi
}

#define STEP_UP(q, x) place[q] = (at[q] == x && place[q] > 0 -> place[q] - 1 : place[q])
#define END_TURN(x) \
	line[x]--; STEP_UP(0, x); STEP_UP(1, x); STEP_UP(2, x); STEP_UP(3, x)

#ifdef FAST
/* F1: the unit and the announcements in any order; unit: it was not set */
inline set_unit(n)
{
	atomic { unit = !taken[n]; taken[n] = 1 }
}
inline announce_fast(n)
{
	if :: d_step { STRIPED(n) -> stripe[STRIPE(n)]++; striped = 1 } :: else fi;
	if :: d_step { STRIPED_AGAIN -> stripe[3]++; again = 1 } :: else fi
}
inline withdraw_fast(n)
{
	if :: d_step { striped -> assert(stripe[STRIPE(n)] > 0); stripe[STRIPE(n)]--; striped = 0 } :: else fi;
	if :: d_step { again -> assert(stripe[3] > 0); stripe[3]--; again = 0 } :: else fi
}

/* U4 for these clients: each bit, or each stripe of the first level from x down, was 0 once */
inline drain_bits(x)
{
	if
	:: x < M + 1 ->
		!taken[5];
		!taken[6];
		if :: x == 2 -> !taken[7] :: else fi
#if M == 1
	:: x == 2 -> stripe[0] == 0
	:: x == 3 -> stripe[0] == 0; stripe[1] == 0
	:: x == 4 -> stripe[3] == 0
#else
	:: x == 3 -> stripe[0] == 0
	:: x == 4 -> stripe[0] == 0; stripe[1] == 0
#endif
	fi
}
#endif

/* Each was 0 once, in M levels from x down */
inline drain_from(x)
{
	below[x] == 0;
#if M > 1
	if
	:: x > 1 -> below[x - 1] == 0
	:: else
	fi
#endif
}

/* D1, D2 */
inline drain_old(n)
{
	i = known;
	do
	:: i < n ->
		if
		:: shut[i] ->
#ifndef BREAK_D1
			drain_from(i);
#if defined(FAST) && !defined(BREAK_BITS)
			drain_bits(i);
#endif
#endif
#ifndef BREAK_D2
			occ[i] == 0;
#endif
			skip
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

#ifdef BREAK_SETTLED
#define MAY_SETTLE(n) (known < n)
#else
#define MAY_SETTLE(n) (known < n && n == h)
#endif
inline settle(n)
{
	if
	:: atomic { MAY_SETTLE(n) ->
		if
		:: height == h && settled == known -> settled = h; known = h
		:: else
		fi }
	:: else
	fi
}

inline end_turn(n, has)
{
	if
	:: d_step { n != NONE && !IS_LEAF(n) -> assert(occ[n] || !(has)); occ[n] = occ[n] && !(has); END_TURN(n) }
	:: d_step { n != NONE && IS_LEAF(n) && (has) -> assert(taken[n]); taken[n] = 0 }
	:: else
	fi
}

inline bye()
{
	atomic {
		alive--;
		if
		:: alive == 0 ->
			assert(below[1] + below[2] + below[3] + below[4] == 0 && occ[1] + occ[2] + occ[3] + occ[4] == 0);
			assert(taken[5] + taken[6] + taken[7] + taken[8] + taken[9] == 0);
#ifdef FAST
			assert(stripe[0] + stripe[1] + stripe[2] + stripe[3] == 0);
#endif
			assert(line[0] + line[1] + line[2] + line[3] + line[4] == 0);
			assert(!shut[height])
		:: else
		fi
	}
}

proctype P(byte p)
{
	byte w, n0, n1, n, h = 1, known = 1, i, way, held, mine, fresh, has;
	bit spill, stale;
#ifdef FAST
	bit unit, striped, again;
#endif

	do
	:: atomic {
		WANT;
		w = WANTED(p);
		if
		:: w == ANY ->
			if
			:: w = 0 :: w = 1 :: w = 2 :: w = 3 :: w = 4 :: w = 5 :: w = 6 :: w = 7 :: w = 8 :: w = 9
			fi
		:: else
		fi;
		if
		:: height != h || settled != known -> h = height; known = settled /* learned for another range */
		:: true
		fi
	   }
restart:	choose_cover();
#ifdef FAST
		if
		:: !spill && n1 == NONE && IS_LEAF(n0)
		:: goto slow
		fi;
#ifdef BREAK_LOOK
		look_above(n0);
#endif
		if
		:: set_unit(n0); announce_fast(n0)
		:: announce_fast(n0); set_unit(n0)
		fi;
#ifndef BREAK_LOOK
		look_above(n0); /* F3 */
#endif
		if
		:: atomic { unit && way == NONE && !stale -> n = n0; unit = 0; has = 1; goto holds }
		:: else
		fi;
		if :: d_step { unit -> assert(taken[n0]); taken[n0] = 0 } :: else fi;
		withdraw_fast(n0);
		if
		:: stale -> goto give_back
		:: !stale && way != NONE -> atomic { occ[way] == 0 -> way = NONE }
		:: !stale && way == NONE && !unit -> !taken[n0]
		:: else
		fi;
		unit = 0;
		goto restart;
slow:		skip;
#endif
		/* S1 */
		draw(n0);
		draw(n1);
		if
		:: spill ->
			draw_at(p, 0);
#ifndef BREAK_SPILL
			stale = (height != h);
			if :: stale -> goto give_back :: else fi
#endif
		:: else
		fi;
		n = n0;
node:		/* S2 */
		if
		:: n == NONE -> goto holds
		:: else
		fi;
		do
		:: announce(n);
			/* A2 */
			look_above(n);
			if
			:: stale -> goto give_back
			:: !stale && way == NONE -> break
			:: else
			fi;
			withdraw();
			atomic { occ[way] == 0 -> way = NONE }
		od;
		fresh = 0;
		if
		:: IS_LEAF(n) -> atomic { !taken[n] -> taken[n] = 1; has++ }
		:: else ->
			atomic { assert(!occ[n]); occ[n] = 1; has++ } /* U2, U3 */
			LOOK(n);
			if :: stale -> goto give_back :: else fi;
			drain_from(n);                                /* U4 */
#ifdef FAST
			drain_bits(n);
#endif
			drain_old(n);
			settle(n)
		fi;
		if
		:: n == n0 && n1 != NONE -> held = n0; n = n1; goto node
		:: else
		fi;

holds:		atomic { assert((owned & UNITS(w)) == 0); owned = owned | UNITS(w); IN }
		atomic { owned = owned & ~UNITS(w); OUT_OF }

give_back:	/* R */
		end_turn(n0, has >= 1);
		end_turn(n1, has >= 2);
		if :: d_step { spill -> END_TURN(0); spill = 0 } :: else fi;
		fresh = mine;
		withdraw();
#ifdef FAST
		if :: n0 != NONE -> withdraw_fast(n0) :: else fi;
		unit = 0;
#endif
		atomic { n = NONE; n0 = NONE; n1 = NONE; held = NONE; has = 0; way = NONE }
		if
		:: stale ->
			atomic { height != h || settled != known -> h = height; known = settled; stale = 0 }
			goto restart
		:: else
		fi;
		w = 0
	:: break
	od;
	h = 0; known = 0;
	bye()
}

proctype G()
{
	byte h, known, to, grown;

	do
	:: grown < GROWTHS && height < MOST ->
		draw_at(3, 0);
		atomic { h = height; known = settled } /* G1 */
#ifdef STEP
		to = MOST;
#else
		if
		:: h + 1 <= MOST -> to = h + 1
		:: h + 2 <= MOST -> to = h + 2
		fi;
#endif
#ifdef BREAK_ORDER
		height = to;
#endif
		shut[h] = 1; /* G2 */
#ifndef BREAK_ORDER
		do
		:: atomic { height == h && settled == known -> height = to; break } /* G3 */
		:: atomic { else -> known = settled }
#ifdef BREAK_SWAP
			break
#endif
		od;
#endif
		atomic { END_TURN(0); grown++; h = 0; known = 0; to = 0 } /* G4 */
	:: break
	od;
	bye()
}

init
{
	atomic { run P(0); run P(1); if :: NP == 3 -> run P(2) :: else fi; run G() }
}
