/*
 * DrTM's lock, writers by compare-and-swap and readers by leases: model of baselines/drtm.c.
 *
 * What it models. NW writers (default 2) and NR readers (1) at one word: 0, a writer, or the end of
 * a lease. Time is in steps: a tick may come between any two steps, so a process may stop for any
 * time. A process's clock is wrong by -2, 0 or +2 steps, chosen at the start (it only asks "is the
 * lease over?"), and the process allows for that. A lease lasts L steps (2).
 *
 * What it proves. A writer is alone (assert at CS). No writer is in beside a reader whose lease is
 * not over: a reader that finds at its release that it was in time has met no writer. No deadlock
 * (awaits are blocking guards). At the end no writer is in the word.
 *
 * What it abstracts. To be finite, time counts down to the end of a lease: LEFT is what is left of
 * the word's lease by the true clock, + SHIFT; at 0 it is over by every clock. A client that knows
 * of a lease counts down its own copy. Two leases are the same word if they end at the same time,
 * that is, if as much is left of both. An operation and its flush are one step; the word is atomic
 * and memory sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 writers, 1 reader, clocks wrong by 2 steps | 1 487 901 |
 * | ERROR=1 NW=1 NR=2 | safe long | pass | 1 writer, 2 readers, clocks wrong by 1 step | 3 870 641 |
 * | NW=1 NR=2 | safe 20M long | pass | 1 writer, 2 readers, clocks wrong by 2 steps | 17 519 240 |
 * | BREAK_LEASE | safe | assert | a writer does not wait until the lease is over | a reader in time, and a writer beside it |
 * | BREAK_CLOCK | bfs | assert | a writer trusts its clock | a reader in time, and a writer beside it |
 * | ERROR=1 NW=1 NR=2 BREAK_SHORTEN | safe | assert | a reader computes the new end before it knows the one that it replaces | a reader in time, and a writer beside it: a lease is cut short |
 */
#ifndef NW
#define NW 2
#endif
#ifndef NR
#define NR 1
#endif
#define NP (NW + NR)
#define L 2
#ifndef ERROR
#define ERROR 2
#endif
#define SHIFT (3 * ERROR)

#define FREE 0
#define WRITER 1
#define LEASED 2
byte kind; /* of the word */
byte left; /* what is left of the word's lease */

byte mine[NP];  /* what is left of the lease that a client has, swaps in, or waits for */
byte found[NP]; /* what is left of the lease that it replaces */
byte skew[NP];  /* error of each clock, + ERROR */
bit inside[NP]; /* readers in their critical section */
bit met[NP];    /* ghost: a writer was in beside this reader */

#include "ghost.inc"

/* a new lease by the clock of p: L + 2 ERROR from its now */
#define NEW(p) (SHIFT + skew[p] - ERROR + L + 2 * ERROR)
/* not over by any clock: left by the clock of p, less ERROR, is more than 0 */
#define SURE(l, p) (l > SHIFT + skew[p])
/* over by every clock: left by the clock of p, and ERROR, is less than 0 */
#ifdef BREAK_CLOCK
#define OVER(l, p) (l + ERROR < SHIFT + skew[p])
#else
#define OVER(l, p) (l + 2 * ERROR < SHIFT + skew[p])
#endif
#ifdef BREAK_LEASE
#define WAITED_FOR true
#else
#define WAITED_FOR OVER(mine[p], p)
#endif

#define DOWN(x) x = (x > 0 -> x - 1 : 0)
#define MEETS(r) met[r] = met[r] || inside[r]

active proctype Clock()
{
end:	do
	:: d_step { DOWN(left); DOWN(mine[0]); DOWN(mine[1]); DOWN(mine[2]);
		    DOWN(found[0]); DOWN(found[1]); DOWN(found[2]) }
	od
}

#define TAKE kind = WRITER; left = 0; MEETS(0); MEETS(1); MEETS(2)

proctype W(byte p)
{
	do
	:: 	do
		:: atomic { kind == FREE -> TAKE }; break
		:: atomic { kind == LEASED -> mine[p] = left };
			/* until it is over by our clock; then swap, if it is still the same */
			WAITED_FOR;
			if
			:: atomic { kind == LEASED && left == mine[p] -> TAKE }; break
			:: atomic { !(kind == LEASED && left == mine[p]) -> mine[p] = 0 }
			fi
		od;
		mine[p] = 0;
		critical_exclusive(p);
		kind = FREE
	:: break
	od;
	atomic { alive--; if :: alive == 0 -> assert(kind != WRITER) :: else fi }
}

proctype R(byte p)
{
	do
	:: 	do
		::	/* a new end; then swap it in for 0, */
			mine[p] = NEW(p);
			if
			:: atomic { kind == FREE -> kind = LEASED; left = mine[p] }
			:: atomic { kind != FREE -> mine[p] = 0 }
			fi;
			/* the clock, when the swap has returned */
			if :: SURE(mine[p], p) -> break :: else -> mine[p] = 0 fi
		::	/* or for a lease that was found, and is short */
#ifdef BREAK_SHORTEN
			mine[p] = NEW(p);
			atomic { kind == LEASED && !SURE(left, p) -> found[p] = left };
#else
			atomic { kind == LEASED && !SURE(left, p) -> found[p] = left };
			mine[p] = NEW(p);
#endif
			if
			:: atomic { kind == LEASED && left == found[p] -> left = mine[p] }
			:: atomic { !(kind == LEASED && left == found[p]) -> mine[p] = 0 }
			fi;
			found[p] = 0;
			if :: SURE(mine[p], p) -> break :: else -> mine[p] = 0 fi
		::	/* or find one that is not */
			atomic { kind == LEASED && SURE(left, p) -> mine[p] = left };
			if :: SURE(mine[p], p) -> break :: else -> mine[p] = 0 fi
		od;
		atomic { inside[p] = 1; met[p] = (kind == WRITER) };
		/* release: if the clock says that it was in time, it was alone with readers */
		atomic { assert(!(SURE(mine[p], p) && met[p])); inside[p] = 0; met[p] = 0; mine[p] = 0 }
	:: break
	od;
	atomic { alive--; if :: alive == 0 -> assert(kind != WRITER) :: else fi }
}

init {
	byte i;
	atomic {
		do
		:: i < NP ->
			if
			:: skew[i] = 0
			:: skew[i] = ERROR
			:: skew[i] = 2 * ERROR
			fi;
			if
			:: i < NW -> run W(i)
			:: else -> run R(i)
			fi;
			i++
		:: else -> break
		od
	}
}
