/*
 * The multi-granularity lock: model of src/lock/mgl/mgl.c.
 *
 * What it models. NP processes (default 3); each asks any number of times, in any mode (shared,
 * intent exclusive, intent shared, exclusive), and may stop between two requests. -DNOAHEAD: no
 * process asks for an intent ahead of the queue. -DNOIS, -DNOIX: no process asks for an intent
 * shared; exclusive; makes the model smaller. The queue is a list that is handed over in order,
 * with the guarantees of queue_tree.h: a client reaches its head fresh, or passed by a holder that
 * saw a successor.
 *
 * What it proves. No two holders in conflict; no deadlock (awaits are blocking guards); CLOSED is
 * set by one process at a time; at the end the word is zero and the queue empty. With -DLIVE=v,
 * under weak fairness, process v gets the lock whenever it wants it and does not merely try. -DTRY:
 * a process may also try. -DSTAY: process 0 acquires the lock as intent shared and keeps it, and no
 * other process asks for it exclusively: the others end, because none of their modes conflicts with
 * that.
 *
 * -DJOINT: processes 0 and 1 share a node, and an intent of one mode is joint for its node, for at
 * most LIMIT (default 2) clients before the node asks anew.
 *
 * -DTIMED=mask: the processes of the mask may also acquire with a deadline, in any mode, ahead or
 * not, which passes at any step. In the queue such a process is then gone, and may come to the lock
 * again (that it may keep its place there belongs to the tree: models/rma_mcs.pml).
 * -DHURRIES=n: n such acquires at most in all, for -DLIVE=v. A stream of deadlines that pass at
 * once, each of which is in the word for a moment, can delay the head of the queue without end.
 *
 * -DPOSTED: a release that is not handed over in the queue is posted: it takes effect at any time
 * later, while its process may acquire again, with a second slot. A process stops, and posts again,
 * only when that has been answered. A try that fails waits for the releases of its own process and
 * tries again; with -DNP=1 no try fails (assert).
 *
 * -DCHANGE: a holder may also change its mode, from shared to exclusive (U1 to U3, with a deadline
 * U4) and from exclusive to shared (D1, D2), any number of times; a second one that would be
 * exclusive is refused and goes on to share. No other exclusive holder, and no intent, is in
 * between (assert). With -DLIVE=v at most two sharers become exclusive: one that does so just
 * before the head of the queue asks, and comes back before the head has closed the lock again, can
 * delay it without end.
 *
 * What it abstracts. One lock. An operation and its flush are one step; operations are atomic on
 * each word, and memory is sequentially consistent. The queue's own words: models/rma_mcs.pml.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NOAHEAD | safe | pass | 3 processes, any modes, no client ahead | 1 228 991 |
 * | | safe long | pass | 3 processes, any modes, some ahead | 2 795 793 |
 * | NP=2 JOINT TRY | safe | pass | 2 processes with joint intents, with tries, some ahead | 137 674 |
 * | TRY | safe 2M long | pass | 3 processes, with tries | 6 765 694 |
 * | NP=2 JOINT TIMED=3 | safe | pass | 2 processes with joint intents, with deadlines that pass at any moment, some ahead; no client waits for one that gave up | 417 822 |
 * | TIMED=1 | safe 5M long | pass | 3 processes, with deadlines of one, some ahead | 5 871 033 |
 * | NOAHEAD NOIX TIMED=7 | safe 5M long | pass | 3 processes, with deadlines of all, no client ahead, no intent exclusive | 5 634 324 |
 * | JOINT NOAHEAD NOIS TIMED=5 | safe 10M long | pass | 2 nodes, with joint intents, with deadlines of two, no intent shared, no client ahead | 16 273 152 |
 * | STAY NOAHEAD | safe | pass | one that stays as intent shared, no client ahead; no other client waits for it | 510 975 |
 * | STAY | safe long | pass | one that stays as intent shared, some ahead; no other client waits for it | 1 117 556 |
 * | STAY JOINT NOAHEAD | safe 10M long | pass | one that stays as intent shared, with joint intents, no client ahead; no other client waits for it | 5 583 349 |
 * | NOAHEAD LIVE=1 | live3 long | pass | 3 processes, no client ahead | 2 125 836 |
 * | NP=2 NOAHEAD TIMED=1 HURRIES=2 LIVE=1 | live3 | pass | 2 processes, no client ahead, two acquires with deadlines of the other | 131 394 |
 * | NP=2 JOINT NOAHEAD TIMED=1 HURRIES=2 LIVE=1 | live3 long | pass | 2 processes with joint intents, no client ahead, two acquires with deadlines of the other | 551 866 |
 * | NP=2 JOINT NOAHEAD TIMED=2 HURRIES=2 LIVE=0 | live3 long | pass | 2 processes with joint intents, no client ahead, two acquires with deadlines of the other | 552 146 |
 * | NOAHEAD TIMED=1 HURRIES=1 LIVE=1 | live3 long | pass | 3 processes, no client ahead, one acquire with a deadline of another | 7 135 148 |
 * | JOINT NOIS | safe 10M long | pass | 2 nodes, with joint intents, no intent shared | 4 986 797 |
 * | JOINT NOIX | safe 10M long | pass | 2 nodes, with joint intents, no intent exclusive | 6 172 004 |
 * | JOINT NOAHEAD NOIS LIVE=1 | live3 10M long | pass | 2 nodes, with joint intents, no intent shared, no client ahead | 4 657 025 |
 * | JOINT NOAHEAD NOIS LIVE=2 | live3 10M long | pass | 2 nodes, with joint intents, no intent shared, no client ahead | 4 721 335 |
 * | NOAHEAD NOIS NP=4 | safe 20M long | pass | 4 processes, no intent shared, no client ahead | 22 254 172 |
 * | POSTED NP=2 TRY | safe | pass | 2 processes, releases posted, with tries | 302 241 |
 * | POSTED NP=2 JOINT NOIX | safe | pass | 2 processes with joint intents, releases posted, no intent exclusive | 203 383 |
 * | POSTED NP=2 TIMED=1 | safe | pass | 2 processes, releases posted, with deadlines of one | 291 348 |
 * | POSTED NP=2 NOAHEAD LIVE=1 | live4 | pass | 2 processes, releases posted, no client ahead | 153 264 |
 * | POSTED NP=1 TRY | safe | pass | one process, releases posted, with tries | 523 |
 * | NP=2 CHANGE JOINT NOIX | safe | pass | 2 processes with joint intents, that change modes, no intent exclusive | 53 784 |
 * | NP=2 CHANGE TIMED=1 TRY | safe | pass | 2 processes that change modes, with tries, and deadlines of one | 100 188 |
 * | NP=2 CHANGE POSTED | safe | pass | 2 processes that change modes, releases posted | 173 509 |
 * | CHANGE NOAHEAD | safe long | pass | 3 processes that change modes, no client ahead | |
 * | CHANGE NOIX | safe long | pass | 3 processes that change modes, no intent exclusive | |
 * | NP=2 CHANGE NOAHEAD LIVE=1 | live3 | pass | 2 processes, two of whose holds become exclusive, no client ahead | 125 938 |
 * | NP=2 NOAHEAD TIMED=1 LIVE=1 | live3 | cycle | no bound on acquires with deadlines | a stream of them delays the head without end |
 * | BREAK_DRAIN | safe | assert | an exclusive head does not wait for holders | holders in conflict |
 * | BREAK_LEAVE | safe | assert | the queue is left before CLOSED is taken back | CLOSED twice |
 * | BREAK_PASS | safe | assert | a sharer hands the queue over as an exclusive holder does | holders in conflict |
 * | BREAK_AHEAD | safe | assert | the head of the queue does not look for intents that came ahead of it | holders in conflict |
 * | JOINT BREAK_OPEN | safe 10M | assert | the first of a node lets others join before it is in | holders in conflict |
 * | BREAK_ENTER | safe | assert | an intent shared does not look for an exclusive holder | holders in conflict |
 * | BREAK_READERS | safe | assert | the head of the queue does not look for intents shared | holders in conflict |
 * | JOINT BREAK_MIX | safe 10M | assert | an intent joins one of the other mode | holders in conflict |
 * | STAY BREAK_SHARE | safe | deadlock | a sharer waits for intents shared | |
 * | NP=2 TIMED=3 BREAK_GIVE_UP | safe | assert | a client that gives up at the head of the queue hands the lock over as a holder does | CLOSED twice: its successor takes it for a holder |
 * | NP=2 NOAHEAD TIMED=1 HURRIES=2 LIVE=1 BREAK_NOTIFY | live3 | cycle | it leaves the queue without a word to the next client | |
 * | NP=2 TIMED=3 BREAK_REOPEN | safe | assert | it leaves the queue before it takes CLOSED back | CLOSED twice |
 * | NP=2 JOINT TIMED=3 BREAK_LAST | safe | deadlock | a client that gives up keeps the intent if it is the last | |
 * | NP=2 JOINT TIMED=1 BREAK_FIRST | safe | deadlock | a client with a deadline lets others wait for its intent, and then gives up | |
 * | POSTED NP=2 BREAK_POST | safe | assert | an exclusive holder posts the opening of the word, and leaves the queue | |
 * | POSTED NP=2 JOINT BREAK_LEAVE_V | safe | deadlock | the last client of a joint intent posts its release before it leaves V | |
 * | NP=2 CHANGE NOAHEAD NOIS BREAK_SECOND | bfs | deadlock | a second sharer that would be exclusive waits for the first one | |
 * | NP=2 CHANGE BREAK_SUM | bfs | assert | U3 is a sum, after U2 | holders in conflict |
 * | NP=2 CHANGE BREAK_GAP | bfs | assert | D1 is a release and a new count | an exclusive holder in between |
 * | NP=2 CHANGE NOAHEAD NOIS BREAK_BACK | bfs | assert | D2 is before D1 | CLOSED twice |
 * | NP=2 CHANGE NOAHEAD BREAK_OPEN_GATE LIVE=1 | live3 | cycle | newcomers and heads do not look at UPGRADE | |
 * | POSTED NP=1 TRY BREAK_OWN | safe | assert | a try does not wait for the releases of its process | |
 */
#ifndef NP
#define NP 3
#endif

#define SHARED 0
#define INTENT 1  /* intent exclusive, */
#define READERS 2 /* intent shared */
#define EXCLUSIVE 3
#ifdef NOIS
#define ANY_INTENT m = INTENT
#elif defined(NOIX)
#define ANY_INTENT m = READERS
#else
#define ANY_INTENT m = INTENT :: m = READERS
#endif
#define ANY_COUNTED m = SHARED :: ANY_INTENT
#ifdef STAY
#define ANY_MODE ANY_COUNTED
#else
#define ANY_MODE ANY_COUNTED :: m = EXCLUSIVE
#endif

#ifdef HURRIES
byte hurried; /* acquires with a deadline so far */
#define MAY_HURRY hurried < HURRIES
#define HURRY hurried++
#else
#define MAY_HURRY true
#define HURRY skip
#endif

byte n[3];   /* the word: holders by mode, but exclusive ones, */
byte excl;   /* an exclusive holder, */
byte closed; /* whether the head of the queue excludes newcomers */

#ifdef CHANGE
bit upgrading; /* UPGRADE */
byte upgraded; /* with LIVE */
#endif
#if defined(CHANGE) && !defined(BREAK_OPEN_GATE)
#define GATE upgrading
#else
#define GATE false
#endif

#define NONE 0
#define FRESH 1
#define PASSED 2
chan queue = [NP] of { byte };
byte token[NP];

#ifdef JOINT
#ifndef LIMIT
#define LIMIT 2
#endif
/* The word of p's node for intents of mode m. */
#ifdef BREAK_MIX
#define V(p, m) (p / 2)
#else
#define V(p, m) ((p / 2) * 2 + m - INTENT)
#endif
byte members[4], joined[4]; /* how many have it, and how many have joined since it was opened */
bit open[4];               /* whether clients may join */
#define ALONE 0
#define FIRST 1
#define LATER 2

#if !defined(TIMED) || defined(BREAK_FIRST)
#define MUST_NOT_OPEN(p, m) (is_ahead && !open[V(p, m)])
#else
#define MUST_NOT_OPEN(p, m) ((is_ahead && !open[V(p, m)]) || (timed && members[V(p, m)] == 0))
#endif

/* G1: a compare-and-swap that may have to be tried again */
inline join(p, m, is_ahead)
{
	d_step {
		if
		:: MUST_NOT_OPEN(p, m) || joined[V(p, m)] >= LIMIT -> how = ALONE
		:: else ->
			how = (members[V(p, m)] == 0 -> FIRST : LATER);
			members[V(p, m)]++;
			joined[V(p, m)]++
		fi
	}
}

/* G4: the last client releases the intent */
inline leave_joint(p, m)
{
	d_step {
		members[V(p, m)]--;
		last = members[V(p, m)] == 0;
		if
		:: last -> joined[V(p, m)] = 0; open[V(p, m)] = 0
		:: else
		fi
	}
}
#endif

byte alive = NP;
byte ns, ni, nr, nx; /* ghost: holders */

#ifdef POSTED
#define OPENING (EXCLUSIVE + 1)
byte flying[NP]; /* what process p has posted: 1 + mode, or 1 + OPENING */
#define ANSWERED(p) (flying[p] == 0)
#else
#define ANSWERED(p) true
#endif

#include "live.inc"

/* The exclusive holders excepted, the clients that exclude mode m; ... */
#ifdef BREAK_SHARE
#define COUNTED(m) ((m == SHARED && (n[INTENT] > 0 || n[READERS] > 0)) || \
		    (m == INTENT && n[SHARED] > 0))
#else
#define COUNTED(m) ((m == SHARED && n[INTENT] > 0) || (m == INTENT && n[SHARED] > 0))
#endif
/* ... with them; ... */
#ifdef BREAK_ENTER
#define OTHERS(m) ((excl && m != READERS) || COUNTED(m))
#else
#define OTHERS(m) (excl || COUNTED(m))
#endif
/* ... those for which an exclusive client waits at the head of the queue; ... */
#ifdef BREAK_READERS
#define SEEN (n[SHARED] > 0 || n[INTENT] > 0)
#else
#define SEEN (n[SHARED] > 0 || n[INTENT] > 0 || n[READERS] > 0)
#endif
/* ... and all of them. */
#define ANYBODY (excl || n[SHARED] > 0 || n[INTENT] > 0 || n[READERS] > 0)

#ifdef TIMED
#define TIME_OVER timed
#else
#define TIME_OVER false
#endif

#ifdef CHANGE
/* A holder that shares becomes exclusive. */
inline upgrade(m)
{
	/* U1: old = fao(W, |UPGRADE); flush */
	atomic { WANT; OUT_OF; asked = upgrading; upgrading = 1 }
	if
#ifndef BREAK_SECOND
	:: asked -> atomic { asked = 0; IN } /* refused */
#endif
	:: else ->
		if
#ifdef BREAK_SUM
		:: n[SHARED] == 1 && n[READERS] == 0 -> /* U2 */
			atomic { true ->
#else
		/* U2: await no other holders; U3: cas(W, as seen -> +EXCL - one - UPGRADE); flush */
		:: atomic { n[SHARED] == 1 && n[READERS] == 0 ->
#endif
			n[SHARED]--; excl++; upgrading = 0; asked = 0; m = EXCLUSIVE;
			ns--; nx++; assert(ns == 0 && ni == 0 && nr == 0 && nx == 1 && excl == 1);
			IN }
		:: TIME_OVER -> atomic { upgrading = 0; asked = 0; IN } /* U4: acc(W, -UPGRADE); flush */
		fi
	fi
}

/* An exclusive holder goes on to share. */
inline downgrade(m)
{
#ifdef BREAK_BACK
	if
	:: queued -> leave(FRESH)
	:: else
	fi;
#endif
#ifdef BREAK_GAP
	atomic { nx--; ns++; excl--; if :: queued -> closed-- :: else fi };
	atomic { n[SHARED]++; assert(nx == 0 && ni == 0) }
#else
	/* D1: acc(W, +one - EXCL, and - CLOSED if it queued); flush */
	atomic { n[SHARED]++; excl--; nx--; ns++; if :: queued -> closed-- :: else fi }
#endif
	;
	if
#ifndef BREAK_BACK
	:: queued -> leave(FRESH) /* D2: leave the queue */
#endif
	:: else
	fi;
	d_step { queued = 0; m = SHARED }
}
#ifdef LIVE
#define MAY_CHANGE if :: m == SHARED && upgraded < 2 -> upgraded++; upgrade(m) \
	:: m == EXCLUSIVE -> downgrade(m) :: skip fi
#else
#define MAY_CHANGE do :: m == SHARED -> upgrade(m) :: m == EXCLUSIVE -> downgrade(m) :: break od
#endif
#else
#define MAY_CHANGE skip
#endif

inline critical(m)
{
	atomic {
		if
		:: m == SHARED -> ns++; assert(ni == 0 && nx == 0)
		:: m == INTENT -> ni++; assert(ns == 0 && nx == 0)
		:: m == READERS -> nr++; assert(nx == 0)
		:: else -> nx++; assert(ns == 0 && ni == 0 && nr == 0 && nx == 1)
		fi;
		IN
	}
	MAY_CHANGE;
	atomic {
		if
		:: m == SHARED -> ns--
		:: m == INTENT -> ni--
		:: m == READERS -> nr--
		:: else -> nx--
		fi;
		OUT_OF
	}
}

/* F1, F2: without queueing */
inline fast(m)
{
	if
	:: m == EXCLUSIVE ->
		/* F1: old = cas(W, 0 -> EXCL); flush */
		d_step { held = !ANYBODY && !closed && !(GATE); if :: held -> excl = 1 :: else fi }
	:: else ->
		/* F1: old = fao(W, +one); flush */
		d_step { held = !OTHERS(m) && !closed && !(GATE); n[m]++ };
		if
		:: !held -> n[m]-- /* F2: acc(W, -one); flush */
		:: else
		fi
	fi
}

/* leave the queue; the next client gets token t */
inline leave(t)
{
	atomic {
		queue?_;
		if
		:: nempty(queue) -> queue?<next>; token[next] = t; next = 0
		:: else
		fi
	}
}

/* N1: old = fao(W, +one); flush; N2: await no others */
inline ahead(m)
{
	d_step { held = !OTHERS(m); n[m]++ };
	if
	:: !held ->
		if
		:: !OTHERS(m) -> held = 1
		:: TIME_OVER -> n[m]-- /* N3: acc(W, -one); flush */
		fi
	:: else
	fi
}

/* T1: at the head of the queue: acc(W, -CLOSED); flush; leave the queue */
inline give_up()
{
#ifdef BREAK_REOPEN
	leave(FRESH); closed--
#elif defined(BREAK_NOTIFY)
	closed--; atomic { queue?_; next = 0 }
#elif defined(BREAK_GIVE_UP)
	closed--; leave(PASSED)
#else
	closed--; leave(FRESH)
#endif
}

/* at the head of the queue, or handed over */
inline head(m)
{
	if
	:: m == EXCLUSIVE && token[p] == FRESH ->
		/* A2: fao(W, +CLOSED); flush */
		d_step { closed++; assert(closed == 1) };
		do
#ifdef BREAK_DRAIN
		:: true ->
#else
		/* A3: await no holders */
		:: !excl && !SEEN ->
#endif
			/* A4: old = fao(W, +EXCL); flush */
			d_step { held = !SEEN; excl++; assert(excl == 1) };
#if defined(BREAK_DRAIN) || defined(BREAK_AHEAD)
			held = 1;
#endif
			if
			:: held -> queued = 1; break
			:: else -> excl-- /* acc(W, -EXCL); flush */
			fi
		:: TIME_OVER -> give_up(); break
		od
	:: m == EXCLUSIVE && token[p] != FRESH -> held = 1; queued = 1
	:: else ->
		if
		:: token[p] == FRESH ->
			/* A5: old = fao(W, +one); flush */
			d_step { held = !OTHERS(m) && !(GATE); n[m]++ }
		:: else ->
			/* A6: old = fao(W, +one - CLOSED - EXCL); flush */
#ifdef BREAK_PASS
			held = 1; n[m]++
#else
			d_step { held = !COUNTED(m); n[m]++; closed--; excl-- }
#endif
		fi;
		do
		:: held ->
			/* A10: leave the queue */
#ifdef BREAK_PASS
			if
			:: token[p] == PASSED -> leave(PASSED)
			:: else -> leave(FRESH)
			fi;
#else
			leave(FRESH);
#endif
			break
		:: else ->
			/* A7: acc(W, CLOSED - one); flush; A8: await no others */
			d_step { n[m]--; closed++; assert(closed == 1) };
			if
			:: !OTHERS(m) && !(GATE) ->
				/* A9: old = fao(W, +one - CLOSED); flush */
#ifdef BREAK_LEAVE
				n[m]++; leave(FRESH); closed--; held = 1; break
#elif defined(BREAK_AHEAD)
				d_step { held = 1; n[m]++; closed-- }
#else
				d_step { held = !OTHERS(m); n[m]++; closed-- }
#endif
			:: TIME_OVER -> give_up(); break
			fi
		od
	fi
}

inline slow(m)
{
	/* A1: enter the queue, wait for its head; or withdraw */
	atomic { queue!p; token[p] = (len(queue) == 1 -> FRESH : NONE) }
	if
	:: token[p] != NONE -> head(m)
	:: atomic { TIME_OVER && token[p] == NONE -> queue??eval(p) }
	fi
}

inline release(m)
{
	if
#ifdef POSTED
	/* R1: acc(W, -one); post */
	:: d_step { (m != EXCLUSIVE || !queued) && ANSWERED(p) -> flying[p] = m + 1 }
#else
	:: m != EXCLUSIVE -> n[m]-- /* R1: acc(W, -one); flush */
	:: m == EXCLUSIVE && !queued -> excl = 0 /* R1: acc(W, -EXCL); flush */
#endif
	:: m == EXCLUSIVE && queued ->
		queued = 0;
		if
		/* R2: a successor is seen; it cannot withdraw now */
		:: atomic { len(queue) > 1 -> leave(PASSED) }
#ifdef BREAK_POST
		:: d_step { ANSWERED(p) -> flying[p] = OPENING + 1 }; leave(FRESH)
#else
		:: d_step { closed--; excl-- }; leave(FRESH) /* R3: acc(W, -CLOSED - EXCL); flush; leave */
#endif
		fi
	fi
}

inline acquire(m, is_ahead)
{
#ifdef JOINT
	how = ALONE;
	if
	:: m == INTENT || m == READERS -> join(p, m, is_ahead)
	:: else
	fi;
	if
#ifdef BREAK_OPEN
	:: how == LATER -> held = 1
#else
	:: how == LATER ->
		if
		:: open[V(p, m)] -> held = 1 /* G2: await OPEN */
#ifdef BREAK_LAST
		:: TIME_OVER -> leave_joint(p, m)
#else
		:: TIME_OVER -> release_any(m) /* G5 */
#endif
		fi
#endif
	:: else ->
#endif
		if
		:: is_ahead -> ahead(m)
		:: else ->
			fast(m);
			if
			:: !held -> slow(m)
			:: else
			fi
		fi
#ifdef JOINT
		;
		if
		:: how == FIRST && held -> open[V(p, m)] = 1 /* G3: acc(V, OPEN) */
#ifdef BREAK_FIRST
		:: how == FIRST && !held -> leave_joint(p, m)
#endif
		/* G6: cas(V, 0 -> one member, OPEN) */
		:: d_step { TIME_OVER && !is_ahead && held && how == ALONE &&
			    (m == INTENT || m == READERS) && members[V(p, m)] == 0 ->
				how = FIRST; members[V(p, m)] = 1; joined[V(p, m)] = 1; open[V(p, m)] = 1 }
		:: else
		fi
	fi
#endif
}

inline release_any(m)
{
#ifdef JOINT
	last = 1;
	if
#ifdef BREAK_LEAVE_V
	:: how != ALONE && members[V(p, m)] == 1 -> release(m); leave_joint(p, m); last = 0
	:: how != ALONE && members[V(p, m)] > 1 -> leave_joint(p, m)
#else
	:: how != ALONE -> leave_joint(p, m)
#endif
	:: else
	fi;
	if
	:: last -> release(m)
	:: else
	fi;
	d_step { how = ALONE; last = 0 }
#else
	release(m)
#endif
}

#ifdef POSTED
proctype Wire(byte i)
{
end:	do
	:: d_step { flying[i] != 0 ->
		if
		:: flying[i] == OPENING + 1 -> closed--; excl--
		:: flying[i] == EXCLUSIVE + 1 -> excl--
		:: else -> n[flying[i] - 1]--
		fi;
		flying[i] = 0 }
	od
}
#endif

proctype P(byte p)
{
	byte m, next;
	bit held, queued;
#ifdef CHANGE
	bit asked;
#endif
#ifdef TIMED
	bit timed, hurries;
#endif
#ifdef JOINT
	byte how;
	bit last;
#endif

	do
	:: atomic { WANT; if :: ANY_MODE fi }
		acquire(m, false);
		critical(m);
		release_any(m);
		d_step { held = 0; m = 0; token[p] = NONE }
#ifndef NOAHEAD
	:: if :: ANY_INTENT fi;
		acquire(m, true);
		critical(m);
		release_any(m);
		d_step { held = 0; m = 0 }
#endif
#ifdef TIMED
	:: atomic { ((TIMED >> p) & 1) && MAY_HURRY -> HURRY; timed = 1 }
		if
		:: ANY_MODE
#ifndef NOAHEAD
		:: ANY_INTENT; hurries = 1
#endif
		fi;
		acquire(m, hurries);
		if
		:: held -> critical(m); release_any(m)
		:: else
		fi;
		d_step { held = 0; m = 0; token[p] = NONE; timed = 0; hurries = 0;
#ifdef JOINT
			 how = ALONE
#endif
		       }
#endif
#ifdef STAY
	:: p == 0 -> m = READERS;
		acquire(m, false);
end:		false
#endif
#ifdef TRY
	:: if :: ANY_MODE fi;
		fast(m);
#ifdef POSTED
		if
		:: !held ->
#ifndef BREAK_OWN
			ANSWERED(p);
#endif
			fast(m);
#if NP == 1
			assert(held)
#endif
		:: else
		fi;
#endif
		if
		:: held -> critical(m); release(m); held = 0
		:: else
		fi;
		m = 0
#endif
	:: d_step {
		ANSWERED(p) -> alive--;
		if
		:: alive == 0 ->
			assert(!ANYBODY && closed == 0 && empty(queue) && !(GATE));
#ifdef JOINT
			for (m : 0 .. 3) {
				assert(members[m] == 0 && !open[m])
			}
#endif
		:: else
		fi }
		break
	od
}

init {
	byte i;
	atomic {
#ifdef POSTED
		do :: i < NP -> run Wire(i); i++ :: else -> i = 0; break od;
#endif
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
}
