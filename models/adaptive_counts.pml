/*
 * Shared holders and intents of kind adaptive on one node (src/lock/adaptive/adaptive.c), where word
 * W counts them.
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
 * What it proves. NP processes (default 3), each of which asks in any mode, any number of times, and
 * may stop between two: no two holders that exclude each other, no dead-lock, as by a lost wake-up.
 * With -DTIMED also when waiters time out at any moment. With -DLIVE=v, under weak fairness, process
 * v, which has no deadline, gets the lock whenever it asks; without intents ahead of others
 * (NOAHEAD), because these may follow each other without end.
 *
 * What it abstracts. The queue is a list with atomic operations (mcs.h, dmcs.pml). Patience lasts for
 * one try. The level above a node: adaptive.pml.
 *
 * Known-broken variants: -DBREAK_STRICT   T1 does not look at STRICT (LIVE)
 *                        -DBREAK_WAKE     a release wakes if it finds STRICT, not if it finds intents
 *                        -DBREAK_BACK     the last one of a mode to leave wakes nobody
 *                        -DBREAK_BESIDE   an intent shared does not look for an exclusive holder
 *                        -DBREAK_LEAVE    the queue is left before W is taken
 *                        -DBREAK_FOUND    a sharer does not look at what S1 found
 *                        -DBREAK_AGAIN    a sharer that takes its count back after S1 wakes nobody
 *                        -DBREAK_MORE     a sharer that S1 found excluded tries S1 again (LIVE)
 */
#ifndef NP
#define NP 3
#endif

#include "modes.inc"

bit STRICT;
bit asleep[NP];
byte place[NP]; /* in the queue, from 1; 0: in none */

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

/* R1 */
inline uncount()
{
	atomic { holds[mode]--; old = SLEEPERS };
#ifdef BREAK_BACK
	old = old && mode == X;
#endif
	d_step {
		for (i : 0 .. NP - 1) { asleep[i] = asleep[i] && !old }
		old = 0;
		i = 0
	}
}

proctype P(byte p)
{
	byte mode, i;
	bit ahead, old, excluded;

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
#ifdef BREAK_LEAVE
			leave();
#endif
			if
			:: atomic { !WAY(mode) -> holds[mode]++; goto taken }
			:: skip
			fi;
			/* T5 */
			STRICT = 1;
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
			/* T6 */
			leave();
#endif
			skip
		fi;
entered:
		critical(mode);
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
