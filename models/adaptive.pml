/*
 * Kind adaptive on one node, in all modes, which word W counts (src/lock/adaptive: adaptive.c,
 * head.c, counts.c, direct.c).
 *
 * A client that finds no holder in W that excludes it counts itself there by one compare-and-swap (T1),
 * even before clients that wait, unless STRICT keeps newcomers out. A sharer counts itself by an add
 * (S1), unless it found itself excluded then at its last try; if it does, it takes its count back (R1)
 * and goes on as others do. The others queue (T2). The head
 * of the queue takes W likewise (T4). When its patience has ended, it sets STRICT (T5) and sleeps.
 * It clears STRICT with the swap that counts it, or when it gives up (T7), and then leaves the queue
 * (T6). An intent ahead is counted at once (C1), sleeps until no holder excludes it (C2), or takes
 * its count back. A release takes its count back by one operation, and wakes the sleepers if that
 * finds STRICT, or intents that it excluded (R1), because only the head and intents ahead sleep on W.
 *
 * An exclusive head may remain the head while it holds the lock (K1), and then hand its count and its
 * place to the next client of the queue by one step (K2). If that one asks in another mode, it
 * changes the count of the exclusive holder to its own by one operation, and wakes intents ahead if
 * that finds counts of them (T8). If there is no next one, or at any time, the release leaves the
 * queue (K3), and is R1. (In the lock it does so at the latest when it looks and finds intents ahead.)
 *
 * What it proves. NP processes (default 3), each of which asks in any mode, any number of times, and
 * may stop between two: no two holders that exclude each other, no deadlock, as by a lost wake-up.
 * With -DTIMED also when waiters time out at any moment. With -DLIVE=v, under weak fairness, process
 * v, which has no deadline, gets the lock whenever it asks; without intents ahead of others
 * (NOAHEAD), because these may follow each other without end.
 *
 * What it abstracts. The queue is a list with atomic operations (mcs.h, dmcs.pml). Patience lasts for
 * one try.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe middle | pass | 3 clients in any mode, intents ahead too | 837 719 |
 * | TIMED | safe | pass | with deadlines | 1 162 105 |
 * | NP=2 NOAHEAD TIMED LIVE=0 | live3 | pass | 2 without intents ahead, with deadlines | 35 387 |
 * | MODES=2 LIVE=0 | live3 middle | pass | 3 readers or writers | 578 394 |
 * | MODES=2 LIVE=0 BREAK_STRICT | live3 | cycle | T1 does not look at STRICT | |
 * | NP=4 MODES=1 | safe | pass | 4 exclusive clients | |
 * | MODES=1 TIMED LIVE=0 | live3 | pass | 3 exclusive clients, with deadlines | |
 * | MODES=1 LIVE=0 BREAK_PATIENCE | live3 | cycle | STRICT is never set | |
 * | NP=2 MODES=1 BREAK_KEEP | bfs | deadlock | K3 is left out: W is freed, but not the place | |
 * | NP=2 MODES=1 BREAK_EMPTY | bfs | deadlock | W is handed on where nobody is left to take it | |
 * | BREAK_WAKE | safe | deadlock | a release wakes if it finds STRICT, not if it finds intents | |
 * | BREAK_BACK | safe | deadlock | the last one of a mode to leave wakes nobody | |
 * | BREAK_BESIDE | bfs | assert | an intent shared does not look for an exclusive holder | two holders |
 * | MODES=2 BREAK_LEAVE | safe | deadlock | the queue is left before W is taken | |
 * | MODES=2 BREAK_FOUND | bfs | assert | a sharer does not look at what S1 found | two holders |
 * | MODES=2 BREAK_AGAIN | bfs | deadlock | a sharer that takes its count back after S1 wakes nobody | |
 * | NP=2 MODES=2 TIMED LIVE=0 BREAK_MORE | live3 | cycle | a sharer that S1 found excluded tries S1 again | |
 * | MODES=3 BREAK_HANDED | safe | deadlock | a client that changes the count wakes nobody | |
 * | MODES=2 BREAK_MODE | bfs | deadlock | a client in another mode keeps the exclusive count | |
 */
#ifndef NP
#define NP 3
#endif

#include "modes.inc"

bit STRICT;
bit asleep[NP];
byte place[NP]; /* in the queue, from 1; 0: in none */
bit handed[NP]; /* the client has W, by K2 */

#ifdef BREAK_BESIDE
#define WAY(m) (m != IS && IN_THE_WAY(m))
#else
#define WAY(m) IN_THE_WAY(m)
#endif
#ifdef BREAK_STRICT
#define OPEN true
#else
#define OPEN !STRICT
#endif
#ifdef BREAK_FOUND
#define FOUND false
#else
#define FOUND (!(OPEN) || WAY(S))
#endif
#ifdef LIVE
#define MAY_LEAVE_OUT false
#else
#define MAY_LEAVE_OUT true
#endif
#if !defined(LIVE) || defined(BREAK_MORE)
#define FORGET
#endif
#ifdef BREAK_WAKE
#define SLEEPERS STRICT
#else
#define SLEEPERS (STRICT || (mode == X && (holds[IX] || holds[IS])) || (mode == S && holds[IX]))
#endif

inline join()
{
	d_step {
		for (i : 0 .. NP - 1) {
			if
			:: place[i] >= place[p] -> place[p] = place[i]
			:: else
			fi
		}
		place[p]++;
		i = 0
	}
}

inline leave()
{
	d_step {
		for (i : 0 .. NP - 1) {
			if
			:: place[i] > place[p] -> place[i]--
			:: else
			fi
		}
		place[p] = 0;
		i = 0
	}
}

/* K2: the second client of the queue has W, and is the first one. */
inline hand_on()
{
	d_step {
		for (i : 0 .. NP - 1) {
			if
			:: place[i] > 1 -> handed[i] = (place[i] == 2); place[i]--
			:: else
			fi
		}
		place[p] = 0;
		i = 0
	}
}

/* Whether there is a second one. */
#define IS_SECOND(j) (NP > j && place[(NP > j -> j : 0)] == 2)
#define SECOND (IS_SECOND(0) || IS_SECOND(1) || IS_SECOND(2) || IS_SECOND(3))

inline wake()
{
	d_step {
		for (i : 0 .. NP - 1) { asleep[i] = asleep[i] && !old }
		old = 0;
		i = 0
	}
}

/* R1 */
inline uncount()
{
	atomic { holds[mode]--; old = SLEEPERS };
#ifdef BREAK_BACK
	old = old && mode == X;
#endif
	wake()
}

proctype P(byte p)
{
	byte mode, i;
	bit ahead, old, excluded, kept;

	do
	:: choose();
		WANT;
		/* S1; where it is not about liveness, a sharer is free to leave it out. */
		if
		:: atomic { mode == S && !excluded -> excluded = FOUND; holds[S]++ };
			if
			:: !excluded -> goto entered
			:: excluded
			fi;
#ifdef BREAK_AGAIN
			holds[S]--
#else
			uncount()
#endif
#ifdef FORGET
			; excluded = 0
#endif
		:: mode != S || excluded || MAY_LEAVE_OUT
		fi;
		if
		:: ahead ->
			/* C1 */
			holds[mode]++;
			/* C2: the kernel looks at W before it lets the client sleep. */
			do
			:: atomic { !WAY(mode) -> break }
			:: atomic { WAY(mode) -> asleep[p] = 1 };
				if
				:: !asleep[p]
				:: atomic { MAY_TIME_OUT && asleep[p] -> asleep[p] = 0 };
					uncount();
					goto late
				fi
			od
		/* T1 */
		:: atomic { !ahead && OPEN && !WAY(mode) -> holds[mode]++; excluded = excluded && mode != S }
		/* T2 */
		:: !ahead && (!(OPEN) || WAY(mode)) ->
			join();
			if
			:: place[p] == 1
			:: atomic { MAY_TIME_OUT && place[p] > 1 -> leave(); goto late }
			fi;
			if
			:: atomic { handed[p] && mode == X -> handed[p] = 0; goto taken }
			/* T8 */
			:: atomic {
					handed[p] && mode != X -> handed[p] = 0;
#ifndef BREAK_HANDED
					old = (holds[IX] || holds[IS]);
#endif
#ifndef BREAK_MODE
					holds[X]--; holds[mode]++
#endif
				};
				wake();
				goto taken
			:: !handed[p]
			fi;
#ifdef BREAK_LEAVE
			leave();
#endif
			if
			:: atomic { !WAY(mode) -> holds[mode]++; goto taken }
			:: skip
			fi;
			/* T5 */
#ifndef BREAK_PATIENCE
			STRICT = 1;
#endif
			do
			/* T4 */
			:: atomic { !WAY(mode) -> holds[mode]++; STRICT = 0; break }
			:: atomic { WAY(mode) -> asleep[p] = 1 };
				if
				:: !asleep[p]
				:: atomic { MAY_TIME_OUT && asleep[p] -> asleep[p] = 0 };
					/* T7 */
					STRICT = 0;
					leave();
					goto late
				fi
			od;
taken:
#ifndef BREAK_LEAVE
			if
			/* T6 */
			:: leave()
			/* K1 */
			:: mode == X -> kept = 1
			fi;
#endif
			skip
		fi;
entered:
		critical(mode);
		if
		/* K2 */
#ifdef BREAK_EMPTY
		:: atomic { kept -> kept = 0; hand_on(); goto late }
#else
		:: atomic { kept && SECOND -> kept = 0; hand_on(); goto late }
#endif
		/* K3 */
#ifdef BREAK_KEEP
		:: kept -> kept = 0
#else
		:: atomic { kept -> kept = 0; leave() }
#endif
		:: !kept
		fi;
		uncount();
late:
		mode = 0; ahead = 0; old = 0
	:: break
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. NP - 1) { run P(i) }
	}
}
