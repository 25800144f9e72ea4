/*
 * D-MCS with a posted release: the compare-and-swap that empties the queue is not waited for.
 *
 * What it models. NP processes (2 or 3, default 3) with a slot each, the first MORE of them
 * (default 0) with two, which take the lock any number of times and may stop between two
 * acquisitions. A client that leaves marks its own NEXT with LEFT, by a swap. If a successor was
 * linked, it gets a grant. If not, a compare-and-swap empties the queue at any time later, also
 * after later operations of the same process, in any order; a client that comes before that finds
 * LEFT when it links itself, and has the lock. A slot is used again only when it has settled: the
 * compare-and-swap has been answered, and either found the slot in TAIL, or a successor has taken
 * LEFT away.
 *
 * What it proves. Mutual exclusion (assert at CS); no deadlock (awaits are blocking guards, so a
 * hang is an invalid end state); a client that links itself finds 0 or LEFT, in the queue node of
 * that acquisition whose id it got from TAIL (OWED); a grant comes to the client that waits for it,
 * from its predecessor (PRED); at the end TAIL is null, nothing is in flight and all slots have
 * settled. A release waits for no step of another process: it has no guard that blocks. With -DTRY
 * also when processes try: a try that fails ran while a client was in the queue that had not left
 * (SEEN). With -DLATE also if grants are not waited for: a slot with a successor has still settled
 * at once. With -DTIMED also if waiters time out at any time, except process v of -DLIVE=v, as in
 * dmcs.pml: a releaser waits for the answers of what it does in the place of an abandoned node.
 * With -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it (ltl live); or,
 * if it tries, an answer.
 *
 * What it abstracts. One lock. LEFT carries a number, one more at each release of the slot, which
 * never wraps; only tries look at it, and only at whether it has changed, so AGAIN stands for it.
 * An operation and its flush, with nothing of the same process between them, are one step, when the
 * operation takes effect. Operations are atomic on each word, and memory is sequentially
 * consistent. Posted operations take effect in a process of their own, one for each slot. Their
 * answer comes with the effect: a settled slot need not be used at once, so a later answer adds
 * nothing.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 3 processes, a slot each | 97 024 |
 * | NP=2 MORE=2 TRY | safe | pass | 2 processes, two slots each, with tries; a try that reports "busy" met another client | 1 324 865 |
 * | NP=2 TRY LIVE=1 | live3 | pass | 2 processes, with tries; its tries end | 5 848 |
 * | TIMED | safe | pass | 3 processes, with deadlines; abandoned places are passed over | 257 989 |
 * | NP=2 MORE=1 TIMED TRY | safe | pass | 2 processes, 3 slots, with deadlines and tries | 103 781 |
 * | NP=2 MORE=1 TIMED LIVE=1 | live3 | pass | 2 processes, 3 slots, with deadlines | 29 458 |
 * | TRY | safe long | pass | 3 processes, with tries | 1 232 668 |
 * | LATE TRY | safe long | pass | 3 processes, with tries, grants not waited for, either | 1 309 496 |
 * | NP=2 MORE=2 LATE TRY | safe long | pass | 2 processes, two slots each, with tries, grants not waited for, either | 1 378 930 |
 * | MORE=1 | safe long | pass | 3 processes, one of which has two slots | 1 663 579 |
 * | MORE=2 | safe 20M long | pass | 3 processes, two of which have two slots | 39 686 973 |
 * | LIVE=1 | live3 long | pass | 3 processes | 131 891 |
 * | LATE LIVE=1 | live3 long | pass | 3 processes, grants not waited for, either | 151 338 |
 * | TRY LIVE=1 | live3 3M long | pass | 3 processes, with tries | 1 932 752 |
 * | NP=2 MORE=2 LIVE=1 | live3 long | pass | 2 processes, two slots each | 286 519 |
 * | NP=2 BREAK_ANSWER | bfs | assert | a slot is used again when a successor has taken LEFT away, though the compare-and-swap was not answered | two holders |
 * | NP=2 BREAK_SETTLE | bfs | assert | a slot is used again when that was answered, whatever it found | a link to another acquisition |
 * | NP=2 BREAK_SWAP | bfs | deadlock | R1 is a look and then a store | a link is lost |
 * | NP=2 BREAK_LINK | bfs | deadlock | A3 is a look and then a put | LEFT is lost |
 * | NP=2 BREAK_RESET | bfs | deadlock | NEXT is reset after the swap of TAIL | |
 * | NP=2 TRY BREAK_BUSY | bfs | assert | a try believes a look that TAIL does not confirm | "busy" although no client was there |
 * | NP=2 TRY BREAK_NUMBER LIVE=1 | live3 | cycle | LEFT does not show which acquisition has left | a try without end |
 * | NP=2 TRY BREAK_TAKE | bfs | assert | a try that sees LEFT takes the place of the client that leaves | it is behind a holder, and has to wait |
 * | TIMED BREAK_ON | bfs | assert | a node that was passed over is used again though a successor has yet to find LEFT there | a link to another acquisition |
 * | TIMED BREAK_MARK | bfs | assert | S1 is a look: NEXT of the abandoned node gets no LEFT | a link to the client that is gone |
 */
#ifndef NP
#define NP 3
#endif
#ifndef MORE
#define MORE 0
#endif
#define NS (NP + MORE) /* slot p is of process p, slot NP + p, too */

#define WAIT 0
#define LOCKED 1
#define ABANDONED 2
#define PASSED 3
#define PASSED_ON 4 /* but a successor has yet to find LEFT */

#define LEFT (NS + 1) /* no id */

/* of a slot's compare-and-swap */
#define POSTED 1
#define LOST 2 /* answered: TAIL named another */

byte TAIL;       /* at the home: 0 or slot id; slot id = number of the slot + 1 */
byte NEXT[NS];   /* in the slots */
byte STATUS[NS];
byte CAS[NS];    /* what the owner knows of it: 0, POSTED, LOST */
byte GRANT[NS];  /* with -DLATE: whose grant for it is in flight */

/* Asserted only: a client that got this slot from TAIL has yet to link itself; whom it waits for; posted
 * operations that did not take effect; slots in the queue that have not left, and whether there was
 * one since process p began to try. */
bit OWED[NS];
byte PRED[NS];
byte flying;
byte queued;
bit SEEN[NP];

/* Which slot a try of process p looks at, and whether that was used again since its last look. */
byte LAST[NP];
bit AGAIN[NP];

#include "ghost.inc"

#if defined(BREAK_ANSWER)
#define SETTLED(i) (CAS[i] == 0 || NEXT[i] != LEFT)
#elif defined(BREAK_SETTLE)
#define SETTLED(i) (CAS[i] != POSTED)
#else
#define SETTLED(i) (CAS[i] == 0 || (CAS[i] == LOST && NEXT[i] != LEFT))
#endif

#ifdef TIMED
bit QUEUED[NS]; /* its place is abandoned, as far as the owner knows */
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#define MAY_TIME_OUT true
#endif
#ifdef BREAK_ON
#define WAS_PASSED(i) (STATUS[i] >= PASSED)
#else
#define WAS_PASSED(i) (STATUS[i] == PASSED || (STATUS[i] == PASSED_ON && NEXT[i] != LEFT))
#endif
#define USABLE(i) (SETTLED(i) && (!QUEUED[i] || WAS_PASSED(i)))
#else
#define USABLE(i) SETTLED(i)
#endif

#ifdef TRY
#define MARK(q) if :: LAST[q] == me -> AGAIN[q] = 1 :: else fi
#if NP == 2
#define ALL_SEE SEEN[0] = 1; SEEN[1] = 1
#define USE MARK(0); MARK(1)
#elif NP == 3
#define ALL_SEE SEEN[0] = 1; SEEN[1] = 1; SEEN[2] = 1
#define USE MARK(0); MARK(1); MARK(2)
#endif
#define ENTER queued++; ALL_SEE
#define LEAVE queued--
#else
#define ENTER skip
#define LEAVE skip
#define USE skip
#endif

/* Only tries look at a slot that has settled. Without them, for fewer states, it looks like new,
 * and the first one is as good as any. */
#if defined(TRY) || defined(BREAK_ANSWER)
#define FORGET(i) skip
#define FIRST_BUSY true
#else
#define FORGET(i) NEXT[i] = 0
#define FIRST_BUSY !USABLE(p)
#endif

/* A slot that has settled, or wait for one. */
inline choose(p)
{
	if
	:: USABLE(p) -> me = p + 1
#if MORE
	:: p < MORE && USABLE(NP + p) && FIRST_BUSY -> me = NP + p + 1
#endif
	fi
}

/* A1: poke NEXT := 0 and STATUS := WAIT, both own memory */
inline prepare()
{
	d_step {
#ifndef BREAK_RESET
		NEXT[me - 1] = 0;
#endif
		STATUS[me - 1] = WAIT;
		OWED[me - 1] = 0;
#ifdef TIMED
		QUEUED[me - 1] = 0;
#endif
		USE;
		if :: CAS[me - 1] == LOST -> CAS[me - 1] = 0 :: else fi
	}
}

/* A3: old = swap(pred.NEXT, me); flush */
inline link()
{
#ifdef BREAK_LINK
	old = NEXT[pred - 1];
	d_step {
		OWED[pred - 1] = 0;
		if
		:: old == 0 -> NEXT[pred - 1] = me; PRED[me - 1] = pred
		:: else
		fi
	}
#else
	d_step {
		old = NEXT[pred - 1];
		assert(OWED[pred - 1] && (old == 0 || old == LEFT));
		NEXT[pred - 1] = me;
		OWED[pred - 1] = 0;
		if
		:: old == 0 -> PRED[me - 1] = pred
		:: else
		fi
	}
#endif
}

/* The grant takes effect at slot i, from slot id by. */
inline grant(i, by)
{
	assert(STATUS[i] == WAIT && PRED[i] == by);
	STATUS[i] = LOCKED;
	PRED[i] = 0
}

/* R2: r = cas(TAIL, me -> 0), posted, and with -DLATE grants. */
proctype Wire(byte i)
{
end:	do
	:: d_step { CAS[i] == POSTED ->
		flying--;
		if
		:: TAIL == i + 1 -> TAIL = 0; CAS[i] = 0; FORGET(i)
		:: else -> CAS[i] = LOST
		fi }
#ifdef LATE
	:: d_step { GRANT[i] != 0 -> flying--; grant(i, GRANT[i]); GRANT[i] = 0 }
#endif
	od
}

proctype P(byte p)
{
	byte me, pred, old, succ;
#ifdef TIMED
	byte next, r;
#endif
#ifdef TRY
	bit came;
#endif

	do
#ifdef TRY
	::	atomic { choose(p); WANT; SEEN[p] = (queued > 0); prepare() }
#ifdef BREAK_RESET
		NEXT[me - 1] = 0;
#endif
		do
		::	/* T1: last = cas(TAIL, 0 -> me); flush */
			d_step {
				pred = TAIL;
				if
				:: pred == 0 -> TAIL = me; old = 0; came = 0; LAST[p] = 0; AGAIN[p] = 0; ENTER
				:: else
				fi
			}
			if
			:: pred == 0 -> goto cs
			:: else
			fi;
			/* Another one than before: a client came. The same one, which had not left: it
			 * was there when we looked, or came since. */
			if
			:: LAST[p] != 0 && (LAST[p] != pred || old == 0) -> break
			:: else
			fi;
			/* T2: v = get(last.NEXT); flush */
			d_step {
				came = (old == LEFT && AGAIN[p]);
				old = NEXT[pred - 1];
				LAST[p] = pred;
				AGAIN[p] = 0
			}
			if
#ifndef BREAK_NUMBER
			:: old == LEFT && came -> break /* with another number: it came, and left */
#endif
			:: old != 0 && old != LEFT -> break /* a client has linked itself since T1 */
#ifdef BREAK_BUSY
			:: old == 0 -> break
#endif
#ifdef BREAK_TAKE
			:: old == LEFT ->
				d_step {
					succ = TAIL;
					if
					:: succ == pred -> TAIL = me; OWED[pred - 1] = 1; ENTER
					:: else
					fi
				}
				if
				:: succ == pred ->
					assert(NEXT[pred - 1] == LEFT); /* or it has to wait */
					LAST[p] = 0; AGAIN[p] = 0;
					goto linked
				:: else -> succ = 0; came = 0
				fi
#endif
			:: else
			fi
		od;
		atomic {
			assert(SEEN[p]);
			me = 0; pred = 0; old = 0; came = 0; SEEN[p] = 0; LAST[p] = 0; AGAIN[p] = 0;
			IN
		}
		atomic { OUT_OF; goto out }
#endif
#ifdef TIMED
	::	/* A6: r = cas(own STATUS, ABANDONED -> WAIT); flush. Else it is about to be passed over */
		d_step { QUEUED[p] && STATUS[p] == ABANDONED -> me = p + 1; STATUS[p] = WAIT; QUEUED[p] = 0 }
		WANT;
		goto wait
#endif
	:: atomic { WANT; choose(p); prepare() }
		/* A2: pred = fao(TAIL, me, REPLACE); flush */
		d_step {
			pred = TAIL;
			TAIL = me;
			ENTER;
			if
			:: pred != 0 -> assert(!OWED[pred - 1]); OWED[pred - 1] = 1
			:: else
			fi
		}
#ifdef BREAK_RESET
		NEXT[me - 1] = 0;
#endif
		if
		:: pred != 0 ->
linked:			link();
			d_step { pred = 0 }
			if
			:: old == 0 ->
				/* A4: await STATUS != WAIT */
wait:				if
				:: STATUS[me - 1] != WAIT
#ifdef TIMED
				:: MAY_TIME_OUT ->
					/* A5: r = cas(own STATUS, WAIT -> ABANDONED); flush */
					d_step {
						r = STATUS[me - 1];
						if
						:: r == WAIT ->
							STATUS[me - 1] = ABANDONED; QUEUED[me - 1] = 1; me = 0
						:: else -> r = 0
						fi
					}
					if
					:: me == 0 -> goto out
					:: else
					fi
#endif
				fi
			:: else -> old = 0
			fi
		:: else
		fi;
cs:		skip;
#ifdef TRY
		SEEN[p] = 0;
#endif
		critical_exclusive(p);
		/* R1: succ = fao(own NEXT, LEFT, REPLACE); flush. R2 is posted with it: it takes effect
		 * any time later anyhow. */
#ifdef BREAK_SWAP
		succ = NEXT[me - 1];
#endif
#ifdef BREAK_ANSWER
		CAS[me - 1] != POSTED; /* the model has one at a time; the first does the harm */
#endif
		d_step {
#ifndef BREAK_SWAP
			succ = NEXT[me - 1];
#endif
			NEXT[me - 1] = LEFT;
			LEAVE;
			if
			:: succ == 0 ->
#ifndef BREAK_ANSWER
				assert(CAS[me - 1] == 0);
#endif
				CAS[me - 1] = POSTED;
				flying++
			:: else
			fi
		}
		if
		:: succ != 0 ->
			/* R4: put(succ.STATUS, LOCKED); flush */
#ifdef TIMED
			r = me;
give:			skip;
			/* R4: old = fao(succ.STATUS, LOCKED, REPLACE); flush */
			d_step {
				old = STATUS[succ - 1];
				assert((old == WAIT || old == ABANDONED) && PRED[succ - 1] == r);
				STATUS[succ - 1] = LOCKED;
				PRED[succ - 1] = 0
			}
			if
			:: old == ABANDONED ->
				/* S1: next = fao(succ.NEXT, LEFT, REPLACE); flush */
				d_step {
					next = NEXT[succ - 1];
#ifdef BREAK_MARK
					if :: next != 0 -> NEXT[succ - 1] = LEFT :: else fi;
#else
					NEXT[succ - 1] = LEFT;
#endif
					LEAVE
				}
				r = succ;
				if
				:: next == 0 ->
					/* S2: r = cas(TAIL, succ -> 0); flush */
					d_step { r = TAIL; if :: r == succ -> TAIL = 0 :: else fi }
				:: else
				fi;
				/* S3: put(succ.STATUS, PASSED or PASSED_ON); flush */
				d_step {
					STATUS[succ - 1] = (r == succ -> PASSED : PASSED_ON);
					r = succ; succ = next; next = 0
				}
				if
				:: succ != 0 -> goto give
				:: else -> succ = LEFT
				fi
			:: else
			fi;
			d_step { old = 0; r = 0 }
#elif defined(LATE)
			d_step { assert(GRANT[succ - 1] == 0); GRANT[succ - 1] = me; flying++ }
#else
			d_step { grant(succ - 1, me) }
#endif
		:: else
		fi;
		d_step {
			STATUS[me - 1] = WAIT; /* for fewer states */
			if
			:: succ != 0 -> FORGET(me - 1)
			:: else
			fi;
			me = 0; succ = 0
		}
out:		skip
	:: alive--; break
	od
}

init {
	byte i;
	atomic {
		do :: i < NS -> run Wire(i); i++ :: else -> i = 0; break od;
		do :: i < NP -> run P(i); i++ :: else -> i = 0; break od
	}
	d_step { alive == 0 && flying == 0 ->
		assert(TAIL == 0 && nw == 0);
		do :: i < NS -> assert(USABLE(i) && !OWED[i] && PRED[i] == 0); i++ :: else -> break od }
}
