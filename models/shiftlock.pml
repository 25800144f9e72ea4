/*
 * ShiftLock without failures: model of src/locks/shiftlock.c.
 *
 * What it models.  NW writers (processes 0 .. NW-1, default 2) and NR readers (default 2), who take
 * the lock as often as they like and may stop between any two acquisitions; -DN=n writers in a row
 * before readers get a turn (default 2).
 *
 * What it proves.  Writers are alone, readers never in with a writer (asserts in ghost.inc); no
 * dead-lock (awaits are blocking guards, so a hang is an invalid end state); a queue node's words are
 * null when somebody writes them, HEAD is taken before it is written again (asserts); nobody leaves
 * anything behind (asserts at the end); with -DTRY also when clients try, at their choice; with
 * -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it (ltl live).
 *
 * What it abstracts.  One lock, one slot a process.  The fields of word A are variables, changed in
 * one step; REL counts modulo the least
 * power of two above NR.  An operation followed by its flush with nothing of the same process
 * between is one step, at the point where it takes effect; operations issued together take effect in
 * any order; memory is sequentially consistent.
 *
 * Known-broken variants: -DBREAK_SNAPSHOT  a writer awaits no readers
 *                        -DBREAK_TURN      a writer who leaves no successor known gives readers no turn
 *                        -DBREAK_HEAD      who finds its queue longer than it was does not pass on
 *                                          the head's place
 *                        -DBREAK_EPOCH     after a turn of the readers the successor does not wait
 */
#ifndef NW
#define NW 2
#endif
#ifndef NR
#define NR 2
#endif
#ifndef N
#define N 2
#endif
#define NP (NW + NR)

byte WP, RDR, REL; /* word A: writers present, readers present, releases */
bit EPOCH;
byte TAIL, HEAD; /* 0 or writer + 1 */
byte NEXT[NW];
bit GRANT[NW]; /* STATUS, with what comes along: */
bit GEPOCH[NW];
byte GCONS[NW];
bit GWAIT[NW];
byte GREL[NW];

#include "ghost.inc"

/* The readers of a turn at most are awaited at a time. */
#if NR == 1
#define MOD(x) ((x) & 1)
#else
#define MOD(x) ((x) & 3)
#endif

/* W4, R5: the readers that were in, or were let in, have left. */
#ifdef BREAK_SNAPSHOT
#define DRAIN(n) skip
#else
#define DRAIN(n) REL == (n)
#endif

/* R2: what the release changes in A, and learns from it. */
#define LEAVE d_step { wp = WP; rdr = RDR; WP--; REL = MOD(REL + 1); expected = MOD(REL + RDR); \
		if :: flip -> EPOCH = 1 - EPOCH; epoch = EPOCH :: else fi }

#define DONE d_step { alive--; \
	if :: alive == 0 -> assert(WP == 0 && RDR == 0 && TAIL == 0 && HEAD == 0 && nw + nr == 0) :: else fi }

proctype Writer(byte p)
{
	byte old, wp, rdr, succ, prev, cons, expected, tail;
	bit epoch, queued, flip; /* epoch: the present one */

	do
#ifdef TRY
	::	/* T1, T2: get(A); flush; cas(A, as seen, WP + 1); flush. Nobody in the way: at one point of time */
		d_step { old = WP + RDR; epoch = EPOCH; if :: old == 0 -> WP = 1 :: else fi }
		if
		:: old > 0 -> old = 0; goto out
		:: else -> cons = 0; goto cs
		fi
#endif
	:: atomic { WANT;
		NEXT[p] = 0; GRANT[p] = 0 } /* W1: poke, own memory */
		/* W2: old = fao(A, WP + 1); flush */
		d_step { wp = WP; rdr = RDR; epoch = EPOCH; expected = MOD(REL + RDR); WP++ }
		cons = 0; queued = 0;
		if
		:: wp == 0 ->
			if
			:: rdr > 0 -> DRAIN(expected) /* W3 */
			:: else
			fi
		:: else ->
			queued = 1;
			/* W4: prev = fao(TAIL, me, REPLACE); flush */
			d_step { prev = TAIL; TAIL = p + 1 }
			/* W5: put(HEAD, me) or put(prev.NEXT, me); flush */
			if
			:: prev == 0 -> d_step { assert(HEAD == 0); HEAD = p + 1 }
			:: else -> d_step { assert(NEXT[prev - 1] == 0); NEXT[prev - 1] = p + 1 }
			fi;
			/* W6: await the grant */
			atomic { GRANT[p] == 1 -> epoch = GEPOCH[p]; cons = GCONS[p] }
			if
			:: GWAIT[p] -> DRAIN(GREL[p]) /* W7 */
			:: else
			fi;
			d_step { prev = 0; GEPOCH[p] = 0; GCONS[p] = 0; GWAIT[p] = 0; GREL[p] = 0 }
		fi;
		d_step { wp = 0; rdr = 0; expected = 0 }
cs:		skip;
		critical_exclusive(p);
		/* R1: succ = peek NEXT, if in the queue */
		d_step {
			succ = (queued -> NEXT[p] : 0);
			flip = (succ == 0 || cons + 1 >= N);
#ifdef BREAK_TURN
			flip = (succ != 0 && cons + 1 >= N);
#endif
		}
		/* R2: old = fao(A, WP - 1, REL + 1, EPOCH); with it, if nobody is linked, r = cas(TAIL, me -> 0); flush */
		tail = 0;
		if
		:: queued && succ == 0 ->
			if
			:: d_step { tail = TAIL; if :: tail == p + 1 -> TAIL = 0 :: else fi };
			   LEAVE
			:: LEAVE;
			   d_step { tail = TAIL; if :: tail == p + 1 -> TAIL = 0 :: else fi }
			fi
		:: else -> LEAVE
		fi;
		if
		:: wp == 1 ->
			/* R3: the last writer; but its node may have been linked to since */
			if
			:: queued && tail != p + 1 ->
#ifdef BREAK_HEAD
				skip
#else
				atomic { NEXT[p] != 0; succ = NEXT[p] }
				d_step { assert(HEAD == 0); HEAD = succ }
#endif
			:: else
			fi
		:: else ->
			/* R4: who is next? */
			if
			:: succ != 0
			:: succ == 0 && queued && tail != p + 1 -> atomic { NEXT[p] != 0; succ = NEXT[p] }
			:: else -> atomic { HEAD != 0; succ = HEAD; HEAD = 0 }
			fi;
			/* R5: put(succ.STATUS, grant); flush */
			d_step {
				assert(GRANT[succ - 1] == 0);
				GEPOCH[succ - 1] = epoch;
				GCONS[succ - 1] = (flip -> 0 : cons + 1);
				GWAIT[succ - 1] = (flip && rdr > 0);
#ifdef BREAK_EPOCH
				GWAIT[succ - 1] = 0;
#endif
				GREL[succ - 1] = (GWAIT[succ - 1] -> expected : 0);
				GRANT[succ - 1] = 1
			}
		fi;
out:		skip;
		d_step { wp = 0; rdr = 0; succ = 0; cons = 0; expected = 0; tail = 0; epoch = 0; queued = 0; flip = 0 }
	:: DONE; break
	od
}

proctype Reader(byte p)
{
	bit epoch;
	byte wp;

	do
#ifdef TRY
	:: d_step { wp = WP; if :: wp == 0 -> RDR++ :: else fi }
		if
		:: wp > 0 -> wp = 0; goto out
		:: else -> goto cs
		fi
#endif
	:: atomic { WANT;
		/* A1: old = fao(A, RDR + 1); flush */
		wp = WP; epoch = EPOCH; RDR++ }
		/* A2: await EPOCH != old.EPOCH */
		if
		:: wp == 0
		:: else -> EPOCH != epoch
		fi;
cs:		skip;
		critical_shared(p);
		/* B1: fao(A, RDR - 1, REL + 1); flush */
		d_step { RDR--; REL = MOD(REL + 1); wp = 0; epoch = 0 }
out:		skip
	:: DONE; break
	od
}

init {
	byte i;
	atomic {
		do :: i < NW -> run Writer(i); i++ :: else -> break od
		do :: i < NP -> run Reader(i); i++ :: else -> break od
	}
}
