/*
 * A lock that stays at the node that used it last, and that any running client may take while it is
 * free: model of kind adaptive (src/lock/adaptive/adaptive.c, head.c), both levels.
 *
 * Node level. Each node has a word W for the lock: its state (S), HEAD and STRICT. A client that
 * finds W free takes it by one compare-and-swap, even before clients that wait (T1), unless STRICT
 * keeps it for one of these. The others queue (T2). The first client of the queue, its head,
 * announces itself by HEAD (T3) and takes W when it is free (T4). When its patience has ended, it
 * sets STRICT (T5), and sleeps. A release makes W free by one operation that fetches STRICT, and
 * then wakes the head (R1). The head clears HEAD and STRICT with the swap that takes W, and leaves
 * the queue after that (T6). A head whose deadline passes clears both, unless W is SHUT: then it
 * takes W, because the client that left W SHUT relies on it (T7).
 *
 * Upper level. It is that of kept_root.pml, whose labels are used here: a client that has W does
 * what a client does there, and the free values of W are the states of USE that it leaves: OUT,
 * GONE, SHUT, IDLE. HELD stands for HELD and QUEUED there. The difference: W becomes SHUT only if
 * the same swap finds HEAD set, which replaces the count of waiters there.
 *
 * What it proves. NN nodes (default 2) with NC clients each (default 2), which take the lock as
 * often as they like and may stop between any two acquisitions: mutual exclusion (assert at CS); no
 * deadlock, as by a lost wake-up or a SHUT that no client takes; a node never queues behind
 * itself. With -DTIMED also when waiters time out at any moment, in the queue of their node, at its
 * head, and in the queue of the nodes (-DFIRM=v: client v has no deadline, so that a wait of v
 * without end shows as a deadlock). With -DLIVE=v, under weak fairness, client v, which has no
 * deadline, gets the lock whenever it wants it, however often others take it when they find it
 * free. NN=1 is a table of one node: OUT is its free value, and there is no upper level. -DBRIEF: as
 * in kept_root.pml, and W is handed on without a look. -DNOKEEP: without K1.
 *
 * What it abstracts. The queue of a node is a list with atomic operations; in the code it is mcs.h,
 * which dmcs.pml shows with abandoned places. Otherwise as kept_root.pml.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NN=1 NC=4 | safe | pass | 1 node of 4 clients | 158 071 |
 * | NN=1 NC=3 TIMED | safe | pass | 1 of 3 with deadlines that pass at any moment | 13 853 |
 * | NN=1 NC=3 LIVE=0 | live3 | pass | 1 node of 3 | 20 252 |
 * | NN=1 NC=3 TIMED LIVE=0 | live3 | pass | with deadlines | 21 099 |
 * | NC=1 TIMED LIVE=0 | live3 | pass | 2 nodes of one, with deadlines | 5 270 |
 * | NN=3 NC=1 | safe | pass | 3 nodes of one | 481 808 |
 * | | safe 5M long | pass | 2 nodes of 2 | 17 309 895 |
 * | NN=3 NC=1 TIMED | safe long | pass | 3 nodes of one, with deadlines | 1 264 471 |
 * | BRIEF | safe 5M middle | pass | 2 nodes of 2, stays that end at any time | 4 976 211 |
 * | BRIEF NOKEEP | safe middle | pass | without K1 | 3 099 126 |
 * | TIMED UNSEEN=0 | safe 5M long | pass | 2 nodes of 2, with deadlines, each release looks | 19 013 715 |
 * | TIMED FIRM=0 UNSEEN=0 | safe 5M long | pass | the same, client 0 without | 15 278 213 |
 * | TIMED FIRM=0 BREAK_HEAD | safe | deadlock | SHUT by a look at HEAD before the swap | |
 * | BREAK_SURE | safe | deadlock | SHUT whether there is a head or not | |
 * | TIMED FIRM=0 BREAK_GIVE_UP | safe | deadlock | a head that gives up leaves a W that is SHUT | |
 * | NN=1 NC=3 BREAK_WAKE | bfs | deadlock | STRICT is looked at before the release | |
 * | NN=1 NC=3 LIVE=0 BREAK_BARGE | live3 | cycle | T1 does not look at STRICT | |
 * | NN=1 NC=3 LIVE=0 BREAK_PATIENCE | live3 | cycle | STRICT is never set | |
 * | NN=1 NC=3 BREAK_LEAVE | bfs | deadlock | the queue is left before W is taken | |
 * | NN=1 NC=2 BREAK_KEEP | bfs | deadlock | K3 is left out: W is freed, but not the place | |
 * | NN=1 NC=2 TIMED FIRM=0 BREAK_EMPTY | bfs | deadlock | W is handed on where nobody is left to take it | |
 * | LIVE=0 BREAK_UNSEEN | live5 | cycle | no release that hands W on looks at NEXT | |
 * | BREAK_FENCE | safe | assert | as `kept_root` | two holders |
 * | BREAK_ENTER | safe | assert | as `kept_root` | two holders |
 * | BREAK_FLUSH | safe | assert | as `kept_root` | two holders |
 * | BREAK_AGAIN | safe | deadlock | as `kept_root` | |
 * | BREAK_SHUT | safe | assert | as `kept_root` | two holders |
 * | NN=3 NC=1 BREAK_NUMBER | bfs | assert | as `kept_root` | two holders |
 */
#ifndef NN
#define NN 2 /* nodes */
#endif
#ifndef NC
#define NC 2 /* clients of each */
#endif
#define NP (NN * NC)
#ifndef STAY
#define STAY 1
#endif
#ifdef BRIEF
#define UNSEEN 0
#endif
#ifndef UNSEEN
#define UNSEEN 1
#endif

/* S */
#define OUT 0  /* free; the node has no place in the queue of nodes */
#define GONE 1 /* free; a deadline has passed there, and the place may still be in that queue */
#define HELD 2 /* a client has W */
#define SHUT 3 /* free for clients of the node alone, whose head is sure to take it */
#define IDLE 4 /* free, and kept */
#define NEW 5  /* never used: at HOME as IDLE, elsewhere as OUT */
#define HOME 0

/* STATUS */
#define WAITING 1
#define GRANTED 2
#define LEFT 3
#define PASSING 4
#define PASSED 5

#define STALE 100 /* NEXT is of an earlier queueing of that node: the numbers differ */

byte TAIL; /* 1 + the node that is last; 0: HOME */
byte S[NN];
bit HEAD[NN], STRICT[NN];
bit asleep[NN]; /* the head */
byte NEXT[NN];  /* 0 or 1 + the node that comes next */
byte STATUS[NN];
byte stays[NN];
byte succ[NP]; /* a copy of NEXT, by process; marked as NEXT is */
#define s succ[p]
byte place[NP]; /* in the queue of the node, from 1; 0: in none */
bit handed[NP]; /* the client has W, by K2 */
byte unseen[NN]; /* hand-overs by K2 since a look at NEXT */

#include "ghost.inc"

inline join()
{
	d_step {
		for (i : n * NC .. n * NC + NC - 1) {
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
		for (i : n * NC .. n * NC + NC - 1) {
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
		for (i : n * NC .. n * NC + NC - 1) {
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
#define IS(j) (NC > j && place[n * NC + (NC > j -> j : 0)] == 2)
#define SECOND (IS(0) || IS(1) || IS(2) || IS(3))

#ifndef TIMED
#define MAY_TIME_OUT false
#else
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#ifdef FIRM
#define MAY_TIME_OUT (p != FIRM)
#else
#define MAY_TIME_OUT true
#endif
#endif
#endif

#ifdef BREAK_BARGE
#define OPEN true
#else
#define OPEN !STRICT[n]
#endif

/* R1: W becomes free */
#ifdef BREAK_WAKE
#define FREE(state)                                   \
	if                                            \
	:: atomic { STRICT[n] -> old = 1 }            \
	:: atomic { !STRICT[n] -> old = 0 }           \
	fi;                                           \
	S[n] = state;                                 \
	atomic { asleep[n] = asleep[n] && !old; old = 0 }
#else
#define FREE(state)                        \
	atomic { S[n] = state; old = STRICT[n] }; \
	atomic { asleep[n] = asleep[n] && !old; old = 0 }
#endif

proctype P(byte p)
{
	byte n = p / NC, pred, i, from, was;
	bit kept, left, old, stays_head;

	do
	:: WANT;
again:
		if
#ifdef BREAK_FENCE
		:: atomic { S[n] == IDLE && OPEN && NEXT[n] == 0 -> s = 0 };
			if
			:: atomic { S[n] == IDLE && OPEN -> S[n] = HELD; goto cs }
			:: atomic { else -> goto again }
			fi
		:: atomic {
				S[n] != HELD && (S[n] != IDLE || NEXT[n] != 0) && OPEN ->
				was = S[n]; S[n] = HELD
			}
#else
		/* T1 */
		:: atomic { S[n] != HELD && OPEN -> was = S[n]; S[n] = HELD }
#endif
		/* T2 */
		:: S[n] == HELD || !(OPEN) ->
			join();
			if
			:: place[p] == 1
			:: atomic { MAY_TIME_OUT && place[p] > 1 -> leave(); goto late }
			fi;
			if
			:: atomic { handed[p] -> handed[p] = 0; leave(); goto cs }
			:: atomic { handed[p] -> handed[p] = 0; stays_head = 1; goto cs }
			:: !handed[p]
			fi;
			/* T3 */
			HEAD[n] = 1;
#ifdef BREAK_LEAVE
			leave();
#endif
#ifdef BREAK_PATIENCE
			goto take;
#endif
			if
			/* While it is patient: one try here, as many as time permits in the
			 * lock. */
			:: S[n] != HELD -> goto take
			:: skip
			fi;
impatient:
			/* T5 */
			STRICT[n] = 1;
			if
			:: atomic { S[n] == HELD -> asleep[n] = 1 };
				if
				:: !asleep[n]
				:: atomic { MAY_TIME_OUT && asleep[n] -> asleep[n] = 0 }
				fi
			:: S[n] != HELD
			fi;
take:
			if
			/* T4 */
			:: atomic {
					S[n] != HELD ->
					was = S[n]; S[n] = HELD; HEAD[n] = 0; STRICT[n] = 0
				}
#ifndef BREAK_PATIENCE
			/* Another client has it again. */
			:: !STRICT[n] && S[n] == HELD -> goto impatient
#endif
			/* T7 */
#ifdef BREAK_GIVE_UP
			:: atomic { MAY_TIME_OUT -> HEAD[n] = 0; STRICT[n] = 0 };
#else
			:: atomic { MAY_TIME_OUT && S[n] != SHUT -> HEAD[n] = 0; STRICT[n] = 0 };
#endif
				leave();
				goto late
			fi;
#ifndef BREAK_LEAVE
			if
			/* T6 */
			:: leave()
#ifndef NOKEEP
			/* K1 */
			:: d_step { stays_head = 1; unseen[n] = UNSEEN }
#endif
			fi
#endif
		fi;
#if NN == 1
		goto cs;
#endif
		if
		:: atomic { was == SHUT -> was = 0; goto cs }
		:: was == IDLE || (was == NEW && n == HOME) -> was = 0;
			/* A2 */
			if
			:: atomic { NEXT[n] == 0 -> goto cs }
#ifdef BREAK_ENTER
			:: else -> goto cs
#else
			:: else -> from = 1; goto resolve
#endif
			fi
		:: was == GONE -> was = 0;
			if
			:: atomic { STATUS[n] == LEFT -> STATUS[n] = WAITING; goto await }
			:: STATUS[n] == PASSED
			fi
		:: was == OUT || (was == NEW && n != HOME) -> was = 0
		fi;
enter:
		/* Q1: a new number */
		atomic {
			NEXT[n] = 0; STATUS[n] = WAITING;
#ifndef BREAK_NUMBER
			for (i : 0 .. NN - 1) {
				if
				:: NEXT[i] == n + 1 -> NEXT[i] = n + 1 + STALE
				:: else
				fi
			}
			for (i : 0 .. NP - 1) {
				if
				:: succ[i] == n + 1 -> succ[i] = n + 1 + STALE
				:: else
				fi
			}
			i = 0
#endif
		}
		/* Q2 */
		d_step { pred = (TAIL -> TAIL : HOME + 1); TAIL = n + 1 }
		assert(pred != n + 1);
#ifdef BREAK_FLUSH
		if
		:: S[pred - 1] == IDLE || S[pred - 1] == NEW -> NEXT[pred - 1] = n + 1; goto took
		:: else
		fi;
#endif
		/* Q3, Q4: put, flush, get, flush */
		NEXT[pred - 1] = n + 1;
		if
		:: S[pred - 1] == IDLE || S[pred - 1] == NEW ->
took:
			pred = 0;
			/* Q5 */
			if
			:: atomic { STATUS[n] == WAITING -> STATUS[n] = GRANTED }
			:: else
			fi
		:: else
		fi;
await:
		if
		:: STATUS[n] == GRANTED
		:: atomic { MAY_TIME_OUT && STATUS[n] == WAITING -> STATUS[n] = LEFT };
			pred = 0;
			FREE(GONE);
			goto late
		fi;
		pred = 0;
cs:
		critical_exclusive(p);
		if
#ifdef BRIEF
		/* K2 */
		:: atomic { stays_head && SECOND -> stays_head = 0; hand_on(); goto late }
		:: atomic {
				stays_head -> stays_head = 0;
#else
		:: atomic { stays_head -> stays_head = 0 };
			if
#ifdef BREAK_UNSEEN
			:: true
#else
			:: unseen[n] < UNSEEN -> unseen[n]++
			:: unseen[n] == UNSEEN && NEXT[n] == 0 -> unseen[n] = 0
			:: unseen[n] == UNSEEN && NEXT[n] != 0 && stays[n] < STAY ->
				unseen[n] = 0; stays[n]++
			:: unseen[n] == UNSEEN && NEXT[n] != 0 && stays[n] == STAY -> goto leave_it
#endif
			fi;
			if
			/* K2 */
			:: atomic { SECOND -> hand_on(); goto late }
#ifdef BREAK_EMPTY
			:: atomic { !(SECOND) -> leave(); goto late }
#else
			:: !(SECOND)
#endif
			fi;
leave_it:
			atomic {
				unseen[n] = 0;
#endif
				/* K3 */
#ifndef BREAK_KEEP
				leave()
#endif
			}
		:: !stays_head
		fi;
#if NN == 1
		FREE(OUT);
		goto late;
#endif
release:
		/* D1 */
		if
		:: NEXT[n] == 0 ->
			/* D2 */
idle:
			FREE(IDLE);
			/* D3 */
#ifdef BREAK_AGAIN
			goto late
#else
			if
			:: NEXT[n] == 0 -> goto late
			:: else
			fi;
			/* As A1 and A2, regardless of STRICT, because the head depends on this
			 * client. */
			if
			:: atomic { S[n] == IDLE -> S[n] = HELD }
			:: atomic { else -> goto late }
			fi;
			if
			:: NEXT[n] == 0 -> goto idle
#ifdef BREAK_SHUT
			:: atomic { NEXT[n] != 0 && HEAD[n] -> S[n] = SHUT; asleep[n] = 0; goto late }
#endif
			:: else
			fi
#endif
#ifdef BRIEF
		:: NEXT[n] != 0
#else
		:: NEXT[n] != 0 && stays[n] >= STAY
#endif
#ifdef BREAK_SURE
		:: NEXT[n] != 0 && stays[n] < STAY -> stays[n]++; FREE(SHUT); goto late
#else
#ifdef BREAK_HEAD
		:: NEXT[n] != 0 && stays[n] < STAY && HEAD[n] -> stays[n]++; FREE(SHUT); goto late
#else
		/* D4 */
		:: atomic {
				NEXT[n] != 0 && stays[n] < STAY && HEAD[n] ->
				stays[n]++; S[n] = SHUT; asleep[n] = asleep[n] && !STRICT[n]
			};
			goto late
#endif
		:: NEXT[n] != 0 && stays[n] < STAY && !HEAD[n]
#endif
		fi;
		from = 0;
resolve:
		/* H1 */
		s = NEXT[n];
		stays[n] = 0;
		do
		:: d_step {
				if
				:: s <= STALE && STATUS[s - 1] == WAITING -> STATUS[s - 1] = GRANTED; left = 0
				:: s <= STALE && STATUS[s - 1] == LEFT -> STATUS[s - 1] = PASSING; left = 1
				:: s > STALE || STATUS[s - 1] == GRANTED -> left = 0
				fi
			};
			if
			:: !left -> break
			:: else
			fi;
			left = 0;
			/* H3 */
			if
			:: NEXT[s - 1] != 0
			:: NEXT[s - 1] == 0 ->
				/* H4 */
				NEXT[n] = 0;
				if
				:: atomic { TAIL == s -> TAIL = n + 1; kept = 1 }
				:: atomic { else -> NEXT[n] = s }
				fi;
				kept || NEXT[s - 1] != 0
			fi;
			/* H5 */
			atomic {
				pred = NEXT[s - 1];
				STATUS[s - 1] = PASSED;
				s = (kept -> 0 : pred); pred = 0
			}
			/* H6: the root is here, so clients of this node need not wait for further
			 * deadlines. */
			if
			:: kept -> break
			:: !kept && from == 1 -> NEXT[n] = s; s = 0; from = 0; goto cs
			:: !kept && from == 0 -> NEXT[n] = s;
				if
				:: atomic {
						HEAD[n] -> s = 0;
						S[n] = SHUT; asleep[n] = asleep[n] && !STRICT[n];
						goto late
					}
				:: !HEAD[n]
				fi
			fi
		od;
		s = 0;
		if
		:: kept && from == 1 -> kept = 0; from = 0; goto cs
		:: kept && from == 0 -> kept = 0; goto release
		:: else
		fi;
		NEXT[n] = 0;
		/* A client that still wants the lock keeps W, and queues for its node. */
		if
		:: from == 1 -> from = 0;
			if
			:: goto enter
			:: MAY_TIME_OUT -> FREE(OUT)
			fi
		:: else -> FREE(OUT)
		fi;
late:
		atomic {
			if
			:: stays_head -> stays_head = 0; unseen[n] = 0; leave()
			:: else
			fi;
			was = 0; old = 0
		}
	:: break
	od
}

init
{
	byte i;

	atomic {
#if NN > 1
		for (i : 0 .. NN - 1) { S[i] = NEW }
#endif
		for (i : 0 .. NP - 1) { run P(i) }
	}
}
