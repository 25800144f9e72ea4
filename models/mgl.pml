/*
 * The multi-granularity lock: model of src/locks/mgl.c.
 *
 * What it models.  NP processes (default 3); each asks as often as it likes, in any mode, and may stop
 * between any two requests.  -DNOAHEAD: nobody asks for an intent ahead of the queue.  The queue is a list that is handed on in order, with what queue_tree.h
 * promises: a client comes to it fresh, or passed by a holder that saw a successor.
 *
 * What it proves.  No two holders in conflict; no dead-lock (awaits are blocking guards); CLOSED is set
 * once at a time; at the end the word is
 * zero and the queue empty.  With -DLIVE=v, under weak fairness, process v gets the lock whenever it
 * wants it and does not merely try.  -DTRY: a process may also try, at its choice.
 *
 * -DRIDE: processes 0 and 1 share a node, and intents of a node ride together, at most LIMIT (default 2)
 * before the node asks anew.
 *
 * What it abstracts.  One lock.  An operation followed by its flush is one step; operations are atomic per
 * word and memory is sequentially consistent.  The queue's own words: models/rma_mcs.pml.
 *
 * Known-broken variants: -DBREAK_DRAIN  an exclusive head does not wait for holders
 *                        -DBREAK_LEAVE  the queue is left before CLOSED is taken back
 *                        -DBREAK_PASS   a sharer hands the queue on as an exclusive holder does
 *                        -DBREAK_AHEAD  the head of the queue does not look for intents that came
 *                                       ahead of it
 *                        -DBREAK_RIDE   the first of a node lets others ride before it is in
 */
#ifndef NP
#define NP 3
#endif

#define SHARED 0
#define INTENT 1
#define EXCLUSIVE 2
#define AHEAD 3 /* an intent that does not queue */

byte n[2];    /* the word: SHARED and INTENT holders, */
byte excl;    /* an exclusive holder, */
byte closed;  /* and whether the head of the queue keeps newcomers out */

#define NONE 0
#define FRESH 1
#define PASSED 2
chan queue = [NP] of { byte };
byte token[NP];

#ifdef RIDE
#ifndef LIMIT
#define LIMIT 2
#endif
#define NODE(p) (p / 2)
byte riders[2], joined[2]; /* the node's word: how many ride, how many have since it was opened, */
bit open[2];               /* and whether they may */
#define ALONE 0
#define OPENS 1
#define RIDES 2

/* G1: a compare-and-swap that may have to be tried again */
inline get_on(p, is_ahead)
{
	d_step {
		if
		:: riders[NODE(p)] == 0 -> how = OPENS; riders[NODE(p)] = 1; joined[NODE(p)] = 1
		:: else ->
			if
			:: joined[NODE(p)] >= LIMIT || (is_ahead && !open[NODE(p)]) -> how = ALONE
			:: else -> how = RIDES; riders[NODE(p)]++; joined[NODE(p)]++
			fi
		fi
	}
}

/* G4: the last one to get off gives the intent back */
inline get_off(p)
{
	d_step {
		riders[NODE(p)]--;
		last = riders[NODE(p)] == 0;
		if
		:: last -> joined[NODE(p)] = 0; open[NODE(p)] = 0
		:: else
		fi
	}
}
#endif

byte alive = NP;
byte ns, ni, nx; /* ghost: holders */

#ifdef LIVE
bit want, in;
#define WANT want = (want || p == LIVE) /* no else, see ghost.inc */
#define IN if :: p == LIVE -> d_step { want = 0; in = 1 } :: else fi
#define OUT_OF if :: p == LIVE -> in = 0 :: else fi
ltl live { [] (want -> <> in) }
#else
#define WANT skip
#define IN skip
#define OUT_OF skip
#endif

#define OTHERS(m) (excl || n[1 - (m)] > 0)
#define ANYBODY (excl || n[SHARED] > 0 || n[INTENT] > 0)

inline critical(m)
{
	atomic {
		if
		:: m == SHARED -> ns++; assert(ni == 0 && nx == 0)
		:: m == INTENT || m == AHEAD -> ni++; assert(ns == 0 && nx == 0)
		:: else -> nx++; assert(ns == 0 && ni == 0 && nx == 1)
		fi;
		IN
	}
	atomic {
		if
		:: m == SHARED -> ns--
		:: m == INTENT || m == AHEAD -> ni--
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
		d_step { held = !ANYBODY && !closed; if :: held -> excl = 1 :: else fi }
	:: else ->
		/* F1: old = fao(W, +one); flush */
		d_step { held = !OTHERS(m) && !closed; n[m]++ };
		if
		:: !held -> n[m]-- /* F2: acc(W, -one); flush */
		:: else
		fi
	fi
}

/* leave the queue; whoever comes next gets the token t */
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
inline ahead()
{
	d_step { held = !OTHERS(INTENT); n[INTENT]++ };
	if
	:: !held -> !OTHERS(INTENT)
	:: else
	fi;
	held = 1
}

inline slow(m)
{
	/* A1: enter the queue, wait for its head */
	atomic { queue!p; token[p] = (len(queue) == 1 -> FRESH : NONE) }
	token[p] != NONE;
	if
	:: m == EXCLUSIVE ->
		if
		:: token[p] == FRESH ->
			/* A2: fao(W, +CLOSED); flush */
			d_step { closed++; assert(closed == 1) };
			do
			::
#ifndef BREAK_DRAIN
				/* A3: await nobody */
				!ANYBODY;
#endif
				/* A4: old = fao(W, +EXCL); flush */
				d_step { held = n[SHARED] == 0 && n[INTENT] == 0; excl++; assert(excl == 1) };
#if defined(BREAK_DRAIN) || defined(BREAK_AHEAD)
				held = 1;
#endif
				if
				:: held -> break
				:: else -> excl-- /* acc(W, -EXCL); flush */
				fi
			od
		:: else
		fi;
		queued = 1
	:: else ->
		if
		:: token[p] == FRESH ->
			/* A5: old = fao(W, +one); flush */
			d_step { held = !OTHERS(m); n[m]++ }
		:: else ->
			/* A6: old = fao(W, +one - CLOSED - EXCL); flush */
#ifdef BREAK_PASS
			held = 1; n[m]++
#else
			d_step { held = n[1 - m] == 0; n[m]++; closed--; excl-- }
#endif
		fi;
		do
		:: held -> break
		:: else ->
			/* A7: acc(W, CLOSED - one); flush; A8: await no others */
			d_step { n[m]--; closed++; assert(closed == 1) };
			!OTHERS(m);
			/* A9: old = fao(W, +one - CLOSED); flush */
#ifdef BREAK_LEAVE
			n[m]++; leave(FRESH); closed--; goto got
#else
#ifdef BREAK_AHEAD
			d_step { held = 1; n[m]++; closed-- }
#else
			d_step { held = !OTHERS(m); n[m]++; closed-- }
#endif
#endif
		od;
		/* A10: leave the queue */
#ifdef BREAK_PASS
		if
		:: token[p] == PASSED -> leave(PASSED)
		:: else -> leave(FRESH)
		fi
#else
		leave(FRESH)
#endif
	fi;
got:	held = 1
}

inline release(m)
{
	if
	:: m == AHEAD -> n[INTENT]--
	:: m == SHARED || m == INTENT -> n[m]-- /* R1: acc(W, -one); flush */
	:: m == EXCLUSIVE && !queued -> excl = 0 /* R1: acc(W, -EXCL); flush */
	:: m == EXCLUSIVE && queued ->
		queued = 0;
		if
		:: len(queue) > 1 -> leave(PASSED) /* R2: a successor is seen */
		:: d_step { closed--; excl-- }; leave(FRESH) /* R3: acc(W, -CLOSED - EXCL); flush; leave */
		fi
	fi
}

inline acquire(m)
{
#ifdef RIDE
	how = ALONE;
	if
	:: m == INTENT || m == AHEAD -> get_on(p, m == AHEAD)
	:: else
	fi;
	if
#ifdef BREAK_RIDE
	:: how == RIDES -> held = 1
#else
	:: how == RIDES -> open[NODE(p)]; held = 1 /* G2: await OPEN */
#endif
	:: else ->
#endif
		if
		:: m == AHEAD -> ahead()
		:: else ->
			fast(m);
			if
			:: !held -> slow(m)
			:: else
			fi
		fi
#ifdef RIDE
		;
		if
		:: how == OPENS -> open[NODE(p)] = 1 /* G3: acc(V, OPEN) */
		:: else
		fi
	fi
#endif
}

inline release_any(m)
{
#ifdef RIDE
	last = 1;
	if
	:: how != ALONE -> get_off(p)
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

proctype P(byte p)
{
	byte m, next;
	bit held, queued;
#ifdef RIDE
	byte how;
	bit last;
#endif

	do
	:: atomic { WANT; if :: m = SHARED :: m = INTENT :: m = EXCLUSIVE fi }
		acquire(m);
		critical(m);
		release_any(m);
		d_step { held = 0; m = 0; token[p] = NONE }
#ifndef NOAHEAD
	:: m = AHEAD;
		acquire(m);
		critical(m);
		release_any(m);
		d_step { held = 0; m = 0 }
#endif
#ifdef TRY
	:: if :: m = SHARED :: m = INTENT :: m = EXCLUSIVE fi;
		fast(m);
		if
		:: held -> critical(m); release(m); held = 0
		:: else
		fi;
		m = 0
#endif
	:: d_step {
		alive--;
		if
		:: alive == 0 ->
			assert(!ANYBODY && closed == 0 && empty(queue));
#ifdef RIDE
			assert(riders[0] == 0 && riders[1] == 0 && !open[0] && !open[1])
#endif
		:: else
		fi }
		break
	od
}

init {
	byte i;
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
}
