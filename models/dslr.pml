/*
 * DSLR, a reader-writer bakery in one word: model of baselines/dslr.c.
 *
 * What it models. NW writers (default 2) and NR readers (1), 3 or 4 in all, at one word: tickets
 * MAX_X, MAX_S and the number done N_X, N_S, each of C values, with a guard bit above all but N_S,
 * whose carry leaves the word; ERA of E values. A process takes the lock any number of times and may
 * stop between two acquisitions. All counters start just before their wrap. -DDEATHS=n: up to n
 * processes die: inside, or while they wait, or before they have cleared a guard. A waiter may then
 * take the dead process for dead, and be stopped for any time before it resets the word.
 *
 * -DPOSTED=mask: the processes of the mask post their releases: these take effect at any time
 * later, while the process may ask again, with a second slot. It stops, and posts again, only when
 * that has been answered.
 *
 * What it proves. A writer is alone and readers meet no writer; no counter carries past its guard
 * (assert in ADD and LEAVE), although only the next writer clears that of N_X; no deadlock (awaits
 * are blocking guards), with or without deaths; at the end, if no process has died, all tickets are
 * done and no guard of a ticket counter is set. With -DLIVE=v, under weak fairness, process v gets
 * the lock whenever it wants it (writers 0..NW-1, then readers).
 *
 * What it abstracts. Time: a client takes another for dead only while a dead one blocks its era.
 * (That no living client is taken for dead depends on clocks; the adversary of tests/sim checks
 * it.) So BEAT, late turns and late releases are left out. ERA counts modulo E, which is more than
 * deaths can use up. An operation and its flush are one step; the word is atomic and memory
 * sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 writers, 1 reader; counters next to their wrap | 220 967 |
 * | NW=1 NR=2 | safe | pass | 1 writer, 2 readers; counters next to their wrap | 384 431 |
 * | DEATHS=1 | safe | pass | 2 writers, 1 reader, one of which dies | 742 265 |
 * | NW=4 NR=0 DEATHS=1 | safe 20M long | pass | 4 writers, one of which dies | 5 385 748 |
 * | LIVE=0 | live3 | pass | 2 writers, 1 reader | 299 415 |
 * | LIVE=2 | live3 | pass | 2 writers, 1 reader | 327 197 |
 * | POSTED=1 | safe | pass | 2 writers, 1 reader, releases of a writer posted | 677 606 |
 * | POSTED=3 NW=1 NR=1 | safe | pass | 1 and 1, all releases posted | 19 165 |
 * | POSTED=3 NW=1 NR=1 LIVE=0 | live4 | pass | 1 and 1, all releases posted | 28 214 |
 * | POSTED=3 NW=1 NR=1 LIVE=1 | live4 | pass | 1 and 1, all releases posted | 28 640 |
 * | POSTED=4 | safe long | pass | 2 writers, 1 reader, releases of the reader posted | 885 173 |
 * | POSTED=2 NW=1 NR=2 | safe long | pass | 1 writer, 2 readers, releases of a reader posted | 1 612 158 |
 * | BREAK_READERS | safe | assert | a writer does not wait for the readers before it | reader and writer together |
 * | NW=1 NR=2 BREAK_GUARD | safe | assert | a client that sees a guard enters regardless: a counter overflows | a counter overflows |
 * | BREAK_CARRY | safe | assert | a writer does not clear the guard of N_X: it overflows | a counter overflows |
 * | POSTED=3 NW=1 NR=1 BREAK_SLOTS | safe | assert | slots are used again before the release is answered: more tickets than a counter tells apart | reader and writer together |
 * | NW=4 NR=0 DEATHS=1 BREAK_ERA | safe 5M | assert | a reset leaves no trace in the word (Figure 2b of the ShiftLock paper): a second one, stopped for a while, resets a lock that is in use | two writers: a second reset, of a lock in use |
 */
#ifndef NW
#define NW 2
#endif
#ifndef NR
#define NR 1
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#define NP (NW + NR)
#ifdef POSTED
#define POSTS(p) ((POSTED >> p) & 1)
#define SLOTS (NP + POSTS(0) + POSTS(1) + POSTS(2))
#else
#define SLOTS NP
#endif
#ifdef BREAK_SLOTS
#define C NP
#else
#define C (SLOTS + 1)
#endif
#define E 4        /* more than DEATHS */
#ifdef BREAK_ERA
#define NEXT_ERA(e) e
#else
#define NEXT_ERA(e) ((e + 1) % E)
#endif

typedef word_t { byte nx, ns, mx, ms, era };
word_t W;      /* counters 0..C-1, C and more with the guard */
#ifdef POSTED
bit flying[NP]; /* a release of the process is on its way */
#define ANSWERED(p) (!flying[p])
#else
#define ANSWERED(p) true
#endif
bit blocks[E]; /* ghost: a dead client blocks this era */
byte deaths;
#ifdef BREAK_ERA
byte epoch; /* lets a waiter notice a reset in any case, so that it does not wait for ever */
byte mine[NP];
#define NOTE(p) mine[p] = epoch
#define VOID(p) (epoch != mine[p])
#define RESET epoch++
#else
#define NOTE(p) skip
#define VOID(p) (W.era != era[p])
#define RESET skip
#endif

/* what clients know, visible to all: A3 is not taken while a client could proceed */
#define OUT 0
#define WAITS 1
#define GETS_ON 2
byte tx[NP], ts[NP], era[NP], state[NP];

#include "ghost.inc"

#define V(f) ((f) % C)
#ifdef BREAK_GUARD
#define ANY_GUARD false
#else
#define ANY_GUARD (W.mx >= C || W.ms >= C)
#endif
#ifdef BREAK_READERS
#define READERS_DONE(p) true
#else
#define READERS_DONE(p) (p >= NW || W.ns == ts[p])
#endif
#define TURN(p) (!VOID(p) && !ANY_GUARD && V(W.nx) == tx[p] && READERS_DONE(p))
#define CAN_GO(p) (state[p] == GETS_ON || (state[p] == WAITS && (VOID(p) || TURN(p))))

#if NP == 4
#define NOBODY_CAN_GO (!CAN_GO(0) && !CAN_GO(1) && !CAN_GO(2) && !CAN_GO(3))
#else
#define NOBODY_CAN_GO (!CAN_GO(0) && !CAN_GO(1) && !CAN_GO(2))
#endif

/* add one; set says whether the addition has set the guard */
#define ADD(f) set = (f == C - 1); f++; assert(f < 2 * C)
/* the same for N_X, and for N_S, which has no guard */
#define LEAVE(p) \
	if \
	:: p < NW -> W.nx++; assert(W.nx < 2 * C) \
	:: else -> W.ns = (W.ns + 1) % C \
	fi
/* G: clear it, unless the era is over */
#define CLEAR(f) \
	if \
	:: set -> \
		MAY_DIE; \
		d_step { if :: !VOID(p) -> assert(f >= C); f = f - C :: else fi; set = 0 } \
	:: else \
	fi

#define DIE atomic { deaths < DEATHS -> deaths++; blocks[W.era] = blocks[W.era] || !VOID(p); goto dead }
#if DEATHS
#define MAY_DIE if :: DIE :: true fi
#else
#define MAY_DIE skip
#endif

#ifdef POSTED
proctype Wire(byte i)
{
end:	do
	:: d_step { flying[i] -> LEAVE(i); flying[i] = 0 }
	od
}
#endif

proctype P(byte p)
{
	bit set;
#if DEATHS
	word_t seen;
#endif

	do
	:: atomic { WANT; state[p] = GETS_ON }
again:		skip;
		/* A1: ticket = fao(W, MAX + 1); flush */
		d_step {
			tx[p] = V(W.mx);
			ts[p] = V(W.ms);
			era[p] = W.era;
			NOTE(p);
			if
			:: p < NW -> ADD(W.mx)
			:: else -> ADD(W.ms)
			fi
		}
		if
		:: p < NW -> CLEAR(W.mx)
		:: else -> CLEAR(W.ms)
		fi;
		state[p] = WAITS;
		/* A2: wait for the turn */
		do
		:: atomic { TURN(p) -> state[p] = GETS_ON; break }
		:: atomic { VOID(p) -> state[p] = GETS_ON; goto again }
#if DEATHS
		:: DIE
		:: /* A3: no client proceeds; the swap may come at any later time */
			atomic {
				!VOID(p) && blocks[W.era] && NOBODY_CAN_GO ->
				seen.nx = W.nx; seen.ns = W.ns; seen.mx = W.mx; seen.ms = W.ms;
				seen.era = W.era }
			d_step {
				if
				:: W.nx == seen.nx && W.ns == seen.ns && W.mx == seen.mx &&
				   W.ms == seen.ms && W.era == seen.era ->
					blocks[W.era] = 0;
					W.nx = 0; W.ns = 0; W.mx = 0; W.ms = 0;
					W.era = NEXT_ERA(W.era);
					RESET
				:: else
				fi;
				seen.nx = 0; seen.ns = 0; seen.mx = 0; seen.ms = 0; seen.era = 0
			}
#endif
		od;
#ifndef BREAK_CARRY
		/* G, by a writer that is in */
		set = (p < NW && W.nx >= C);
		CLEAR(W.nx);
#endif
		MAY_DIE;
		if
		:: p < NW -> critical_exclusive(p)
		:: else -> critical_shared(p)
		fi;
		/* R1: acc(W, N + 1); flush, or post */
#ifdef POSTED
		if
		:: POSTS(p) -> d_step { ANSWERED(p) -> flying[p] = 1 }
		:: else -> d_step { LEAVE(p) }
		fi;
#else
		d_step { LEAVE(p) };
#endif
		d_step { tx[p] = 0; ts[p] = 0; era[p] = 0; state[p] = OUT }
	:: atomic {
		ANSWERED(p) -> alive--;
		if
		:: alive == 0 && !deaths ->
			assert(nw == 0 && nr == 0 && V(W.nx) == W.mx && W.ns == W.ms && !ANY_GUARD)
		:: else
		fi };
		goto end
	od;
dead:	atomic { alive--; state[p] = OUT }
end:	skip
}

init {
	byte i;
	atomic {
#ifdef POSTED
		do :: i < NP -> if :: POSTS(i) -> run Wire(i) :: else fi; i++ :: else -> i = 0; break od;
#endif
		W.nx = C - 1; W.mx = C - 1; W.ns = (NR -> C - 1 : 0); W.ms = W.ns;
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
}
