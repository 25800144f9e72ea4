/*
 * RMA-RW in one entry at the home: model of baselines/rma_rw_entry.c.
 *
 * What it models. NW writers (default 2) in the queue of mcs.h and NR readers (2), one word of
 * counts: ARRIVE, the writers' MARK, and DEPART; T_R (1), T_W (2). A process takes the lock any
 * number of times and may stop between two acquisitions.
 *
 * What it proves. A writer is alone and readers meet no writer; ARRIVE and DEPART stay 0 or more
 * (assert in RESET); no deadlock (awaits are blocking guards); at the end the tail is null, the mark
 * away and nobody in. With -DTRY also when processes try. With -DLIVE=v, under weak fairness,
 * process v gets the lock whenever it wants it (writers 0..NW-1, then readers): the paper promises
 * this to nobody, and the rows find the cycles.
 *
 * What it abstracts. An operation and its flush are one step; the word is atomic and memory
 * sequentially consistent. A grant is a put.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 writers, 2 readers | 1 232 989 |
 * | TR=2 NW=1 NR=3 | safe | pass | 1 writer, 3 readers, T_R = 2 | 1 767 915 |
 * | TW=1 NW=2 NR=1 | safe | pass | 2 writers, 1 reader, T_W = 1 | 27 123 |
 * | TRY NW=2 NR=2 | safe middle | pass | 2 writers, 2 readers, with tries | 3 081 777 |
 * | LIVE=0 NW=1 NR=2 TR=2 | live3 | cycle | a writer that waits until it finds no reader may wait for ever | |
 * | BREAK_DRAIN | safe | assert | a writer does not wait for readers that came before its mark | reader and writer together |
 * | BREAK_RESET TR=2 | bfs | assert | a reader subtracts what it has read before, the mark included, as in Listing 9 | departures are subtracted twice |
 * | BREAK_RESET BREAK_FIRST NW=1 | bfs | assert | the same, and a writer sets the mark before it looks for readers, as in Listing 7 | a mark is erased |
 */
#ifndef NW
#define NW 2
#endif
#ifndef NR
#define NR 2
#endif
#ifndef TR
#define TR 1
#endif
#ifndef TW
#define TW 2
#endif
#define NP (NW + NR)

#define WAIT 0
#define FIRST 100 /* READERS_FIRST; else the writers in a row */

byte TAIL, NEXT[NW], STATUS[NW];
short ARRIVE, DEPART; /* with MARK one word */
bit MARK;

#include "ghost.inc"

/* take d departures from both counts, and the mark if it is m */
#define RESET(d, m) \
	ARRIVE = ARRIVE - d; DEPART = DEPART - d; assert(ARRIVE >= 0 && DEPART >= 0); \
	if :: m -> assert(MARK); MARK = 0 :: else fi

/* mcs_leave, and the rest of the release, by a writer of which the readers have the lock */
inline leave_to_readers()
{
	succ = NEXT[p];
	if
	:: succ == 0 ->
		d_step { r = TAIL; if :: r == p + 1 -> TAIL = 0 :: else fi }
		if
		:: r == p + 1
		:: else -> atomic { NEXT[p] != 0; succ = NEXT[p] }
		fi
	:: else
	fi;
	d_step {
		r = 0;
		if
		:: succ != 0 -> assert(STATUS[succ - 1] == WAIT); STATUS[succ - 1] = FIRST; succ = 0
		:: else
		fi
	}
}

proctype W(byte p)
{
	byte pred, succ, row, r;
	short dep;

	do
#ifdef TRY
	::	NEXT[p] = 0;
		STATUS[p] = WAIT;
		d_step { r = TAIL; if :: r == 0 -> TAIL = p + 1 :: else fi }
		if
		:: r != 0 -> r = 0; goto out
		:: else
		fi;
		row = 1;
		d_step { MARK = 1; r = (ARRIVE == DEPART) }
		if
		:: r -> r = 0; goto cs
		:: else
		fi;
		d_step { assert(MARK); MARK = 0 }
		leave_to_readers();
		row = 0;
		goto out
#endif
	:: atomic { WANT; NEXT[p] = 0; STATUS[p] = WAIT }
		d_step { pred = TAIL; TAIL = p + 1 }
		if
		:: pred != 0 ->
			d_step { assert(NEXT[pred - 1] == 0); NEXT[pred - 1] = p + 1; pred = 0 }
			atomic { STATUS[p] != WAIT; row = STATUS[p] }
		:: else -> row = FIRST
		fi;
		if
		:: row == FIRST ->
#ifndef BREAK_FIRST
			ARRIVE == DEPART;
#endif
			d_step { assert(!MARK); MARK = 1; row = 1 }
#ifndef BREAK_DRAIN
			ARRIVE == DEPART
#endif
		:: else
		fi;
cs:		critical_exclusive(p);
		succ = NEXT[p];
		if
		:: succ != 0 && row < TW ->
			d_step {
				assert(STATUS[succ - 1] == WAIT);
				STATUS[succ - 1] = row + 1; succ = 0
			}
		:: else ->
			dep = DEPART;
			d_step { RESET(dep, 1); dep = 0; succ = 0 }
			leave_to_readers()
		fi;
		row = 0;
out:		skip
	:: d_step {
		alive--;
		if
		:: alive == 0 -> assert(TAIL == 0 && !MARK && ARRIVE == DEPART)
		:: else
		fi } break
	od
}

proctype R(byte p)
{
	short old, dep, arr;
	bit mark;

	do
	:: WANT;
		old = -1;
again:		skip;
		d_step { old = (MARK -> 2 * NP + TR : ARRIVE); ARRIVE++ }
		if
		:: old < TR -> goto cs
		:: old == TR ->
			if
			:: TAIL != 0
			:: TAIL == 0 ->
				do
				:: d_step { mark = MARK; arr = ARRIVE; dep = DEPART }
#ifdef BREAK_RESET
					d_step { RESET(dep, mark) } break
#else
					if
					:: mark || dep == 0 -> break
					:: else
					fi;
					d_step {
						if
						:: MARK == mark && ARRIVE == arr && DEPART == dep ->
							RESET(dep, 0); old = -1
						:: else
						fi
					}
					if
					:: old == -1 -> break
					:: else
					fi
#endif
				od;
				skip
			fi
		:: else
		fi;
		ARRIVE--;
		d_step { assert(ARRIVE >= 0); mark = 0; arr = 0; dep = 0; old = -1 }
		!MARK && ARRIVE <= TR;
		goto again;
cs:		old = -1;
		critical_shared(p);
		DEPART++
	:: d_step {
		alive--;
		if
		:: alive == 0 -> assert(TAIL == 0 && !MARK && ARRIVE == DEPART)
		:: else
		fi } break
	od
}

init {
	byte i;
	atomic {
		do :: i < NW -> run W(i); i++ :: else -> break od;
		do :: i < NP -> run R(i); i++ :: else -> break od
	}
}
