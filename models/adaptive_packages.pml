/*
 * Queues of packages: model of src/lock/adaptive/packages.c, with what direct.c and the queues do.
 *
 * What it models. One node; NG packages (default 2), process p is of package p % NG; NP processes
 * (default 3). W is free or held. A client queues at its package (P1), and the first one there at
 * the node (P2), or it queues at the node without that. The first one at the node takes W when it
 * is free. It may stay the first one in both queues while it holds the lock (K1), or leave them.
 * A release hands W to the next client of the package, and with it the place at the node: the link
 * to the next client there (P3). At most RUN such hand-overs (default 1) follow each other while
 * others wait at the node. Then, or if W has to become free, the next client of the package is to
 * queue at the node (P4), and W goes to the next client there (K2), or becomes free (K3).
 *
 * What it proves. Mutual exclusion (assert at CS); no deadlock; a link is null when a successor
 * writes it; at the end all tails are null and W is free. With -DTIMED=m also when waiters time
 * out at any time, in both queues, if bit p of m is set: such a process may resume its place, and
 * uses its slot for another acquire after it was passed over. With -DLIVE=v, under weak fairness,
 * process v gets the lock whenever it wants it.
 *
 * What it abstracts. As dmcs.pml. Clients that take a free W before those that wait, and what the
 * first one does against them, are in adaptive.pml. Whether W has to become free is chosen at
 * random.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 3 clients of 2 packages | 1 487 180 |
 * | TIMED=1 | safe middle | pass | one has deadlines | 4 085 633 |
 * | NP=2 DIRECT TIMED=3 | safe | pass | 2 with deadlines, also at the node alone | 28 383 |
 * | LIVE=0 | live4 3M middle | pass | 3 clients of 2 packages | 1 930 627 |
 * | LIVE=1 | live4 3M middle | pass | 3 clients of 2 packages | 2 105 001 |
 * | BREAK_HEIR | bfs | assert | P3 without the next client of the node | a queue is not empty at the end |
 * | BREAK_PLACE | bfs | assert | P3 without leaving the queue of the node: the link is read only, and 0 is taken for an empty queue | a queue is not empty at the end |
 * | TIMED=1 BREAK_STAYS | bfs | assert | a client that gives up at the node does not do P4 | a link is written twice |
 * | TIMED=1 BREAK_GIVEN | bfs | assert | P3 finds only abandoned places, and W is not passed on | a queue is not empty at the end |
 * | LIVE=1 BREAK_RUN | live4 3M | cycle | there is no bound on P3 | |
 */
#ifndef NP
#define NP 3
#endif
#ifndef NG
#define NG 2
#endif
#ifndef RUN
#define RUN 1
#endif

/* STATUS */
#define WAIT 0
#define HEAD 1
#define HOLDER 2
#define ABANDONED 3
#define PASSED 4

/* Queues of a client: of the node, of its package. */
#define NODE 0
#define PACKAGE 1

bit W;
byte TAIL[1 + NG];    /* 0 or slot id = process + 1; 0: of the node */
byte NEXT[2 * NP];    /* of both queues */
byte STATUS[2 * NP];
byte BEHIND[NP], RUNS[NP]; /* what a grant of HOLDER in PACKAGE has */

#define OWN 255 /* behind: the client has its own place at the node */
#define AT(queue, id) ((queue) * NP + (id) - 1)
#define MY(queue) AT(queue, p + 1)
#define T(queue) ((queue) == NODE -> 0 : 1 + p % NG)

#include "ghost.inc"

#ifdef TIMED
byte QUEUED[NP]; /* 0, or 1 + the queue where the process has abandoned its place */
#define MAY_TIME_OUT ((TIMED >> p) & 1)
#define FREE (QUEUED[p] == 0 || STATUS[AT(QUEUED[p] - 1, p + 1)] == PASSED)
#define TAKE_SLOT QUEUED[p] = 0
#define ABSENT(queue) (QUEUED[p] == 1 + (queue))
#else
#define MAY_TIME_OUT false
#define FREE true
#define TAKE_SLOT skip
#define ABSENT(queue) false
#endif

/* mcs_enter() and mcs_link() */
inline enter(q)
{
	d_step { NEXT[MY(q)] = 0; STATUS[MY(q)] = WAIT; pred = TAIL[T(q)]; TAIL[T(q)] = p + 1 };
	if
	:: atomic {
			pred != 0 ->
			assert(NEXT[AT(q, pred)] == 0);
			NEXT[AT(q, pred)] = p + 1; pred = 0; r = WAIT
		}
	:: atomic { pred == 0 -> r = HEAD }
	fi
}

/* mcs_await_grant(); r: the grant, or ABANDONED */
inline await(q)
{
	if
	:: atomic { STATUS[MY(q)] != WAIT -> r = STATUS[MY(q)] }
#ifdef TIMED
	:: atomic { MAY_TIME_OUT && STATUS[MY(q)] == WAIT -> STATUS[MY(q)] = ABANDONED; QUEUED[p] = 1 + q; r = ABANDONED }
#endif
	fi
}

/* mcs_leave(), and the wait for the link, in one step; succ: 0 if the queue has been left */
inline leave(q)
{
	if
	:: atomic { NEXT[MY(q)] != 0 -> succ = NEXT[MY(q)] }
	:: atomic { NEXT[MY(q)] == 0 && TAIL[T(q)] == p + 1 -> TAIL[T(q)] = 0; succ = 0 }
	fi
}

/* mcs_hand_over(); succ: 0 if all had abandoned their places. S1 ... S3 are one step. */
inline hand_over(q, what)
{
	do
	:: d_step {
			succ != 0 ->
			r = STATUS[AT(q, succ)];
			assert(r == WAIT || r == ABANDONED);
			STATUS[AT(q, succ)] = what;
			if
			:: r == WAIT && q == PACKAGE && what == HOLDER ->
				assert(behind != OWN);
				BEHIND[succ - 1] = behind; RUNS[succ - 1] = runs + 1
			:: else
			fi
		};
		if
		:: atomic { r == WAIT -> break }
		:: d_step {
				r != WAIT && NEXT[AT(q, succ)] != 0 ->
				STATUS[AT(q, succ)] = PASSED; succ = NEXT[AT(q, succ)]; r = 0
			}
		:: d_step {
				r != WAIT && NEXT[AT(q, succ)] == 0 && TAIL[T(q)] == succ ->
				TAIL[T(q)] = 0; STATUS[AT(q, succ)] = PASSED; succ = 0; r = 0
			}
		fi
	:: atomic { succ == 0 -> break }
	od;
	r = 0
}

/* P4 */
inline leave_package()
{
	if
	:: in_package ->
		in_package = 0;
		leave(PACKAGE);
		hand_over(PACKAGE, HEAD);
		succ = 0
	:: else
	fi
}

/* The next client of the node, for a client that may have inherited its place. */
inline leave_node()
{
	if
	:: behind == OWN -> leave(NODE)
	:: else -> succ = behind
	fi
}

proctype P(byte p)
{
	byte pred, succ, near, r, behind = OWN, runs;
	bit in_package, keeps, may, gives_up;

	do
#ifdef TIMED
	::	/* resume */
		atomic { QUEUED[p] != 0 && STATUS[AT(QUEUED[p] - 1, p + 1)] != PASSED -> WANT };
		d_step {
			r = 0;
			if
			:: STATUS[AT(QUEUED[p] - 1, p + 1)] == ABANDONED ->
				STATUS[AT(QUEUED[p] - 1, p + 1)] = WAIT; r = QUEUED[p]; QUEUED[p] = 0
			:: else
			fi
		};
		if
		:: r == 0 -> goto out /* about to be passed over */
		:: r == 1 + PACKAGE -> r = 0; in_package = 1; goto wait_package
		:: r == 1 + NODE -> r = 0; goto wait_node
		fi
#endif
	:: atomic { FREE -> TAKE_SLOT; WANT };
		if
		/* P1 */
		:: in_package = 1;
			enter(PACKAGE);
			if
			:: r == HEAD
			:: else ->
wait_package:			await(PACKAGE);
				if
				:: r == ABANDONED -> in_package = 0; goto out
				:: r == HOLDER ->
					d_step { behind = BEHIND[p]; runs = RUNS[p]; BEHIND[p] = 0; RUNS[p] = 0 };
					goto has_w
				:: r == HEAD
				fi
			fi
#ifdef DIRECT
		:: skip
#endif
		fi;
		/* P2 */
		enter(NODE);
		if
		:: r == HEAD
		:: else ->
wait_node:		await(NODE);
			if
			:: r == ABANDONED ->
#ifndef BREAK_STAYS
				leave_package();
#endif
				in_package = 0;
				goto out
			:: else
			fi
		fi;
		if
		:: r == HOLDER
		:: else ->
			if
			:: atomic { !W -> W = 1 }
			:: MAY_TIME_OUT -> r = 0; gives_up = 1; goto leave_both
			fi
		fi;
has_w:		r = 0;
		if
		/* K1 */
		:: keeps = 1
		:: keeps = 0;
leave_both:		leave_node();
			hand_over(NODE, HEAD);
			d_step { behind = OWN; runs = 0; succ = 0 };
			leave_package();
			if
			:: gives_up -> gives_up = 0; goto out
			:: else
			fi
		fi;
		critical_exclusive(p);
		if
		:: !keeps -> goto free
		:: else -> keeps = 0
		fi;
		/* The look whether W has to become free. */
		if
		:: may = 1
		:: may = 0
		fi;
		if
		:: in_package ->
			leave(PACKAGE);
			if
			:: succ == 0 -> in_package = 0; goto at_node
			:: else -> near = succ; succ = 0
			fi;
			/* P3 */
			if
#ifdef BREAK_RUN
			:: may ->
#else
			:: may && (runs < RUN || (behind == 0 && TAIL[NODE] == 0)) -> if :: runs == RUN -> runs = 0 :: else fi;
#endif
#ifdef BREAK_RUN
				runs = 0;
#endif
#ifdef BREAK_HEIR
				behind = 0;
#endif
#ifdef BREAK_PLACE
				behind = (behind == OWN -> NEXT[MY(NODE)] : behind);
#else
				leave_node();
				behind = succ;
#endif
				d_step { succ = near; near = 0 };
				hand_over(PACKAGE, HOLDER);
				if
				:: succ != 0 -> d_step { succ = 0; behind = OWN; runs = 0; in_package = 0 }; goto out
				:: else -> in_package = 0
				fi
#ifdef BREAK_GIVEN
				; behind = OWN; runs = 0; goto out
#endif
			:: else ->
				/* P4 */
				d_step { in_package = 0; succ = near; near = 0 };
				hand_over(PACKAGE, HEAD);
				succ = 0
			fi
		:: else
		fi;
at_node:	leave_node();
		d_step { behind = OWN; runs = 0 };
		if
		/* K2 */
		:: may ->
			hand_over(NODE, HOLDER);
			if
			:: succ != 0 -> succ = 0; goto out
			:: else
			fi
		/* K3 */
		:: !may -> hand_over(NODE, HEAD); succ = 0
		fi;
free:		W = 0;
out:		skip;
		/* What the next use of the slot resets. */
		d_step {
			may = 0; r = 0; succ = 0;
			if
			:: !ABSENT(NODE) -> NEXT[MY(NODE)] = 0; STATUS[MY(NODE)] = 0
			:: else
			fi;
			if
			:: !ABSENT(PACKAGE) -> NEXT[MY(PACKAGE)] = 0; STATUS[MY(PACKAGE)] = 0
			:: else
			fi
		}
	:: d_step { alive--; if :: alive == 0 -> assert(TAIL[0] == 0 && TAIL[1] == 0 && TAIL[2] == 0 && nw == 0 && !W) :: else fi } -> break
	od
}

init {
	byte i;
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
#ifdef TIMED
	d_step { alive == 0 -> i = 0;
		do
		:: i < NP -> assert(QUEUED[i] == 0 || STATUS[AT(QUEUED[i] - 1, i + 1)] == PASSED); i++
		:: else -> break
		od }
#endif
}
