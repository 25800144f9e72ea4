/*
 * Several locks by one call: model of src/client/many.c, guarantees (A) to (D).
 *
 * NP clients (default 2) acquire locks of NL (default 3) by one call each, TURNS times (default 1): a
 * client draws a set of locks, and issues a try at each of them (M1); the tries take effect in any
 * order, one at a time, as operations at different homes do. Then it looks at the answers (M2). It
 * keeps the locks up to the first one that it did not get, gives the others back (M3), waits for
 * that lock (M4), and tries again those behind it. With FEW the kind has no tries in two steps, and
 * the client waits for one lock after the other.
 *
 * A call may be a try: it ends where a lock is not free. With -DTIMED a call may end while it waits:
 * its deadline has passed. In both cases the client gives back all that it has (M5).
 *
 * A lock is a word that is 0 or its holder: what a kind guarantees for one lock is the business of
 * its own model. -DALONE lets each client also hold one lock, acquired by itself, with a lower
 * number than all of the call, as pawl_lock_acquire_many() permits.
 *
 * What it proves: a client that a call says has its locks is the holder of each (assert at HELD);
 * after a call that failed it holds none of them (assert at NONE); no deadlock (waits are blocking
 * guards, so SPIN reports an invalid end state).
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 clients, 3 locks, one call each; a client that a call grants its locks has them, one that it refuses has none | 58 489 |
 * | NP=3 NL=2 | safe | pass | 3 clients, 2 locks; no deadlock | 527 268 |
 * | NP=3 NL=2 FEW | safe | pass | 3 clients, 2 locks, of a kind without tries in two steps | 111 501 |
 * | TIMED | safe | pass | 2 clients, with deadlines that pass at any moment | 79 482 |
 * | ALONE | safe | pass | a lower lock held before the call | 104 552 |
 * | TURNS=2 NL=2 TIMED | safe | pass | 2 clients, 2 locks, two calls each, with deadlines | 62 776 |
 * | BREAK_KEEP | bfs | deadlock | M3 is left out: the client waits and keeps what is behind | |
 * | BREAK_REFUSED | bfs | assert | M5 is left out | a refused client has a lock |
 * | BREAK_LOOK | bfs | assert | M2 counts a try as granted without its answer | no holder |
 * | FEW BREAK_ORDER | bfs | deadlock | locks are acquired in the order of the call, not of their numbers | |
 * | FEW BREAK_TWICE | bfs | deadlock | a lock that the call names twice is acquired twice | |
 */
#ifndef NP
#define NP 2
#endif
#ifndef NL
#define NL 3 /* 2 or 3 */
#endif
#ifndef TURNS
#define TURNS 1
#endif

byte holder[NL]; /* 0, or a client's number */

/* States of an item of a call. */
#define UNUSED 0
#define OPEN 1
#define POSTED 2
#define GOT 3
#define MISSED 4
#define HAS 5

#if NL > 2
#define NONE_POSTED (state[0] != POSTED && state[1] != POSTED && state[2] != POSTED)
#else
#define NONE_POSTED (state[0] != POSTED && state[1] != POSTED)
#endif

/* A try arrives at the home of the lock. */
inline take_effect(l)
{
	if
	:: holder[l] == 0 -> holder[l] = me; state[l] = GOT
#ifdef BREAK_LOOK
	:: else -> state[l] = GOT
#else
	:: else -> state[l] = MISSED
#endif
	fi
}

inline release(l)
{
	atomic {
		assert(holder[l] == me);
		holder[l] = 0;
	}
}

/* M5: gives back all that it has, and no item is left. */
inline give_up()
{
	i = 0;
	do
	:: i < NL ->
		if
#ifdef BREAK_REFUSED
		:: false
#else
		:: state[i] == HAS || state[i] == GOT -> release(i)
#endif
		:: else
		fi;
		state[i] = UNUSED;
		i++
	:: else -> break
	od
}

proctype client(byte me)
{
	byte state[NL];
	byte i, at, turn, first, open;
	bool tries, ended;

	do
	:: turn < TURNS ->
		turn++;
		ended = false;
		first = 0;
#ifdef ALONE
		/* One lock by itself, before the call. */
		if
		:: true ->
			atomic { holder[0] == 0 -> holder[0] = me }
			first = 1
		:: true
		fi;
#endif
		/* The locks of the call, one at least. */
		atomic {
			i = first;
			open = 0;
			do
			:: i < NL ->
				if
				:: state[i] = OPEN; open = 1
				:: i < NL - 1 || open > 0 -> state[i] = UNUSED
				fi;
				i++
			:: else -> break
			od;
			i = 0;
			open = 0
		}
		if
		:: tries = true
		:: tries = false
		fi;
round:
#ifndef FEW
		/* M1: tries, which take effect in any order. */
		atomic {
			i = 0;
			do
			:: i < NL && state[i] == OPEN -> state[i] = POSTED; i++
			:: i < NL && state[i] != OPEN -> i++
			:: i == NL -> break
			od;
			i = 0;
			at = 0
		}
		do
		:: atomic { state[0] == POSTED -> take_effect(0) }
		:: atomic { state[1] == POSTED -> take_effect(1) }
#if NL > 2
		:: atomic { state[2] == POSTED -> take_effect(2) }
#endif
		:: NONE_POSTED -> break
		od;
		/* M2: the first lock that it did not get. */
		atomic {
			at = 0;
			do
			:: at < NL && state[at] != MISSED ->
				if
				:: state[at] == GOT -> state[at] = HAS
				:: else
				fi;
				at++
			:: else -> break
			od
		}
		if
		:: at < NL && tries -> give_up(); ended = true
		:: at < NL && !tries ->
			/* M3 */
			i = at + 1;
			do
			:: i < NL ->
				if
				:: state[i] == GOT ->
#ifdef BREAK_KEEP
					state[i] = HAS
#else
					release(i);
					state[i] = OPEN
#endif
				:: state[i] == MISSED -> state[i] = OPEN
				:: else
				fi;
				i++
			:: else -> break
			od
		:: else
		fi;
#else
		/* One lock after the other. */
		at = NL;
		i = 0;
		do
#ifdef BREAK_ORDER
		:: i < NL ->
			if
			:: state[i] == OPEN -> at = i
			:: state[i] == OPEN && at != NL -> skip
			:: state[i] != OPEN
			fi;
			i++
#else
		:: i < NL ->
			if
			:: state[i] == OPEN && at == NL -> at = i
			:: else
			fi;
			i++
#endif
		:: else -> break
		od;
#endif
		/* M4: wait for it. */
		if
		:: !ended && at < NL ->
			if
			:: atomic { holder[at] == 0 -> holder[at] = me; state[at] = HAS }
#ifdef FEW
			:: tries && holder[at] != 0 -> state[at] = UNUSED; give_up(); ended = true
#endif
#ifdef TIMED
			:: !tries -> state[at] = UNUSED; give_up(); ended = true
#endif
			fi;
#ifdef BREAK_TWICE
			if
			:: !ended -> holder[at] == 0 -> holder[at] = me
			:: ended
			fi;
#endif
			if
			:: !ended -> goto round
			:: else
			fi
		:: else
		fi;
		atomic {
			i = first;
			do
			:: i < NL -> /* HELD, NONE */
				assert(ended || state[i] == UNUSED ||
				       (state[i] == HAS && holder[i] == me));
				assert(!ended || holder[i] != me);
				i++
			:: else -> break
			od
		}
		/* The section, and the release of each, in any order. */
		i = 0;
		do
		:: i < NL ->
			if
			:: state[i] == HAS && !ended -> release(i)
			:: else
			fi;
			state[i] = UNUSED;
			i++
		:: else -> break
		od;
#ifdef ALONE
		if
		:: first == 1 -> release(0)
		:: else
		fi
#endif
	:: else -> break
	od
}

init {
	byte p = 1;

	atomic {
		do
		:: p <= NP -> run client(p); p++
		:: else -> break
		od
	}
}
