/*
 * FARLock, the asymmetric lock in the order of arrival: model of baselines/farlock.c.
 *
 * What it models. NL processes of the local cohort and NR of the remote one (default 2 and 1), with
 * one slot each, and budgets BL and BR (default 2 and 1). Each process takes the lock ROUNDS times
 * (default 2) at most and may stop before.
 *
 * What it proves. Mutual exclusion (assert at CS); no deadlock (awaits are blocking guards, so a
 * hang is an invalid end state); tickets are drawn one after another (assert at DRAWN); clients get
 * the lock in the order of their tickets; a link and a grant come to a word that is 0; a client that
 * is granted the lock waits for it; at the end both tails are null, and LEFT is the ticket in DRAWN.
 * With -DTRY also when processes try. With -DBOUND=v, while process v waits, others get the lock at
 * most as often as overtakes() says.
 *
 * -DPOSTED: clients of the remote cohort post their releases: no client waits for the releasing
 * one. A process stops for that time; with further slots it would be several processes.
 *
 * What it abstracts. One lock; one slot for each process. An operation and its flush, with nothing
 * of the same process between them, are one step, when the operation takes effect. DRAWN and LEFT
 * are read in one step, when DRAWN cannot change. Tickets do not wrap, and the distance to the last
 * free ticket is not cut off, but with -DWRAP=n: tickets are counted modulo n, a holder that hands
 * the lock on writes LEFT at each RENEW-th one (default n / 2), and the distance is at most FAR
 * (default NP), where baselines/farlock.c has 2^32, 2^24 and 2^16 - 1. RENEW and the number of clients
 * are together less than n, and while a client is in L3, fewer than n are drawn. Operations are atomic on each word, and memory is sequentially
 * consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | ROUNDS=1 TRY | safe | pass | 2 local and 1 remote, budgets 2 and 1, with tries, one acquire each; tickets in order | 277 651 |
 * | NL=1 NR=2 BR=2 ROUNDS=1 TRY | safe | pass | 1 and 2, budgets 2 and 2, with tries, one acquire each; tickets in order | 274 308 |
 * | NL=1 ROUNDS=3 TRY | safe | pass | 1 and 1, three acquires each, with tries | 460 399 |
 * | ROUNDS=1 BOUND=2 | safe | pass | 2 and 1, one acquire each; overtaken at most as often as `overtakes()` says, v = 2 | 180 675 |
 * | | safe long | pass | 2 local and 1 remote, two acquires each; tickets in order | 6 999 395 |
 * | POSTED ROUNDS=1 TRY | safe | pass | 2 and 1, with tries, one acquire each, releases of remote clients posted; tickets in order | 325 145 |
 * | POSTED NL=1 NR=2 BR=2 ROUNDS=1 TRY | safe | pass | 1 and 2, budgets 2 and 2, with tries, one acquire each, posted; tickets in order | 347 241 |
 * | POSTED NL=1 ROUNDS=3 TRY | safe | pass | 1 and 1, three acquires each, with tries, posted | 545 002 |
 * | POSTED NL=1 NR=2 BR=2 | safe long | pass | 1 and 2, two acquires each, posted; tickets in order | 14 752 416 |
 * | WRAP=5 NL=1 ROUNDS=3 TRY | safe | pass | 1 and 1, three acquires each, with tries, tickets wrap | 357 538 |
 * | WRAP=8 ROUNDS=3 | safe 20M long | pass | 2 and 1, three acquires each, tickets wrap; in order | 52 837 882 |
 * | WRAP=5 POSTED NL=1 ROUNDS=3 | safe | pass | 1 and 1, three acquires each, posted, tickets wrap | 114 032 |
 * | WRAP=5 NL=1 ROUNDS=3 BREAK_RENEW | bfs | assert | no holder that hands the lock on writes LEFT | two holders |
 * | WRAP=4 ROUNDS=2 | bfs middle | deadlock | n tickets are drawn while a client is in L3 | a release waits for ever |
 * | WRAP=8 FAR=0 ROUNDS=1 | safe | deadlock | the distance is cut off below the number of clients | no client has the lock |
 * | ROUNDS=1 BREAK_LOOK | safe | assert | the look at the other tail may come before the swap | a ticket drawn twice |
 * | ROUNDS=1 BREAK_EARLY | safe | assert | DRAWN is read before the look at the other tail | a ticket drawn twice |
 * | ROUNDS=1 BREAK_ORDER | safe | assert | a client leaves its queue before DRAWN is written | a ticket drawn twice |
 * | ROUNDS=1 TRY BREAK_BUDGET | safe | assert | a leader that a try or the end of a budget has made draws at once | a ticket drawn twice |
 * | ROUNDS=1 BREAK_AGAIN | safe | deadlock | no second look at LEFT | no client has the lock |
 * | ROUNDS=1 BREAK_UNMARKED | safe | deadlock | the second look at LEFT comes before DRAWN is written | no client has the lock |
 * | ROUNDS=1 BREAK_MARK | safe | deadlock | DRAWN does not say that the lock was found free | a release waits for ever |
 * | ROUNDS=1 BREAK_LEFT | safe | deadlock | a holder looks at DRAWN before it has written LEFT | no client has the lock |
 * | ROUNDS=1 BREAK_ROW | safe | assert | the last client of a row does not write DRAWN | a ticket drawn twice |
 * | ROUNDS=1 BREAK_ONE_WORD | safe | deadlock | the grant and the ticket are written to the same word | a ticket is lost |
 * | POSTED ROUNDS=1 BREAK_SWAP | safe | deadlock | a holder looks for a link and then writes that it has left | no client has the lock |
 * | POSTED NL=1 BREAK_ARRIVE | safe | deadlock | a client that finds that has the lock before LEFT has arrived | no client has the lock |
 * | POSTED NL=1 BREAK_SETTLE | safe | deadlock | a slot is used again although a client may still link itself to it | no client has the lock |
 * | ROUNDS=1 TRY BREAK_TRY | safe | deadlock | a try leaves without a look for a client behind it | |
 */
#ifndef NL
#define NL 2
#endif
#ifndef NR
#define NR 1
#endif
#define NP (NL + NR)
#ifndef BL
#define BL 2
#endif
#ifndef BR
#define BR 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#ifdef WRAP
#define N(ticket) ((ticket) % WRAP)
#define NO_TICKET WRAP
#ifndef RENEW
#define RENEW (WRAP / 2)
#endif
#ifndef FAR
#define FAR NP
#endif
#else
#define N(ticket) (ticket)
#define WRAP 0
#define FAR 255
#endif
/* Tickets from t on to n, and the distance to the last free ticket, one on. */
#define SINCE(n, t) N(n + WRAP - t)
#define LONGER(ago) (ago >= FAR -> FAR : ago + 1)

#define COHORT(p) (p >= NL) /* 0: local, 1: remote */
#define GONE (NP + 1)       /* LINK, with -DPOSTED: its owner has left; no id */
#define BUDGET(c) (c -> BR : BL)

/* At the home; slot id = process + 1. */
byte TAIL[2];
byte VICTIM;        /* 0 at first; else 1 + cohort */
byte DRAWN, AGO, BY; /* one word: ticket, how many tickets ago the lock was found free, slot id */
byte LEFT;

/* In the slots. */
byte NEXT[NP];                 /* the cohort's queue */
bit MADE[NP];                  /* STATUS, one word: made the leader, */
byte TICKET[NP], FREE_AGO[NP], REST[NP]; /* with this ticket before, and the rest of the budget */
byte LINK[NP];                 /* the queue of tickets */
bit GRANT[NP];

#include "ghost.inc"

byte holder;   /* Ghost: the ticket of the client that had the lock last */
bit waits[NP]; /* Ghost: waits for the grant */

#ifdef BOUND
bit waiting;
byte before; /* acquires of others since process BOUND began to wait */
#define AHEAD (BOUND < NL -> NL - 1 : NR - 1)
#define OTHER (BOUND < NL -> BR : BL)
#ifndef MOST
#define MOST (NP - 1 + AHEAD + OTHER * (AHEAD + 1 + (AHEAD > 0)))
#endif
#define WAITS if :: p == BOUND -> waiting = 1 :: else fi
#define GRANTED if :: p == BOUND -> waiting = 0; before = 0 \
	:: p != BOUND && waiting -> before++; assert(before <= MOST) \
	:: else fi
#else
#define WAITS skip
#define GRANTED skip
#endif

byte last;     /* Ghost: the last ticket that was drawn */

inline draw()
{
	assert(t == N(last + 1));
	last = t
}

inline write_drawn()
{
	d_step { assert(WRAP || t > DRAWN || (t == DRAWN && BY == p + 1)); DRAWN = t; AGO = ago; BY = p + 1 }
}

proctype P(byte p)
{
	byte pred, succ, rest, t, ago, next, n, who, round;
	bit c = COHORT(p), is_free;
#ifdef POSTED
	bit gone;
#endif
#ifdef BREAK_LOOK
	bit alone;
#endif

	do
#ifdef TRY
	:: round < ROUNDS ->
		/* T: cas(TAIL, 0 -> me); flush */
		d_step { round++; NEXT[p] = 0; LINK[p] = 0; GRANT[p] = 0 }
		d_step { pred = TAIL[c]; if :: pred == 0 -> TAIL[c] = p + 1 :: else fi }
		if
		:: pred != 0 -> pred = 0; goto out
		:: else
		fi;
		/* P1: get(the other TAIL), then F1: get(DRAWN), get(LEFT); flush */
		if
		:: TAIL[1 - c] == 0 ->
			d_step { n = DRAWN; ago = AGO; is_free = (LEFT == DRAWN) }
			if
			:: is_free -> d_step { t = N(n + 1); ago = 0; is_free = 0; n = 0; rest = BUDGET(c); draw() } goto publish
			:: else -> d_step { n = 0; ago = 0 }
			fi
		:: else ->
			/* P2: put(VICTIM, my cohort); flush */
			VICTIM = c + 1
		fi;
#ifdef BREAK_TRY
		TAIL[c] = 0;
		goto out;
#endif
		/* leave; a client that has queued behind leads */
		succ = NEXT[p];
		if
		:: succ == 0 ->
			d_step { pred = TAIL[c]; if :: pred == p + 1 -> TAIL[c] = 0 :: else fi }
			if
			:: pred == p + 1 -> pred = 0; goto out
			:: else -> pred = 0
			fi;
			atomic { NEXT[p] != 0; succ = NEXT[p] }
		:: else
		fi;
		d_step { assert(!MADE[succ - 1]); MADE[succ - 1] = 1; REST[succ - 1] = 0; succ = 0 }
		goto out
#endif
	:: round < ROUNDS ->
		/* A1: poke own words */
		d_step { round++; NEXT[p] = 0; LINK[p] = 0; GRANT[p] = 0; MADE[p] = 0 }
#ifdef BREAK_LOOK
		alone = (TAIL[1 - c] == 0);
#endif
		/* A2: pred = fao(TAIL, me, REPLACE); flush */
		d_step { pred = TAIL[c]; TAIL[c] = p + 1 }
		if
		:: pred != 0 ->
			/* A3: put(pred.NEXT, me); flush */
			d_step { assert(NEXT[pred - 1] == 0); NEXT[pred - 1] = p + 1; pred = 0; WAITS }
			/* A4: await STATUS */
			atomic { MADE[p]; MADE[p] = 0; rest = REST[p]; t = TICKET[p]; ago = LONGER(FREE_AGO[p]);
				TICKET[p] = 0; FREE_AGO[p] = 0; REST[p] = 0 }
			if
			:: rest > 0 -> d_step { t = N(t + 1); draw() } goto publish
			:: else -> d_step { t = 0; ago = 0 }
			fi;
#ifdef BREAK_BUDGET
			goto found
#endif
		:: else
#ifdef BREAK_LOOK
			-> if
			:: alone -> alone = 0; goto found
			:: else
			fi
#endif
		fi;
#ifdef BREAK_EARLY
		d_step { n = DRAWN; ago = AGO; who = BY }
#endif
		/* P1: get(the other TAIL); flush */
		if
		:: TAIL[1 - c] == 0 -> goto found
		:: else
		fi;
		/* P2: put(VICTIM, my cohort); flush */
		d_step { VICTIM = c + 1; WAITS }
		/* P3: get(the other TAIL), get(VICTIM); flush; until one of them lets us */
		(TAIL[1 - c] == 0 || VICTIM != c + 1);
		/* F1: get(DRAWN), get(LEFT); flush */
found:		skip;
		d_step {
#ifndef BREAK_EARLY
			n = DRAWN; ago = AGO; who = BY;
#endif
			is_free = (LEFT == n); t = N(n + 1); ago = (is_free -> 0 : LONGER(ago)); rest = BUDGET(c);
			draw()
		}
		if
		:: is_free -> d_step { is_free = 0; n = 0; who = 0 } goto publish
		:: else
		fi;
		/* F2: put(DRAWN); get(LEFT); flush */
#ifdef BREAK_UNMARKED
		is_free = (LEFT == n);
		write_drawn();
#else
		write_drawn();
#ifndef BREAK_AGAIN
		is_free = (LEFT == n);
#endif
#endif
		if
		:: is_free ->
#ifndef BREAK_MARK
			ago = 0;
			write_drawn()
#endif
		:: else ->
			/* F3: put(LINK of the client before, me); flush. To one that posts: a swap */
#ifdef POSTED
			d_step {
				gone = (COHORT(who - 1) && LINK[who - 1] == GONE);
				assert(gone || LINK[who - 1] == 0);
				LINK[who - 1] = p + 1; waits[p] = !gone; WAITS
			}
#else
			d_step { assert(LINK[who - 1] == 0); LINK[who - 1] = p + 1; waits[p] = 1; WAITS }
#endif
		fi;
		d_step { n = 0; who = 0; is_free = 0 }
		goto end;
		/* Publish the ticket unless the next client of the row will */
publish:	succ = NEXT[p];
		if
		:: succ == 0 || rest == 1 ->
#ifndef BREAK_ROW
#ifndef BREAK_ORDER
			write_drawn();
#endif
#endif
			skip
		:: else
		fi;
		succ = 0;
		/* End the drawing: R1, R2 of the cohort's queue */
end:		succ = NEXT[p];
		if
		:: succ == 0 ->
			d_step { pred = TAIL[c]; if :: pred == p + 1 -> TAIL[c] = 0 :: else fi }
#ifdef BREAK_ORDER
			write_drawn();
#endif
			if
			:: pred == p + 1 -> pred = 0; goto drawn
			:: else -> pred = 0
			fi;
			atomic { NEXT[p] != 0; succ = NEXT[p] }
		:: else
		fi;
		/* put(succ.STATUS: leader, with this ticket and the rest of the budget); flush */
		d_step {
			assert(!MADE[succ - 1]);
			MADE[succ - 1] = 1;
			TICKET[succ - 1] = (rest > 1 -> t : 0);
			FREE_AGO[succ - 1] = (rest > 1 -> ago : 0);
			REST[succ - 1] = rest - 1;
			next = (rest > 1 -> succ : 0);
			if :: rest > 1 -> waits[succ - 1] = 1 :: else fi;
			succ = 0
		}
drawn:		rest = 0;
#ifdef POSTED
		/* F4: the client before has left: its LEFT is on the way */
#ifndef BREAK_ARRIVE
		if :: gone -> LEFT == N(t + WRAP - 1) :: else fi;
#endif
		gone = 0;
#endif
		/* await the grant */
#ifdef BREAK_ONE_WORD
		if :: waits[p] -> atomic { MADE[p]; MADE[p] = 0; waits[p] = 0 } :: else fi;
#else
		if :: waits[p] -> atomic { GRANT[p]; waits[p] = 0 } :: else fi;
#endif
		atomic { assert(t == N(holder + 1)); holder = t; GRANTED }
		critical_exclusive(p);
#ifdef POSTED
		if
		:: next == 0 && c ->
			/* L1: link = fao(LINK, GONE, REPLACE) */
#ifdef BREAK_SWAP
			next = LINK[p];
			if
			:: next == 0 -> LINK[p] = GONE
			:: else
			fi;
#else
			d_step { next = LINK[p]; LINK[p] = GONE }
#endif
			if
			:: next != 0 -> goto grant
			:: else
			fi;
			/* put(LEFT), get(DRAWN); post */
			LEFT = t;
			d_step { n = DRAWN; ago = AGO }
#ifndef BREAK_SETTLE
			/* L2, L3: until the slot may be used again */
			if
			:: n == t
			:: n != t && SINCE(n, t) > ago
			:: else ->
				if
				:: LINK[p] != GONE
				:: SINCE(DRAWN, t) > AGO
				fi
			fi;
#endif
			goto out
		:: else
		fi;
#endif
		/* L1: look for a successor */
		if
		:: next == 0 -> next = LINK[p]
		:: else
		fi;
		if
		:: next == 0 ->
#ifdef BREAK_LEFT
			d_step { n = DRAWN; ago = AGO }
			LEFT = t;
#else
			/* L1: put(LEFT); get(DRAWN); flush */
			LEFT = t;
			d_step { n = DRAWN; ago = AGO }
#endif
			/* L2, L3 */
			if
			:: n == t
			:: n != t && SINCE(n, t) > ago
			:: else ->
				if
				:: atomic { LINK[p] != 0; next = LINK[p] }
				:: SINCE(DRAWN, t) > AGO
				fi
			fi
		:: else
		fi;
		d_step { n = 0; ago = 0 }
grant:		if
		:: next != 0 ->
#if WRAP > 0 && !defined(BREAK_RENEW)
			/* put(LEFT, no ticket); flush; (F) */
			if
			:: t % RENEW == 0 -> LEFT = NO_TICKET
			:: else
			fi;
#endif
			/* put(succ.GRANT); flush, or post */
#ifdef BREAK_ONE_WORD
			d_step { MADE[next - 1] = 1; next = 0 }
#else
			d_step { assert(!GRANT[next - 1] && waits[next - 1]); GRANT[next - 1] = 1; next = 0 }
#endif
		:: else
		fi;
out:		skip;
		/* For fewer states. */
		d_step { t = 0; ago = 0; rest = 0; n = 0; next = 0; NEXT[p] = 0; LINK[p] = 0; GRANT[p] = 0 }
	:: d_step {
		alive--;
		if
		:: alive == 0 -> assert(TAIL[0] == 0 && TAIL[1] == 0 && nw == 0 && LEFT == DRAWN)
		:: else
		fi } break
	od
}

init {
	byte i;
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
}
