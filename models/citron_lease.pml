/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's recovery, a new copy of the tree for all: model of src/lock/citron/citron_lease.c.
 *
 * What it models. Three clients (-DNP=2: two) ask any number of times for any of three ranges, or
 * with -DW0=w, -DW1=w, -DW2=w for that one only: 0 is leaf A, 1 its root R, which is A and one more
 * unit, 2 is unit C behind the tree, by the word S. They may stop between two acquisitions, and be
 * slow at any step; process 0 may die at any step. TOP (copy, height, era) says which copy is in
 * use; in an odd era the copy is frozen. Clients know the copy and the height, or older ones.
 * -DNC=3 (default): copies. -DNE=4 (default): eras, at most. With -DFAST leaf A is got by the fast
 * path or the slow one, at random. With -DGROW a grower gives the tree a new root P, with R and leaf
 * C below it; it may be slow or stop for good at any step.
 *
 *   F1 the fast path sets the unit of A, which announces the client  F3 looks at TOP, at R and, with
 *   it, at the root; if anything is in the way, or the unit was set: undo all, wait
 *   R1, R2 swap TOP for the next era, if it is even   R3 wait until the awaited event comes, and open the space
 *   again; or for T, with TOP unchanged   R4 take a new copy, and swap TOP for (new, height, next era)
 *
 * A waiter may suspect a failure at any time; when copies or eras are used up it gives up for good.
 * It drops all it has if another copy is in use. A client that has all it asked for looks at TOP
 * and its root once more if its last look is old, and always if its lease is over, unless (-DSTILL)
 * its clock has stood still since that look. A client that has S looks at TOP. A client that
 * releases reads TOP, and has lost its range if another copy is in use. A client that has seen the
 * space frozen gives everything back and waits for TOP to change; it may open the space at any
 * time.
 *
 * Time. There is no clock. A lease begins with the look that saw the copy open, which is as late as
 * possible. It lasts until the end of an R3 that began, with the space frozen, after the lease
 * began, which is as long as possible. Then it is over by its client's clock, too, unless that has
 * stood still. A client is in from the return of its acquire to the start of its release. With
 * -DPROMPT only the dead are late: R3 ends, and others open the space, only when no other process
 * can do a step.
 *
 * What it proves. Of the clients that are in, within their leases, no two have the same unit; two
 * at one copy never have. A client that was in while another was in with one of its units at a
 * newer copy learns at its release that the range is lost. Words never fall below zero, in any
 * copy. No deadlock of the living (awaits are blocking guards). If no process has died or given
 * up, at the end all words of the copy in use say "free", and it is not frozen. With -DPROMPT no
 * process recovers unless one has died.
 *
 * What it abstracts. The tree is reduced to what recovery needs, and a turn at R or S is a bit:
 * citron.pml and citron_grow.pml model the rest. No client asks for P. PASSED is left out: in R3
 * slow clients are late. R4 takes a copy in one step with the swap, and a client that waits for TOP
 * sees in its root, not in the era, whether TOP had changed before. An operation and its flush are
 * one step.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NP=2 W0=0 W1=0 | safe | pass | 2 clients, one of which may die, at a leaf, 3 copies; a client that lost its range learns it | 163 939 |
 * | NP=2 PROMPT W0=0 W1=0 | safe | pass | the same, only the dead being late; no living client is given up | 13 684 |
 * | FAST NP=2 W0=0 W1=0 | safe | pass | by the fast path or the slow one: at a leaf | 472 013 |
 * | FAST NP=2 NC=2 W0=0 W1=1 | safe | pass | one at its root, 2 copies | 236 829 |
 * | FAST NP=2 PROMPT W0=0 W1=1 | safe | pass | ... one at its root, only the dead being late; no living client is given up | 32 288 |
 * | NP=2 NC=2 | safe middle | pass | 2 clients, any ranges, 2 copies | 1 086 823 |
 * | NP=2 | safe long | pass | 2 clients, any ranges, 3 copies | 1 876 633 |
 * | NC=2 W0=0 W1=0 W2=0 | safe long | pass | 3 clients at a leaf, 2 copies | 14 144 311 |
 * | NC=2 W0=0 W1=1 W2=0 | safe long | pass | 3 clients, 2 copies: two at a leaf, one at its root | 28 204 081 |
 * | NP=2 NC=2 GROW W0=0 W1=0 | safe long | pass | 2 clients at a leaf, 2 copies, and growth | 10 832 668 |
 * | NP=2 GROW W0=2 W1=2 | safe long | pass | 2 clients, 3 copies, and growth: a unit that comes into the tree | 5 549 869 |
 * | NP=2 STILL W0=0 W1=0 | safe | pass | 2 clients at a leaf, 3 copies, clocks that may stand still | 199 660 |
 * | NP=2 BREAK_WAIT W0=0 W1=0 | safe | assert | no R3 | two holders of a unit, both in their leases |
 * | NP=2 PROMPT BREAK_SUSPECT W0=0 W1=0 | safe | assert | R3 does not look for the awaited event | a recovery although no client died |
 * | NP=2 BREAK_ERA W0=0 W1=0 | safe | assert | the space is opened in the previous era | two holders of a unit, both in their leases |
 * | NP=2 BREAK_PUT W0=0 W1=0 | safe | assert | R4 is a put | two holders of a unit, both in their leases |
 * | NP=2 BREAK_REUSE W0=0 W1=0 | safe | assert | R4 clears the copy before the last, and uses it again | a word below zero: a late release meets a copy that was cleared |
 * | NP=2 BREAK_LOOK W0=0 W1=0 | safe | assert | the lease is counted from when everything is held, without a look then | two holders, both in their leases |
 * | NP=2 BREAK_FIRST W0=0 W1=0 | safe | assert | the lease begins after the look | two holders, both in their leases |
 * | NP=2 BREAK_SPILL W0=2 W1=2 | safe | assert | a client that has S does not look whether the space is frozen | two holders, both in their leases |
 * | NP=2 BREAK_TOP W0=0 W1=0 | safe | assert | release does not read TOP | the release of a lost range reports nothing |
 * | NP=2 STILL BREAK_CLOCK W0=0 W1=0 | safe | assert | release reads TOP only if the lease is over by its clock | |
 * | NP=2 BREAK_AGAIN W0=0 W1=0 | safe | deadlock | a client that waits for TOP to change never opens the space | |
 * | FAST NP=2 NC=2 BREAK_BITS W0=0 W1=1 | safe | assert | a client at R does not look at the unit of A | two holders of a unit, both in their leases |
 * | FAST NP=2 NC=2 BREAK_EARLY W0=0 W1=1 | safe | assert | the fast path looks before it sets the unit | two holders of a unit, both in their leases |
 * | NP=2 NC=2 GROW BREAK_DROP W0=0 W1=2 | safe | assert | a waiter drops what it has if the tree has grown | words that count a client at the end |
 * | NP=2 NC=2 GROW BREAK_GROW W0=2 W1=2 | safe | assert | the grower changes TOP by a put | two holders, both in their leases |
 */
#ifndef NC
#define NC 3
#endif
#ifndef NE
#define NE 4
#endif
#include "citron_wants.inc"

/* the copies */
bit shut_r[NC], shut_p[NC];
byte below[NC];      /* of R */
bit occ[NC];         /* a client has its turn at R, and R is occupied */
bit leaf_a[NC], leaf_c[NC];
bit turn[NC];        /* a client has its turn at S */
byte top, used;      /* TOP: the copy, */
byte height = 1;     /* the height, */
byte era;            /* and the era */

/* ghosts */
byte lease;          /* bits: whose lease has begun, and is not over */
byte before[4];      /* bits: clients whose lease ran at R2 of this recoverer, and that have not
			started again since */
bit in[4], robbed[4];
byte at[4], units[4]; /* its copy; of the client that is in, its units */
bit died, gave_up;
#ifdef GROW
byte alive = NP + 1;
#else
byte alive = NP;
#endif

#define ME (1 << _pid)
#define c at[_pid]
/* a dead copy that no client knows any more: its words do not matter */
#define NOBODY NC
#define CLEAR(b) shut_r[b] = 0; shut_p[b] = 0; below[b] = 0; occ[b] = 0; \
	leaf_a[b] = 0; leaf_c[b] = 0; turn[b] = 0
#ifdef GROW
#define AWAY(p, b) (p > NP || at[p] != b)
#else
#define AWAY(p, b) (p >= NP || at[p] != b)
#endif
#define FORGET(b) \
	if \
	:: top != b && AWAY(0, b) && AWAY(1, b) && AWAY(2, b) && AWAY(3, b) -> CLEAR(b) \
	:: else \
	fi
#define MOVE c = top; FORGET(0); FORGET(1)
#define LEAVE c = NOBODY; FORGET(0); FORGET(1)
#define OVER (!(lease & ME))
#define ROOT_SHUT(b, x) (x == 1 -> shut_r[b] : shut_p[b])
#define NOT_BEFORE(r) before[r] = before[r] & ~ME
#define END_LEASE lease = lease & ~ME; NOT_BEFORE(0); NOT_BEFORE(1); NOT_BEFORE(2)
#define BEGIN_LEASE lease = lease | ME; NOT_BEFORE(0); NOT_BEFORE(1); NOT_BEFORE(2)

/* a look at TOP, and at the root if that may grow; result in shut */
#define FROZEN (era & 1)
#define OTHER (top != c || FROZEN)
#ifdef BREAK_FIRST
#define LOOK_TOP shut = shut || OTHER; atomic { BEGIN_LEASE }
#else
#define LOOK_TOP atomic { shut = shut || OTHER; BEGIN_LEASE }
#endif
#ifdef GROW
#define LOOK \
	if \
	:: shut = ROOT_SHUT(c, h); LOOK_TOP \
	:: LOOK_TOP; shut = shut || ROOT_SHUT(c, h) \
	fi
#else
#define LOOK LOOK_TOP
#endif

#ifdef PROMPT
#define TIME timeout
#define SUSPICION_IS_TRUE assert(died)
#else
#define TIME true
#define SUSPICION_IS_TRUE skip
#endif
#define TOP_IS(b, x) (top == b && height == x)
#ifdef BREAK_DROP
#define DROPS (!TOP_IS(c, h))
#else
#define DROPS (top != c)
#endif
#define MAY_FREEZE (FROZEN || era + 2 <= NE)
#ifdef BREAK_ERA
#define NEXT_ERA era = (FROZEN -> era - 1 : era + 1)
#else
#define NEXT_ERA era++
#endif
#ifdef BREAK_SUSPECT
#define COMES(cond) false
#else
#define COMES(cond) cond
#endif

/* R4 */
#if defined(BREAK_PUT)
#define SWAPS true
#else
#define SWAPS (TOP_IS(c, th) && era == e)
#endif
#ifdef BREAK_REUSE
#define NEW_COPY 1 - c; CLEAR(1 - c)
#else
#define NEW_COPY used
#endif
#ifdef BREAK_WAIT
#define LEASES_RUN_OUT skip
#else
#define LEASES_RUN_OUT lease = lease & ~before[_pid]
#endif

/* R1 to R4, while waiting for cond */
#define RECOVER(cond) \
	atomic { top == c && MAY_FREEZE -> \
		if \
		:: FROZEN \
		:: else -> NEXT_ERA; mine = 1 \
		fi; \
		e = era; th = height; before[_pid] = lease \
	} \
	if \
	:: atomic { COMES(cond) -> before[_pid] = 0 } \
	:: atomic { TIME && TOP_IS(c, th) && era == e -> LEASES_RUN_OUT; before[_pid] = 0 } \
		atomic { \
			if \
			:: SWAPS && used + 1 < NC -> \
				SUSPICION_IS_TRUE; \
				used++; height = th; top = NEW_COPY; NEXT_ERA \
			:: SWAPS && used + 1 == NC -> NEXT_ERA; mine = 0; th = 0; e = 0; goto give_up \
			:: else \
			fi \
		} \
	:: atomic { !(TOP_IS(c, th) && era == e) -> before[_pid] = 0 } \
	fi; \
	atomic { \
		if \
		:: mine && era == e -> NEXT_ERA \
		:: else \
		fi; \
		mine = 0; th = 0; e = 0 \
	}

/* until `cond`; then `act` */
#define AWAIT(cond, act) \
	do \
	:: atomic { cond -> act; break } \
	:: DROPS -> goto drop \
	:: RECOVER(cond) \
	:: top == c && !MAY_FREEZE -> goto give_up \
	od

/* this client enters: check which other clients are in */
inline meet(q)
{
	if
	:: q != _pid && in[q] && (units[q] & u) ->
		assert(OVER || !(lease >> q & 1));
		assert(at[q] != c);
		robbed[q] = (robbed[q] || at[q] < c);
		robbed[_pid] = (robbed[_pid] || c < at[q])
	:: else
	fi
}

inline bye(gone)
{
	alive--;
	gave_up = (gave_up || gone);
	if
	:: alive == 0 && !died && !gave_up ->
		assert(below[top] == 0 && !occ[top] && !leaf_a[top] && !leaf_c[top] && !turn[top]);
		assert(!FROZEN)
	:: else
	fi
}

/* what a client has */
#define HAS_BELOW 1 /* its announcement at R */
#define HAS_A 2
#define HAS_R 4
#define HAS_C 8
#define HAS_S 16
#define GIVE(what, word) d_step { has & what -> assert(word > 0); word--; has = has & ~what }

#ifdef FAST
#define MET_NOTHING met = 0
#else
#define MET_NOTHING skip
#endif

active [NP] proctype P()
{
	byte h = 1, u, has, th, e;
	bit shut, lost, mine;
#ifdef FAST
	bit met;
#endif

	{
	skip;
idle:	if
	:: atomic { WANTED(_pid) != ANY -> u = 1 << WANTED(_pid) }
	:: atomic { WANTED(_pid) == ANY -> if :: u = 1 :: u = 2 :: u = 4 fi }
	:: goto quit
	fi;

begin:	/* u: A 1, R 2, C 4; from go_in on A 1, R 1 + 2, C 4 */
	if
	:: u == 1 -> goto get_a
	:: u == 2 -> goto get_r
	:: u == 4 && h == 1 -> goto get_s
	:: u == 4 && h == 2 -> goto get_c
	fi;

get_a:
#ifdef FAST
	if
	:: true
	:: goto slow
	fi;
#ifdef BREAK_EARLY
	LOOK;
	met = occ[c];
#endif
	atomic { /* F1 */
		if
		:: !leaf_a[c] -> leaf_a[c] = 1; has = HAS_A
		:: else
		fi
	}
#ifndef BREAK_EARLY
	LOOK; /* F3 */
	met = occ[c];
#endif
	if
	:: shut -> met = 0; goto give_back
	:: !shut && !met && has -> goto have
	:: else
	fi;
	if
	:: atomic { has & HAS_A -> assert(leaf_a[c]); leaf_a[c] = 0; has = 0 }
	:: else
	fi;
	if
	:: met -> met = 0; AWAIT(!occ[c], skip)
	:: else -> AWAIT(!leaf_a[c], skip)
	fi;
	goto get_a;
slow:
#endif
	atomic { below[c]++; has = HAS_BELOW } /* A1, A2 */
	LOOK; /* A3 */
	if
	:: shut -> goto give_back
	:: !shut && occ[c] ->
		atomic { assert(below[c] > 0); below[c]--; has = 0 }
		AWAIT(!occ[c], skip);
		goto get_a
	:: !shut && !occ[c]
	fi;
	AWAIT(!leaf_a[c], leaf_a[c] = 1; has = has | HAS_A);
	goto have;

get_r:	if
	:: h == 2 -> /* it is not the root, and looks above */
		LOOK;
		if :: shut -> goto give_back :: else fi
	:: else
	fi;
	AWAIT(!occ[c], occ[c] = 1; has = HAS_R); /* U2, U3 */
	if
	:: h == 1 ->
		LOOK;
		if :: shut -> goto give_back :: else fi
	:: else
	fi;
	AWAIT(below[c] == 0, skip); /* U4 */
#if defined(FAST) && !defined(BREAK_BITS)
	AWAIT(!leaf_a[c], skip);
#endif
	goto have;

get_s:	AWAIT(!turn[c], turn[c] = 1; has = HAS_S);
	if
	:: top != c -> goto drop
	:: top == c && height != h -> shut = 1; goto give_back
#ifdef BREAK_SPILL
	:: atomic { TOP_IS(c, h) -> BEGIN_LEASE }
	fi;
#else
	:: atomic { TOP_IS(c, h) && FROZEN -> shut = 1 } goto give_back
	:: atomic { TOP_IS(c, h) && !FROZEN -> BEGIN_LEASE }
	fi;
#endif
	goto have;

get_c:	LOOK;
	if :: shut -> goto give_back :: else fi;
	AWAIT(!leaf_c[c], leaf_c[c] = 1; has = HAS_C);

have:
#ifdef BREAK_LOOK
	atomic { BEGIN_LEASE }
#else
	if
#ifdef STILL
	:: true
#else
	:: !OVER
#endif
	:: LOOK;
		if :: shut -> goto give_back :: else fi
	fi;
#endif
	atomic {
		u = (u == 2 -> 3 : u);
		units[_pid] = u;
		meet(0); meet(1); meet(2);
		in[_pid] = 1
	}
	/* R: from here on it is no longer in */
	atomic {
		in[_pid] = 0; units[_pid] = 0;
#ifdef BREAK_CLOCK
		if
		:: lost = (OVER && top != c)
#ifdef STILL
		:: true
#endif
		fi;
#else
		lost = (top != c); /* the look, as early as it can take effect */
#endif
		u = robbed[_pid]; robbed[_pid] = 0
	}

give_back: /* shut: to begin again; else it releases */
	atomic { END_LEASE }
	do
	:: GIVE(HAS_A, leaf_a[c])
	:: GIVE(HAS_R, occ[c])
	:: GIVE(HAS_C, leaf_c[c])
	:: GIVE(HAS_S, turn[c])
	:: GIVE(HAS_BELOW, below[c])
	:: has == 0 -> break
	od;
	if
	:: shut -> goto await_top
	:: else
	fi;
	atomic {
#ifdef BREAK_TOP
		lost = 0;
#endif
		assert(!u || lost);
		u = 0;
		if
		:: lost -> MOVE; h = height; lost = 0
		:: else
		fi
	}
	goto idle;

await_top:
	do
	:: atomic { !FROZEN && !(TOP_IS(c, h) && ROOT_SHUT(c, h)) -> MOVE; h = height; shut = 0 } goto begin
#ifndef BREAK_AGAIN
	:: atomic { FROZEN && TIME -> e = era }
		atomic {
			if
			:: era == e -> NEXT_ERA
			:: else
			fi;
			e = 0
		}
#endif
	:: TOP_IS(c, h) && ROOT_SHUT(c, h) && !FROZEN ->
		if
		:: RECOVER(false)
		:: top != c || !MAY_FREEZE
		fi
	:: TOP_IS(c, h) && ROOT_SHUT(c, h) && !MAY_FREEZE -> goto give_up
	od;

drop:	atomic { END_LEASE; has = 0; shut = 0; MET_NOTHING; MOVE; h = height }
	goto begin;

give_up:
	atomic { bye(1); goto done }
quit:	atomic { bye(0) }
done:	atomic { END_LEASE; LEAVE; h = 0; has = 0; u = 0; shut = 0; lost = 0; MET_NOTHING }
	} unless { atomic { died && _pid == 0 ->
		END_LEASE; LEAVE; h = 0; has = 0; u = 0; shut = 0; lost = 0; th = 0; e = 0; mine = 0; MET_NOTHING;
		before[0] = 0; in[0] = 0; units[0] = 0; robbed[0] = 0 } }
}

#ifdef GROW
/* which may stop at any step */
#define OR_STOPS if :: true :: gave_up = 1; goto stopped fi
#ifdef BREAK_GROW
#define GROWS true
#else
#define GROWS TOP_IS(c, 1)
#endif
active proctype G()
{

	if
	:: goto stopped
	:: c = top
	fi;
	if
	:: atomic { !turn[c] -> turn[c] = 1 } /* G1 */
	:: top != c -> goto stopped
	:: goto stopped
	fi;
	OR_STOPS;
	if
	:: TOP_IS(c, 1) ->
		OR_STOPS;
		shut_r[c] = 1; /* G2 */
		OR_STOPS;
		atomic { /* G3 */
			if
			:: GROWS -> top = c; height = 2
			:: else
			fi
		}
		OR_STOPS
	:: else
	fi;
	turn[c] = 0; /* G4 */
stopped:
	atomic { bye(0); LEAVE }
}
#endif

active proctype Fate()
{
	if
	:: died = 1
	:: true /* never */
	fi
}
