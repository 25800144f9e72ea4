/*
 * D-MCS, the distributed MCS lock: model of src/locks/dmcs.c.
 *
 * What it models.  NP processes (default 3) with one slot each; a process takes the lock as often
 * as it likes and may stop between any two acquisitions, so that a pass holds for any number of them.
 *
 * What it proves.  Mutual exclusion (assert at CS); no dead-lock (awaits are blocking guards, so a
 * hang is an invalid end state); a link is null when a successor writes it; at the end the tail is null;
 * with -DTRY also when processes try, at their choice;
 * with -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it (ltl live).
 *
 * What it abstracts.  One lock, one slot a process.  An operation followed by its flush with nothing
 * of the same process between is one step, at the point where it takes effect; operations are atomic
 * per word and memory is sequentially consistent.
 *
 * Known-broken variants: -DBREAK_RESET  NEXT reset by a put that is not complete before the swap
 *                        -DBREAK_CAS    release leaves the queue without compare-and-swap
 */
#ifndef NP
#define NP 3
#endif

#define WAIT 0
#define LOCKED 1

byte TAIL;       /* at the home: 0 or slot id; slot id = process + 1 */
byte NEXT[NP];   /* in the slots */
byte STATUS[NP];

#include "ghost.inc"

proctype P(byte p)
{
	byte pred, succ, r;
#ifdef BREAK_RESET
	bit pending;
#endif

	do
#ifdef TRY
	::
		/* A1, and A2 only if the queue is empty: cas(TAIL, 0 -> me); flush */
		NEXT[p] = 0;
		d_step { pred = TAIL; if :: pred == 0 -> TAIL = p + 1 :: else fi }
		if
		:: pred != 0 -> pred = 0; goto out
		:: else -> goto cs
		fi
#endif
	:: atomic { WANT;
		/* A1: poke NEXT := 0 and STATUS := WAIT, both own memory */
#ifdef BREAK_RESET
		pending = 1; /* issued, takes effect some time before A4 */
#else
		NEXT[p] = 0;
#endif
		STATUS[p] = WAIT }
		/* A2: pred = fao(TAIL, me, REPLACE); flush */
		d_step { pred = TAIL; TAIL = p + 1 }
		if
		:: pred != 0 ->
			/* A3: put(pred.NEXT, me); flush */
#ifndef BREAK_RESET
			assert(NEXT[pred - 1] == 0);
#endif
			d_step { NEXT[pred - 1] = p + 1; pred = 0 }
#ifdef BREAK_RESET
			d_step { NEXT[p] = 0; pending = 0 }
#endif
			/* A4: await STATUS != WAIT */
			STATUS[p] != WAIT
		:: else
#ifdef BREAK_RESET
			-> d_step { NEXT[p] = 0; pending = 0 }
#endif
		fi;
		/* CS */
cs:		critical_exclusive(p);
		/* R1: succ = peek NEXT */
		succ = NEXT[p];
		if
		:: succ == 0 ->
			/* R2: r = cas(TAIL, me -> 0); flush */
#ifdef BREAK_CAS
			d_step { r = p + 1; TAIL = 0 }
#else
			d_step { r = TAIL; if :: r == p + 1 -> TAIL = 0 :: else fi }
#endif
			if
			:: r == p + 1 -> r = 0; goto out
			:: else -> r = 0
			fi;
			/* R3: await NEXT != 0 */
			atomic { NEXT[p] != 0; succ = NEXT[p] }
		:: else
		fi;
		/* R4: put(succ.STATUS, LOCKED); flush */
		d_step { assert(STATUS[succ - 1] == WAIT); STATUS[succ - 1] = LOCKED; succ = 0 }
out:		skip
	:: d_step { alive--; if :: alive == 0 -> assert(TAIL == 0 && nw == 0) :: else fi } break
	od
}

init {
	byte i;
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
}
