/*
 * ShiftLock without failures: model of src/lock/shiftlock/shiftlock.c.
 *
 * What it models. NW writers (processes 0 .. NW-1, default 2) and NR readers (default 2), which
 * take the lock any number of times and may stop between two acquisitions. -DN=n: writers in a row
 * before readers get a turn (default 2). A writer that hands over within a row leaves itself to be
 * subtracted by the row's last one; with -DLEASED each subtracts itself, as the code does with a
 * lease.
 *
 * What it proves. Writers are alone, and readers are never in with a writer (asserts in ghost.inc);
 * no deadlock (awaits are blocking guards, so a hang is an invalid end state); a queue node's
 * words are null when they are written, and HEAD is taken before it is written again (asserts); at
 * the end all words say "free" (asserts). With -DTRY also when clients try. With -DTIMED=m also
 * when the processes in bit mask m time out at any time (except process v of -DLIVE=v): such a
 * process stops waiting; a writer may resume the place that it has left, and uses its slot for
 * another acquire after it was passed over; at the end all such places were passed over. With
 * -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it (ltl live).
 *
 * What it abstracts. One lock; one slot for each process. The fields of word A are variables that
 * change in one step; REL counts modulo the least power of two above NR. An operation and its
 * flush, with nothing of the same process between them, are one step, when the operation takes
 * effect; operations issued together take effect in any order; memory is sequentially consistent.
 * With -DTIMED every link says that the writer may leave its place. A loop of compare-and-swap on A
 * is one step, which changes A only if the fields allow it.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | N=1 | safe 2M long | pass | 2 writers, 2 readers, 1 writer in a row | 5 802 182 |
 * | NR=1 | safe | pass | 2 writers, 1 reader, 2 in a row | 156 306 |
 * | N=1 NR=1 TRY | safe | pass | 2 writers, 1 reader, 1 in a row, with tries | 312 037 |
 * | N=1 NR=1 LIVE=1 | live3 | pass | 2 writers, 1 reader, 1 in a row | 155 000 |
 * | NR=1 LIVE=2 | live3 | pass | 2 writers, 1 reader, 2 in a row | 231 250 |
 * | N=1 NW=1 LIVE=0 | live3 | pass | 1 writer, 2 readers | 24 816 |
 * | N=1 NW=3 NR=1 | safe 20M long | pass | 3 writers, 1 reader, 1 in a row | 33 641 502 |
 * | N=1 LIVE=1 | live3 5M long | pass | 2 writers, 2 readers, 1 in a row | 12 637 452 |
 * | N=1 LIVE=3 | live3 5M long | pass | 2 writers, 2 readers, 1 in a row | 12 855 676 |
 * | NR=1 N=1 TIMED=7 | safe | pass | 2 writers, 1 reader, 1 in a row, with deadlines of all | 1 662 824 |
 * | NR=1 TIMED=3 | safe | pass | 2 in a row, of the writers; places that are left are taken up or passed over | 1 338 971 |
 * | NW=1 TIMED=1 | safe | pass | 1 writer, 2 readers, with deadlines of the writer | 83 588 |
 * | NW=1 TIMED=7 | safe | pass | of all | 171 658 |
 * | NW=1 TIMED=7 LIVE=0 | live3 | pass | 1 writer, 2 readers, with deadlines of the others | 31 054 |
 * | NW=1 TIMED=7 LIVE=1 | live3 | pass | 1 writer, 2 readers, with deadlines of the others | 167 284 |
 * | NR=1 N=1 TIMED=7 LIVE=2 | live3 | pass | 2 writers, 1 reader, with deadlines of the others | 1 454 373 |
 * | NR=1 N=1 TIMED=7 LIVE=1 | live3 long | pass | 2 writers, 1 reader, with deadlines of the others | 1 076 155 |
 * | NR=1 N=1 TIMED=7 TRY | safe long | pass | 2 writers, 1 reader, with deadlines and tries | 3 636 157 |
 * | N=1 NW=1 NR=3 TIMED=15 | safe 2M long | pass | 1 writer, 3 readers, with deadlines | 11 157 215 |
 * | N=1 TIMED=1 | safe 5M long | pass | 2 writers, 2 readers, 1 in a row, with deadlines of a writer | 48 970 645 |
 * | N=1 NW=3 NR=0 TIMED=7 | safe 6M long | pass | 3 writers, 1 in a row, with deadlines | 32 079 941 |
 * | NR=1 LEASED | safe | pass | 2 writers, 1 reader, 2 in a row, as with leases | 149 394 |
 * | N=3 NW=3 NR=0 | safe 6M long | pass | 3 writers, 3 in a row | |
 * | N=3 NW=3 NR=1 | safe 20M long | pass | 3 writers, 1 reader, 3 in a row | |
 * | BREAK_SNAPSHOT N=1 NR=1 | safe | assert | a writer does not wait for readers | reader and writer together |
 * | BREAK_TURN N=1 NR=1 | safe | deadlock | a writer that leaves without a known successor gives readers no turn | |
 * | BREAK_HEAD N=1 NW=3 NR=1 | safe 5M | deadlock | a client that finds its queue longer than it was does not pass on the head's place | |
 * | BREAK_EPOCH N=1 NR=1 | safe | assert | after a turn of the readers the successor does not wait | reader and writer together |
 * | BREAK_OWED NR=1 | safe | deadlock | the last writer of a row subtracts the others, but then compares with all that it found | |
 * | BREAK_SUM NR=1 | safe | deadlock | the last writer of a row subtracts itself only | |
 * | NW=1 TIMED=1 BREAK_PLAIN | safe | deadlock | a writer that waits for readers subtracts itself | WP is 0, and readers are blocked |
 * | NW=1 TIMED=1 BREAK_FLIP | safe | deadlock | the same, and changes EPOCH | a reader that was let in finds EPOCH as it was |
 * | NW=1 TIMED=1 BREAK_LAST | safe | deadlock | no reader releases for a writer that is absent | |
 * | NW=1 TIMED=2 BREAK_WITHDRAW | safe | deadlock | a reader subtracts itself though it was let in | REL does not reach the awaited value |
 * | NR=1 N=1 TIMED=7 BREAK_EARLY | safe | assert | a node is marked as passed over before its NEXT is read | the successor is lost |
 * | NR=1 N=1 TIMED=7 BREAK_RESUME | safe | assert | L4 is a put | a place is passed over that has been taken again |
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
byte GRANT[NW]; /* STATUS, with what it carries: */
bit GEPOCH[NW];
byte GCONS[NW];
bit GWAIT[NW];
byte GREL[NW];
byte GOWED[NW];

#define GIVEN 1
#define LEFT 2
#define PASSED 3

#include "ghost.inc"

#ifdef TIMED
bit ABSENT;     /* in word A: the next writer has left; REL is 0 when its readers have left */
bit QUEUED[NW]; /* the process has abandoned its place and has not seen it passed over */
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE && (TIMED >> (p) & 1))
#else
#define MAY_TIME_OUT (TIMED >> (p) & 1)
#endif
#define FREE (!QUEUED[p] || GRANT[p] == PASSED)
#define TAKE_SLOT QUEUED[p] = 0
#else
#define FREE true
#define TAKE_SLOT skip
#endif

/* Waits for the readers of one turn at a time, at most. */
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

/* Subtract this writer and those before it that A still counts; wp: the writers without those. */
#if defined(BREAK_OWED)
#define SUBTRACT wp = WP; WP = WP - 1 - owed; REL = MOD(REL + 1 + owed); owed = 0
#elif defined(BREAK_SUM)
#define SUBTRACT wp = WP - owed; WP--; REL = MOD(REL + 1); owed = 0
#else
#define SUBTRACT wp = WP - owed; WP = WP - 1 - owed; REL = MOD(REL + 1 + owed); owed = 0
#endif

#ifdef TIMED
/* L1: old = cas(A, as seen, ABSENT, REL - n and WP + more); flush. Only if readers that were let in
 * have yet to leave; gone says whether. */
#define BE_ABSENT(n, more) d_step { gone = (REL != (n)); \
	if :: gone -> assert(!ABSENT); ABSENT = 1; REL = MOD(REL + 4 - (n)); WP = WP + more :: else fi }

/* R5: old = fao(succ.STATUS, grant, REPLACE); flush. A client that has left is passed over. */
inline hand_on()
{
	skip;
give:	skip;
	d_step {
		gone = (GRANT[succ - 1] == LEFT);
		assert(GRANT[succ - 1] == 0 || gone);
		GEPOCH[succ - 1] = epoch;
		GCONS[succ - 1] = (flip -> 0 : cons + 1);
		GWAIT[succ - 1] = (rdr > 0);
		GREL[succ - 1] = (rdr > 0 -> expected : 0);
		GOWED[succ - 1] = owed;
		GRANT[succ - 1] = GIVEN
	}
	if
	:: gone ->
		d_step { GEPOCH[succ - 1] = 0; GCONS[succ - 1] = 0; GWAIT[succ - 1] = 0; GREL[succ - 1] = 0;
			GOWED[succ - 1] = 0; gone = 0 }
		/* P1: the readers that were let in are there: it stays at the head of the queue */
		if
		:: rdr > 0 -> BE_ABSENT(expected, 1)
		:: else
		fi;
		if
		:: gone ->
			/* put(succ.STATUS, LEFT); flush */
			GRANT[succ - 1] = LEFT;
			/* put(HEAD, succ); flush */
			d_step { assert(HEAD == 0); HEAD = succ }
			goto done
		:: else -> rdr = 0
		fi;
#ifdef BREAK_EARLY
		GRANT[succ - 1] = PASSED;
#endif
		/* P2: next = get(succ.NEXT); flush */
		next = NEXT[succ - 1];
		if
		:: next == 0 ->
			/* P3: r = cas(TAIL, succ -> 0); flush */
			d_step { next = TAIL; if :: next == succ -> TAIL = 0; next = 0 :: else fi }
			if
			:: next == 0
			:: else -> atomic { NEXT[succ - 1] != 0; next = NEXT[succ - 1] }
			fi
		:: else
		fi;
		/* P4: old = fao(A, WP - 1 - owed, REL + 1 + owed), and EPOCH if no successor is known; flush */
		d_step { flip = (flip || next == 0);
			SUBTRACT;
			if
			:: next == 0 -> rdr = RDR; expected = MOD(REL + RDR); EPOCH = 1 - EPOCH; epoch = EPOCH
			:: else
			fi }
		/* P5: put(succ.STATUS, PASSED); flush */
		d_step { GRANT[succ - 1] = PASSED; succ = next; next = 0 }
		if
		:: succ != 0 -> goto give
		:: succ == 0 && wp > 1 -> atomic { HEAD != 0; succ = HEAD; HEAD = 0 } goto give
		:: else
		fi
	:: else
	fi;
done:	skip
}
#endif

/* R2: what the release changes in A, and reads from it. */
#define LEAVE d_step { rdr = RDR; SUBTRACT; expected = MOD(REL + RDR); \
		if :: flip -> EPOCH = 1 - EPOCH; epoch = EPOCH :: else fi }

#ifdef TIMED
byte at;
#define ALL_PASSED assert(!ABSENT); at = 0; \
	do :: at < NW -> assert(!QUEUED[at] || GRANT[at] == PASSED); at++ :: else -> at = 0; break od
#else
#define ALL_PASSED skip
#endif
#define DONE d_step { alive--; \
	if :: alive == 0 -> ALL_PASSED; assert(WP == 0 && RDR == 0 && TAIL == 0 && HEAD == 0 && nw + nr == 0) :: else fi }

proctype Writer(byte p)
{
	byte old, wp, rdr, succ, prev, cons, expected, tail, owed;
	bit epoch, queued, flip; /* epoch: the present one */
#ifdef TIMED
	byte next;
	bit gone;
#endif

	do
#ifdef TIMED
	::	/* L4: old = cas(STATUS, LEFT -> 0); flush */
		atomic { QUEUED[p] && GRANT[p] != PASSED -> WANT }
#ifdef BREAK_RESUME
		d_step { GRANT[p] = 0; QUEUED[p] = 0; gone = 1 }
#else
		d_step { gone = (GRANT[p] == LEFT); if :: gone -> GRANT[p] = 0; QUEUED[p] = 0 :: else fi }
#endif
		if
		:: gone -> gone = 0; queued = 1; goto wait
		:: else /* about to be passed over, or to be put at the head */
		fi
#endif
#ifdef TRY
	::
#ifdef TIMED
		atomic { FREE -> TAKE_SLOT };
#endif
		/* T1, T2: get(A); flush; cas(A, as seen, WP + 1); flush. The lock is free at one
		 * point of time */
		d_step { old = WP + RDR; epoch = EPOCH; if :: old == 0 -> WP = 1 :: else fi }
		if
		:: old > 0 -> old = 0; goto out
		:: else -> cons = 0; goto cs
		fi
#endif
	:: atomic { FREE -> TAKE_SLOT; WANT;
		NEXT[p] = 0; GRANT[p] = 0 } /* W1: poke, own memory */
		/* W2: old = fao(A, WP + 1); flush */
		d_step { wp = WP; rdr = RDR; epoch = EPOCH; expected = MOD(REL + RDR); WP++ }
		cons = 0; queued = 0;
		if
		:: wp == 0 ->
			if
			:: rdr > 0 ->
				if
				:: DRAIN(expected) /* W3 */
#ifdef TIMED
				:: MAY_TIME_OUT ->
					/* L2: leave alone, if no other client is blocked; or L1 */
#ifdef BREAK_PLAIN
					d_step { gone = (REL != expected);
						if :: gone -> WP-- :: else fi }
#elif defined(BREAK_FLIP)
					d_step { gone = (REL != expected);
						if :: gone -> WP--; EPOCH = 1 - EPOCH :: else fi }
#else
					d_step { gone = (REL != expected && WP == 1 && RDR == MOD(expected + 4 - REL));
						if :: gone -> WP-- :: else fi }
					if
					:: gone
					:: else -> BE_ABSENT(expected, 0)
					fi;
#endif
					if
					:: gone -> goto out
					:: else
					fi
#endif
				fi
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
wait:			if
			:: atomic { GRANT[p] == GIVEN -> epoch = GEPOCH[p]; cons = GCONS[p]; owed = GOWED[p] }
#ifdef TIMED
			:: MAY_TIME_OUT ->
				/* L3: old = cas(STATUS, 0 -> LEFT); flush */
				d_step { gone = (GRANT[p] == 0); if :: gone -> GRANT[p] = LEFT; QUEUED[p] = 1 :: else fi }
				if
				:: gone -> goto out
				:: else -> atomic { GRANT[p] == GIVEN -> epoch = GEPOCH[p]; cons = GCONS[p]; owed = GOWED[p] }
				fi
#endif
			fi;
			if
			:: GWAIT[p] ->
				if
				:: DRAIN(GREL[p]) /* W7 */
#ifdef TIMED
				:: MAY_TIME_OUT ->
					BE_ABSENT(GREL[p], 1);
					if
					:: gone ->
						/* poke STATUS; put(HEAD, me); flush */
						d_step { GRANT[p] = LEFT; QUEUED[p] = 1;
							GEPOCH[p] = 0; GCONS[p] = 0; GWAIT[p] = 0; GREL[p] = 0; GOWED[p] = 0 }
						d_step { assert(HEAD == 0); HEAD = p + 1 }
						goto out
					:: else
					fi
#endif
				fi
			:: else
			fi;
			d_step { prev = 0; GEPOCH[p] = 0; GCONS[p] = 0; GWAIT[p] = 0; GREL[p] = 0; GOWED[p] = 0 }
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
#ifndef LEASED
		/* R6: within a row, one put */
		if
		:: !flip && succ != 0 -> owed++; goto known
		:: else
		fi;
#endif
		/* R2: old = fao(A, WP - 1 - owed, REL + 1 + owed, EPOCH); with it, if no client is linked, r = cas(TAIL, me -> 0); flush */
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
known:			skip;
#ifdef TIMED
			if :: !flip -> rdr = 0 :: else fi;
			hand_on()
#else
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
				GOWED[succ - 1] = owed;
				GRANT[succ - 1] = 1
			}
#endif
		fi;
out:		skip;
		d_step { wp = 0; rdr = 0; succ = 0; cons = 0; expected = 0; tail = 0; epoch = 0; queued = 0; flip = 0; prev = 0;
			owed = 0;
#ifdef TIMED
			next = 0; gone = 0
#endif
		}
	:: DONE; break
	od
}

proctype Reader(byte p)
{
	bit epoch;
	byte wp;
#ifdef TIMED
	byte rdr, succ, expected, cons, next, owed;
	bit flip, gone;
#endif

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
		:: else ->
			if
			:: EPOCH != epoch
#ifdef TIMED
			:: MAY_TIME_OUT ->
				/* L5: old = cas(A, as seen, RDR - 1); flush. Only if EPOCH is as it was */
#ifdef BREAK_WITHDRAW
				d_step { gone = 1; RDR-- }
#else
				d_step { gone = (EPOCH == epoch); if :: gone -> RDR-- :: else fi }
#endif
				if
				:: gone -> d_step { gone = 0; wp = 0; epoch = 0 } goto out
				:: else
				fi
#endif
			fi
		fi;
cs:		skip;
		critical_shared(p);
		/* B1: fao(A, RDR - 1, REL + 1); flush */
		d_step { RDR--; REL = MOD(REL + 1); wp = 0; epoch = 0;
#ifdef TIMED
#ifndef BREAK_LAST
			gone = (ABSENT && REL == 0)
#endif
#endif
		}
#ifdef TIMED
		/* B2: the last one of those that the absent writer waited for: old = fao(A, WP - 1, REL + 1,
		 * ABSENT - 1, EPOCH); flush */
		if
		:: gone -> d_step {
				wp = WP; rdr = RDR; WP--; REL = MOD(REL + 1); expected = MOD(REL + RDR); ABSENT = 0;
				EPOCH = 1 - EPOCH; epoch = EPOCH; flip = 1; gone = 0 }
			if
			:: wp > 1 -> atomic { HEAD != 0; succ = HEAD; HEAD = 0 } hand_on()
			:: else
			fi;
			d_step { wp = 0; rdr = 0; succ = 0; expected = 0; cons = 0; next = 0; flip = 0; gone = 0; epoch = 0 }
		:: else
		fi;
#endif
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
