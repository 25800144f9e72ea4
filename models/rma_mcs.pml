/*
 * RMA-MCS, the tree of MCS queues: model of src/lock/tree/queue_tree.c. The steps A1.. and R1.. are
 * in queue_tree.inc.
 *
 * What it models. -DLEVELS=2 (default): 2 elements of 2 processes; with -DNP=3 or 2 the second of one,
 * or none; with -DAPART of one each. -DLEVELS=3: two racks, the first
 * with a node of two processes and a node of one, the second with one node of one (all kinds of
 * passing and of leaving, 4 processes). T2 and T3 are the passes in a row within an element
 * (default 1). A process takes the lock any number of times and may stop between two acquisitions.
 *
 * What it proves. Mutual exclusion; no deadlock (awaits are blocking guards); a child element
 * never stands twice in a queue (assert at A2), a link is null when a successor writes it (A3), no
 * client is notified twice (R2, R6, R10); at the end all tails and inner links are null. With
 * -DLIVE=v, under weak fairness, process v gets the lock whenever it wants it. -DTRY: a process may
 * also try. -DTIMED=mask: the processes of the mask may also acquire with a deadline, which passes
 * at any step. They return then, and before their next acquire wait until their slot was passed
 * over, or, with -DRESUME, may resume from their place. A grant to a process that has withdrawn
 * violates an assertion; a lost grant is a deadlock.
 *
 * With -DPOSTED the same if releases at the root are posted: the compare-and-swap of TAIL takes effect
 * at any time later. Then also: a client whose link fails finds that its predecessor has left, and
 * one whose link succeeds that it has not (A3). A release at the root waits for no step of another
 * process. A slot is used again when its operation has been answered.
 *
 * What it abstracts. With -DPOSTED, numbers of stays are used again after 3; a posted operation has
 * taken effect before its number is. Grants are not posted. One lock; one slot for each process. An operation and its flush, with nothing
 * of the same process between them, are one step; operations are atomic on each word, and memory is
 * sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | LEVELS=2 | safe 5M long | pass | 2 levels, 2 x 2, T = 1 | 8 204 213 |
 * | LEVELS=3 | safe 20M long | pass | 3 levels, 2+1 and 1 in two racks, T = 1 | 24 262 872 |
 * | LEVELS=2 NP=3 TRY | safe | pass | 2 levels, 2+1, with tries | 570 072 |
 * | LEVELS=2 NP=3 TIMED=1 | safe 5M middle | pass | 2 levels, 2+1, with deadlines that pass at any moment, of 1; abandoned places are taken up or passed over | 1 058 332 |
 * | LEVELS=2 NP=3 TIMED=7 | safe 5M long | pass | 2 levels, 2+1, with deadlines of all; abandoned places are taken up or passed over | 8 648 820 |
 * | LEVELS=2 NP=3 TIMED=7 RESUME | safe 9M long | pass | the same, and places that are taken up by their own client, too | 19 947 785 |
 * | LEVELS=2 NP=3 TIMED=2 LIVE=0 | live3 5M long | pass | 2 levels, 2+1, with deadlines of one, v in its element | 1 188 261 |
 * | LEVELS=2 NP=3 TIMED=1 LIVE=2 | live3 5M long | pass | 2 levels, 2+1, with deadlines of one, v in another element | 1 119 196 |
 * | LEVELS=2 NP=3 LIVE=0 | live3 | pass | 2 levels, 2+1 | 207 568 |
 * | LEVELS=2 NP=3 LIVE=2 | live3 | pass | 2 levels, 2+1 | 192 247 |
 * | LEVELS=2 TRY | safe 20M long | pass | 2 levels, 2 x 2, with tries | 51 516 347 |
 * | LEVELS=2 T2=2 | safe 20M long | pass | 2 levels, 2 x 2, T = 2 | 10 898 926 |
 * | POSTED NP=2 TRY | safe | pass | 2 levels, one element of 2, root posted: with tries | 34 131 |
 * | POSTED NP=2 TIMED=3 | safe | pass | with deadlines of both | 103 989 |
 * | POSTED NP=2 APART TRY | safe | pass | 2 elements of 1, root posted: with tries | 57 548 |
 * | POSTED NP=2 APART TIMED=3 RESUME TRY | safe | pass | with tries, deadlines and places that are taken up | 523 997 |
 * | POSTED NP=2 LIVE=1 | live3 | pass | one element of 2 | 17 848 |
 * | POSTED NP=2 APART LIVE=1 | live3 | pass | 2 elements of 1 | 26 277 |
 * | POSTED NP=2 APART TIMED=1 LIVE=1 | live3 | pass | the same with deadlines of the other, root posted | 126 481 |
 * | POSTED NP=3 | safe middle | pass | 2+1, root posted | 2 739 391 |
 * | POSTED NP=3 LIVE=2 | live3 5M long | pass | 2+1, root posted | 3 966 837 |
 * | LEVELS=2 NP=3 TIMED=4 RESUME | safe 5M | pass | 2 levels, 2+1, with deadlines of one, and places that are taken up by their own client | 1 510 180 |
 * | LEVELS=2 BREAK_LINK | safe | assert | PARENT is passed before the element has left the parent queue and before its LINK was taken | an element twice in a queue |
 * | LEVELS=2 NP=3 TIMED=7 BREAK_WITHDRAW | safe 5M | deadlock | by a put, whatever the link says by then | the grant is lost |
 * | LEVELS=2 NP=3 TIMED=7 BREAK_TAKE | safe 5M | deadlock | a link that may change is taken by get and put | the grant is lost |
 * | POSTED NP=2 APART TIMED=3 BREAK_DONE | safe | assert | an element enters again while its old place is passed over | deadlock |
 * | LEVELS=2 NP=3 TIMED=7 BREAK_DONE | safe 5M | deadlock | an element enters again while its old place is passed over | if the root is posted, a stay that ends twice |
 * | POSTED NP=3 BREAK_NUMBER | safe | assert | TAIL does not show the stay | two holders |
 * | POSTED NP=3 BREAK_SWAP | safe | deadlock | R1 is a look and then a store | a link is lost |
 * | POSTED NP=3 BREAK_PUT | safe | deadlock | A3 is a look and then a put | the end of the stay is lost |
 * | POSTED NP=3 TRY BREAK_TRY | safe | assert | a try takes the place of the tail without a look whether it has left | two holders |
 */
#ifndef LEVELS
#define LEVELS 2
#endif
#define RW 0
#ifndef T2
#define T2 1
#endif
#ifndef T3
#define T3 1
#endif

#if LEVELS == 2
#ifndef NP
#define NP 4
#endif
#define NE 3
#ifdef APART
#define E2(p) (1 + p % 2)
#else
#define E2(p) (1 + p / 2)
#endif
#elif defined(FIVE)
/* root 0, racks 1 2, nodes 3 4 (rack 1) 5 6 (rack 2); processes 0 1 | 2 || 3 | 4 */
#define NP 5
#define NE 7
#define E2(p) (p < 3 -> 1 : 2)
#define E3(p) (p < 2 -> 3 : p + 2)
#else
/* root 0, racks 1 2, nodes 3 4 (rack 1) 5 (rack 2); processes 0 1 | 2 || 3 */
#define NP 4
#define NE 6
#define E2(p) (p < 3 -> 1 : 2)
#define E3(p) (p < 2 -> 3 : p + 2)
#endif

#ifdef TIMED
#define SETTLE(p) settle(p)
#define NOT_TIMED timed = 0
#else
#define SETTLE(p) s = 0
#define NOT_TIMED skip
#endif

#include "queue_tree.inc"

#include "ghost.inc"

proctype P(byte p)
{
	QUEUE_VARS;

	do
#ifdef TIMED
	:: (TIMED >> p) & 1 && SETTLED(p) ->
again:		if
		:: timed = 1
		:: s == LEFT -> timed = 0
		fi;
		acquire(p);
		if
		:: s == BUSY || s == LEFT -> settle(p)
#ifdef RESUME
		:: s == LEFT -> goto again
#endif
		:: else ->
			timed = 0;
			critical_exclusive(p);
			release(p)
		fi
#endif
#ifdef POSTED
	:: atomic { SETTLED(p) -> WANT };
#else
	:: WANT;
#endif
		acquire(p);
		/* CS */
		critical_exclusive(p);
		release(p)
#ifdef TRY
#ifdef POSTED
	:: SETTLED(p) -> try_acquire(p);
#else
	:: try_acquire(p);
#endif
		if
		:: s == BUSY -> SETTLE(p)
		:: else ->
			NOT_TIMED;
			critical_exclusive(p);
			release(p)
		fi
#endif
#ifdef POSTED
	:: d_step { alive--; if :: alive == 0 -> assert(nw == 0) :: else fi } break
#else
	:: d_step { alive--; if :: alive == 0 -> assert(nw == 0); assert_queues_empty() :: else fi } break
#endif
	od
}

init {
	byte i;
#ifdef POSTED
	byte x;
	atomic {
		i = 1;
		do :: i < NE && i <= 2 -> LNK[NP + i] = GONE(0); i++ :: else -> i = 0; break od;
		do :: i < NP -> run Wire(i); i++ :: else -> i = 0; break od;
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
	d_step { alive == 0 && flying == 0 -> assert_queues_empty() }
#else
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
#endif
}
