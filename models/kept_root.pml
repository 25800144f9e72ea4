/*
 * A root that stays at the node that used it last: model of the upper level of a lock that adapts
 * to where it is used, kind adaptive (src/lock/adaptive/kept_root.c; both levels: adaptive.pml).
 *
 * Each node has a line of words for the lock. USE is a NODE word: the clients of the node change it
 * by CPU atomics, other nodes read it. NEXT and STATUS are NET words: other nodes change them by
 * RMA; the node itself reads NEXT, resets it while no other node may write it, and changes STATUS
 * by RMA. TAIL is at the home. Nodes queue as processes do in an MCS lock, but the last node of the
 * queue stays there when its last holder leaves: its USE is then IDLE, and its clients take the
 * lock again by one compare-and-swap (A1) and a look at NEXT (A2), without a far operation.
 *
 * Before the first use, TAIL is 0 and USE is NEW everywhere, which are the words' first values: the
 * root is at the node of the home, where NEW is as IDLE. Other nodes have not queued, so a node
 * that finds a 0 in TAIL has that node before it, and a node that finds NEW at its predecessor has
 * the root. USE never becomes NEW again.
 *
 * Another node N swaps TAIL (Q2), writes itself into NEXT of its predecessor P (Q3), flushes, and
 * looks at USE of P once (Q4). A client of P writes USE and then looks at NEXT; N writes NEXT and
 * then looks at USE: the second one sees the first. So
 *   L1  if N sees IDLE, no earlier client of P is in, and each later one sees NEXT;
 *   L2  if N sees anything else, a client of P looks at NEXT later: a holder before it gives USE
 *       back (D1), a releaser after it has written IDLE (D3), a client that has taken USE from IDLE
 *       (A2).
 * Both may find that the other acts as well. STATUS of N decides, by a compare-and-swap: N's own
 * (Q5), which is near, or one of a client of P (H2). After the first of these, N has the root. H2
 * also finds that N has had the root before, if the number in NEXT differs from that in STATUS.
 *
 * A client that waits for the root may have a deadline (TIMED): it swaps its STATUS from WAITING to
 * LEFT, and sets USE of its node to GONE. The next client of the node resumes that place if STATUS
 * is still LEFT. A client of P that finds LEFT makes it PASSING (H2), reads which node comes next
 * (H3), or makes its own node the last one again (H4), and then writes PASSED (H5), after which the
 * line may be used again. P has the root while it does so, and its own clients do not wait for an
 * endless row of such places (H6).
 *
 * While other nodes wait, clients of one node may take turns before the root moves on: USE is then
 * SHUT, which is free for the clients of the node only, and no answer to Q4: STAY times here, and
 * with -DBRIEF at most so often, as if a time had passed.
 *
 * With -DGUESTS a node without the root may use the lock at another one, its host (guests.c). Its
 * client sets IN at the host (G1), and has the lock if it then finds IDLE, and no node had asked
 * for the root (G2). Clients of the host that take USE from IDLE wait for it (A2). A node that
 * queues behind the host asks there (Q3); if it finds IN, it relies on the guest, which then takes
 * the root along to its own node, and leaves TAKEN in NEXT of the host (G5).
 *
 * With -DPOSTED the release of a guest on which no node relies takes effect later (G9). A node that
 * asks and finds IN waits until it has found the visit, and said so (Q6), or the guest has gone.
 *
 * With -DSHARERS a sharer of another node uses the lock at the node of the home: it counts itself
 * there (G6), is in if no node had asked for the root, no guest had been in, and USE is IDLE (G7),
 * and takes its count back (G8). A client that takes USE from IDLE, or the root from that node, and
 * finds the count has the root as with sharers, and waits until they have left before it is in.
 *
 * What it proves. NN nodes (default 2) with NC clients each (default 2), which take the lock any
 * number of times and may stop between two acquisitions: mutual exclusion (assert at CS), no
 * deadlock (awaits are blocking guards), a node never queues behind itself. With -DTIMED also when
 * waiters time out at any time. With -DLIVE=0 and NC=1, under weak fairness, process 0 gets the
 * lock whenever it wants it, with or without timed waiters of other nodes. (The order of the
 * clients of a node is random here; the level below decides it.)
 *
 * What it abstracts. Numbers of queueings have no bound: a NEXT of an earlier queueing is marked
 * STALE when a later one begins. Operations are atomic on each word, an operation and its flush are
 * one step, and memory is sequentially consistent: A1 and D2 are followed by a fence.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe | pass | 2 nodes of 2 clients | 235 018 |
 * | BRIEF | safe | pass | stays that end at any time | 237 514 |
 * | NN=3 NC=1 | safe | pass | 3 nodes of one | 413 429 |
 * | NC=1 GUESTS SHARERS | safe | pass | 2 nodes of one with guests and sharers of other nodes | 570 405 |
 * | NC=1 GUESTS SHARERS TIMED | safe | pass | with deadlines | 1 342 571 |
 * | NC=1 GUESTS POSTED TIMED | safe | pass | 2 nodes of one with guests that post, with deadlines | 154 286 |
 * | NC=1 GUESTS POSTED LIVE=0 | live4 | pass | 2 nodes of one with guests that post | 138 250 |
 * | NC=1 GUESTS POSTED LIVE=1 | live4 | pass | 2 nodes of one with guests that post | 137 843 |
 * | NC=1 GUESTS SHARERS POSTED TIMED | safe long | pass | 2 nodes of one with guests that post, sharers and deadlines | 3 010 701 |
 * | NN=3 NC=1 GUESTS VISITOR=2 POSTED | safe 10M long | pass | 3 nodes of one with a guest that posts | 19 178 137 |
 * | NC=1 TIMED LIVE=0 | live3 | pass | 2 nodes of one, with deadlines that pass at any moment | 5 282 |
 * | TIMED | safe long | pass | 2 nodes of 2, with deadlines | 3 304 709 |
 * | NN=3 NC=1 TIMED | safe long | pass | 3 nodes of one, with deadlines | 1 488 434 |
 * | NN=3 NC=1 LIVE=0 | live5 long | pass | 3 nodes of one | 726 298 |
 * | NN=3 NC=1 TIMED LIVE=0 | live5 long | pass | 3 nodes of one, with deadlines | 1 776 091 |
 * | NC=1 GUESTS | safe | pass | 2 nodes of one with guests of other nodes | 37 528 |
 * | NC=1 GUESTS TIMED | safe | pass | the same, with deadlines | 66 535 |
 * | NC=1 GUESTS LIVE=0 | live3 | pass | 2 nodes of one with guests | 64 683 |
 * | NC=1 GUESTS LIVE=1 | live3 | pass | 2 nodes of one with guests | 63 922 |
 * | NN=3 NC=1 GUESTS VISITOR=2 | safe 10M long | pass | 3 nodes of one with a guest | |
 * | BREAK_FENCE | bfs | assert | the look at NEXT (A2) comes before USE is taken (A1) | two holders |
 * | BREAK_ENTER | bfs | assert | a client that sees NEXT enters regardless | two holders |
 * | BREAK_FLUSH | bfs | assert | the look at USE (Q4) comes before NEXT is written (Q3) | two holders |
 * | BREAK_AGAIN | bfs | deadlock | a releaser does not look again after IDLE (D3) | |
 * | BREAK_SHUT | bfs | assert | a releaser that took USE back from IDLE leaves SHUT | two holders |
 * | NN=3 NC=1 BREAK_NUMBER | bfs | assert | H2 does not compare numbers | two holders |
 * | BREAK_NEW | bfs | assert | USE becomes NEW again when the root moves away | two holders |
 * | NN=3 NC=1 TIMED BREAK_EARLY | bfs | assert | PASSED is written before the next node is read | a grant to no node |
 * | NN=3 NC=1 TIMED BREAK_TAIL | bfs | assert | NEXT is reset when the node is the last again | two holders |
 * | NN=3 NC=1 TIMED LIVE=0 BREAK_STREAM | live5 long | cycle | no H6: deadlines of others starve a client | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_GUEST | bfs | assert | a client does not wait for a guest at its node | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_CLAIMED | bfs | deadlock | a guest enters although a node has asked for the root | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_LOOK | bfs | deadlock | a guest that is not in does not look again (G3) | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_AGED | bfs | deadlock | it does not look whether the asks were dealt with | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_ALONG | bfs | deadlock | a guest leaves although a node relies on it | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_TAKEN | bfs | assert | a guest takes the root along and does not say so | |
 * | NN=3 NC=1 GUESTS VISITOR=2 BREAK_ASKED | bfs | assert | a node takes the root while a guest is in | |
 * | NN=3 NC=1 GUESTS VISITOR=2 TIMED BREAK_RELIES | bfs | assert | a guest does not wait for RELIES | |
 * | NN=3 NC=1 GUESTS VISITOR=2 TIMED BREAK_SINCE | bfs long | deadlock | L1 does not see that the guest was another one | |
 * | NN=3 NC=1 GUESTS VISITOR=2 POSTED BREAK_VISIT | bfs | deadlock | a node relies on any guest, not on the one it has found | |
 * | NN=3 NC=1 GUESTS VISITOR=2 POSTED BREAK_AT_ONCE | bfs | assert | it does not wait for a release that is on its way | two holders |
 * | NN=3 NC=1 GUESTS VISITOR=2 POSTED BREAK_POSTED | bfs | deadlock | a guest posts its release although a node relies on it | |
 * | NC=1 GUESTS SHARERS BREAK_COUNTED | safe | assert | a client does not look for sharers at its node | sharer and writer together |
 * | NC=1 GUESTS SHARERS BREAK_BACK | safe | assert | nor does a releaser that took USE back from IDLE | sharer and writer together |
 * | NC=1 GUESTS SHARERS BREAK_UNTOLD | safe | assert | the root moves as if there were none | sharer and writer together |
 * | NC=1 GUESTS SHARERS BREAK_SHARED | safe | assert | a guest enters beside them | sharer and writer together |
 * | NC=1 GUESTS SHARERS BREAK_EARLIER | safe | assert | G7 does not look for nodes that asked, and guests | sharer and writer together |
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

/* USE */
#define OUT 0    /* the node has no place in the queue of nodes */
#define QUEUED 1 /* a client of the node waits in that queue */
#define GONE 2   /* its deadline has passed, and the place may still be there */
#define HELD 3   /* a client is in, or looks at NEXT */
#define SHUT 4   /* free, for clients of the node alone */
#define IDLE 5   /* free, and kept */
#define NEW 6    /* never used */
#define HOME 0   /* the node of the home */
#define KEPT (USE[n] == IDLE || (USE[n] == NEW && n == HOME))
#ifdef BREAK_NEW
#define AWAY NEW
#else
#define AWAY OUT
#endif

/* STATUS */
#define WAITING 1
#define GRANTED 2
#define LEFT 3
#define PASSING 4
#define PASSED 5

#define STALE 100 /* NEXT is of an earlier queueing of that node: the numbers differ */

byte TAIL;       /* 1 + the node that is last; 0: HOME */
byte USE[NN];
byte NEXT[NN];   /* 0 or 1 + the node that comes next */
byte STATUS[NN];
byte waiting[NN], stays[NN];
#ifdef GUESTS
/* GUEST of a node: IN, ASKED, RELIES. */
bit in_at[NN], asked[NN], relies[NN];
bit changed[NN]; /* its number has changed since the guest there looked at it last */
#ifdef POSTED
/* STATUS of a node that has no place in the queue: its client is a guest, in or not yet out; and a
 * node relies on it. Which visits those are that the next node of the host has found. */
#define VISITING 1
#define RELIED_ON 2
byte visit[NN], visitor[NN];
bit found[NN], gone[NN];
bit posted[NN]; /* the end of IN is on its way to that host */
#define LEAVE_AT(node) in_at[node] = 0; since[node] = 1; visitor[node] = 0; gone[node] = 1
#define END_VISIT visit[n] = 0
#ifdef BREAK_VISIT
#define FOUND(j) true
#else
#define FOUND(j) found[j]
#endif
#else
#define LEAVE_AT(node) in_at[node] = 0; since[node] = 1
#define END_VISIT skip
#endif
bit since[NN];   /* it has changed since the client of the node looked that waits for a guest */
bit renewed[NN]; /* a node has asked since the client of the node looked */
#define IN_AT(node) (in_at[node])
#define ASK(node) asked[node] = 1; renewed[node] = 1; changed[node] = 1
#define KEPT_AT(node) (USE[node] == IDLE || (USE[node] == NEW && node == HOME))
#ifdef VISITOR /* the only guest, of the home's node alone */
#define MAY_VISIT (p == VISITOR && k == HOME)
#else
#define MAY_VISIT true
#endif
#define TAKEN 99 /* NEXT: a guest has taken the root along */
#endif
#ifdef SHARERS
/* SHARERS of GUEST of the node of the home; LOCAL of USE, and of a grant. */
byte sharers;
bit shares[NN], told[NN];
#define SHARED_AT(node) (node == HOME && sharers > 0)
#ifdef BREAK_COUNTED
#define NOTE_SHARERS skip
#else
#define NOTE_SHARERS shares[n] = (shares[n] || SHARED_AT(n))
#endif
#ifdef BREAK_BACK
#define NOTE_AGAIN skip
#else
#define NOTE_AGAIN NOTE_SHARERS
#endif
#ifdef BREAK_UNTOLD
#define TELL(node, what) skip
#else
#define TELL(node, what) told[node] = what
#endif
#else
#define NOTE_SHARERS skip
#define NOTE_AGAIN skip
#define TELL(node, what) skip
#endif
byte succ[NP]; /* a copy of NEXT, by process; marked as NEXT is */
#define s succ[p]

#include "ghost.inc"
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#define MAY_TIME_OUT true
#endif

proctype P(byte p)
{
	byte n = p / NC, pred, i, from;
	bit kept, left;
#ifdef GUESTS
	byte k; /* the guest is at node k */
	bit ask, rel; /* ASKED and RELIES at the guest's last look */
#endif
#ifdef SHARERS
	bit shared; /* sharers at another node, at the last look */
#endif

	do
	:: WANT;
		waiting[n]++;
again:
		if
#ifdef BREAK_FENCE
		:: atomic { KEPT && NEXT[n] == 0 -> s = 0 };
			if
			:: atomic { KEPT -> USE[n] = HELD; goto cs }
			:: atomic { else -> goto again }
			fi
#else
		/* A1 */
		:: atomic { KEPT -> USE[n] = HELD };
			/* A2 */
#ifdef GUESTS
#ifndef BREAK_GUEST
			if
			:: !IN_AT(n)
			:: atomic { IN_AT(n) -> since[n] = 0 };
				if
				:: !IN_AT(n) || since[n]
#ifdef TIMED
				:: atomic { MAY_TIME_OUT -> waiting[n]--; goto leave }
#endif
				fi
			fi;
#endif
			NOTE_SHARERS;
			if
			:: atomic { NEXT[n] == TAKEN -> NEXT[n] = 0; USE[n] = AWAY; goto again }
			:: NEXT[n] != TAKEN
			fi;
#endif
			if
			:: atomic { NEXT[n] == 0 -> goto cs }
#ifdef BREAK_ENTER
			:: else -> goto cs
#else
			:: else -> from = 1; goto resolve
#endif
			fi
#endif
		:: atomic { USE[n] == SHUT -> USE[n] = HELD; goto cs }
		:: atomic { USE[n] == OUT || (USE[n] == NEW && n != HOME) -> USE[n] = QUEUED }
#ifdef TIMED
		:: atomic { USE[n] == GONE -> USE[n] = QUEUED };
			if
			:: atomic { STATUS[n] == LEFT -> STATUS[n] = WAITING; goto await }
			:: STATUS[n] == PASSED
			fi
#endif
		fi;
#ifdef GUESTS
		if
		/* G1: at any node, which may not have the root */
		:: k = 0;
			do
			:: k < NN - 1 -> k++
			:: break
			od;
			if
			:: k == n || !MAY_VISIT -> goto queue
			:: else
			fi;
			if
			:: atomic { IN_AT(k) -> goto queue }
			:: atomic {
					!IN_AT(k) ->
#ifdef SHARERS
					shared = SHARED_AT(k);
#endif
#ifdef POSTED
					visitor[k] = n + 1; found[n] = 0;
#endif
					in_at[k] = 1; changed[k] = 0; ask = asked[k]; rel = relies[k]
				}
			fi;
#ifdef POSTED
			visit[n] = VISITING;
#endif
			/* G2 */
#ifdef BREAK_CLAIMED
			if
			:: KEPT_AT(k) -> goto guest
#else
			if
#if defined(SHARERS) && !defined(BREAK_SHARED)
			:: !ask && KEPT_AT(k) && !shared -> goto guest
#else
			:: !ask && KEPT_AT(k) -> goto guest
#endif
#endif
			:: else
			fi;
			/* G3 */
			do
#ifdef BREAK_LOOK
			:: atomic { LEAVE_AT(k); goto queue }
#else
			:: atomic {
					!changed[k] && ask == asked[k] && rel == relies[k] ->
					LEAVE_AT(k); ask = 0; rel = 0; goto refused
				}
			:: atomic {
					changed[k] || ask != asked[k] || rel != relies[k] ->
					ask = asked[k]; rel = relies[k]; changed[k] = 0
				};
				if
				:: KEPT_AT(k) ->
#ifndef BREAK_AGED
					atomic {
#ifdef SHARERS
						shared = SHARED_AT(k);
#endif
						ask = asked[k]; rel = relies[k]; changed[k] = 0
					};
#endif
					if
#ifdef SHARERS
					:: !ask && !shared && !shares[k] -> goto guest
					:: !ask && (shared || shares[k]) -> skip
#else
					:: !ask -> goto guest
#endif
					:: ask -> from = 1; goto along
					fi
				:: else
				fi
#endif
			od
		:: skip
		fi;
		if
		:: false;
refused:
			END_VISIT; goto queue;
guest:
#ifdef SHARERS
			shared = 0;
#endif
			waiting[n]--;
			critical_exclusive(p);
#ifdef POSTED
			/* G9 */
			if
			:: atomic { visit[n] == VISITING -> END_VISIT };
				posted[k] = 1;
				atomic { USE[n] = AWAY; ask = 0; rel = 0; goto out }
#ifdef BREAK_POSTED
			:: atomic { visit[n] == RELIED_ON -> END_VISIT };
				posted[k] = 1;
				atomic { USE[n] = AWAY; ask = 0; rel = 0; goto out }
#else
			:: visit[n] == RELIED_ON
#endif
			fi;
#endif
			/* G4 */
			do
			:: atomic {
					!ask && !changed[k] && ask == asked[k] && rel == relies[k] ->
					LEAVE_AT(k); rel = 0; END_VISIT; USE[n] = AWAY; goto out
				}
			:: atomic {
					!ask && (changed[k] || ask != asked[k] || rel != relies[k]) ->
					ask = asked[k]; rel = relies[k]; changed[k] = 0
				}
			:: ask -> break
			od;
along:
			/* G5 */
#ifdef BREAK_ALONG
			LEAVE_AT(k); ask = 0; rel = 0; USE[n] = AWAY; goto out;
#endif
#ifndef BREAK_RELIES
			relies[k];
#endif
			NEXT[n] = NEXT[k];
#ifndef BREAK_TAKEN
			NEXT[k] = TAKEN;
#endif
			atomic {
				LEAVE_AT(k); relies[k] = 0; END_VISIT; ask = 0; rel = 0; k = 0;
#ifdef SHARERS
#ifndef BREAK_UNTOLD
				shares[n] = (from == 1 && (shared || shares[HOME]));
#endif
				shared = 0;
#endif
				USE[n] = HELD
			};
			if
			:: from == 1 -> from = 0; goto cs
			:: from == 0 -> goto release
			fi
		:: true
		fi;
queue:
		atomic { k = 0; ask = 0; rel = 0 };
#ifdef SHARERS
		shared = 0;
#endif
#endif
		/* Q1: a new number */
		d_step {
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
		:: USE[pred - 1] == IDLE || USE[pred - 1] == NEW ->
			NEXT[pred - 1] = n + 1; goto took
		:: else
		fi;
#endif
		/* Q3, Q4: put, flush, get, flush */
		NEXT[pred - 1] = n + 1;
#ifdef GUESTS
		if
#ifdef POSTED
		:: atomic {
				IN_AT(pred - 1) ->
				ASK(pred - 1); found[visitor[pred - 1] - 1] = 1; gone[pred - 1] = 0
			};
			/* Q6 */
			if
			:: atomic { visit[0] != 0 && FOUND(0) -> visit[0] = RELIED_ON }; left = 1
			:: atomic { visit[1] != 0 && FOUND(1) -> visit[1] = RELIED_ON }; left = 1
#if NN > 2
			:: atomic { visit[2] != 0 && FOUND(2) -> visit[2] = RELIED_ON }; left = 1
#endif
#ifdef BREAK_AT_ONCE
			:: true
#else
			:: gone[pred - 1]
#endif
			fi;
			if
			:: left -> relies[pred - 1] = 1; left = 0; goto await
			:: !left
			fi;
#ifdef SHARERS
			shared = SHARED_AT((pred - 1))
#endif
#else
		:: atomic { IN_AT(pred - 1) -> ASK(pred - 1) };
			relies[pred - 1] = 1;
#ifndef BREAK_ASKED
			goto await
#endif
#endif
#ifdef SHARERS
		:: atomic { !IN_AT(pred - 1) -> ASK(pred - 1); shared = SHARED_AT((pred - 1)) }
#else
		:: atomic { !IN_AT(pred - 1) -> ASK(pred - 1) }
#endif
		fi;
#endif
		if
#ifdef SHARERS
		:: atomic {
				USE[pred - 1] == IDLE || USE[pred - 1] == NEW ->
				shared = (shared || shares[pred - 1])
			};
#else
		:: USE[pred - 1] == IDLE || USE[pred - 1] == NEW ->
#endif
took:
			pred = 0;
			/* Q5 */
			if
			:: atomic { STATUS[n] == WAITING -> STATUS[n] = GRANTED; TELL(n, shared) }
			:: else
			fi
		:: else
		fi;
await:
		if
		:: STATUS[n] == GRANTED
#ifdef TIMED
		:: atomic { MAY_TIME_OUT && STATUS[n] == WAITING -> STATUS[n] = LEFT };
			USE[n] = GONE;
			waiting[n]--;
			goto out
#endif
		fi;
		pred = 0;
		USE[n] = HELD;
#ifdef SHARERS
		atomic { shares[n] = told[n]; told[n] = 0; shared = 0 };
#endif
cs:
#ifdef SHARERS
		if
		:: shares[n] -> sharers == 0; shares[n] = 0
		:: else
		fi;
#endif
		waiting[n]--;
		critical_exclusive(p);
release:
		/* D1 */
#ifdef GUESTS
		atomic { left = asked[n]; renewed[n] = 0 };
#endif
		if
		:: NEXT[n] == 0 ->
#ifdef GUESTS
			if
			:: atomic {
#ifdef BREAK_RENEWED
					left ->
#else
					left && !renewed[n] ->
#endif
					left = 0; asked[n] = 0; relies[n] = 0;
					changed[n] = 1
				}
#ifndef BREAK_RENEWED
			:: atomic { left && renewed[n] -> left = 0; goto release }
#endif
			:: !left
			fi;
#endif
			/* D2 */
idle:
			USE[n] = IDLE;
#ifdef GUESTS
again_idle:
			left = 0;
#endif
			/* D3 */
#ifndef BREAK_AGAIN
			if
			:: NEXT[n] == 0 -> goto out
			:: else
			fi;
			/* as A1, A2 */
			if
			:: atomic { USE[n] == IDLE -> USE[n] = HELD }
			:: atomic { else -> goto out }
			fi;
#ifdef GUESTS
leave:
			NOTE_AGAIN;
			if
			:: !IN_AT(n)
			:: IN_AT(n) && !asked[n] -> goto idle
			/* L1 */
			:: atomic { IN_AT(n) && asked[n] && relies[n] -> since[n] = 0; renewed[n] = 0 };
				USE[n] = IDLE;
				if
#ifdef BREAK_SINCE
				:: atomic { IN_AT(n) -> changed[n] = 1; goto out }
				:: atomic { !IN_AT(n) -> goto again_idle }
#else
				:: atomic {
						IN_AT(n) && !since[n] && !renewed[n] ->
						changed[n] = 1; goto out
					}
				:: atomic { !IN_AT(n) || since[n] || renewed[n] -> goto again_idle }
#endif
				fi
			fi;
			if
			:: atomic { NEXT[n] == TAKEN -> NEXT[n] = 0; USE[n] = AWAY; goto out }
			:: NEXT[n] != TAKEN
			fi;
#endif
			if
			:: NEXT[n] == 0 -> goto idle
#ifdef BREAK_SHUT
			:: atomic { NEXT[n] != 0 && waiting[n] > 0 -> USE[n] = SHUT; goto out }
#endif
			:: else
			fi
#else
			goto out
#endif
		:: NEXT[n] != 0 && waiting[n] > 0 && stays[n] < STAY ->
			stays[n]++; USE[n] = SHUT;
			goto out
#ifdef BRIEF
		:: NEXT[n] != 0
#else
		:: NEXT[n] != 0 && (waiting[n] == 0 || stays[n] >= STAY)
#endif
		fi;
		from = 0;
#ifdef GUESTS
		left = 0;
#endif
resolve:
		/* H1 */
		s = NEXT[n];
		stays[n] = 0;
		do
		:: d_step {
				if
				:: s <= STALE && STATUS[s - 1] == WAITING ->
					STATUS[s - 1] = GRANTED; left = 0; TELL(s - 1, shares[n])
				:: s <= STALE && STATUS[s - 1] == LEFT -> STATUS[s - 1] = PASSING; left = 1
				:: s > STALE || STATUS[s - 1] == GRANTED -> left = 0
				fi
			};
			if
			:: !left -> break
			:: else
			fi;
			left = 0;
#ifdef BREAK_EARLY
			STATUS[s - 1] = PASSED;
#endif
			/* H3 */
			if
			:: NEXT[s - 1] != 0
			:: NEXT[s - 1] == 0 ->
				/* H4 */
#ifdef BREAK_TAIL
				if
				:: atomic { TAIL == s -> TAIL = n + 1 }; NEXT[n] = 0; kept = 1
				:: else
				fi;
#else
				NEXT[n] = 0;
				if
				:: atomic { TAIL == s -> TAIL = n + 1; kept = 1 }
				:: atomic { else -> NEXT[n] = s }
				fi;
#endif
				kept || NEXT[s - 1] != 0
			fi;
			/* H5 */
			atomic {
				pred = NEXT[s - 1];
				STATUS[s - 1] = PASSED;
				s = (kept -> 0 : pred); pred = 0
			}
			/* H6: the root is here, so clients of this node need not wait for more deadlines */
			if
			:: kept -> break
#ifndef BREAK_STREAM
			:: !kept && from == 1 -> NEXT[n] = s; s = 0; from = 0; goto cs
			:: !kept && from == 0 && waiting[n] > 0 ->
				NEXT[n] = s; s = 0; USE[n] = SHUT; goto out
			:: !kept && from == 0 && waiting[n] == 0
#else
			:: else
#endif
			fi
		od;
		s = 0;
		if
		:: kept && from == 1 -> kept = 0; from = 0; goto cs
		:: kept && from == 0 -> kept = 0; goto release
		:: else
		fi;
		NEXT[n] = 0;
		USE[n] = AWAY;
		if
		:: from == 1 -> from = 0; goto again
		:: else
		fi;
out:
		skip
	:: break
	od
}

#ifdef POSTED
/* The releases that are on their way. */
proctype Posts()
{
end:
	do
	:: atomic { posted[0] -> LEAVE_AT(0); posted[0] = 0 }
	:: atomic { posted[1] -> LEAVE_AT(1); posted[1] = 0 }
#if NN > 2
	:: atomic { posted[2] -> LEAVE_AT(2); posted[2] = 0 }
#endif
	od
}
#endif

#ifdef SHARERS
/* A sharer of another node, which uses the lock at the node of the home. */
proctype V()
{
	bit late;

	do
	/* G6 */
	:: atomic { sharers++; late = (asked[HOME] || in_at[HOME]) };
#ifdef BREAK_EARLIER
		late = 0;
#endif
		/* G7 */
		if
		:: !late && KEPT_AT(HOME) -> critical_shared(NP)
		:: else
		fi;
		/* G8 */
		sharers--
	:: break
	od
}
#endif

init
{
	byte i;

	atomic {
		for (i : 0 .. NN - 1) { USE[i] = NEW }
		for (i : 0 .. NP - 1) { run P(i) }
#ifdef SHARERS
		run V()
#endif
#ifdef POSTED
		run Posts()
#endif
	}
}
