/*
 * RMA-RW as printed (HPDC'16, Listings 6 to 10), with the drain that the text asks for: model of no
 * file of Pawl; it shows why src/lock/tree/readers_ticket.c and src/lock/tree/readers_gate.c
 * differ.
 *
 * What it models. NW = 1 writer and NR readers (default 2), one counter, one level, TURNS
 * acquisitions each (2), T_R (1). Steps have the number and line of the listing: 9.12 is line 12 of
 * Listing 9. Two repairs that the text implies: a reader whose arrival saw less than T_R is done
 * (`done' is never set in Listing 9), and after set_counters_to_WRITE the writer waits until no
 * reader is active (DRAIN).
 *
 * What it shows. It FAILS: the T_R-th reader sees an empty tail (9.17) and resets the counter
 * (9.20); in between a writer enters the queue and marks the counter (6.5), and the reset takes the
 * mark for an old one and subtracts it (6.17). The writer waits for ever (invalid end state).
 * -DDRAIN_MOD: a writer that drains without looking for its mark meets a reader in the critical
 * section instead.
 *
 * What it abstracts. As in the other models. With one writer, no writer waits at its release, so
 * Listing 8 is lines 11 to 17. Put, Accumulate and Get issued before one Flush take effect in
 * either order.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | bfs | deadlock | T_R = 1, 2 readers | a reset erases the WRITE mark |
 * | NR=3 TR=2 | safe | deadlock | T_R = 2, 3 readers | a reset erases the WRITE mark |
 * | DRAIN_MOD | bfs | assert | drain that does not look for the mark | reader and writer together |
 */
#ifndef NR
#define NR 2
#endif
#ifndef TURNS
#define TURNS 2
#endif
#ifndef TR
#define TR 1
#endif
#define WRITE 64 /* INT64_MAX/2 */
#define NP (1 + NR)

#include "ghost.inc"

byte TAIL;
short ARRIVE, DEPART;

/* 6.9 reset_counter */
inline reset_counter()
{
	/* 6.11 the gets, 6.12 */
	if
	:: arr = ARRIVE; dep = DEPART
	:: dep = DEPART; arr = ARRIVE
	fi;
	/* 6.14, 6.16-18 */
	d_step {
		arr = (arr >= WRITE -> -dep - WRITE : -dep);
		dep = -dep
	}
	/* 6.20, 6.21 */
	if
	:: ARRIVE = ARRIVE + arr; DEPART = DEPART + dep
	:: DEPART = DEPART + dep; ARRIVE = ARRIVE + arr
	fi;
	d_step { arr = 0; dep = 0 }
}

proctype W()
{
	short arr, dep;
	byte turn;

	do
	:: turn < TURNS ->
		turn++;
		TAIL = 1; /* 7.5, the queue was empty */
		ARRIVE = ARRIVE + WRITE; /* 7.21, 6.5 */
		/* DRAIN: await no active readers */
#ifdef DRAIN_MOD
		(ARRIVE % WRITE) == DEPART;
#else
		ARRIVE - WRITE == DEPART;
#endif
		critical_exclusive(0);
		reset_counter();         /* 8.12 */
		TAIL = 0                 /* 8.15 */
	:: else -> break
	od
}

proctype R(byte p)
{
	short arr, dep, curr_stat;
	byte turn;
	bit barrier;

	do
	:: turn < TURNS ->
		turn++;
again:
		if
		:: barrier -> ARRIVE < TR /* 9.5-8 */
		:: else
		fi;
		/* 9.12 */
		d_step { curr_stat = ARRIVE; ARRIVE++ }
		if
		:: curr_stat >= TR ->
			barrier = 1; /* 9.14 */
			if
			:: curr_stat == TR ->
				/* 9.17 */
				if
				:: TAIL == 0 -> reset_counter(); barrier = 0 /* 9.20 */
				:: TAIL != 0
				fi
			:: else
			fi;
			ARRIVE--; /* 9.24 */
			goto again
		:: else
		fi;
		d_step { barrier = 0; curr_stat = 0 }
		critical_shared(p);
		DEPART++ /* 10.2 */
	:: else -> break
	od
}

init {
	byte i = 1;
	atomic { run W(); do :: i <= NR -> run R(i); i++ :: else -> break od }
}
