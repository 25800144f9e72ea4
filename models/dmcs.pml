/*
 * D-MCS, the distributed MCS lock: model of src/lock/mcs/dmcs.c; with -DPRINTED of mcs-printed in
 * baselines/mcs_printed.c, which swaps the tail by compare-and-swap, again and again, and leaves the
 * queue by compare-and-swap also if a successor has linked itself.
 *
 * What it models. NP processes (default 3) with one slot each. A process takes the lock any number
 * of times and may stop between two acquisitions, so a pass holds for any number of acquisitions.
 *
 * What it proves. Mutual exclusion (assert at CS); no deadlock (awaits are blocking guards, so a
 * hang is an invalid end state); a link is null when a successor writes it; at the end the tail is
 * null. With -DTRY also when processes try. With -DTIMED also when waiters time out at any time,
 * except process v of -DLIVE=v: such a process stops waiting, may resume its abandoned place, and
 * uses its slot for another acquire after it was passed over; at the end all abandoned places were
 * passed over. With -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it
 * (ltl live).
 *
 * What it abstracts. One lock; one slot for each process (several slots act like several
 * processes). An operation and its flush, with nothing of the same process between them, are one
 * step, when the operation takes effect. Operations are atomic on each word, and memory is
 * sequentially consistent. With -DTIMED every link says that the successor may abandon its place.
 * (A successor that may not is granted the lock by a put in place of a swap; they differ only if
 * the swap finds something else than WAIT.)
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 3 processes | 18 038 |
 * | TRY | safe | pass | with tries | 38 048 |
 * | LIVE=1 | live3 | pass | | 23 515 |
 * | TIMED | safe | pass | with deadlines that pass at any moment; abandoned places are passed over | 127 868 |
 * | TIMED LIVE=1 | live3 | pass | with deadlines, of all but v | 93 920 |
 * | TIMED NP=2 TRY LIVE=1 | live3 | pass | 2 processes, with tries, with deadlines of all but v | 2 505 |
 * | PRINTED | safe | pass | mcs-printed, 3 processes | 33 468 |
 * | PRINTED TRY | safe | pass | mcs-printed, with tries | 63 549 |
 * | PRINTED LIVE=1 | live3 | cycle | mcs-printed: a client that arrives may fail any number of times | |
 * | PRINTED BREAK_SWAP | bfs | assert | mcs-printed: a swap that failed counts as one that succeeded | two successors of a client |
 * | BREAK_RESET | safe | deadlock | NEXT is reset by a put that may complete after the swap | |
 * | BREAK_CAS | safe | deadlock | a release leaves the queue without compare-and-swap | |
 * | TIMED BREAK_ABANDON | bfs | assert | A5 is a look and then a put | the grant is lost |
 * | TIMED BREAK_EARLY | bfs | assert | a node is marked as passed over before its NEXT is read | two holders |
 * | TIMED BREAK_PUT | bfs | assert | the grant is a put, which does not see an abandoned node | abandoned places keep the lock |
 * | TIMED BREAK_RESUME | bfs | assert | A6 is a put | a grant to no client |
 */
#ifndef NP
#define NP 3
#endif

#define WAIT 0
#define LOCKED 1
#define ABANDONED 2
#define PASSED 3

byte TAIL;       /* at the home: 0 or slot id; slot id = process + 1 */
byte NEXT[NP];   /* in the slots */
byte STATUS[NP];

#include "ghost.inc"

#ifdef TIMED
bit QUEUED[NP]; /* the process has abandoned its place and has not seen it passed over */
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#define MAY_TIME_OUT true
#endif
#define FREE (!QUEUED[p] || STATUS[p] == PASSED)
#define TAKE_SLOT QUEUED[p] = 0
#else
#define FREE true
#define TAKE_SLOT skip
#endif

proctype P(byte p)
{
	byte pred, succ, r;
#ifdef TIMED
	byte next;
#endif
#ifdef BREAK_RESET
	bit pending;
#endif

	do
#ifdef TRY
	::
#ifdef TIMED
		atomic { FREE -> TAKE_SLOT };
#endif
		/* A1, and A2 only if the queue is empty: cas(TAIL, 0 -> me); flush */
		NEXT[p] = 0;
		d_step { pred = TAIL; if :: pred == 0 -> TAIL = p + 1 :: else fi }
		if
		:: pred != 0 -> pred = 0; goto out
		:: else -> goto cs
		fi
#endif
#ifdef TIMED
	::	/* A6: cas(STATUS, ABANDONED -> WAIT); flush */
		atomic { QUEUED[p] && STATUS[p] != PASSED -> WANT; r = STATUS[p] }
#ifdef BREAK_RESUME
		STATUS[p] = WAIT;
		r = 0; QUEUED[p] = 0;
		goto wait;
#endif
		d_step { r = STATUS[p]; if :: r == ABANDONED -> STATUS[p] = WAIT; QUEUED[p] = 0 :: else fi }
		if
		:: r == ABANDONED -> r = 0; goto wait
		:: else -> r = 0 /* about to be passed over */
		fi
#endif
	:: atomic { FREE -> TAKE_SLOT; WANT;
		/* A1: poke NEXT := 0 and STATUS := WAIT, both own memory */
#ifdef BREAK_RESET
		pending = 1; /* issued, takes effect some time before A4 */
#else
		NEXT[p] = 0;
#endif
		STATUS[p] = WAIT }
#ifdef PRINTED
		/* A2: r = cas(TAIL, pred -> me); flush; again with what it has found */
swap:		skip;
		d_step { r = TAIL; if :: r == pred -> TAIL = p + 1 :: else fi }
		if
		:: r != pred -> d_step { pred = r; r = 0 }
#ifndef BREAK_SWAP
			goto swap
#endif
		:: else -> r = 0
		fi;
#else
		/* A2: pred = fao(TAIL, me, REPLACE); flush */
		d_step { pred = TAIL; TAIL = p + 1 }
#endif
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
wait:			if
			:: STATUS[p] != WAIT
#ifdef TIMED
			:: MAY_TIME_OUT ->
				/* A5: r = cas(STATUS, WAIT -> ABANDONED); flush */
#ifdef BREAK_ABANDON
				r = STATUS[p];
				if
				:: r == WAIT -> d_step { STATUS[p] = ABANDONED; QUEUED[p] = 1 }
				:: else
				fi;
#else
				d_step { r = STATUS[p]; if :: r == WAIT -> STATUS[p] = ABANDONED; QUEUED[p] = 1 :: else fi }
#endif
				if
				:: r == WAIT -> goto out
				:: else -> r = 0
				fi
#endif
			fi
		:: else
#ifdef BREAK_RESET
			-> d_step { NEXT[p] = 0; pending = 0 }
#endif
		fi;
		/* CS */
cs:		critical_exclusive(p);
		/* R1: succ = peek NEXT */
#ifdef PRINTED
		succ = 0;
#else
		succ = NEXT[p];
#endif
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
#if defined(TIMED) && !defined(BREAK_PUT)
		/* R4: r = fao(succ.STATUS, LOCKED, REPLACE); flush */
give:		skip;
		d_step {
			r = STATUS[succ - 1];
			assert(r == WAIT || r == ABANDONED);
			STATUS[succ - 1] = LOCKED
		}
		if
		:: r == ABANDONED ->
#ifdef BREAK_EARLY
			STATUS[succ - 1] = PASSED;
#endif
			/* S1: next = get(succ.NEXT); flush */
			next = NEXT[succ - 1];
			if
			:: next == 0 ->
				/* S2: r = cas(TAIL, succ -> 0); flush */
				d_step { r = TAIL; if :: r == succ -> TAIL = 0 :: else fi }
				if
				:: r == succ
				:: else -> atomic { NEXT[succ - 1] != 0; next = NEXT[succ - 1] }
				fi
			:: else
			fi;
			/* S3: put(succ.STATUS, PASSED); flush */
			d_step { STATUS[succ - 1] = PASSED; succ = next; next = 0; r = 0 }
			if
			:: succ != 0 -> goto give
			:: else
			fi
		:: else -> d_step { r = 0; succ = 0 }
		fi;
#else
		/* R4: put(succ.STATUS, LOCKED); flush */
		d_step {
#ifndef BREAK_PUT
			assert(STATUS[succ - 1] == WAIT);
#endif
			STATUS[succ - 1] = LOCKED; succ = 0 }
#endif
out:		skip
	:: d_step { alive--; if :: alive == 0 -> assert(TAIL == 0 && nw == 0) :: else fi } break
	od
}

init {
	byte i;
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
#ifdef TIMED
	d_step { alive == 0 -> i = 0;
		do :: i < NP -> assert(!QUEUED[i] || STATUS[i] == PASSED); i++ :: else -> break od }
#endif
}
