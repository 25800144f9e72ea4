/*
 * ALock, the asymmetric lock: model of src/lock/alock/alock.c.
 *
 * What it models. NL processes of the local cohort and NR of the remote one (default 2 and 2), with
 * one slot each, and budgets BL and BR (default 1 and 2). A process takes the lock any number of
 * times and may stop between two acquisitions, so a pass holds for any number of acquisitions.
 *
 * What it proves. Mutual exclusion (assert at CS); no deadlock (awaits are blocking guards, so a
 * hang is an invalid end state); a link is null when a successor writes it; at the end both tails
 * are null; while the leader of one cohort waits, the other cohort gets the lock at most as often
 * as its budget (GlobalFairness of the technical report, with a number; not with -DUNCOUNTED). With
 * -DTRY also when processes try. With -DTIMED also when waiters time out at any time, except
 * process v of -DLIVE=v and -DBOUND=v: in the queue as in dmcs.pml; a leader leaves its queue, as a
 * try does. With -DBOUND=v, while process v waits, others get the lock at most as often as
 * overtakes() says. With -DLIVE=v, under weak fairness, process v gets the lock whenever it wants
 * it (ltl live: StarvationFree of the report). With -DPOSTED the same if the remote cohort posts its
 * releases, as in dmcs_posted.pml: a client that leaves marks its NEXT with LEFT; the
 * compare-and-swap of TAIL takes effect at any time later; a successor that finds LEFT leads; and a
 * slot is used again when it has settled. Then also: a client that links itself finds 0 or LEFT, in
 * the queue node of that acquisition whose id it got from TAIL (OWED).
 *
 * What it abstracts. One lock; one slot for each process. An operation and its flush, with nothing
 * of the same process between them, are one step, when the operation takes effect. The two looks of
 * P3 share a flush, may take effect in any order, and either of them may end the wait. P1 is a step
 * of its own after A2, as where the transport keeps the order of the two. Operations are atomic on
 * each word, and memory is sequentially consistent. With -DPOSTED, answers come with the effect, and
 * grants take effect at once, as in dmcs_posted.pml without -DLATE; a leader that gives up waits for
 * its slot to settle at the next use of it, not at once.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 local and 2 remote, budgets 1 and 2; safe, turns within the budgets | 911 571 |
 * | NL=3 | safe 10M long | pass | 3 local and 2 remote; turns within the budgets | 33 245 296 |
 * | TRY | safe 10M long | pass | 2 and 2, with tries; turns within the budgets | 13 825 272 |
 * | BOUND=0 | safe | pass | 2 and 2; overtaken at most as often as `overtakes()` says, v = 0 | 1 104 333 |
 * | BOUND=2 | safe | pass | 2 and 2 | 982 311 |
 * | LIVE=0 | live3 long | pass | 2 and 2 | 1 410 359 |
 * | LIVE=2 | live3 long | pass | 2 and 2 | 1 396 816 |
 * | NR=1 TRY LIVE=0 | live3 | pass | 2 and 1, with tries | 127 603 |
 * | NR=1 TRY LIVE=2 | live3 | pass | 2 and 1, with tries | 137 057 |
 * | NR=1 TIMED | safe | pass | 2 and 1; the same as without | 55 353 |
 * | NL=1 TIMED | safe | pass | 1 and 2, with deadlines; the same as without | 91 850 |
 * | NL=1 TIMED BOUND=1 | safe | pass | 1 and 2, with deadlines, of all but v; overtaken at most as often as `overtakes()` says, v = 1 | 70 037 |
 * | NL=1 TIMED LIVE=1 | live3 | pass | 1 and 2, with deadlines, of all but v | 83 320 |
 * | BL=2 BR=3 | safe middle | pass | 2 and 2, budgets 2 and 3; safe, turns within the budgets | 1 720 173 |
 * | TRY BOUND=0 | safe 10M long | pass | 2 and 2, with tries; overtaken no more often | 17 892 101 |
 * | TRY BOUND=2 | safe 10M long | pass | the same, of a remote client | 15 806 460 |
 * | POSTED | safe middle | pass | 2 and 2, releases of remote clients posted; safe, turns within the budgets | 1 572 971 |
 * | POSTED BOUND=0 | safe long | pass | 2 and 2, posted; overtaken at most as often as `overtakes()` says | 1 889 478 |
 * | POSTED BOUND=2 | safe long | pass | the same, of a remote client | 1 685 686 |
 * | POSTED NL=1 LIVE=0 | live3 | pass | 1 and 2, posted | 83 454 |
 * | POSTED NL=1 LIVE=1 | live3 | pass | 1 and 2, posted | 72 819 |
 * | POSTED NL=1 TIMED TRY | safe middle | pass | 1 and 2, posted, with deadlines and tries; safe, turns within the budgets | 811 265 |
 * | POSTED NL=1 TIMED BOUND=1 | safe | pass | 1 and 2, posted, with deadlines, of all but v; overtaken at most as often as `overtakes()` says, v = 1 | 115 616 |
 * | POSTED NL=1 TIMED LIVE=1 | live3 | pass | 1 and 2, posted, with deadlines, of all but v | 135 528 |
 * | POSTED NL=1 NR=3 | safe 10M long | pass | 1 and 3, posted; turns within the budgets | 4 958 064 |
 * | NR=1 TIMED TRY | safe long | pass | 2 and 1, with deadlines and tries | |
 * | BOUND=0 MOST=6 | safe | assert | MOST: one less than `overtakes()` says | overtaken once more |
 * | BOUND=2 MOST=2 | safe | assert | the same, of a remote client | overtaken once more |
 * | BREAK_LOOK | safe | assert | the look at the other tail may come before the swap (no flush between them) | two holders |
 * | BREAK_FLUSH | safe | assert | the looks of P3 may come before VICTIM is written (no flush) | two holders |
 * | BREAK_TOGETHER UNCOUNTED | safe | assert | VICTIM is written with the swap, before the leader is known | two holders |
 * | BREAK_YIELD | safe | assert | VICTIM is not written when the budget is used up | more turns than the budget |
 * | BREAK_YIELD UNCOUNTED LIVE=2 | live3 | cycle | VICTIM is not written when the budget is used up | the other cohort starves |
 * | BREAK_TRY TRY | safe | deadlock | a try leaves without a look for a client that has queued behind it | |
 * | BREAK_GONE TRY LIVE=0 | live3 | cycle | a try leaves without having written VICTIM | tries starve a waiter |
 * | NR=1 TIMED BREAK_STAY | bfs | assert | a leader that times out abandons its place | no client passes over it |
 * | NR=1 TIMED BREAK_EARLY | bfs | assert | a node is marked as passed over before its NEXT is read | two holders |
 * | POSTED BREAK_LEFT | safe | assert | a client that finds LEFT has the lock with a new budget | more turns than the budget |
 * | POSTED NL=1 UNCOUNTED LIVE=0 BREAK_LEFT | live3 | cycle | a client that finds LEFT has the lock with a new budget | the other cohort starves |
 * | POSTED BREAK_OLD | safe | assert | a client that finds LEFT believes the look that it took with its swap | more turns than the budget |
 * | POSTED BREAK_SETTLE | bfs | assert | a slot is used again before a successor has found LEFT | a link to another acquisition |
 * | POSTED BREAK_ANSWER | safe | assert | a slot is used again before the compare-and-swap was answered | two holders |
 */
#ifndef NL
#define NL 2
#endif
#ifndef NR
#define NR 2
#endif
#define NP (NL + NR)
#ifndef BL
#define BL 1
#endif
#ifndef BR
#define BR 2
#endif

#define LEFT (NP + 1) /* NEXT, with -DPOSTED; no id */

#define WAIT 0 /* STATUS: else 1 + the rest of the budget, or */
#define ABANDONED 100
#define PASSED 101
#define PASSED_ON 102 /* but a successor has yet to find LEFT */

#ifdef POSTED
#define IDLE (TAIL[0] == 0)
#else
#define IDLE (TAIL[0] == 0 && TAIL[1] == 0)
#endif
#define COHORT(p) (p >= NL) /* 0: local, 1: remote */
#define BUDGET(c) (c -> BR : BL)

byte TAIL[2];    /* at the home, by cohort: 0 or slot id; slot id = process + 1 */
byte VICTIM;     /* 0 at first; else 1 + cohort */
byte NEXT[NP];   /* in the slots */
byte STATUS[NP];

#ifdef POSTED
/* What the owner knows of its compare-and-swap: 0, POSTED, LOST (answered: TAIL named another). */
#define IN_FLIGHT 1
#define LOST 2
byte CAS[NP];
byte flying;

/* Asserted only: a client that got this slot from TAIL has yet to link itself. */
bit OWED[NP];

#if defined(BREAK_SETTLE)
#define SETTLED(i) (CAS[i] != IN_FLIGHT)
#elif defined(BREAK_ANSWER)
#define SETTLED(i) (CAS[i] == 0 || NEXT[i] != LEFT)
#else
#define SETTLED(i) (CAS[i] == 0 || (CAS[i] == LOST && NEXT[i] != LEFT))
#endif
#define POSTS (c == 1)
#else
#define POSTS false
#define SETTLED(i) true
#endif

#include "ghost.inc"

/* Ghost: the cohort whose leader waits, and how often the other cohort has had the lock since. */
bit leads[2];
byte turns[2];
#ifdef UNCOUNTED
#define TURN skip
#else
#define TURN turns[1 - c]++; assert(turns[1 - c] <= BUDGET(c))
#endif
#define LEADS leads[c] = 1; turns[c] = 0; WAITS

#ifdef BOUND
bit waits;
byte before; /* grants to others since process BOUND began to wait */
#define AHEAD (BOUND < NL -> NL - 1 : NR - 1)
#if defined(TIMED) || defined(POSTED)
#define OWN 1 /* each leader that times out, or finds LEFT, begins a new turn */
#else
#define OWN (BOUND < NL -> BL : BR)
#endif
#define OTHER (BOUND < NL -> BR : BL)
#ifndef MOST
#define MOST (AHEAD + OTHER * (AHEAD / OWN + 1 + (AHEAD > 0)))
#endif
#define WAITS if :: p == BOUND -> waits = 1 :: else fi
#define GRANTED if :: p == BOUND -> waits = 0; before = 0 \
	:: p != BOUND && waits -> before++; assert(before <= MOST) \
	:: else fi
#else
#define WAITS skip
#define GRANTED skip
#endif

#ifdef TIMED
bit QUEUED[NP]; /* the process has abandoned its place and has not seen it passed over */
#if defined(LIVE)
#define MAY_TIME_OUT (p != LIVE)
#elif defined(BOUND)
#define MAY_TIME_OUT (p != BOUND)
#else
#define MAY_TIME_OUT true
#endif
#define FREE_AT(i) (SETTLED(i) && (!QUEUED[i] || WAS_PASSED(i)))
#ifdef POSTED
#define WAS_PASSED(i) (STATUS[i] == PASSED || (STATUS[i] == PASSED_ON && NEXT[i] != LEFT))
#else
#define WAS_PASSED(i) (STATUS[i] == PASSED)
#endif
#define FREE FREE_AT(p)
#define TAKE_SLOT QUEUED[p] = 0
#else
#define FREE SETTLED(p)
#define TAKE_SLOT skip
#endif

#ifdef POSTED
/* A new use of the slot. */
#define RENEW if :: CAS[p] == LOST -> CAS[p] = 0 :: else fi; OWED[p] = 0

/* R2: cas(TAIL, me -> 0), posted. */
proctype Wire(byte i)
{
end:	do
	:: d_step { CAS[i] == IN_FLIGHT ->
		flying--;
		if
		:: TAIL[1] == i + 1 -> TAIL[1] = 0; CAS[i] = 0
		:: else -> CAS[i] = LOST
		fi }
	od
}
#else
#define RENEW skip
#endif

proctype P(byte p)
{
	byte pred, succ, left;
	bit c = COHORT(p);
#ifdef TIMED
	byte next;
#endif
#if defined(BREAK_LOOK) || defined(BREAK_OLD)
	bit alone;
#endif
#ifdef POSTED
	byte old;
#endif

	do
#ifdef TRY
	::
#if defined(TIMED) || defined(POSTED)
		atomic { FREE -> TAKE_SLOT; RENEW };
#endif
		/* T: cas(TAIL, 0 -> me); flush. With -DPOSTED: or wait for a release to arrive */
		NEXT[p] = 0;
		d_step { pred = TAIL[c]; if :: pred == 0 -> TAIL[c] = p + 1 :: else fi }
		if
		:: pred != 0 -> pred = 0; goto out
		:: else
		fi;
		/* P1: get(the other TAIL); flush */
		if
		:: TAIL[1 - c] == 0 -> left = BUDGET(c); goto cs
		:: else
		fi;
#ifndef BREAK_GONE
		/* P2: put(VICTIM, my cohort); flush */
		VICTIM = c + 1;
#endif
#ifdef BREAK_TRY
		TAIL[c] = 0;
		goto out;
#endif
		/* leave; a successor leads in our place */
		left = 1;
		goto leave
#endif
#ifdef TIMED
	::	/* A6: cas(STATUS, ABANDONED -> WAIT); flush. Else it is about to be passed over */
		atomic { QUEUED[p] && STATUS[p] == ABANDONED -> STATUS[p] = WAIT; QUEUED[p] = 0; WANT; WAITS }
		goto queue
#endif
	:: atomic { FREE -> TAKE_SLOT; RENEW;
		/* A1: poke NEXT := 0 and STATUS := WAIT, both own memory */
		WANT;
		NEXT[p] = 0;
		STATUS[p] = WAIT }
#ifdef BREAK_LOOK
		alone = (TAIL[1 - c] == 0);
#endif
#ifdef BREAK_TOGETHER
		VICTIM = c + 1;
#endif
		/* A2: pred = fao(TAIL, me, REPLACE); flush */
		d_step {
			pred = TAIL[c];
			TAIL[c] = p + 1;
#ifdef POSTED
			if
			:: POSTS && pred != 0 -> assert(!OWED[pred - 1]); OWED[pred - 1] = 1
			:: else
			fi
#endif
		}
#ifdef BREAK_OLD
		alone = (TAIL[1 - c] == 0);
#endif
		if
#ifdef POSTED
		:: pred != 0 && POSTS ->
			/* A3: old = swap(pred.NEXT, me); flush */
			d_step {
				old = NEXT[pred - 1];
				assert(OWED[pred - 1] && (old == 0 || old == LEFT));
				NEXT[pred - 1] = p + 1;
				OWED[pred - 1] = 0;
				pred = 0;
				WAITS
			}
			if
			:: old == 0 -> goto queue
			:: else -> old = 0
			fi
#if defined(BREAK_LEFT)
			;
			left = BUDGET(c);
			goto cs
#elif defined(BREAK_OLD)
			;
			if
			:: alone -> left = BUDGET(c); goto cs
			:: else
			fi
#endif
#endif
		:: pred != 0 && !POSTS ->
			/* A3: put(pred.NEXT, me); flush */
			d_step {
				assert(NEXT[pred - 1] == 0);
				NEXT[pred - 1] = p + 1;
				pred = 0;
				WAITS
			}
			/* A4: await STATUS != WAIT */
queue:			if
			:: atomic { STATUS[p] != WAIT; left = STATUS[p] - 1 }
#ifdef TIMED
			:: atomic { STATUS[p] == WAIT && MAY_TIME_OUT ->
				/* A5: cas(STATUS, WAIT -> ABANDONED); flush. Else it is granted */
				STATUS[p] = ABANDONED; QUEUED[p] = 1 }
				goto out
#endif
			fi;
			if
			:: left > 0 -> goto cs
			:: else
			fi
#ifdef BREAK_YIELD
			;
			d_step { left = BUDGET(c); LEADS }
			goto wait
#endif
		:: else
#ifdef BREAK_LOOK
			-> if
			:: alone -> alone = 0; left = BUDGET(c); goto cs
			:: else
			fi
#endif
		fi;
lead:		left = BUDGET(c);
#ifndef BREAK_TOGETHER
		/* P1: get(the other TAIL); flush */
		if
		:: TAIL[1 - c] == 0 -> goto cs
		:: else
		fi;
#ifdef BREAK_FLUSH
		/* P3 before P2 */
		if
		:: c == 1 && VICTIM != c + 1 -> VICTIM = c + 1; goto cs
		:: true
		fi;
#endif
		/* P2: put(VICTIM, my cohort); flush */
		d_step { VICTIM = c + 1; LEADS }
#else
		LEADS;
#endif
wait:		/* P3: get(the other TAIL), get(VICTIM); flush; until one of them lets us */
		if
		:: TAIL[1 - c] == 0
		:: VICTIM != c + 1
#ifdef TIMED
		:: MAY_TIME_OUT ->
#ifdef BREAK_STAY
			d_step { STATUS[p] = ABANDONED; QUEUED[p] = 1; leads[c] = 0 }
			goto out
#else
			d_step { left = 1; leads[c] = 0; turns[c] = 0 }
			goto leave
#endif
#endif
		fi;
		/* CS */
cs:		atomic {
			leads[c] = 0;
			turns[c] = 0;
			if
			:: leads[1 - c] -> TURN
			:: else
			fi;
			GRANTED
		}
		critical_exclusive(p);
leave:
#ifdef POSTED
		if
		:: POSTS ->
#ifdef BREAK_ANSWER
			CAS[p] != IN_FLIGHT; /* the model has one at a time; the first does the harm */
#endif
			/* R1: succ = fao(own NEXT, LEFT, REPLACE); flush. R2 is posted with it: it takes
			 * effect any time later anyhow. */
			d_step {
				succ = NEXT[p];
				NEXT[p] = LEFT;
				if
				:: succ == 0 -> CAS[p] = IN_FLIGHT; flying++
				:: else
				fi
			}
			if
			:: succ == 0 -> goto out
			:: else -> goto give
			fi
		:: else
		fi;
#endif
		/* R1: succ = peek NEXT */
		succ = NEXT[p];
		if
		:: succ == 0 ->
			/* R2: r = cas(TAIL, me -> 0); flush */
			d_step { pred = TAIL[c]; if :: pred == p + 1 -> TAIL[c] = 0 :: else fi }
			if
			:: pred == p + 1 -> pred = 0; goto out
			:: else -> pred = 0
			fi;
			/* R3: await NEXT != 0 */
			atomic { NEXT[p] != 0; succ = NEXT[p] }
		:: else
		fi;
#if defined(TIMED) || defined(POSTED)
give:		skip;
#endif
#ifdef TIMED
		/* R4: pred = fao(succ.STATUS, what is left, REPLACE); flush */
		d_step {
			pred = STATUS[succ - 1];
			assert(pred == WAIT || pred == ABANDONED);
			STATUS[succ - 1] = left
		}
		if
		:: pred == ABANDONED ->
#ifdef BREAK_EARLY
			STATUS[succ - 1] = PASSED;
#endif
#ifdef POSTED
			if
			:: POSTS ->
				/* S1: next = fao(succ.NEXT, LEFT, REPLACE); flush */
				d_step { next = NEXT[succ - 1]; NEXT[succ - 1] = LEFT; pred = succ }
				if
				:: next == 0 ->
					/* S2: pred = cas(TAIL, succ -> 0); flush */
					d_step { pred = TAIL[c]; if :: pred == succ -> TAIL[c] = 0 :: else fi }
				:: else
				fi;
				/* S3: put(succ.STATUS, PASSED or PASSED_ON); flush */
				d_step {
					STATUS[succ - 1] = (pred == succ -> PASSED : PASSED_ON);
					succ = next; next = 0; pred = 0
				}
				if
				:: succ != 0 -> goto give
				:: else -> goto out
				fi
			:: else
			fi;
#endif
			/* S1: next = get(succ.NEXT); flush */
			next = NEXT[succ - 1];
			if
			:: next == 0 ->
				/* S2: pred = cas(TAIL, succ -> 0); flush */
				d_step { pred = TAIL[c]; if :: pred == succ -> TAIL[c] = 0 :: else fi }
				if
				:: pred == succ
				:: else -> atomic { NEXT[succ - 1] != 0; next = NEXT[succ - 1] }
				fi
			:: else
			fi;
			/* S3: put(succ.STATUS, PASSED); flush */
			d_step { STATUS[succ - 1] = PASSED; succ = next; next = 0; pred = 0 }
			if
			:: succ != 0 -> goto give
			:: else
			fi
		:: else -> d_step { pred = 0; succ = 0 }
		fi;
#else
		/* R4: put(succ.STATUS, what is left); flush */
		d_step { assert(STATUS[succ - 1] == WAIT); STATUS[succ - 1] = left; succ = 0 }
#endif
out:		left = 0
	:: d_step {
		alive--;
		if
		:: alive == 0 -> assert(IDLE && nw == 0)
		:: else
		fi } break
	od
}

init {
	byte i;
	atomic {
#ifdef POSTED
		i = NL;
		do :: i < NP -> run Wire(i); i++ :: else -> i = 0; break od;
#endif
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
#ifdef POSTED
	d_step { alive == 0 && flying == 0 -> i = NL;
		assert(TAIL[1] == 0);
		do :: i < NP -> assert(SETTLED(i) && !OWED[i]); i++ :: else -> break od }
#endif
#ifdef TIMED
	d_step { alive == 0 -> i = 0;
		do :: i < NP -> assert(FREE_AT(i)); i++ :: else -> break od }
#endif
}
