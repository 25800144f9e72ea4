/*
 * Shared holders and intents of kind adaptive on several nodes (src/lock/adaptive/sharing.c), and
 * batches of exclusive clients (src/lock/adaptive/phases.c).
 *
 * A root that has only had exclusive holders is whole: its client holds the lock. The first
 * client in another mode, which has the root then, splits it: H at the home counts the holders from
 * then on. A client in another mode counts itself in H without the root (S1), and takes the count
 * back if others exclude it, if STRICT keeps newcomers out, or if the root is whole (S2). Then, as
 * an exclusive client in any case, it gets the root, and counts itself (S3). If others are in the
 * way, it takes the count back, sets STRICT (S4), and waits for them (S5). A client that is in and
 * not exclusive releases the root; an exclusive one uncounts itself first (B4). An intent ahead
 * leaves its count in H (A1), waits until the root is split and no holder excludes it (A2, A4), and
 * splits it itself if it can get it (A3).
 *
 * Batch. An exclusive client that is in by H sets CLOSED, which goes with the root (B1). If others
 * queue for the root when it leaves, it may leave its count in H and the root to the first of these
 * (B2), which enters without a step at H if it is exclusive (B3), and takes that count back if not, as
 * an intent ahead does that finds the root first (B4). A client to which the root was left does not
 * time out. At the latest after BATCH clients (default 2) the batch ends (B4). The next client of the
 * same node learns of the batch from its grant (K2 of direct.c), and is counted by the one before it.
 * A sharer that gets the root in a batch may leave it to the first in the queue, too, once, and then
 * asks as one that comes (B5).
 *
 * What it proves. NP processes (default 3), each of which asks in any mode, any number of times,
 * and may stop between two: no two holders that exclude each other, no deadlock, no batch that is
 * left to no client. With -DTIMED also
 * when waiters time out at any moment. With -DLIVE=v, under weak fairness, process v, which has no
 * deadline, gets the lock whenever it asks; without intents ahead (NOAHEAD) of others and without
 * deadlines of others, because these may follow each other without end. With -DONEAHEAD that process
 * may be ahead, and the root is split at first, because exclusive clients may hand a whole root over
 * to each other without end.
 *
 * What it abstracts. Sharers count themselves in H, as intents do; in the code they enter by the
 * shares of their nodes, with which the root may also become whole again (adaptive_shares.pml). The
 * root is a lock with a queue (kept_root.pml, adaptive.pml), which a deadline
 * can leave; WHOLE is what the node that has it knows of it. Operations on H and their flushes are
 * one step. Patience lasts for one try.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 3 clients in any mode, intents ahead too | 1 873 375 |
 * | MODES=3 TIMED | safe | pass | without intents shared, with deadlines | 1 009 872 |
 * | NP=2 NOAHEAD LIVE=0 | live3 | pass | 2 without intents ahead | 29 055 |
 * | MODES=2 LIVE=0 | live4 | pass | 3 readers or writers | 310 956 |
 * | MODES=3 LIVE=0 ONEAHEAD | live4 middle | pass | 3 without intents shared, v ahead or not | 970 313 |
 * | NP=2 BREAK_WHOLE | safe | assert | S1 does not look whether the root is split | two holders |
 * | NP=2 BREAK_SPLIT | safe | assert | a root that moves is taken for whole | two holders |
 * | NP=2 BREAK_DRAIN | safe | assert | S5 does not look for holders that came since | two holders |
 * | NP=2 BREAK_BESIDE | safe | assert | an intent shared does not look for an exclusive holder | two holders |
 * | NP=2 TIMED BREAK_WITHDRAW | safe | assert | STRICT stays when the deadline passes | STRICT is set twice |
 * | NP=2 BREAK_GIVE_WAY | safe | deadlock | a client with the root leaves its count in H and waits | |
 * | BREAK_REOPENS | safe | deadlock | B2 takes the count back | |
 * | BREAK_JOINS | safe | deadlock | no B4 by a client that is not exclusive | |
 * | BREAK_FORGETS | safe | deadlock | CLOSED does not go with the root | |
 * | BREAK_SHUT_OUT | safe | deadlock | no B4 by the last client of a batch | |
 * | TIMED BREAK_CERTAIN | safe | assert | the client of B3 may time out | it is left to no client |
 * | BREAK_TOLD | safe | deadlock | the grant of K2 does not say that there is a batch | |
 * | MODES=3 LIVE=0 ONEAHEAD BREAK_COUNTED | live4 | cycle | K2 does not count the next client | |
 * | MODES=2 LIVE=0 BREAK_ONCE | live4 | cycle | B5 again and again | |
 * | MODES=2 LIVE=0 BREAK_STRICT | live4 | cycle | S1 does not look at STRICT | |
 */
#ifndef NP
#define NP 3
#endif

#include "modes.inc"

#ifdef ONEAHEAD
#define SPLIT_FIRST 1
#else
#define SPLIT_FIRST 0
#endif
bit SPLIT = SPLIT_FIRST, STRICT;
#ifndef BATCH
#define BATCH 2
#endif
bit whole = !SPLIT_FIRST, CLOSED; /* what goes with the root */
byte batch;
byte ROOT;                /* 0, 1 + the process that has it, or left to the first in the queue */
#define LEFT (NP + 1)
#ifdef BREAK_CERTAIN
#define MAY_LEAVE(p) (MAY_TIME_OUT && queue??[eval(p)])
#else
#define MAY_LEAVE(p) (MAY_TIME_OUT && queue??[eval(p)] && !(ROOT == LEFT && queue?[eval(p)]))
#endif
#define END_BATCH d_step { holds[X]--; CLOSED = 0; batch = 0 }
bit K2;                   /* it was left so by a grant of W */
chan queue = [NP] of { byte };

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

proctype P(byte p)
{
	byte mode;
	bit ahead, ok, handed, yielded;

	do
	:: choose();
		WANT;
		if
		:: ahead ->
			/* A1 */
			d_step { ok = SPLIT && !WAY(mode); holds[mode]++ };
			do
			:: atomic { ok -> ok = 0; break }
			/* A2, A4 */
			:: atomic { !ok && SPLIT && !WAY(mode) -> break }
			/* A3 */
			:: atomic { !ok && ROOT == LEFT && !K2 -> ROOT = p + 1 };
				END_BATCH; /* B4 */
				ROOT = 0
			:: atomic { !ok && !SPLIT && ROOT == 0 -> ROOT = p + 1 };
				assert(!CLOSED);
				if
				:: whole -> SPLIT = 1; whole = 0
				:: else
				fi;
				ROOT = 0
			:: atomic { MAY_TIME_OUT && !ok -> holds[mode]--; goto late }
			od;
			critical(mode);
			holds[mode]--
		:: !ahead && mode != X ->
again:
			skip;
			/* S1 */
#ifdef BREAK_WHOLE
			d_step { ok = OPEN && !WAY(mode); holds[mode]++ };
#else
			d_step { ok = SPLIT && OPEN && !WAY(mode); holds[mode]++ };
#endif
			if
			:: atomic { ok -> ok = 0 };
				critical(mode);
				holds[mode]--;
				goto late
			/* S2 */
			:: atomic { !ok -> holds[mode]--; goto root }
			fi
		:: !ahead && mode == X ->
root:
			queue!p;
			if
			:: atomic {
					(ROOT == 0 || ROOT == LEFT) && queue?[eval(p)] ->
					queue?eval(p);
					ROOT = p + 1; handed = K2; K2 = 0
				}
			:: atomic {
					MAY_LEAVE(p) ->
					queue??eval(p);
					assert(ROOT != LEFT || len(queue) > 0);
					goto late
				}
			fi;
#ifdef BREAK_FORGETS
			CLOSED = 0;
#endif
			if
			/* K2 */
#ifdef BREAK_TOLD
			:: handed && mode == X -> handed = 0; critical(X); ROOT = 0; goto late
#else
			:: handed && mode == X -> handed = 0; goto in_batch
#endif
			:: else -> handed = 0
			fi;
			if
			/* B3 */
			:: CLOSED && mode == X -> batch++; goto in_batch
			/* B4 */
#ifdef BREAK_JOINS
			:: CLOSED && mode != X
#else
			:: CLOSED && mode != X -> END_BATCH
#endif
			/* B5 */
			:: atomic { CLOSED && mode == S && !yielded && len(queue) > 0 ->
#ifndef BREAK_ONCE
					yielded = 1;
#endif
					ROOT = LEFT
				};
				goto again
			:: else
			fi;
#ifdef BREAK_SPLIT
			whole = 1;
#endif
			if
			:: mode == X && whole ->
				critical(mode);
				ROOT = 0;
				goto late
			:: else
			fi;
			/* S3: an exclusive client by a compare-and-swap, which leaves nothing behind */
			d_step {
				ok = !WAY(mode);
				holds[mode] = holds[mode] + (ok || mode != X);
				SPLIT = 1
			};
			whole = 0;
			if
			:: atomic { ok -> ok = 0; goto entered }
			:: else
			fi;
#ifdef BREAK_GIVE_WAY
			holds[mode] = holds[mode] + (mode == X);
#else
			holds[mode] = holds[mode] - (mode != X);
#endif
			if
			:: MAY_TIME_OUT -> goto give_back
			:: skip
			fi;
			/* S4 */
			atomic { assert(!STRICT); STRICT = 1 };
			do
			:: atomic { MAY_TIME_OUT ->
#ifndef BREAK_WITHDRAW
					STRICT = 0;
#endif
					goto give_back
				}
#ifdef BREAK_GIVE_WAY
			:: atomic {
					(mode == X && !holds[S] && !holds[IX] && !holds[IS]) ||
					(mode != X && !WAY(mode)) ->
					STRICT = 0; goto entered
				}
#else
			/* S5 */
			:: !WAY(mode) ->
				d_step { ok = !WAY(mode); holds[mode]++; STRICT = 0 };
				if
				:: atomic { ok -> ok = 0; goto entered }
#ifdef BREAK_DRAIN
				:: else -> goto entered
#else
				:: atomic { else -> holds[mode]--; STRICT = 1 }
#endif
				fi
#endif
			od;
entered:
			if
			:: mode != X ->
				ROOT = 0;
				critical(mode);
				holds[mode]--
			:: mode == X ->
				/* B1 */
				d_step { CLOSED = 1; batch = 1 };
in_batch:
				critical(X);
				if
				/* B2 */
				:: atomic { batch < BATCH && len(queue) > 0 ->
#ifdef BREAK_REOPENS
						holds[X]--;
#endif
						ROOT = LEFT
					}
				/* K2 */
				:: atomic { batch < BATCH && len(queue) > 0 ->
#ifndef BREAK_COUNTED
						batch++;
#endif
						K2 = 1; ROOT = LEFT
					}
				/* B4 */
#ifdef BREAK_SHUT_OUT
				:: CLOSED = 0; ROOT = 0
#else
				:: END_BATCH; ROOT = 0
#endif
				fi
			fi;
			goto late;
give_back:
			ROOT = 0
		fi;
late:
		mode = 0; ahead = 0; ok = 0; yielded = 0
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
