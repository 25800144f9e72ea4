/*
 * Citron, ranges in a segment tree: model of src/lock/citron/citron.c.
 *
 * What it models. Three processes at a tree of degree 2 with three levels: root 0, inner nodes 1
 * and 2, leaves 3 to 6 of two units each, so units 0 to 7. Each process asks any number of times
 * for any of the ranges in NODES, which have covers of one or two nodes, and may stop between two
 * acquisitions. Covers of leaves only are tried by the fast path or taken by the slow one, at
 * random. -DM=1 or 2 (default): the number of levels that clients look at. A client of the fast
 * path announces itself by its bits, for inner nodes at most M levels above the leaves, and with
 * -DM=1 in one of two stripes, for the root. If it finds bits of others, it takes its own back, or
 * keeps them and asks for the others when one of these has gone, any number of times. Tickets count
 * modulo 4.
 *
 * What it proves. No two processes have the same unit; all units of an inner node belong to its
 * holder; no deadlock (awaits are blocking guards); at the end all words say "free". With
 * -DLIVE=0, under weak fairness, process 0, which then only asks for all units, gets them whenever
 * it wants them. -DW0=w, -DW1=w, -DW2=w: a process asks for that range only.
 *
 * With -DPOSTED a release is posted: its operations take effect in any order at any time later, while
 * the process may ask again by another one of its -DSLOTS=s slots (default 2), and finds its own
 * units, turns and announcements like those of others. A slot is used again, and a process stops,
 * only when the operations have taken effect. A word of announcements counts each slot once (assert).
 *
 * What it abstracts. An operation and its flush are one step; operations that are issued together
 * are consecutive steps. Left out are escalation, so nothing is proved about small ranges that meet
 * an occupied node, or bits that others take back, again and again; tries; the units behind the
 * tree; and the queues in front of the fast path, in which a client has nothing that others wait
 * for outside the queue.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | W0=4 W1=6 W2=5 | safe | pass | a leaf and an inner node, that node, all units | 1 033 227 |
 * | W0=1 W1=7 W2=0 | safe | pass | two pairs of leaves that overlap, one unit | 498 901 |
 * | W0=1 W1=8 W2=0 | safe | pass | two pairs of leaves of which each has bits of the other's, one unit | 1 452 872 |
 * | W0=8 W1=7 W2=1 | safe long | pass | three pairs of leaves that overlap | 3 274 348 |
 * | W0=8 W1=2 W2=7 | safe long | pass | two pairs of leaves that overlap, an inner node over both of one | 10 326 102 |
 * | W0=1 W1=3 W2=5 | safe 3M long | pass | a pair of leaves, an inner node and a leaf, all units | 4 994 047 |
 * | W0=7 W1=2 W2=6 | safe 3M middle | pass | a pair of leaves of two parents, both parents | 3 667 987 |
 * | W0=3 W1=4 W2=1 | safe 3M long | pass | an inner node and a leaf from either side, a pair of leaves | 4 892 306 |
 * | M=1 W0=4 W1=3 W2=5 | safe 3M middle | pass | a leaf and an inner node from either side, all units, M = 1 | 5 848 738 |
 * | M=1 W0=0 W1=5 W2=7 | safe middle | pass | one unit, all units, a pair of leaves of two parents, M = 1 | 1 803 430 |
 * | LIVE=0 W1=1 W2=2 | live3 5M long | pass | all units among others | 7 494 482 |
 * | POSTED NP=2 W0=8 W1=1 | safe | pass | 2 clients of 2 slots each, releases posted: pairs of leaves that overlap | 434 740 |
 * | POSTED NP=2 W0=0 W1=2 | safe | pass | a leaf, the inner node above | 927 911 |
 * | POSTED NP=2 M=1 W0=0 W1=5 | safe | pass | a leaf, all units, M = 1 | 827 581 |
 * | POSTED NP=2 SLOTS=1 W0=4 W1=3 | safe | pass | one slot each, releases posted: an inner node and a leaf from either side | 147 344 |
 * | POSTED NP=3 SLOTS=1 W0=0 W1=2 W2=5 | safe middle | pass | one slot each, releases posted: a leaf, the inner node above, all units | 2 114 984 |
 * | BREAK_LOOK W0=0 W1=2 W2=2 | safe | assert | a client below looks above before it announces itself | two holders of a unit |
 * | BREAK_DRAIN W0=0 W1=2 W2=2 | safe | assert | a client above does not wait for clients below | two holders of a unit |
 * | BREAK_LEAVES W0=0 W1=2 W2=2 | safe | assert | a client above does not look at the bits below | two holders of a unit |
 * | M=1 BREAK_STRIPE W0=5 W1=0 W2=0 | safe | assert | a client above looks at one of the stripes | two holders of a unit |
 * | BREAK_RAISED W0=0 W1=2 W2=2 | safe | assert | a client above counts itself in RAISED after it has looked below | two holders of a unit |
 * | BREAK_MEET W0=0 W1=2 W2=2 | safe | assert | a client below announces itself at the root only | two holders of a unit |
 * | BREAK_COMMON W0=1 W1=5 W2=5 | safe | deadlock | a client that holds a node waits for nodes above it, as in the paper | |
 * | BREAK_BITS W0=1 W1=8 W2=7 | safe | assert | a client that finds bits of others set clears those, too | a holder without its bits |
 * | BREAK_KEEP W0=1 W1=8 W2=7 | safe | deadlock | a client that finds bits of others set waits without clearing its own | |
 * | BREAK_AGAIN W0=0 W1=0 W2=2 | bfs | assert | a client looks above before it asks again for bits of others | two holders of a unit |
 * | BREAK_CLAIM W0=1 W1=8 W2=7 | safe | deadlock | a client asks for bits of others for ever, and keeps its own | |
 * | BREAK_TICKETS W0=4 W1=6 W2=5 | safe | deadlock | the ticket of a node is drawn when the nodes before it are held | |
 * | POSTED NP=2 SLOTS=1 BREAK_REUSE W0=2 W1=6 | safe | assert | a slot is used again before its release has taken effect | a word counts a slot twice |
 * | POSTED NP=2 SLOTS=1 BREAK_MINE W0=2 W1=5 | safe | assert | so it is, and counts on announcements that are on their way out | an announcement withdrawn twice |
 * | POSTED NP=2 BREAK_OWN W0=0 W1=0 | safe | assert | a client takes bits of its own that are on their way out for its own | a holder without its bits |
 * | POSTED NP=2 BREAK_RISEN W0=2 W1=5 | safe | assert | a client leaves out its nodes that are on their way out when it looks at RAISED | two holders of a unit |
 * | POSTED NP=2 BREAK_TURN W0=2 W1=2 | safe | assert | OCC is not cleared by the operation that ends the turn | OCC is set twice |
 * | POSTED NP=2 SLOTS=1 BREAK_EARLY W0=0 W1=5 | safe | assert | announcements are withdrawn while the units are held | two holders of a unit |
 * | POSTED NP=2 BREAK_PROGRESS W0=2 W1=6 | safe | deadlock | operations take effect when the process next has nothing to wait for | |
 */
#ifndef M
#define M 2
#endif
#include "citron_wants.inc"
#define NONE 7

byte below[3], next[3], done[3];
bit occ[3];
byte raised;
byte bits[4];
byte stripe[2];
byte owned;      /* ghost: units that are held */
byte alive = NP; /* processes that will still ask */

#ifdef POSTED
#ifndef SLOTS
#define SLOTS 2
#endif
/* What is on its way for a slot (p, p + NP): operations, and what they change. */
#define TURN 1    /* bits, or the end of the turn, of the first node; << 1: of the second */
#define DOWN 4    /* RAISED */
#define STRIPED 8
#define BELOW 16  /* << the node */
#ifdef BREAK_RISEN
#define ANSWER 128 /* comes after the effects; else with the last of them */
#else
#define ANSWER 0
#endif
#ifdef BREAK_TURN
#define OCC 256
#else
#define OCC 0 /* part of TURN */
#endif
short flying[NP * SLOTS];
byte first_node[NP * SLOTS], second_node[NP * SLOTS], clears[NP * SLOTS]; /* bits: 2 for each node */
#define OTHER(p) (p + NP * (SLOTS - 1))
#define SETTLED(p) (flying[p] == 0 && flying[OTHER(p)] == 0)
/* an inner node of a release that is not answered */
#define RAISES(s) (flying[s] != 0 && (!IS_LEAF(first_node[s]) || !IS_LEAF(second_node[s])))
#define FLIES(s, n) ((flying[s] & (BELOW << n)) != 0)
#ifdef BREAK_PROGRESS
bit idle[NP];
#endif
#define MOST_BELOW (NP * SLOTS)
#else
#define MOST_BELOW NP
#endif

#include "live.inc"

#define IS_LEAF(n) (n >= 3)
#define PARENT(n) (n >= 3 -> (n - 1) / 2 : 0)
/* the leaf's part of the range */
#define MASK(n) ((units >> (2 * (n - 3))) & 3)
#define BITS(n) bits[n - 3]
#define HAS_ALL(n, on) (n == NONE || on == MASK(n))
/* a bit of another client has gone */
#define MAY_GET(n, on) (n != NONE && (MASK(n) & (3 - on) & (3 - BITS(n))) != 0)

/* w: the nodes and the units */
inline choose_range()
{
	if
	:: w == 0 -> n0 = 3; n1 = NONE; units = 1    /* unit 0 */
	:: w == 1 -> n0 = 3; n1 = 4; units = 2 + 4   /* 1 and 2 */
	:: w == 2 -> n0 = 1; n1 = NONE; units = 15   /* 0 to 3 */
	:: w == 3 -> n0 = 1; n1 = 5; units = 31      /* 0 to 4 */
	:: w == 4 -> n0 = 4; n1 = 2; units = 248     /* 3 to 7 */
	:: w == 5 -> n0 = 0; n1 = NONE; units = 255  /* all */
	:: w == 6 -> n0 = 2; n1 = NONE; units = 240  /* 4 to 7 */
	:: w == 7 -> n0 = 4; n1 = 5; units = 8 + 16  /* 3 and 4 */
	:: w == 8 -> n0 = 3; n1 = 4; units = 14      /* 1 to 3 */
	fi
}

/* announce at one more node, if not done before */
inline announce_at(x)
{
	if
#ifdef BREAK_MINE
	:: atomic { !mine[x] && FLIES(s, x) -> mine[x] = 1; fresh[x] = 1 }
	:: atomic { !mine[x] && !FLIES(s, x) ->
#else
	:: atomic { !mine[x] ->
#endif
		assert(below[x] < MOST_BELOW); below[x]++; mine[x] = 1; fresh[x] = 1 }
	:: else
	fi
}

inline announce(n)
{
#ifdef BREAK_MEET
	if :: n != 0 -> announce_at(0) :: else fi
#else
	if
	:: n == 0
	:: IS_LEAF(n) ->
		up = PARENT(n);
		announce_at(up);
#if M == 1
		announce_at(0)
#endif
	:: else -> announce_at(0)
	fi
#endif
}

/* only the new ones */
inline withdraw_at(x)
{
	if
	:: atomic { fresh[x] -> assert(below[x] > 0); below[x]--; mine[x] = 0; fresh[x] = 0 }
	:: else
	fi
}
inline withdraw()
{
	withdraw_at(0);
	withdraw_at(1);
	withdraw_at(2)
}
inline withdraw_all()
{
	atomic { fresh[0] = mine[0]; fresh[1] = mine[1]; fresh[2] = mine[2] }
	withdraw()
}

/* A3: way is an occupied node above n, except nodes that are also above `held` */
inline look_above(n, h)
{
	if
	:: IS_LEAF(n) && !(h != NONE && IS_LEAF(h) && PARENT(h) == PARENT(n)) &&
	   !(h != NONE && h == PARENT(n)) ->
		if :: occ[PARENT(n)] && way == NONE -> way = PARENT(n) :: else fi
	:: else
	fi;
	if
	:: n != 0 && h == NONE ->
		if :: occ[0] && way == NONE -> way = 0 :: else fi
	:: else
	fi
}

/* the same by RAISED, unless only this client has raised a node */
inline look_up(n, h)
{
	if
#ifdef BREAK_RISEN
	:: raised == risen + RAISES(p) + RAISES(OTHER(p))
#else
	:: raised == risen
#endif
	:: else -> look_above(n, h)
	fi
}

/* U2: the two words change in either order */
inline raise(n)
{
#ifdef BREAK_RAISED
	atomic { assert(!occ[n]); occ[n] = 1 }
	drain(n);
	raised++;
#else
	if
	:: raised++;
	   atomic { assert(!occ[n]); occ[n] = 1 }
	:: atomic { assert(!occ[n]); occ[n] = 1 }
	   raised++
	fi;
	/* U3 */
	drain(n); /* U4 */
#endif
	risen = 1
}

/* S1 for a node */
inline draw(n)
{
	if
	:: !IS_LEAF(n) && n != NONE ->
		atomic { ticket = next[n]; next[n] = (next[n] + 1) % 4 };
		done[n] == ticket
	:: else
	fi
}

/* each bit of a leaf has been clear once */
inline drain_leaf(x)
{
	(BITS(x) & 1) == 0;
	(BITS(x) & 2) == 0
}

inline drain_leaves(n)
{
	if
	:: n == 1 -> drain_leaf(3); drain_leaf(4)
	:: n == 2 -> drain_leaf(5); drain_leaf(6)
	:: else ->
#if M == 1
		stripe[0] == 0;
#ifndef BREAK_STRIPE
		stripe[1] == 0
#endif
#else
		drain_leaf(3); drain_leaf(4); drain_leaf(5); drain_leaf(6)
#endif
	fi
}

inline drain(n)
{
#ifndef BREAK_DRAIN
#ifndef BREAK_LEAVES
	drain_leaves(n);
#endif
	below[n] == 0;
#if M == 2
	if
	:: n == 0 -> below[1] == 0; below[2] == 0
	:: else
	fi
#endif
#endif
	skip
}

inline end_turn(n)
{
	if
	:: n != NONE && !IS_LEAF(n) ->
		if
		:: atomic { occ[n] = 0; done[n] = (done[n] + 1) % 4 }
		   raised--
		:: raised--;
		   atomic { occ[n] = 0; done[n] = (done[n] + 1) % 4 }
		fi;
		risen = 0
	:: n != NONE && IS_LEAF(n) ->
		atomic { assert((BITS(n) & MASK(n)) == MASK(n)); BITS(n) = BITS(n) & (3 - MASK(n)) }
	:: else
	fi
}

#ifdef POSTED
/* the bits of this leaf that a slot's release has yet to clear */
#define OWN_FLYING(s, n) (((flying[s] & TURN) && first_node[s] == n -> clears[s] & 3 : 0) | \
			  ((flying[s] & (TURN << 1)) && second_node[s] == n -> clears[s] >> 2 : 0))
#define STRIPE(s) ((s % NP + s / NP) % 2)

/* R, posted */
inline post()
{
	d_step {
		first_node[s] = n0;
		second_node[s] = n1;
		clears[s] = (IS_LEAF(n0) -> MASK(n0) : 0) | (n1 != NONE && IS_LEAF(n1) -> MASK(n1) << 2 : 0);
		flying[s] = ANSWER | TURN | (n1 != NONE -> TURN << 1 : 0) | (striped -> STRIPED : 0) |
			    (mine[0] << 4) | (mine[1] << 5) | (mine[2] << 6);
		if
		:: risen -> flying[s] = flying[s] | DOWN | OCC
		:: else
		fi;
		mine[0] = 0; mine[1] = 0; mine[2] = 0; fresh[0] = 0; fresh[1] = 0; fresh[2] = 0;
		striped = 0; risen = 0;
		n0 = 0; n1 = 0; n = 0; units = 0; ticket = 0; up = 0; way = 0; held = 0; first = 0 /* fewer states */
	}
}

inline take_effect(n, on)
{
	if
	:: IS_LEAF(n) -> assert((BITS(n) & on) == on); BITS(n) = BITS(n) - on
	:: else ->
		done[n] = (done[n] + 1) % 4;
#ifndef BREAK_TURN
		occ[n] = 0
#endif
	fi
}

inline effect_below(x)
{
	assert(below[x] > 0);
	below[x]--;
	flying[s] = flying[s] - (BELOW << x)
}

proctype Wire(byte s)
{
end:	do
#ifdef BREAK_PROGRESS
	:: atomic { idle[s % NP] && flying[s] != 0 ->
#else
	:: atomic { flying[s] != 0 ->
#endif
		if
		:: flying[s] & TURN -> take_effect(first_node[s], (clears[s] & 3)); flying[s] = flying[s] - TURN
		:: flying[s] & (TURN << 1) ->
			take_effect(second_node[s], (clears[s] >> 2));
			flying[s] = flying[s] - (TURN << 1)
		:: flying[s] & DOWN -> raised--; flying[s] = flying[s] - DOWN
		:: flying[s] & STRIPED ->
			assert(stripe[STRIPE(s)] > 0);
			stripe[STRIPE(s)]--;
			flying[s] = flying[s] - STRIPED
		:: FLIES(s, 0) -> effect_below(0)
		:: FLIES(s, 1) -> effect_below(1)
		:: FLIES(s, 2) -> effect_below(2)
		:: flying[s] & OCC ->
			occ[(IS_LEAF(first_node[s]) -> second_node[s] : first_node[s])] = 0;
			flying[s] = flying[s] - OCC
		:: flying[s] == ANSWER -> flying[s] = 0
		fi;
		if
		:: flying[s] == 0 -> first_node[s] = 0; second_node[s] = 0; clears[s] = 0
		:: else
		fi
	   }
	od
}
#else
#define STRIPE(s) (p % 2)
#endif

/* fetch-or: set the bits of a leaf; on: those that were not set, which are this client's from then on */
inline set_bits(n, on)
{
#ifdef BREAK_OWN
	atomic { on = MASK(n) & ((3 - BITS(n)) | OWN_FLYING(p, n) | OWN_FLYING(OTHER(p), n)); BITS(n) = BITS(n) | MASK(n) }
#else
	atomic { on = MASK(n) & (3 - BITS(n)); BITS(n) = BITS(n) | MASK(n) }
#endif
}

/* the same for the bits that are missing */
inline ask_bits(n, on)
{
	if
	:: atomic {
		n != NONE && on != MASK(n) ->
		on = on | (MASK(n) & (3 - BITS(n)));
		BITS(n) = BITS(n) | MASK(n)
	   }
	:: else
	fi
}

/* take back what set_bits() has set */
inline unset_bits(n, on)
{
#ifdef BREAK_BITS
	atomic { BITS(n) = BITS(n) & (3 - MASK(n)); on = 0 }
#else
	atomic { assert((BITS(n) & on) == on); BITS(n) = BITS(n) & (3 - on); on = 0 }
#endif
}

/* a cover of leaves, none, one or both of which then have all their bits */
inline set_leaves()
{
	set_bits(n0, on0);
	if :: n1 != NONE -> set_bits(n1, on1) :: else fi
}

/* with M == 2 their bits are enough */
inline announce_leaves()
{
#if M == 1
	atomic { stripe[STRIPE(s)]++; striped = 1 }
#else
	skip
#endif
}

inline withdraw_stripe()
{
	if
	:: atomic { striped -> assert(stripe[STRIPE(s)] > 0); stripe[STRIPE(s)]--; striped = 0 }
	:: else
	fi
}

inline look_up_leaves()
{
	look_up(n0, NONE);
	if :: n1 != NONE -> look_up(n1, NONE) :: else fi
}

proctype P(byte p)
{
	byte w, n0, n1, n, units, ticket, up, way, on0, on1, held, risen;
#ifdef POSTED
	byte s;
#endif
	bit mine[3], fresh[3], first, striped;

	do
	:: atomic {
		WANT;
		w = WANTED(p);
#ifdef LIVE
		if :: p == LIVE -> w = 5 :: else fi;
#endif
		if
		:: w == ANY -> if :: w = 0 :: w = 1 :: w = 2 :: w = 3 :: w = 4 :: w = 5 :: w = 6 :: w = 7 :: w = 8 fi
		:: else
		fi;
		choose_range()
	   }
#ifdef POSTED
#if defined(BREAK_REUSE) || defined(BREAK_MINE)
		s = p;
#else
		if
		:: d_step { flying[p] == 0 -> s = p }
		:: d_step { flying[p] != 0 && flying[OTHER(p)] == 0 -> s = OTHER(p) }
		fi;
#endif
#ifdef BREAK_PROGRESS
		idle[p] = 0;
#endif
#endif
again:		way = NONE;
		risen = 0;
		if
		:: IS_LEAF(n0) && (n1 == NONE || IS_LEAF(n1)) -> goto fast
		:: goto slow
		fi;

fast: /* all leaves or none; the bits are set with the announcements */
#ifdef BREAK_LOOK
		look_up_leaves();
#endif
		if
		:: set_leaves(); announce_leaves()
		:: announce_leaves(); set_leaves()
		fi;
		/* A2 */
#ifndef BREAK_LOOK
		look_up_leaves();
#endif
claim:		if
		:: atomic {
			way == NONE && HAS_ALL(n0, on0) && HAS_ALL(n1, on1) ->
			on0 = 0; on1 = 0;
			goto holds
		   }
		:: way == NONE && (MAY_GET(n0, on0) || MAY_GET(n1, on1)) ->
#ifdef BREAK_AGAIN
			look_up_leaves();
#endif
			ask_bits(n0, on0);
			ask_bits(n1, on1);
#ifndef BREAK_AGAIN
			look_up_leaves();
#endif
			goto claim
#ifdef BREAK_CLAIM
		:: way != NONE
#else
		:: way != NONE || !HAS_ALL(n0, on0) || !HAS_ALL(n1, on1)
#endif
		fi;
		atomic { first = (on0 != MASK(n0)) }
		unset_bits(n0, on0);
		if :: n1 != NONE -> unset_bits(n1, on1) :: else fi;
		withdraw_stripe();
		/* nothing is held: wait for what is in the way */
		if
		:: way != NONE -> occ[way] == 0
		:: way == NONE && first -> (BITS(n0) & MASK(n0)) == 0
		:: way == NONE && !first -> (BITS(n1) & MASK(n1)) == 0
		fi;
		goto again;

slow:		/* S1: at most one of the nodes is an inner one */
#ifndef BREAK_TICKETS
		draw(n0);
		draw(n1);
#endif
		held = NONE;
		n = n0;
node:		/* S2 */
#ifdef BREAK_TICKETS
		draw(n);
#endif
		do
		:: way = NONE;
			atomic { fresh[0] = 0; fresh[1] = 0; fresh[2] = 0 }
#ifdef BREAK_LOOK
			look_up(n, held);
			announce(n);
#else
			announce(n);
			/* A2 */
			look_up(n, held);
#endif
			if
			:: way == NONE -> break
			:: else
			fi;
			withdraw();
			occ[way] == 0
		od;
		if
		:: IS_LEAF(n) ->
			do
			:: (BITS(n) & MASK(n)) == 0;
				set_bits(n, on0);
				if
				:: atomic { on0 == MASK(n) -> on0 = 0; break }
				:: else
				fi;
#ifndef BREAK_KEEP
				unset_bits(n, on0)
#endif
			od
		:: else -> raise(n)
		fi;
		if
		:: n == n0 && n1 != NONE ->
#ifndef BREAK_COMMON
			held = n0;
#endif
			n = n1;
			goto node
		:: else
		fi;

holds:
#ifdef BREAK_EARLY
		withdraw_all();
#endif
		atomic { assert((owned & units) == 0); owned = owned | units; IN }
		atomic { owned = owned & (255 - units); OUT_OF }
		/* R */
#ifdef POSTED
		flying[s] == 0;
		post();
#ifdef BREAK_PROGRESS
		idle[p] = 1
#endif
#else
		if
		:: end_turn(n0); end_turn(n1); withdraw_stripe()
		:: striped -> withdraw_stripe(); end_turn(n0); end_turn(n1)
		fi;
		withdraw_all()
#endif
#ifdef POSTED
	:: SETTLED(p) -> break
#else
	:: break
#endif
	od;
	atomic {
		alive--;
		if
		:: alive == 0 ->
			assert(bits[0] + bits[1] + bits[2] + bits[3] == 0);
			assert(stripe[0] + stripe[1] == 0);
			assert(below[0] + below[1] + below[2] == 0 && occ[0] + occ[1] + occ[2] == 0);
			assert(raised == 0);
			assert(next[0] == done[0] && next[1] == done[1] && next[2] == done[2])
		:: else
		fi
	}
}

init
{
	byte i;

	/* tickets just before their wrap */
	atomic { next[0] = 3; done[0] = 3; next[1] = 3; done[1] = 3; next[2] = 3; done[2] = 3 }
	atomic {
#ifdef POSTED
		do :: i < NP * SLOTS -> run Wire(i); i++ :: else -> i = 0; break od;
#endif
		do :: i < NP -> run P(i); i++ :: else -> break od
	}
}
