/*
 * RMA-RW with ticket counters: model of src/lock/tree/readers_ticket.c under src/lock/tree/rma_rw.c; the
 * writers' queue (steps A and R) is queue_tree.inc.
 *
 * What it models. NW writers (default 2) and NR readers (2), K counters (1; reader r counts at r
 * mod K), a tree of LEVELS levels for the writers (1: one queue; 2: elements of two processes),
 * T_W, T_R. Every process takes the lock any number of times and may stop between two acquisitions.
 * -DTRY: a process may also try. -DTIMED=mask: the processes of the mask may also acquire with a
 * deadline, which passes at any step. The gate counts modulo G (4); MOST closings (G / 2 - 2) may
 * be undone in a row.
 *
 * What it proves. A writer is alone and readers meet no writer; no more than T_W writers between
 * two openings; no deadlock (awaits are blocking guards); all gates are equal when the counters
 * are opened, and OUT is then the number of arrivals before the closing; at the end the queues are
 * empty, the gates open, and all readers that arrived have left. With -DLIVE=v, under weak
 * fairness, process v gets the lock whenever it wants it (writers 0..NW-1, then readers).
 *
 * What it abstracts. Arrivals and departures count modulo M (more than the readers that can be
 * inside, so equality is exact). Arrivals - BASE counts up to T_R (it is only compared with T_R),
 * and starts anew at the closing, because BASE is read at the next look only. The look of a writer
 * that waits (L) is one step: torn reads can make it close earlier or look again, and what it waits
 * for stays true once T_R has come. The look of a try is two steps. Operations on several counters
 * before one flush come in either order. A reader that takes its arrival back does so in one step,
 * and stays in what is compared with T_R. The look of a writer that closes only if there are no
 * readers is one step for each counter (TRY has two). An operation and its flush, with nothing of
 * the same process between them, are one step; operations are atomic on each word, and memory is
 * sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 writers, 2 readers, T_W = 2, T_R = 1 | 1 611 912 |
 * | K=2 | safe 5M long | pass | 2 writers, 2 readers, two counters | 4 363 421 |
 * | TW=1 NW=1 NR=3 | safe 5M | pass | 1 writer, 3 readers, T_W = 1 | 238 395 |
 * | LEVELS=2 NW=2 NR=2 | safe 5M | pass | 2 writers in a tree of 2 levels, 2 readers | 1 227 114 |
 * | TRY NR=1 | safe 5M | pass | with tries: 2 writers, 1 reader | 552 960 |
 * | TRY NW=1 | safe 5M | pass | 1, 2 | 100 170 |
 * | TRY NW=1 K=2 | safe | pass | 1, 2 and two counters | 311 479 |
 * | NR=1 LIVE=1 | live3 | pass | 2 writers, 1 reader | 332 966 |
 * | NR=1 LIVE=2 | live3 | pass | 2 writers, 1 reader | 333 617 |
 * | NW=1 LIVE=0 | live3 | pass | 1 writer, 2 readers | 37 848 |
 * | NW=1 TIMED=1 G=8 | safe | pass | with deadlines that pass at any moment: 1 writer with, 2 readers without, gate modulo 8 | 785 596 |
 * | NW=1 TIMED=7 G=8 | safe 5M long | pass | 1 writer, 2 readers, all with deadlines, gate modulo 8 | 3 392 372 |
 * | NR=1 TIMED=5 G=8 | safe 5M long | pass | 2 writers, of whom one with deadlines, 1 reader with, gate modulo 8 | 6 344 615 |
 * | NW=1 NR=1 TIMED=1 G=8 LIVE=1 | live3 | pass | 1 writer with deadlines, 1 reader | 82 830 |
 * | NW=1 NR=2 TIMED=2 G=8 LIVE=0 | live3 3M long | pass | 1 writer, 2 readers of whom 1 with deadlines, gate modulo 8 | 225 683 |
 * | LEVELS=2 NW=3 NR=1 | safe 20M long | pass | 3 writers in a tree of 2 levels, 1 reader | 15 215 220 |
 * | TRY | safe 20M long | pass | 2 writers, 2 readers, with tries | 8 814 042 |
 * | BREAK_DRAIN | safe | assert | a writer does not wait for readers to leave | reader and writer together |
 * | BREAK_RECHECK | safe | deadlock | a reader arrives and looks at the gate in two operations | |
 * | BREAK_OPEN | safe | assert | the counters are opened after the root queue was left | next writer meets a closed gate |
 * | BREAK_TURN NW=1 LIVE=0 | live3 | cycle | a writer waits until no reader is inside, however many came (it starves) | |
 * | BREAK_TRY TRY NW=1 TW=1 | bfs | deadlock | a try reads IN before OUT: it can see the counter idle with a blocked reader inside; closed and opened again, the gate goes through its four values before that reader looks | |
 * | NW=1 TIMED=1 BREAK_ROUND | safe | deadlock | any number of closings is undone in a row, with the same effect | |
 * | NW=1 TIMED=1 BREAK_MOST | safe | deadlock | one closing more than MOST | |
 * | NW=1 NR=1 TIMED=2 BREAK_OUT | bfs | deadlock | a reader that gives up counts in OUT as one that leaves | |
 * | NW=1 NR=1 TIMED=2 BREAK_GONE | bfs | deadlock | it takes its arrival back wherever the gate is | |
 */
/* counts modulo M: differences are at most the readers of a counter (BREAK_TRY also compares torn reads) */
#ifdef BREAK_TRY
#define M 8
#else
#define M ((NR + K - 1) / K + 1)
#endif
#ifndef G
#define G 4
#endif
#ifdef BREAK_MOST
#define MOST (G / 2 - 1)
#else
#define MOST (G / 2 - 2)
#endif

#include "rma_rw.inc"

byte gate[K], arr[K]; /* one word IN: gate modulo G, arrivals modulo M */
byte out[K];          /* OUT */
byte since[K];        /* arrivals - BASE, up to TR */
#ifdef TIMED
byte undone; /* part of BASE: closings undone in a row */
#endif
byte streak;          /* ghost: writers since the last opening */
#ifdef TRY
bit idle[K]; /* ghost: no reader was inside when OUT was read, and none has come since */
#define CAME(c) idle[c] = 0
#else
#define CAME(c) skip
#endif

inline close_all()
{
	/* C: before = fao(IN, +1); flush; put(BASE, arrivals(before)) */
	ANY_ORDER;
	i = 0;
	do
	:: i < K -> d_step {
			c = TURN(i);
			assert(!(gate[c] & 1));
			gate[c]++;
			before[c] = arr[c];
			since[c] = 0;
			i++ }
	:: else -> d_step { i = 0; y = 0; c = 0 } break
	od
}

inline drain_all()
{
#ifndef BREAK_DRAIN
	/* D: await OUT == arrivals(before) */
	do
	:: i < K -> atomic { out[i] == before[i] -> i++ }
	:: else -> break
	od;
#endif
	atomic { i = 0; do :: i < K -> before[i] = 0; i++ :: else -> i = 0; break od }
}

#ifdef TIMED
/* D2: put(BASE, one more undone); open */
inline undo_closing(now_undone)
{
	atomic { i = 0; do :: i < K -> before[i] = 0; i++ :: else -> i = 0; break od; undone = now_undone };
	root_open()
}

inline root_close()
{
	over = 0;
	/* L */
	do
	:: i < K -> if
		:: atomic { out[i] == arr[i] || since[i] >= TR -> i++ }
		:: timed -> over = 1; break
		fi
	:: else -> break
	od;
	i = 0;
#ifndef BREAK_ROUND
	/* only if there are no readers */
	do
	:: !over && timed && undone >= MOST && i < K -> if
		:: atomic { out[i] == arr[i] -> i++ }
		:: over = 1
		fi
	:: !over && timed && undone >= MOST && i == K -> undone = 0; break
	:: else -> break
	od;
	i = 0;
#endif
	if
	:: !over ->
		close_all();
		i = 0;
		/* D */
		do
		:: i < K -> if
			:: atomic { out[i] == before[i] -> i++ }
			:: timed -> over = 1; break
			fi
		:: else -> break
		od;
		if
		:: over ->
#ifdef BREAK_ROUND
			undo_closing(0)
#else
			undo_closing(undone + 1)
#endif
		:: else ->
			atomic { i = 0; undone = 0; do :: i < K -> before[i] = 0; i++ :: else -> i = 0; break od }
		fi
	:: else
	fi;
	if
	:: over -> over = 0; abandon(p); s = BUSY
	:: else
	fi
}
#else
inline root_close()
{
	/* L: await idle, or T_R arrivals since BASE; once per counter */
	do
#ifdef BREAK_TURN
	:: i < K -> atomic { out[i] == arr[i] -> i++ }
#else
	:: i < K -> atomic { out[i] == arr[i] || since[i] >= TR -> i++ }
#endif
	:: else -> i = 0; break
	od;
	close_all();
	drain_all()
}
#endif

inline root_open()
{
	/* O: the gate as it is at this process's counter, to all: acc(IN, gate == G - 1 ? 1 - G :
	 * +1); flush. (assert: no other process has changed anything since D) */
	ANY_ORDER;
	x = gate[0];
	do
	:: i < K -> d_step {
			c = TURN(i);
			assert(gate[c] == x && (x & 1));
			streak = 0;
			gate[c] = (x == G - 1 -> 0 : gate[c] + 1);
			i++ }
	:: else -> d_step { i = 0; y = 0; c = 0; x = 0 } break
	od
}

#ifdef TRY
/* s: HEAD, and closed; or BUSY, and nothing held */
inline try_close(p)
{
	x = 0;
	do
#ifdef BREAK_TRY
	:: i < K && !x ->
		before[i] = arr[i];
		x = (before[i] != out[i]);
		before[i] = 0;
		i++
#else
	:: i < K && !x ->
		/* get OUT; flush; get IN: no reader inside when OUT was read, and none came in
		 * between */
		idle[i] = (out[i] == arr[i]);
		d_step { x = !idle[i]; idle[i] = 0; i++ }
#endif
	:: else -> i = 0; break
	od;
	if
	:: x == 0 ->
		close_all();
		do
		:: i < K -> d_step { x = (x || out[i] != before[i]); before[i] = 0; i++ }
		:: else -> i = 0; break
		od;
		if
		:: x != 0 -> root_open(); x = 1
		:: else
		fi
	:: else
	fi;
	if
	:: x != 0 -> x = 0; abandon(p); s = BUSY
	:: else
	fi
}
#endif

inline goodbye()
{
	atomic {
		alive--;
		if
		:: alive == 0 ->
			assert(nw == 0 && nr == 0 && TAIL[0] == 0);
			do
			:: alive < K -> assert(!(gate[alive] & 1) && out[alive] == arr[alive]); alive++
			:: else -> alive = 0; break
			od
		:: else
		fi
	}
}

proctype W(byte p)
{
	QUEUE_VARS;
	byte i, c, y, before[K];
#ifdef TIMED
	bit over;
#endif

	do
#ifdef TIMED
	:: (TIMED >> p) & 1 ->
		timed = 1;
		acquire(p);
		if
		:: s == BUSY || s == LEFT -> settle(p)
		:: else -> timed = 0; goto cs
		fi
#endif
	:: WANT;
		acquire(p);
cs:		atomic { streak++; assert(streak <= TW) }
		critical_exclusive(p);
		release(p)
#ifdef TRY
	:: try_acquire(p);
		if
		:: s == HEAD -> try_close(p)
		:: else
		fi;
		if
		:: s == HEAD -> goto cs
		:: else -> s = 0
		fi
#endif
	:: break
	od;
	goodbye()
}

#define C(p) ((p) % K)

proctype R(byte p)
{
	byte old;
#ifdef TIMED
	bit timed;
#endif

	do
#ifdef TIMED
	:: if :: (TIMED >> p) & 1 -> timed = 1 :: WANT fi;
#else
	:: WANT;
#endif
		/* RA1: old = fao(IN, +4); flush */
#ifdef BREAK_RECHECK
		old = gate[C(p)];
		d_step { arr[C(p)] = (arr[C(p)] + 1) % M;
			 if :: since[C(p)] < TR -> since[C(p)]++ :: else fi }
#else
		d_step { old = gate[C(p)]; arr[C(p)] = (arr[C(p)] + 1) % M; CAME(C(p));
			 if :: since[C(p)] < TR -> since[C(p)]++ :: else fi }
#endif
		/* RA2: if closed: await the gate to move */
#ifdef TIMED
		if
		:: old & 1 -> if
			:: gate[C(p)] != old
			:: timed ->
				/* RA3: cas(IN, seen, one arrival less), while the gate is where it was */
				d_step { if
#ifdef BREAK_OUT
					 :: true -> out[C(p)] = (out[C(p)] + 1) % M; old = 0
#elif defined(BREAK_GONE)
					 :: true -> arr[C(p)] = (arr[C(p)] + M - 1) % M; old = 0
#else
					 :: gate[C(p)] == old -> arr[C(p)] = (arr[C(p)] + M - 1) % M; old = 0
					 :: else
#endif
					 fi }
				if
				:: old == 0 -> goto next
				:: else
				fi
			fi
		:: else
		fi;
#else
		if
		:: old & 1 -> gate[C(p)] != old
		:: else
		fi;
#endif
		old = 0;
		critical_shared(p);
		/* RR1: acc(OUT, +1); flush */
#ifdef TIMED
		out[C(p)] = (out[C(p)] + 1) % M;
next:		timed = 0
#else
		out[C(p)] = (out[C(p)] + 1) % M
#endif
#ifdef TRY
	:: d_step { !(gate[C(p)] & 1) -> arr[C(p)] = (arr[C(p)] + 1) % M; CAME(C(p));
		    if :: since[C(p)] < TR -> since[C(p)]++ :: else fi };
		critical_shared(p);
		out[C(p)] = (out[C(p)] + 1) % M
#endif
	:: break
	od;
	goodbye()
}

init {
	byte i;
	atomic {
		do
		:: i < NW -> run W(i); i++
		:: i >= NW && i < NP -> run R(i); i++
		:: else -> break
		od
	}
}
