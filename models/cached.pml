/*
 * Cached modes: model of kind cached (src/lock/cached/README has the argument, with the same
 * letters). Nodes cache a lock in mode N, S or X; the head of a queue of nodes recalls it.
 *
 * Words of a node. W: rd, wr, handed, keeps, awaited (NODE: CPU atomics). MODE: mode, back,
 * asker, old (written by the head of the queue of nodes only; old: its number is of an earlier
 * recall). ACK: ack (put by clients of a node asked, reset by the head). NEXT, STATUS: of the
 * node's place; a grant has the directory (gopen, gm, gset). TAIL of the home is 0 while the
 * queue is empty, and has the directory then: open, m, set; it stands in for MODE at node HOME,
 * which has X at first. While a node keeps the queue, its own word DIR has it: km, kset. nq: clients
 * in the queue of the node; lh: one of them is its head; the order of that queue is random here.
 *
 * What it proves. NP clients at NN nodes acquire in any mode (-DWRITERS=set: these exclusively,
 * the others shared) any number of times and may stop between two acquires: exclusion, no
 * dead-lock (awaits are blocking guards), and at the end W is free, no promise is open, and a
 * mode that a node has is in the directory. -DTIMED: deadlines that pass in any wait. -DTORN: a
 * network atomic on STATUS reads, and writes later; CPU stores come in between. An exclusive client
 * may have no deadline. -DPOSTED: acknowledgements, grants and the swap of TAIL by which a node
 * leaves take effect after the
 * release has returned. -DLIVE=v: v gets the lock. -DMEET=n: when the writers have stopped, n
 * sharers acquire once, and each stays in until all of them are. All choices of policy (to lend
 * or not, to hand over in the node, to pass on, to give back, to cache) are random, unless
 * -DLEND=0 (nothing is given back), -DSTAY=0 (no hand-over within a node), -DSUMS=0 (a client
 * looks before it counts itself, too). -DFIRST=0: no node has the lock at first. -DVOTE=v: what the
 * lock is at first is decided to be v (1: the home's node has X, 2: nobody, 3: all nodes share), at
 * any time or never, and clients are told later.
 *
 * What it abstracts. Numbers of recalls have no bound: copies of an earlier one become `old`,
 * which is all that a client asks of them. A put and its flush are one step, as are a get and its
 * flush. Memory is sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | SUMS=0 STAY=0 | safe | pass | 2 nodes of one client; what is cached is in the directory, and no promise is left | 1 290 109 |
 * | LEND=0 STAY=0 | safe | pass | the same, without hand-over in a node, nothing lent | 624 460 |
 * | NP=3 WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe middle | pass | 2 clients and 1, of whom 2 write, neither | 2 484 985 (model before its last change) |
 * | TIMED WRITERS=1 SUMS=0 STAY=0 LEND=0 | safe | pass | 2 nodes of one with deadlines, one writes | 479 952 |
 * | TIMED TORN WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe middle | pass | the same, both write, network atomics not atomic with stores | 1 837 477 (hashed) |
 * | POSTED WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 2 nodes of one, releases posted, both write, nothing lent | 991 618 (likewise) |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 | safe | pass | 2 writers and 2 sharers at 2 nodes, each sharer stays in until the other is; all sharers are in together | 127 120 |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 FIRST=0 | safe | pass | the same, at first no node has the lock | 128 345 |
 * | LIVE=0 SUMS=0 STAY=0 LEND=0 | live3 middle | pass | 2 nodes of one, nothing lent | 428 738 (likewise) |
 * | NP=3 WRITERS=3 SUMS=0 LEND=0 | safe middle | pass | 2 clients and 1, of whom 2 write, nothing lent, a client looks before it counts itself | 3 510 200 (likewise) |
 * | | safe middle | pass | 2 nodes of one | 696 674 (likewise) |
 * | TIMED SUMS=0 STAY=0 | safe middle | pass | 2 nodes of one, with deadlines | 2 991 475 (likewise) |
 * | TIMED TORN SUMS=0 STAY=0 LEND=0 | safe middle | pass | the same, network atomics not atomic with stores, nothing lent | 1 862 435 (likewise) |
 * | POSTED WRITERS=3 SUMS=0 | safe 20M long | pass | 2 nodes of one, releases posted, both write | 4 477 582 (likewise) |
 * | LIVE=0 TIMED SUMS=0 STAY=0 LEND=0 | live3 middle | pass | 2 nodes of one, nothing lent, with deadlines of the other one | 1 320 621 (likewise) |
 * | NP=3 WRITERS=3 LEND=0 | safe 20M long | pass | 2 clients and 1, of whom 2 write, nothing lent | |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 | safe 20M long | pass | 2 clients and 1, all write, nothing lent | |
 * | NP=3 WRITERS=6 SUMS=0 | safe 20M long | pass | 2 clients and 1, of whom one of the 2 and the 1 write | 7 086 669 (likewise) |
 * | NP=4 WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 2 nodes of 2, of whom 2 write, nothing lent | 14 to 98 million (likewise) |
 * | POSTED SUMS=0 STAY=0 WRITERS=1 | safe 20M long | pass | 2 nodes of one, releases posted, one writes | 14 to 98 million (likewise) |
 * | NN=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 3 nodes of one, all write, nothing lent | 14 to 98 million (likewise) |
 * | NN=3 WRITERS=1 SUMS=0 STAY=0 | safe 20M long | pass | 3 nodes of one, one writes | 14 to 98 million (likewise) |
 * | VOTE=1 SUMS=0 STAY=0 LEND=0 | safe middle | pass | 2 nodes of one, the vote is for the home's node | 2 388 513 |
 * | VOTE=2 SUMS=0 STAY=0 LEND=0 | safe middle | pass | 2 nodes of one, the vote is for nobody | |
 * | VOTE=3 SUMS=0 STAY=0 LEND=0 | safe | pass | 2 nodes of one, the vote is for all | 2 136 085 |
 * | VOTE=1 SUMS=0 STAY=0 LEND=0 BREAK_FIRST | bfs | assert | the vote is not looked at after the swap of TAIL | two holders |
 * | VOTE=3 SUMS=0 STAY=0 LEND=0 BREAK_UNTOLD | bfs | assert | what is not decided is taken for nobody | two holders |
 * | STAY=0 BREAK_ORDER | bfs | assert | MODE is looked at before the count in W | two holders |
 * | LIVE=0 TIMED SUMS=0 STAY=0 LEND=0 BREAK_HITS | live3 middle | cycle | a local head that was refused tries to hit again | |
 * | STAY=0 SUMS=0 BREAK_CLOSE | bfs | assert | W is looked at before MODE is closed | two holders |
 * | STAY=0 SUMS=0 BREAK_HOME | bfs | assert | W of the home's node is looked at before the swap of TAIL | two holders |
 * | STAY=0 BREAK_ONCE | bfs | assert | any acknowledgement ends a recall | two holders |
 * | STAY=0 BREAK_ARM | bfs | deadlock | ACK is reset after W was looked at | |
 * | STAY=0 BREAK_DOWN | bfs | assert | a recall to S does not wait for an exclusive holder | two holders |
 * | NP=3 WRITERS=3 SUMS=0 STAY=0 LEND=0 FIRST=0 BREAK_OWN | bfs middle | assert | the own node is not recalled | two holders |
 * | NP=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 BREAK_AGAIN | bfs middle | assert | no second look at W | two holders |
 * | STAY=0 BREAK_SILENT | bfs | deadlock | a count taken back (H3) does not acknowledge | |
 * | NP=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 BREAK_NUMBER | bfs middle | assert | acknowledgements have no numbers | two holders |
 * | STAY=0 BREAK_LATE | bfs | deadlock | W becomes free without a look at MODE | |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 BREAK_EARLY | bfs | assert | W becomes free before the directory is in TAIL | two holders |
 * | STAY=0 BREAK_WRITER | bfs | deadlock | MODE is written after the queue is left | |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 BREAK_AWAITED | bfs middle | deadlock | W is handed over though the head has ceased to wait | nobody takes it |
 * | TIMED NP=3 WRITERS=7 SUMS=0 LEND=0 FIRST=0 BREAK_NOBODY | bfs | assert | W is handed over without a second look whether a client is there | the queue has no head |
 * | NP=4 PLACE=p==1 WRITERS=11 SUMS=0 LEND=0 FIRST=0 BREAK_TURNED | bfs middle | deadlock | W is turned before the queue is left | a link is lost |
 * | STAY=0 BREAK_JOIN | bfs | assert | the node's bit is not in the directory | it is not recalled |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 FIRST=0 BREAK_SHARERS | bfs | deadlock | sharers keep the queue though no writer is next | sharers wait for each other |
 * | NP=4 WRITERS=3 LEND=0 BREAK_FINISH | bfs middle | deadlock | a count taken back (H3) does not leave the queue for sharers | |
 * | STAY=0 BREAK_LEND | bfs | deadlock | what was lent is not told to the next head | |
 * | TIMED STAY=0 SUMS=0 BREAK_TAIL | bfs | assert | an abandoned place that is last is removed without the directory | two holders |
 * | TIMED STAY=0 SUMS=0 BREAK_LAST | bfs | deadlock | the same, and what was lent is not given back | nobody keeps it |
 * | TIMED NN=3 STAY=0 SUMS=0 LEND=0 BREAK_PLACE | bfs middle | deadlock | PASSED before NEXT is read | |
 * | TIMED TORN STAY=0 SUMS=0 LEND=0 BREAK_RESUME | bfs | deadlock | a place is resumed by a store | |
 * | TIMED STAY=0 SUMS=0 BREAK_RESTORE | bfs | assert | a recall that is given up leaves nodes without their mode | a promise is left |
 * | TIMED NP=3 WRITERS=7 SUMS=0 LEND=0 FIRST=0 BREAK_HANDED | bfs middle | assert | a local head gives up and leaves what was handed to it | the queue has no head |
 * | POSTED WRITERS=3 SUMS=0 STAY=0 LEND=0 BREAK_LEFT | bfs | deadlock | a node that has left uses its place before a successor has seen that | the directory is lost |
 */
#ifndef NN
#define NN 2
#endif
#ifndef NP
#define NP NN /* clients; client p is at node PLACE */
#endif
#ifndef PLACE
#define PLACE p % NN
#endif
#ifdef WRITERS
#define WRITES ((WRITERS >> p) & 1)
#define READS !((WRITERS >> p) & 1)
#else
#define WRITES true
#define READS true
#endif

#define N 0
#define S 1
#define X 2

/* W */
byte rd[NN];
bit wr[NN], handed[NN], keeps[NN], awaited[NN];
byte nq[NN];
#define HOLDERS(i) (rd[i] || wr[i] || handed[i])
#define CONFLICT(i, t) (wr[i] || handed[i] || (t == N && rd[i]))
/* MODE, ACK */
byte mode[NN], back[NN], asker[NN];
bit old[NN];
#define OLD 1
#define NOW 2
byte ack[NN];
/* The node's place */
#define FREE 0
#define WAITING 1
#define GRANTED 2
#define ABANDONED 3
#define PASSING 4
#define PASSED 5
#define LEFT 9 /* NEXT: the node has left, with the directory below */
byte next[NN], status[NN];
bit writes[NN]; /* in NEXT: of an exclusive client without a deadline */
bit gopen[NN];
byte gm[NN], gset[NN];
/* The directory: at the home, and at a node that keeps the queue */
#ifdef VOTE
#define FIRST N
#endif
#ifndef FIRST
#define FIRST X
#endif
byte tail, m = FIRST, set = (FIRST != N);
bit open = (FIRST != N);
byte km[NN], kset[NN];
bit lh[NN];
/* A client that is about to acknowledge: to which node, and whether its number is old by now */
byte to[NP];
bit stale[NP];

#define BIT(i) (1 << (i))
#define PERMITS(v, x) (v == X || (!x && v == S))
#ifndef HOME
#define HOME 0
#endif
#define ADMITS(i, x)                                                                               \
	(PERMITS(mode[i], x) ||                                                                    \
	 (i == HOME && !tail && open && (set & BIT(HOME)) && PERMITS(m, x)) || FIRST_ADMITS(i, x))
/* What the vote decides, and what each client has been told; whether TAIL and MODE are 0 still. */
#define OWNED 1
#define NONE 2
#define SHARED 3
#ifdef VOTE
byte first, told[NP];
bit fresh = 1, written[NN];
#define FIRST_ADMITS(i, x)                                                                         \
	((!written[i] && told[p] == SHARED && !x) ||                                               \
	 (i == HOME && !tail && fresh && told[p] == OWNED))
#define WRITTEN(i) written[i] = 1
#define UNWRITTEN(i) !written[i]
#else
#define FIRST_ADMITS(i, x) false
#define WRITTEN(i) skip
#define UNWRITTEN(i) false
#endif
#ifdef BREAK_HOME
#define SEEN(t) g
#else
#define SEEN(t) CONFLICT(HOME, t)
#endif
/* What L3 writes into MODE: of the home's node, TAIL says that it has X. */
#define GIVEN (IS_AT_HOME -> N : dm)
#define IS_AT_HOME (dm == X && ds == BIT(HOME))

#ifdef TORN
bit busy[NN];
#define IDLE(i) !busy[i]
#else
#define IDLE(i) true
#endif

#ifdef POSTED
/* On their way: acknowledgements and grants to a node, and the swap by which a node leaves. */
byte pack[NN];
bit pgrant[NN], pleave[NN];
#define SETTLED(i) (!pleave[i] && next[i] != LEFT)
#define ACK pack
#else
#define SETTLED(i) true
#define ACK ack
#endif
#if defined(POSTED) && !defined(TIMED)
#define GIVE(i) pgrant[i] = 1
#else
#define GIVE(i) status[i] = GRANTED
#endif
#ifdef BREAK_LEFT
#define MAY_QUEUE(i) true
#else
#define MAY_QUEUE(i) SETTLED(i)
#endif

#include "ghost.inc"
#ifdef MEET
byte met; /* sharers that are in, or have been */
bit had[NP];
#define once had[p]
#endif
#ifdef TIMED
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#define MAY_TIME_OUT (u == 0)
#endif
#else
#define MAY_TIME_OUT false
#endif
#ifndef LEND
#define LEND 1
#endif
#ifndef STAY
#define STAY 1
#endif

#ifndef SUMS
#define SUMS 1
#endif

/* A new number for recalls by this node: all copies of an earlier one are old. */
inline new_number()
{
#ifndef BREAK_NUMBER
	for (j : 0 .. NN - 1) {
		if :: asker[j] == n + 1 -> old[j] = 1 :: else fi
	}
	for (j : 0 .. NP - 1) {
		if :: to[j] == n + 1 -> stale[j] = 1 :: else fi
	}
#ifdef POSTED
	pack[n] = (pack[n] -> OLD : 0);
#endif
#endif
	j = 0
}

/* MODE of node i: mode v, what it will get back, and the node that recalls it. */
inline write_mode(i, v, b, a)
{
	d_step { mode[i] = v; back[i] = b; asker[i] = a; old[i] = 0; WRITTEN(i) }
}

/* MODE of all nodes of the directory in hand, one after the other; j is 0 before and after. */
inline write_modes(v, b, a)
{
	do
	:: atomic { j < NN && !(ds & BIT(j)) -> j++ }
	:: atomic { j < NN && (ds & BIT(j)) -> write_mode(j, v, b, (j == n -> 0 : a)); j++ }
	:: atomic { j == NN -> j = 0; break }
	od
}

#ifdef BREAK_SHARERS
#define NEXT_WRITES true
#else
#define NEXT_WRITES (next[n] && writes[n])
#endif
#define NO_HEAD awaited[n] = 0; lh[n] = 0; nq[n]--; q = 0
#define GONE if :: v -> v = 0 :: else -> NO_HEAD fi
/* One more holder at the node; W becomes free; nothing is to be acknowledged. */
#define COUNT wr[n] = wr[n] || x; rd[n] = rd[n] + !x
#define FREE_W wr[n] = 0; keeps[n] = 0; km[n] = 0; kset[n] = 0
#define NO_ACK t = 0; to[p] = 0; stale[p] = 0
/* The directory in hand: into TAIL, into words of node i, and out of hand. */
#define PUBLISH tail = 0; open = o; m = dm; set = ds
#define INTO(i) gopen[i] = o; gm[i] = dm; gset[i] = ds
#define NO_DIR o = 0; dm = 0; ds = 0

proctype P(byte p)
{
	byte n = PLACE, s, j, t, r; /* j: a node; t: mode to which others are recalled; r: lent */
	bit x, o, b, q;     /* x: exclusive; b: a count that is taken back (H3); q: by the local head */
	bit u;              /* no deadline */
	bit v;              /* it has taken W as a client that is not the local head */
#ifdef BREAK_HOME
	bit g;
#endif
	byte dm, ds;        /* with o: the directory in the hand of the head */
	byte from;          /* why the queue is left: 0 a sharer enters, 1 a holder leaves, 2 given up,
			       4 a sharer enters that has W; 3: as 4, by a hit */

	do
#ifdef MEET
	:: WRITES || (!once && alive == MEET) ->
#else
	:: true ->
#endif
	   if
	   :: WRITES -> x = 1
	   :: READS -> x = 0
	   fi;
#if defined(TIMED) && !defined(LIVE) && NN == 2
	   if :: x -> u = 1 :: u = 0 fi;
#endif
	   WANT;
try:
		/* H1, H2: a hit */
		if
#ifdef BREAK_ORDER
		:: ADMITS(n, x) ->
			atomic { (x -> !HOLDERS(n) : !wr[n] && !handed[n]) -> COUNT; goto cs }
#endif
		:: atomic { x && !HOLDERS(n) && (SUMS || ADMITS(n, x)) -> wr[n] = 1 };
			if
			:: atomic { ADMITS(n, x) -> goto cs }
			:: atomic { else -> b = 1; goto release }
			fi
		:: atomic {
				!x && (SUMS || (!CONFLICT(n, S) && ADMITS(n, x))) ->
				rd[n]++; o = CONFLICT(n, S)
			};
			if
			:: atomic { !o && ADMITS(n, x) -> goto cs }
			:: atomic { else -> o = 0; b = 1; goto release }
			fi
		/* L1, S3 */
		:: atomic { x && handed[n] -> handed[n] = 0; wr[n] = 1; goto cs }
		:: atomic { !x && handed[n] -> handed[n] = 0; wr[n] = 1; v = 1; goto handed_over }
		:: atomic { !x && keeps[n] && rd[n] && !wr[n] && !handed[n] -> rd[n]++; goto cs }
		:: skip
		fi;
slow:
#ifdef VOTE
		/* F1, F2 */
		if
		:: told[p]
		:: atomic { !told[p] && first -> told[p] = first; goto try }
		:: atomic { !told[p] && !first -> first = VOTE; told[p] = VOTE; goto try }
		:: !told[p] && !first
		fi;
#endif
		/* B: a client whose node will get its mode back waits for that */
		if
		:: back[n] && PERMITS(back[n], x) ->
			if
			:: !back[n] || ADMITS(n, x) -> goto try
			:: MAY_TIME_OUT -> goto out
			fi
		:: skip
		fi;
		nq[n]++;
		if :: atomic { !lh[n] -> lh[n] = 1 } :: MAY_TIME_OUT -> goto quit fi;
head:
		/* The head of the queue of its node */
		if
		:: atomic { x && handed[n] -> handed[n] = 0; NO_HEAD; wr[n] = 1; goto cs }
		:: atomic { !x && handed[n] -> handed[n] = 0; wr[n] = 1; goto handed_over }
		:: atomic {
				!x && keeps[n] && rd[n] && !wr[n] && !handed[n] -> /* S3 */
				NO_HEAD; rd[n]++; goto cs
			}
		/* H1, H2 */
		:: atomic {
				!q && !handed[n] && ADMITS(n, x) && !wr[n] &&
				(!x || !rd[n]) -> COUNT
			};
			if
			:: atomic { ADMITS(n, x) -> NO_HEAD; goto cs }
#ifdef BREAK_HITS
			:: atomic { else -> NO_HEAD; b = 1; goto release }
#else
			:: atomic { else -> q = 1; b = 1; goto release }
#endif
			fi
		:: atomic {
				!wr[n] && !handed[n] && !keeps[n] && (q || !ADMITS(n, x)) &&
				MAY_QUEUE(n) -> q = 0
			};
			if
#ifdef BREAK_AWAITED
			:: atomic { awaited[n] = 0 }
#else
			:: atomic { !handed[n] -> awaited[n] = 0 }
			:: atomic { handed[n] -> goto head }
#endif
			fi
		:: atomic {
				STAY && !awaited[n] && !handed[n] && HOLDERS(n) ->
				awaited[n] = 1; goto head
			}
		:: atomic { MAY_TIME_OUT && !handed[n] -> awaited[n] = 0; lh[n] = 0; goto quit }
		fi;
		/* A miss. D2: resume the node's place */
		if
#ifdef BREAK_RESUME
		:: status[n] == ABANDONED -> status[n] = WAITING; goto await
#else
		:: atomic { IDLE(n) && status[n] == ABANDONED -> status[n] = WAITING; goto await }
#endif
		:: status[n] == FREE || status[n] == PASSED
		fi;
		/* Q1 */
		d_step { next[n] = 0; writes[n] = 0; status[n] = WAITING };
#ifdef BREAK_HOME
		g = CONFLICT(HOME, N);
#endif
		/* Q2 */
		atomic {
			s = tail; tail = n + 1;
			if
#ifdef VOTE
			:: s == 0 && fresh -> fresh = 0; goto ask
			:: s == 0 && !fresh ->
#else
			:: s == 0 ->
#endif
				o = open; dm = m; ds = set; open = 0; m = 0; set = 0; goto has
			:: else
			fi
		};
		/* Q3 */
#ifdef POSTED
		atomic {
			if
			:: next[s - 1] == LEFT -> /* P2 */
				next[s - 1] = n + 1;
				o = gopen[s - 1]; dm = gm[s - 1]; ds = gset[s - 1]; s = 0;
				goto has
			:: else -> next[s - 1] = n + 1; writes[s - 1] = x && !MAY_TIME_OUT; s = 0
			fi
		};
#else
		atomic { next[s - 1] = n + 1; writes[s - 1] = x && !MAY_TIME_OUT; s = 0 };
#endif
await:
		/* Q4 */
		if
		:: atomic {
				IDLE(n) && status[n] == GRANTED ->
				o = gopen[n]; dm = gm[n]; ds = gset[n]; status[n] = FREE;
				gopen[n] = 0; gm[n] = 0; gset[n] = 0
			}
		/* D1 */
		:: atomic { IDLE(n) && MAY_TIME_OUT && status[n] == WAITING -> status[n] = ABANDONED };
			atomic { lh[n] = 0; goto quit }
		fi;
#ifdef VOTE
		goto has;
ask:
		/* F3 */
		atomic {
#ifndef BREAK_FIRST
			if :: !told[p] -> told[p] = first :: else fi;
#endif
			if
			:: told[p] == OWNED -> o = 1; dm = X; ds = BIT(HOME)
			:: told[p] == NONE -> NO_DIR
#ifdef BREAK_UNTOLD
			:: told[p] == 0 -> NO_DIR
			:: told[p] == SHARED -> o = 1; dm = S; ds = BIT(NN) - 1
#else
			:: told[p] == 0 || told[p] == SHARED -> o = 1; dm = S; ds = BIT(NN) - 1
#endif
			fi
		};
#endif
has:
		/* The head of the queue of nodes, with the directory: o, dm, ds */
		if
		:: atomic { x && o -> t = N }
		:: atomic { !x && o && dm == S -> goto join }
		:: atomic { !x && o && dm == X -> t = S }
		:: atomic { !o && x -> goto enter }
		:: atomic { !x && !o && NEXT_WRITES -> goto enter } /* S3 */
		:: !x && !o ->
			/* S1: share, with the nodes that get their mode back */
			write_modes(S, 0, 0);
			atomic { dm = S; o = 1; goto join }
		fi;
		/* C1 */
		if :: LEND && t == N -> r = dm :: r = 0 fi;
		d_step { new_number(); ack[n] = 0 };
		/* C0 */
		if
		:: atomic { IS_AT_HOME && n != HOME && !SEEN(t) -> j = NN }
		:: atomic { !IS_AT_HOME || n == HOME || SEEN(t) }
		fi;
		if
		:: atomic { j == NN && t == S -> j = 0 };
			if
			:: asker[HOME] -> write_modes(S, 0, 0)
			:: !asker[HOME] /* TAIL will say S */
			fi;
			atomic { t = 0; dm = S; r = 0; goto join }
		:: atomic { j == NN && t == N -> j = 0; dm = r; ds = (r -> ds : 0); o = 0; goto enter }
		:: else
		fi;
#ifdef BREAK_CLOSE
		do
		:: j < NN && !(ds & BIT(j)) -> j++
		:: j < NN && (ds & BIT(j)) && (j == n || !CONFLICT(j, t)) ->
			write_mode(j, t, r, (j == n -> 0 : n + 1)); j++
		:: j == NN -> j = 0; break
		od;
#else
#ifdef BREAK_OWN
		ds = ds & ~BIT(n);
#endif
		write_modes(t, r, n + 1);
#endif
		/* C2 */
		do
#ifdef BREAK_CLOSE
		:: atomic { j < NN -> j++ }
#endif
		:: atomic { j < NN && !(ds & BIT(j)) -> j++ }
#ifdef BREAK_DOWN
		:: atomic { j < NN && t == S -> j++ }
#endif
		:: atomic { j < NN && (ds & BIT(j)) && !CONFLICT(j, t) -> j++ }
#ifdef BREAK_ARM
		:: j < NN && (ds & BIT(j)) && CONFLICT(j, t) -> ack[n] = 0;
#else
		:: atomic { j < NN && (ds & BIT(j)) && CONFLICT(j, t) };
#endif
			/* C3; the own node's W itself tells when it changes */
			if
			:: atomic { j == n && !CONFLICT(j, t) -> j++ }
			:: atomic { ack[n] == NOW && ds == BIT(j) -> ack[n] = 0; j++ }
#ifdef BREAK_ONCE
			:: atomic { ack[n] -> ack[n] = 0; j++ }
#else
			:: atomic { ack[n] && !(ack[n] == NOW && ds == BIT(j)) -> ack[n] = 0 }
#endif
			:: atomic { MAY_TIME_OUT -> goto give_up }
			fi
		:: atomic { j == NN -> j = 0; break }
		od;
		if
		:: atomic { t == S -> t = 0; dm = S; r = 0; goto join }
		:: atomic { else -> dm = r; ds = (r -> ds : 0); o = 0 }
		fi;
enter:
		/* C4 */
		if
		:: atomic {
				(x -> !HOLDERS(n) : !wr[n] && !handed[n]) ->
				COUNT; NO_HEAD; keeps[n] = 1; asker[n] = 0; old[n] = 0;
#ifdef BREAK_LEND
				km[n] = 0; kset[n] = 0;
#else
				km[n] = dm; kset[n] = ds;
#endif
				dm = 0; ds = 0; t = 0; r = 0; goto cs
			}
		:: atomic { MAY_TIME_OUT -> goto give_up }
		fi;
handed_over:
		/* L1: a sharer has W */
		if
		:: atomic { !keeps[n] -> GONE; wr[n] = 0; rd[n]++; from = 3; goto look }
		:: atomic { keeps[n] && NEXT_WRITES -> GONE; wr[n] = 0; rd[n]++; goto cs } /* S3 */
		:: atomic { keeps[n] -> dm = km[n]; ds = kset[n]; from = 4 }
		fi;
		write_modes(S, 0, 0);
		dm = S;
join:
		/* S2: the node shares */
		write_mode(n, S, 0, 0);
		if
#ifdef BREAK_TURNED
		:: atomic { from == 4 -> FREE_W; rd[n]++; o = 1 }
#else
		:: atomic { from == 4 -> o = 1 }
#endif
		:: atomic { from == 0 && !wr[n] && !handed[n] -> rd[n]++; t = 0; o = 1 }
		fi;
#ifdef BREAK_JOIN
		goto depart;
#endif
		atomic { ds = ds | BIT(n); goto depart };
give_up:
		/* D4: nodes get the modes back that this one has recalled */
		j = 0;
#ifndef BREAK_RESTORE
		write_modes(GIVEN, 0, 0);
#endif
		atomic { o = (ds != 0); dm = (ds -> dm : 0); t = 0; r = 0; from = 2; goto depart };
cs:
		if
		:: x -> critical_exclusive(p)
#ifdef MEET
		:: else -> atomic { nr++; met++; once = 1; assert(nw == 0) }; atomic { met == MEET -> nr-- }
#else
		:: else -> critical_shared(p)
#endif
		fi;
release:
		/* R1. L1: a holder may hand W over to the clients in the queue of its node */
		if
		:: atomic { x && keeps[n] && !b -> goto leave }
		:: atomic {
				x && (b || !keeps[n]) -> wr[n] = 0;
				if :: keeps[n] && !HOLDERS(n) -> goto finish :: else fi
			}
		:: x && !b && !keeps[n] && STAY && nq[n] && awaited[n] -> goto hand
		:: atomic { !x -> rd[n]--; if :: keeps[n] && !HOLDERS(n) -> goto finish :: else fi }
		fi;
look:
		/* R2 */
#ifdef BREAK_SILENT
		if :: b -> goto done :: else fi;
#endif
		atomic {
			to[p] = (mode[n] == X -> 0 : asker[n]); stale[p] = old[n]; t = mode[n];
			if :: to[p] == 0 -> NO_ACK; goto done :: else fi
		};
		/* R3 */
		if
#ifdef BREAK_AGAIN
		:: true
#else
		:: atomic { CONFLICT(n, t) -> NO_ACK; goto done }
		:: atomic { !CONFLICT(n, t) }
#endif
		fi;
		/* R4 */
		atomic { ACK[to[p] - 1] = (stale[p] -> OLD : NOW); NO_ACK; goto done };
finish:
		/* S3: the last sharer of a node that keeps the queue leaves as an exclusive holder does */
#ifdef BREAK_FINISH
		if :: b -> goto done :: else fi;
#endif
		if
		:: atomic { !keeps[n] || HOLDERS(n) -> goto done }
		:: atomic { keeps[n] && !HOLDERS(n) -> wr[n] = 1 }
		fi;
leave:
		/* L: the client has W alone, and its node keeps the queue */
		if
		/* L1 */
		:: STAY && nq[n] -> goto hand
		/* L2: pass on */
		:: atomic { next[n] != 0 -> o = 0; dm = km[n]; ds = kset[n]; from = 1; goto depart }
		/* L3: give back */
		:: atomic { kset[n] != 0 -> dm = km[n]; ds = kset[n]; j = 0 };
			write_modes(GIVEN, 0, 0)
		/* L4: cache; what was lent will not come back */
		:: atomic { ds = kset[n]; j = 0 };
			write_modes(N, 0, 0);
			if :: ds = BIT(n) :: ds = BIT(HOME) fi;
			dm = X;
#ifndef BREAK_WRITER
			if
			:: !IS_AT_HOME -> write_mode(n, X, 0, 0)
			:: else
			fi
#endif
		fi;
		atomic { o = 1; from = 1 };
depart:
#ifdef BREAK_EARLY
		if :: from == 1 -> d_step { FREE_W } :: else fi;
#endif
#ifdef POSTED
		/* P1 */
		if
		:: atomic {
				from == 1 && o && next[n] == 0 ->
				next[n] = LEFT; INTO(n); pleave[n] = 1; status[n] = FREE; goto freed
			}
		:: else
		fi;
#endif
		/* L5 */
		if
		:: atomic { next[n] == 0 && tail == n + 1 -> PUBLISH; status[n] = FREE; goto freed }
		:: atomic { next[n] != 0 -> s = next[n]; status[n] = FREE; next[n] = 0 }
		fi;
freed:
		if
		:: atomic { from == 1 -> FREE_W }
#ifndef BREAK_TURNED
		:: atomic { from == 4 -> FREE_W; rd[n]++ }
#endif
		:: else
		fi;
		/* L6 */
		do
		:: s == 0 -> break
#ifdef TORN
		:: atomic { s && !busy[s - 1] -> busy[s - 1] = 1; r = status[s - 1] };
			atomic {
				busy[s - 1] = 0;
				if
				:: r == WAITING -> GIVE(s - 1); INTO(s - 1); s = 0; r = 0; break
				:: else -> status[s - 1] = PASSING
				fi;
				r = 0
			};
#else
		:: atomic { s && status[s - 1] == WAITING -> GIVE(s - 1); INTO(s - 1); s = 0; break }
		:: atomic { s && status[s - 1] == ABANDONED -> status[s - 1] = PASSING };
#endif
			/* D3 */
#ifdef BREAK_PLACE
			status[s - 1] = PASSED;
#endif
#ifndef BREAK_LAST
			/* What is lent is given back before the queue is left. */
			if
			:: atomic { next[s - 1] == 0 && !o && ds -> o = 1; j = 0 };
				write_modes(GIVEN, 0, 0)
			:: else
			fi;
#endif
			if
			:: atomic { next[s - 1] != 0 -> r = next[s - 1] }
#ifdef BREAK_TAIL
			:: atomic { next[s - 1] == 0 && tail == s -> NO_DIR; PUBLISH }
#else
			:: atomic { next[s - 1] == 0 && tail == s -> PUBLISH }
#endif
			fi;
			atomic { status[s - 1] = PASSED; s = r; r = 0 }
		od;
#ifdef BREAK_WRITER
		if
		:: from == 1 && dm == X && ds == BIT(n) && !IS_AT_HOME && o -> write_mode(n, X, 0, 0)
		:: else
		fi;
#endif
		if
		:: atomic { from == 0 -> NO_DIR; NO_HEAD; goto cs }
		:: atomic { from == 4 -> from = 0; NO_DIR; GONE; goto cs }
#ifdef BREAK_LATE
		:: atomic { from == 1 -> from = 0; NO_DIR; goto done }
#else
		:: atomic { from == 1 -> from = 0; NO_DIR; goto look }
#endif
		:: atomic { from == 2 -> from = 0; NO_DIR; lh[n] = 0; goto quit }
		fi;
		goto done;
hand:
		/* L1, and whether a client is there still */
#ifndef BREAK_AWAITED
		if
		:: atomic { !keeps[n] && !awaited[n] -> wr[n] = 0; goto look }
		:: atomic { keeps[n] || awaited[n] -> wr[n] = 0; handed[n] = 1 }
		fi;
#else
		atomic { wr[n] = 0; handed[n] = 1 };
#endif
#ifdef BREAK_NOBODY
		goto done;
#endif
		if
		:: nq[n] || !handed[n] -> goto done
		:: atomic { !nq[n] && handed[n] -> handed[n] = 0; wr[n] = 1 }
		fi;
		if :: keeps[n] -> goto leave :: else -> goto release fi;
done:
		if
		:: atomic { from == 3 -> from = 0; goto cs }
		:: atomic { b && q -> b = 0; goto head }
		:: atomic { b && !q -> b = 0; goto slow }
		:: else
		fi;
		goto out;
quit:
		/* L1: a client that leaves the queue of its node without W */
		atomic { q = 0; nq[n]--; if :: nq[n] -> goto out :: else fi };
#ifndef BREAK_HANDED
		if
		:: atomic { handed[n] -> handed[n] = 0; wr[n] = 1; x = 1; goto release }
		:: else
		fi;
#endif
out:
		x = 0; u = 0
#ifdef MEET
	:: WRITES || once -> break
#else
	:: break
#endif
	od;
	alive--
}

#ifdef POSTED
/* What releases have left on its way, to or from node _pid. */
active [NN] proctype Posts()
{
end:
	do
	:: atomic { pack[_pid] -> ack[_pid] = pack[_pid]; pack[_pid] = 0 }
	:: atomic { pgrant[_pid] -> pgrant[_pid] = 0; status[_pid] = GRANTED }
	:: atomic {
			pleave[_pid] -> pleave[_pid] = 0;
			if
			:: tail == _pid + 1 ->
				tail = 0; open = gopen[_pid]; m = gm[_pid]; set = gset[_pid]; next[_pid] = 0
			:: else
			fi
		}
	od
}
#endif

init
{
	byte i;

	atomic { for (i : 0 .. NP - 1) { run P(i) } i = 0 };
	alive == 0;
#ifdef POSTED
	SETTLED(0) && SETTLED(1) && SETTLED(NN - 1) && !pack[0] && !pack[1] && !pack[NN - 1];
#endif
	assert(tail == 0);
	for (i : 0 .. NN - 1) {
		assert(!HOLDERS(i) && !keeps[i] && !awaited[i] && !nq[i] && !lh[i] && !back[i]);
		assert(mode[i] == N || (open && (set & BIT(i)) && mode[i] == m));
		assert(!open || !(set & BIT(i)) || UNWRITTEN(i) || mode[i] == m ||
		       (i == HOME && mode[i] == N));
		assert(i != HOME || mode[i] != X)
	}
}
