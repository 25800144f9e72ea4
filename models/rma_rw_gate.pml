/*
 * RMA-RW with gate counters: model of src/lock/tree/readers_gate.c under src/lock/tree/rma_rw.c; the writers'
 * queue (steps A and R) is queue_tree.inc.
 *
 * What it models. NW writers (default 2) and NR readers (2), K counters (1; reader r counts at r
 * mod K), a tree of LEVELS levels for the writers (1: one queue; 2: elements of two processes),
 * T_W, T_R, and ATTEMPTS (1) after which a reader queues as a writer (0: never). Every process
 * takes the lock any number of times and may stop between two acquisitions. -DTRY: a process may
 * also try. -DTIMED=mask: the processes of the mask may also acquire with a deadline, which passes
 * at any step.
 *
 * What it proves. A writer is alone and readers meet no writer; no more than T_W writers between
 * two openings; no deadlock (awaits are blocking guards); the phases of all counters are equal
 * when a writer closes or opens them; at the end the queues are empty, the gates open, and no
 * reader is counted. With -DLIVE=v, under weak fairness, process v gets the lock whenever it wants
 * it (writers 0..NW-1, then readers).
 *
 * What it abstracts. GATE counts modulo 4. A reader compares how often GATE has moved since its
 * first look (late[p], up to 2, which moves along with GATE; NOT_LOOKING when the reader does not
 * need it): with before = 2r or 2r-1 (need = 0 or 1 moves until its phase r opens) the gate has
 * passed phase r if and only if late > need, and opened it if and only if late >= need. This is
 * exact for GATE of any size. Arrivals since BASE count up to T_R, anew from the look that precedes
 * the closing, because BASE is read at the next look only. The look of a writer that waits (L) is
 * one step for each counter and question: torn reads can make it close earlier or look again, and
 * what it waits for stays true once T_R has come. Operations on several counters before one flush
 * come in either order; within a counter BASE is read by the next head of the queue only, so its
 * order against GATE does not matter. An operation and its flush, with nothing of the same process
 * between them, are one step; operations are atomic on each word, and memory is sequentially
 * consistent (RA2 before RA3, C before D).
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | ATTEMPTS=0 | safe 5M long | pass | 2 writers, 2 readers that never queue | 9 294 754 |
 * | NR=1 | safe 5M middle | pass | 2 writers, 1 reader that queues after 1 attempt | 4 706 161 |
 * | ATTEMPTS=0 NW=1 K=2 | safe | pass | 1 writer, 2 readers, two counters | 395 620 |
 * | ATTEMPTS=0 TRY NR=1 | safe 5M | pass | with tries: 2 writers, 1 reader | 1 858 650 |
 * | ATTEMPTS=0 TRY NW=1 K=2 | safe 5M middle | pass | 1 writer, 2 readers that never queue, with tries, two counters | 2 293 250 |
 * | ATTEMPTS=0 NW=1 LIVE=0 | live3 | pass | 1 writer, 2 readers | 190 371 |
 * | ATTEMPTS=0 NW=1 TRY LIVE=0 | live3 | pass | the same with tries | 835 203 |
 * | NW=1 NR=1 LIVE=1 | live3 | pass | 1 writer, 1 reader that queues after 1 attempt | 84 840 |
 * | NW=1 NR=1 TIMED=3 | safe | pass | with deadlines that pass at any moment: 1 writer, 1 reader that queues after 1 attempt | 527 967 |
 * | ATTEMPTS=0 NW=1 TIMED=7 | safe 5M long | pass | 1 writer, 2 readers that never queue, all with deadlines | 2 161 641 |
 * | ATTEMPTS=0 NR=1 TIMED=1 | safe 5M long | pass | 2 writers, one of them with deadlines, 1 reader that never queues | 2 306 354 |
 * | NW=1 NR=1 TIMED=1 LIVE=1 | live3 long | pass | 1 writer with deadlines, 1 reader that queues after 1 attempt | 366 354 |
 * | ATTEMPTS=0 NW=1 NR=1 TIMED=2 LIVE=0 | live3 long | pass | 1 writer, 1 reader with deadlines | 21 151 |
 * | ATTEMPTS=0 K=2 | safe 20M long | pass | 2 writers, 2 readers that never queue, two counters | 31 663 904 |
 * | NW=1 | safe 20M long | pass | 1 writer, 2 readers that queue after 1 attempt | 16 375 044 |
 * | NR=1 ATTEMPTS=2 | safe 5M long | pass | 2 writers, 1 reader that queues after 2 attempts | 9 151 570 |
 * | NW=1 K=2 | safe 20M long | pass | 1 writer, 2 readers that queue after 1 attempt, two counters | 39 952 677 |
 * | NW=1 TRY | safe 20M long | pass | 1 writer, 2 readers that queue after 1 attempt, with tries | 72 104 485 |
 * | ATTEMPTS=0 LEVELS=2 NW=3 NR=1 | safe 20M long | pass | 3 writers in a tree of 2 levels, 1 reader that never queues | 54 161 427 |
 * | LEVELS=2 NR=1 | safe 5M | pass | 2 writers, 1 reader that queues after 1 attempt, in a tree of 2 levels | 3 103 214 |
 * | LEVELS=2 NR=1 LIVE=1 | live3 10M long | pass | the same | 6 894 229 |
 * | NR=1 LIVE=1 | live3 10M long | pass | 2 writers, 1 reader that queues after 1 attempt | 11 509 942 |
 * | NR=1 LIVE=2 | live3 10M long | pass | 2 writers, 1 reader that queues after 1 attempt | 13 612 131 |
 * | ATTEMPTS=0 NW=1 NR=1 LIVE=1 | live3 | cycle | a reader never queues as a writer | the reader starves |
 * | BREAK_DRAIN | safe | assert | a writer does not wait for readers to leave | reader and writer together |
 * | BREAK_RECHECK | safe | assert | a reader does not look at GATE again (RA3) | reader and writer together |
 * | BREAK_OPEN | safe | assert | the counters are opened after the root queue was left | next writer meets a closed gate |
 * | ATTEMPTS=0 LEVELS=2 NW=3 NR=1 BREAK_OPEN | safe | assert | the same in a tree | next writer meets a closed gate |
 * | ATTEMPTS=0 LEVELS=2 NW=3 NR=1 BREAK_RUN | safe | assert | a grant within an element forgets the writers in a row | more than T_W writers in a row |
 * | BREAK_TRY TRY NW=1 TW=1 | bfs | assert | no look at the previous phase (L2): a try that closed phase r, found readers inside and opened phase r + 1 leaves them in a counter for which no client waits | reader and writer together |
 * | ATTEMPTS=0 NW=1 NR=1 TIMED=1 BREAK_LOOK | bfs | assert | no look at the previous phase (L2) | reader and writer together |
 * | ATTEMPTS=0 NW=1 NR=1 TIMED=1 BREAK_BACK | bfs | assert | a writer that gives up leaves the gates closed | a closed gate at the end |
 */
#ifndef ATTEMPTS
#define ATTEMPTS 1
#endif

#include "rma_rw.inc"

byte gate[K];      /* GATE modulo 4: 2 * (r & 1), + 1: closed */
byte a[2 * K];     /* low half of A[r & 1] of counter c, at 2c + (r & 1) */
byte since[2 * K]; /* its high half - BASE, up to TR */
byte late[NR];     /* how often GATE has moved since the reader looked, up to 2 */
byte streak;       /* ghost: writers since the last opening */
#define NOT_LOOKING 3

#define NOW(c) (2 * (c) + (gate[c] >> 1))  /* A of the phase open or just closed */
#define NEXT(c) (2 * (c) + 1 - (gate[c] >> 1))
#define C(p) ((p) % K)

/* put(GATE, GATE + 1) to all counters; flush.  x: what it is at all of them */
inline move_gates()
{
	ANY_ORDER;
	x = gate[0];
	do
	:: i < K -> d_step {
			c = TURN(i);
			assert(gate[c] == x);
			gate[c] = (gate[c] + 1) % 4;
			i++;
			/* ghost: the readers of this counter */
			n = 0;
			do
			:: n < NR -> if :: C(NW + n) == c && late[n] < 2 -> late[n]++ :: else fi; n++
			:: else -> n = 0; break
			od }
	:: else -> d_step { i = 0; y = 0; c = 0; x = 0 } break
	od
}

inline close_all()
{
	/* C: put(BASE, arrivals at the next phase as read at the look), put(GATE, 2r + 1); flush */
	assert(!(gate[0] & 1));
	move_gates()
}

#ifdef TIMED
inline root_close()
{
	over = 0;
	do
	:: i < K ->
		if
		:: a[NOW(i)] == 0 || since[NOW(i)] >= TR /* L1 */
		:: timed -> over = 1; break
		fi;
#ifdef BREAK_LOOK
		d_step { since[NEXT(i)] = 0; i++ }
#else
		if
		:: atomic { a[NEXT(i)] == 0 -> since[NEXT(i)] = 0; i++ } /* L2 */
		:: timed -> over = 1; break
		fi
#endif
	:: else -> break
	od;
	i = 0;
	if
	:: !over ->
		close_all();
		do
		:: i < K -> if
			:: atomic { a[NOW(i)] == 0 -> i++ } /* D */
			:: timed -> over = 1; break
			fi
		:: else -> break
		od;
		i = 0;
#ifndef BREAK_BACK
		/* D2: as O */
		if
		:: over -> root_open()
		:: else
		fi
#endif
	:: else
	fi;
	if
	:: over -> abandon(p); s = BUSY; over = 0
	:: else
	fi
}
#else
inline root_close()
{
	do
	:: i < K ->
		/* L1: await no readers inside, or T_R arrivals since BASE; once for each counter */
		a[NOW(i)] == 0 || since[NOW(i)] >= TR;
		/* L2: and no readers left of the previous phase (a try may have left some there);
		 * from here on arrivals count for the next phase */
#ifdef BREAK_TRY
		d_step { since[NEXT(i)] = 0; i++ }
#else
		atomic { a[NEXT(i)] == 0 -> since[NEXT(i)] = 0; i++ }
#endif
	:: else -> i = 0; break
	od;
	close_all()
#ifndef BREAK_DRAIN
	;
	/* D: await no readers inside */
	do
	:: i < K -> atomic { a[NOW(i)] == 0 -> i++ }
	:: else -> i = 0; break
	od
#endif
}
#endif

inline root_open()
{
	/* O: put(GATE, 2r + 2) to all; flush */
	d_step { assert(gate[0] & 1); streak = 0 }
	move_gates()
}

#ifdef TRY
/* s: HEAD, and closed; or BUSY, and nothing held */
inline try_close(p)
{
	busy = 0;
	do
	:: i < K && !busy ->
		busy = (a[NOW(i)] != 0);
#ifdef BREAK_TRY
		d_step { since[NEXT(i)] = 0; i++ }
#else
		d_step { busy = (busy || a[NEXT(i)] != 0); since[NEXT(i)] = 0; i++ }
#endif
	:: else -> i = 0; break
	od;
	if
	:: !busy ->
		close_all();
		do
		:: i < K -> d_step { busy = (busy || a[NOW(i)] != 0); i++ }
		:: else -> i = 0; break
		od;
		if
		:: busy -> root_open()
		:: else
		fi
	:: else
	fi;
	if
	:: busy -> abandon(p); s = BUSY; busy = 0
	:: else
	fi
}
#endif

proctype P(byte p)
{
	QUEUE_VARS;
	byte i, c, y, n;        /* writing */
	byte before, need, phase, bad; /* reading */
#ifdef TRY
	bit busy;
#endif
#ifdef TIMED
	bit over;
#endif

	do
#ifdef TIMED
	:: if :: (TIMED >> p) & 1 -> timed = 1 :: WANT fi;
#else
	:: WANT;
#endif
		if
		:: p >= NW ->
again:
			/* RA1: before = get GATE: which phase is open, or the next to open? */
			atomic { before = gate[C(p)]; late[p - NW] = 0; need = before & 1;
				 phase = 2 * C(p) + (((before + 1) >> 1) & 1); before = 0 }
			/* RA2: fao(A[r & 1], +1 in both halves) */
			d_step { a[phase]++; if :: since[phase] < TR -> since[phase]++ :: else fi }
#ifndef BREAK_RECHECK
			/* RA3: get GATE: not beyond that phase? */
			if
			:: late[p - NW] > need ->
				/* RA4: too late: fao(A, -1) */
				d_step { a[phase]--; phase = 0; need = 0; late[p - NW] = NOT_LOOKING;
					 bad = bad + (ATTEMPTS > 0) }
				if
				:: ATTEMPTS == 0 || bad < ATTEMPTS -> goto again
				:: else -> bad = 0; goto write
				fi
			:: else
			fi;
#endif
			/* RA5: await GATE >= 2r */
#ifdef TIMED
			if
			:: atomic { late[p - NW] >= need -> late[p - NW] = NOT_LOOKING; need = 0; bad = 0 }
			:: timed ->
				/* RA6: acc(A, -1) */
				d_step { a[phase]--; late[p - NW] = NOT_LOOKING; phase = 0; need = 0; bad = 0 }
				goto next
			fi;
#else
			atomic { late[p - NW] >= need -> late[p - NW] = NOT_LOOKING; need = 0; bad = 0 }
#endif
read:			critical_shared(p);
			/* RR1: acc(A[r & 1], -1) */
			atomic { a[phase]--; phase = 0 }
			goto next
		:: else
		fi;
write:		acquire(p);
#ifdef TIMED
		if
		:: s == BUSY || s == LEFT -> settle(p); goto next
		:: else -> timed = 0
		fi;
#endif
cs:		atomic { streak++; assert(streak <= TW) }
		critical_exclusive(p);
		release(p);
#ifdef TIMED
next:		timed = 0
#else
next:		skip
#endif
#ifdef TRY
	:: p < NW ->
		try_acquire(p);
		if
		:: s == HEAD -> try_close(p)
		:: else
		fi;
		if
		:: s == HEAD -> goto cs
		:: else -> s = 0
		fi
	:: p >= NW ->
		/* RA1 to RA4, if open, without waiting */
		if
		:: d_step { !(gate[C(p)] & 1) -> before = gate[C(p)]; late[p - NW] = 0;
			    phase = 2 * C(p) + (before >> 1); before = 0 }
			d_step { a[phase]++; if :: since[phase] < TR -> since[phase]++ :: else fi }
			if
			:: late[p - NW] > 0 ->
				d_step { a[phase]--; phase = 0; late[p - NW] = NOT_LOOKING }
			:: else -> late[p - NW] = NOT_LOOKING; goto read
			fi
		:: else
		fi
#endif
	:: break
	od;
	atomic {
		alive--;
		if
		:: alive == 0 ->
			assert(nw == 0 && nr == 0 && TAIL[0] == 0);
			do
			:: alive < K -> assert(!(gate[alive] & 1) && a[NOW(alive)] == 0 && a[NEXT(alive)] == 0); alive++
			:: else -> alive = 0; break
			od
		:: else
		fi
	}
}

init {
	byte i;
	atomic {
		do :: i < NR -> late[i] = NOT_LOOKING; i++ :: else -> i = 0; break od;
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
}
