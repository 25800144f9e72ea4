/*
 * ShiftLock with a client that fails: model of src/lock/shiftlock/shiftlock_lease.c under src/lock/shiftlock/shiftlock.c.
 *
 * What it models. Three writers, which take the lock any number of times and may stop between two
 * acquisitions. Process 0 (any one, they are alike) is stopped once, at any step; it continues at
 * any later time, or never. Recoverers may take any time between the look and the swap (K1), from
 * there to the replacement (K2), and from there to the short cut (K3). Blocks: NB (3).
 *
 * Time. There is no clock. A waiter takes the lock for stuck (its third lease is over) only on a
 * look when no living client has to act: the holder, or the releaser until its grant, or the client
 * that was granted the lock, is process 0 and stopped or dead; or the lock is lost: a releaser has
 * run out of patience with a link that process 0 owes, or a late put has undone a link or a grant.
 * At such a look all waiters that were not stopped have looked as well, because they look twice a
 * lease. Process 0 is late if it was stopped since its last look, or since it met no other client
 * or confirmed. A client that was not stopped has linked itself at a block before any client queues
 * up at a later one; not with -DSLOW.
 *
 * What it proves. A client is in from the step by which it knows that it has the lock. Of the
 * clients that are in at a block that is not dead there is at most one; no client enters at a dead
 * block, or loses the block while in, except process 0 when it was stopped meanwhile; the release
 * of a client sees DEAD if another entered meanwhile; a block dies once, and its replacements are newer
 * than it; WP of a living block is the number of clients that are counted there, and of those that a
 * writer there owes, whatever late ones do elsewhere, and that of a dead block stays in its range; HEAD of a living block is taken before
 * it is written again, and a grant there finds its client waiting (asserts). No deadlock of the
 * living (awaits are blocking guards). At the end, if no process has died, the living block is
 * free. Three blocks are enough, and two are not (-DNB=2): one stop may cost two, the second for a
 * late put that undoes a link or a grant there. With -DLIVE=v, under weak fairness, process v > 0
 * gets the lock whenever it wants it. With -DSLOW three blocks are not enough, because a recovery
 * can make the next link late: a client that finds no spare gives up for good; the asserts hold,
 * and there is no deadlock.
 *
 * What it abstracts. Readers, turns and tries are left out, except that a row of writers has MOST + 1
 * at most: all but its last leave their count to the next one, by one put. REL never has an old value again;
 * instead there is, for each client, whether A (same), or REL (looked), has the value of its last
 * look, and whether it knows that REL has changed at most a lease ago (fresh). Numbers of
 * queueings: a client that queues up once more makes everything old that is
 * written for its earlier queueings (in words, and in what others are about to write); words with a
 * wrong number are null to their readers. A spare is taken in one step with K2: spares that are
 * taken without need are left out. Patience may also run out with another link than the one that
 * process 0 owes. An operation and its flush, with nothing of the same process between them, are one step;
 * operations issued together take effect in any order; words are atomic, and memory is sequentially
 * consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | | safe long | pass | 3 writers, one of which stops or dies, and 3 blocks; others in at the living block only, and the release of a lost lock sees it | 7 530 514 |
 * | SLOW | safe long | pass | the others link themselves late, too; spares can run out | 12 999 651 |
 * | MOST=2 | safe long | pass | the same, with rows of three | 9 259 939 |
 * | LIVE=1 | live3 long | pass | 3 writers, one of which stops or dies, and 3 blocks | 12 444 174 |
 * | NB=2 | safe | assert | one spare block | a third block is needed |
 * | BREAK_ERA | bfs | assert | K1 resets the words instead of leaving them | two holders: one was given up |
 * | BREAK_LOOK | bfs | assert | K1 is a put, not a compare-and-swap | a dead block dies again |
 * | BREAK_REPLACE | bfs | assert | K2 is a put | two holders, at two replacements |
 * | BREAK_CONFIRM | bfs | assert | a grant is taken without a confirmation, though REL has not changed since the last look | in at a dead block |
 * | BREAK_FRESH | safe | assert | what is known of REL does not get old | in at a dead block |
 * | BREAK_LATE | bfs | assert | the same, though the last look was too long ago | in at a dead block |
 * | BREAK_RETURN | bfs | assert | an acquire that met no other client, or has confirmed, returns without a look at the clock | in at a dead block |
 * | BREAK_TAG | safe | assert | links and grants carry no number | two holders: a grant from a dead block |
 * | BREAK_DEAD | bfs | assert | a release does not look whether the block is dead | the release of a lost lock reports nothing |
 * | BREAK_ROW | bfs | assert | a grant within a row is taken without a confirmation, though REL has not changed since the last look | in at a dead block |
 * | BREAK_BLIND | bfs | assert | a hand-over within a row does not look whether the block is dead | the release of a lost lock reports nothing |
 * | BREAK_SUM | bfs | assert | the last writer of a row subtracts itself only | WP counts writers that have left |
 * | BREAK_PATIENCE | bfs | deadlock | a releaser waits for a link for any time | |
 */
#define NP 3
#ifndef NB
#define NB 3
#endif
#ifndef MOST
#define MOST 1 /* what a writer owes; a row has one writer more */
#endif

/* the blocks */
byte WP[NB];
bit DEAD[NB];
byte TAIL[NB], HEAD[NB]; /* 0 or a queueing */
byte REPLACEMENT[NB];
byte used;
#define SOME 8 /* WP of a block that dies: above what late clients take */

/* in the slots; a queueing: process + 1 for its present or last one, process + 1 + NP for any before */
byte NEXT[NP];  /* 0: none, or one with a wrong tag */
bit STATUS[NP]; /* the grant; 0: none, or one for another queueing */
#define OLD(x) ((x) > NP)
#define OWNER(x) (OLD(x) -> (x) - NP - 1 : (x) - 1)

/* what clients know, visible to all */
byte blk[NP];            /* their block */
byte pred[NP], succ[NP]; /* in the queue, about to be written to */
byte owed[NP];           /* writers of the row that A still counts */
bit looked[NP];          /* REL has the value of their last look */
bit fresh[NP];           /* they know that REL has changed at most a lease ago */
bit same[NP];            /* A has the value of the look before K1 */

/* ghosts: whose turn it is */
#define OUT 0
#define LINKS 1   /* counted in, and not yet linked */
#define WAITS 2
#define GRANTED 3 /* and does not know yet that it has the lock */
#define HOLDS 4
#define GIVES 5 /* has to put the grant that leaves its count to its receiver */
#define HANDS 6 /* has subtracted itself, and has to find the next client */
#define HEADS 7 /* has subtracted itself, and has to write HEAD */
byte role[NP];
bit lost[NB];      /* no client will grant the lock */
bit headlost[NB];  /* no client will write HEAD */
bit gone[NP];      /* a link to it was undone */
bit robbed[NP];    /* another came in while it held the lock */
bit stopped, died; /* process 0; */
bit late, lapsed;  /* late: stopped since its last look; lapsed: since it knew that it had the lock */
byte alive = NP;

#define S 0
#define CONFLICT(p, q) (role[q] == HOLDS)
#define IS_FREE(b) (WP[b] == 0 && TAIL[b] == 0 && HEAD[b] == 0 && !lost[b])
#include "shiftlock_fate.inc"

#define P0_AT(b) (AWAY(0) && blk[0] == b)
#define STUCK(b) (lost[b] || \
	(P0_AT(b) && (role[0] == GRANTED || role[0] == HOLDS || role[0] == GIVES || role[0] == HANDS)))
#ifdef BREAK_PATIENCE
#define NO_LINK(b, p) false
#define NO_HEAD(b) false
#else
#define NO_LINK(b, p) (NEXT[p] == 0 && (gone[p] || DEAD[b] || (P0_AT(b) && role[0] == LINKS)))
#define NO_HEAD(b) (HEAD[b] == 0 && \
	(headlost[b] || DEAD[b] || (P0_AT(b) && (role[0] == LINKS || role[0] == HEADS))))
#endif

/* what A of block b counts for process q: itself, and what it owes */
#define COUNTS(q, b) (blk[q] == b && role[q] >= LINKS && role[q] <= GIVES -> 1 + owed[q] : 0)
#define COUNTED(b) (COUNTS(0, b) + COUNTS(1, b) + COUNTS(2, b))
#define CHECK_WP(b) assert(DEAD[b] -> WP[b] >= SOME - NP - MOST && WP[b] <= SOME + NP : WP[b] == COUNTED(b))

/* A of block b changes, and REL with it */
#define A_CHANGED(b) \
	same[0] = (same[0] && blk[0] != b); \
	same[1] = (same[1] && blk[1] != b); \
	same[2] = (same[2] && blk[2] != b)
#define REL_CHANGED(b) \
	A_CHANGED(b); \
	looked[0] = (looked[0] && (blk[0] != b || DEAD[b])); \
	looked[1] = (looked[1] && (blk[1] != b || DEAD[b])); \
	looked[2] = (looked[2] && (blk[2] != b || DEAD[b]))

/* REL has not changed for three leases: a client that is counted, and has not looked since, is
 * late. For the client itself that makes no difference. What clients know of a change is old. */
#ifdef BREAK_FRESH
#define GETS_OLD(q, b) skip
#else
#define GETS_OLD(q, b) fresh[q] = (fresh[q] && blk[q] != b)
#endif
#define HAS_LOOKED(q, b) \
	GETS_OLD(q, b); \
	looked[q] = (looked[q] || (blk[q] == b && (role[q] == LINKS || role[q] == WAITS)))

#define UNMOVED(p) (looked[p] && !fresh[p])
#ifdef BREAK_CONFIRM
#define CONFIRMS(p) (p == 0 && late)
#elif defined(BREAK_ROW)
#define CONFIRMS(p) ((UNMOVED(p) && owed[p] == 0) || (p == 0 && late))
#elif defined(BREAK_LATE)
#define CONFIRMS(p) UNMOVED(p)
#else
#define CONFIRMS(p) (UNMOVED(p) || (p == 0 && late))
#endif
#ifdef BREAK_RETURN
#define RETURNS_LATE(p) false
#else
#define RETURNS_LATE(p) ((p) == 0 && late)
#endif
#ifdef BREAK_REPLACE
#define K2_IS_PUT true
#else
#define K2_IS_PUT false
#endif

#ifdef BREAK_ERA
#define NEXT_BLOCK W1 /* the same */
#else
#define NEXT_BLOCK FIND
#endif
#ifdef BREAK_BLIND
#define SEEN_DEAD(b) false
#else
#define SEEN_DEAD(b) DEAD[b]
#endif
#ifdef BREAK_SUM
#define OWES(p) 0
#else
#define OWES(p) owed[p]
#endif

/* A client that was not stopped has linked itself before any client queues up at a later block. */
#define LINKED(q, p) (role[q] != LINKS || blk[q] >= blk[p] || (q == 0 && late))
#ifdef SLOW
#define NO_LINK_UNDER_WAY(p) true
#define NO_SPARE(b) (used + 1 == NB && REPLACEMENT[b] == 0)
#else
#define NO_LINK_UNDER_WAY(p) (LINKED(0, p) && LINKED(1, p) && LINKED(2, p))
#define NO_SPARE(b) false
#endif

/* A new queueing of p: words and clients that name p refer to an old one. */
#define AGE(x) x = (x == p + 1 -> p + 1 + NP : x)
inline new_number(p)
{
#ifndef BREAK_TAG
	i = 0;
	do
	:: i < NB -> AGE(TAIL[i]); AGE(HEAD[i]); i++
	:: else -> break
	od;
	i = 0;
	do
	:: i < NP -> AGE(NEXT[i]); AGE(pred[i]); AGE(succ[i]); i++
	:: else -> i = 0; break
	od
#else
	skip
#endif
}

/* K1: swap A, as seen, for a dead one */
inline declare_dead(p)
{
#ifdef BREAK_LOOK
	same[p] = 1;
#endif
	if
	:: same[p] ->
		assert(!DEAD[blk[p]]);
		nobody_is_given_up(p);
#ifdef BREAK_ERA
		WP[blk[p]] = 0; TAIL[blk[p]] = 0; HEAD[blk[p]] = 0;
		lost[blk[p]] = 0; headlost[blk[p]] = 0;
#else
		DEAD[blk[p]] = 1;
		WP[blk[p]] = SOME;
#endif
		A_CHANGED(blk[p]);
		dead = 1
	:: else -> dead = DEAD[blk[p]]
	fi;
	same[p] = 0
}

/* This client leaves the queue: what was written to this queueing does not matter any more. */
#define LEAVE_QUEUE(p) role[p] = OUT; looked[p] = 0; NEXT[p] = 0; STATUS[p] = 0; gone[p] = 0; \
	succ[p] = 0; owed[p] = 0; queued = 0; linked = 0; NOT_LATE(p)

/* From here on the client knows that it has the lock: it is in. */
inline go_in(p)
{
	come_in(p);
	role[p] = HOLDS;
	looked[p] = 0;
	NOT_LATE(p);
	IN(p);
	pc = R1
}

/* R2: old = fao(A, WP - 1 - owed, REL + 1 + owed); flush. linked: in the queue, and not the last of
 * it; wp: without those that were owed */
inline leave(p)
{
	wp = WP[blk[p]] - owed[p];
	WP[blk[p]] = WP[blk[p]] - 1 - OWES(p);
	owed[p] = 0;
	role[p] = (wp > 1 -> HANDS : (linked -> HEADS : OUT));
	dead = LEASE_LOST(blk[p]);
	assert(dead || !robbed[p]);
	CHECK_WP(blk[p]);
	REL_CHANGED(blk[p]);
	robbed[p] = 0;
	lapsed = (lapsed && p != 0);
	OUT_OF(p)
}

/* with it, if no client is linked: r = cas(TAIL, me -> 0) */
inline leave_tail(p)
{
	linked = (TAIL[blk[p]] != p + 1);
	if
	:: !linked -> TAIL[blk[p]] = 0; role[p] = (role[p] == HEADS -> OUT : role[p])
	:: else
	fi
}

inline what_next(p)
{
	if
	:: !dead && wp > 1 -> pc = (succ[p] != 0 -> R5 : (linked -> R4_LINK : R4_HEAD))
	:: !dead && wp <= 1 && linked -> pc = R3
	:: else -> LEAVE_QUEUE(p); pc = IDLE
	fi;
	wp = 0;
	dead = 0
}

/* put(succ.STATUS, grant); what its receiver owes */
inline grant(p, owes)
{
	i = OWNER(succ[p]);
	if
	:: OLD(succ[p]) -> /* undoes a grant */
		assert(DEAD[blk[p]]);
		if
		:: STATUS[i] && role[i] == GRANTED -> lost[blk[i]] = 1; role[i] = WAITS
		:: else
		fi;
		STATUS[i] = 0
	:: else ->
		if
		:: role[i] == WAITS && blk[i] == blk[p] -> role[i] = GRANTED; owed[i] = owes
		:: else -> assert(DEAD[blk[p]])
		fi;
		STATUS[i] = 1
	fi;
	i = 0
}

/* R6: a = get(A); flush */
inline look_after(p)
{
	assert(SEEN_DEAD(blk[p]) || !robbed[p]);
	robbed[p] = 0
}

inline link(p)
{
	if
	:: pred[p] == 0 -> assert(DEAD[blk[p]] || HEAD[blk[p]] == 0); HEAD[blk[p]] = p + 1
	:: OLD(pred[p]) -> /* undoes a link */
		gone[OWNER(pred[p])] = (gone[OWNER(pred[p])] || NEXT[OWNER(pred[p])] != 0);
		NEXT[OWNER(pred[p])] = 0
	:: else -> NEXT[pred[p] - 1] = p + 1
	fi;
	pred[p] = 0;
	role[p] = WAITS
}

byte i; /* of loops within a step */

/* the step that comes next */
mtype = { IDLE, W1, W2, UNDO, W4, W5, W6, K1, CONFIRM, R1, R2, R2_SUM, R2_TAIL, R3, R3_PUT,
	  R4_LINK, R4_HEAD, R5, R6, R6_GET, R6_PUT, FIND, K2, K3 };

#define AT(step) (pc == step && !AWAY(_pid))

active [NP] proctype P()
{
	mtype pc = IDLE;
	byte wp, replacement;
	bit queued, linked, dead;

	do
	:: d_step { died && _pid == 0 ->
			alive--; pc = IDLE; wp = 0; replacement = 0; queued = 0; linked = 0; dead = 0 } break
	:: d_step { AT(IDLE) -> bye() } break
	:: d_step { AT(IDLE) -> WANT(_pid); pc = W1 }
	:: /* W1: old = fao(A, WP + 1); flush */
		d_step { AT(W1) ->
			wp = WP[blk[_pid]];
			WP[blk[_pid]]++;
			A_CHANGED(blk[_pid]);
			if
			:: DEAD[blk[_pid]] -> pc = UNDO
			:: !DEAD[blk[_pid]] && wp == 0 -> role[_pid] = GRANTED; pc = W2
			:: else -> role[_pid] = LINKS; looked[_pid] = 1; pc = W4
			fi;
			wp = 0;
			CHECK_WP(blk[_pid]) }
	:: /* W2: no client there; the clock is looked at last, (J) */
		d_step { AT(W2) ->
			if
			:: RETURNS_LATE(_pid) -> pc = CONFIRM
			:: else -> go_in(_pid)
			fi }
	:: /* fao(A, WP - 1); flush */
		d_step { AT(UNDO) -> WP[blk[_pid]]--; CHECK_WP(blk[_pid]); pc = NEXT_BLOCK }
	:: /* W4: a new number; poke NEXT, STATUS; prev = fao(TAIL, me, REPLACE); flush */
		d_step { AT(W4) && NO_LINK_UNDER_WAY(_pid) ->
			queued = 1;
			new_number(_pid);
			NEXT[_pid] = 0;
			gone[_pid] = 0;
			STATUS[_pid] = 0;
			pred[_pid] = TAIL[blk[_pid]];
			TAIL[blk[_pid]] = _pid + 1;
			pc = W5 }
	:: /* W5: put(HEAD, me) or put(prev.NEXT, me); flush */
		d_step { AT(W5) -> link(_pid); pc = W6 }
	:: /* W6: await the grant */
		d_step { AT(W6) && STATUS[_pid] ->
			STATUS[_pid] = 0;
			if
			:: CONFIRMS(_pid) -> pc = CONFIRM
			:: else -> fresh[_pid] = (fresh[_pid] || !looked[_pid]); go_in(_pid)
			fi }
	:: /* a look: nothing, */
		d_step { AT(W6) && !DEAD[blk[_pid]] && (!looked[_pid] || (_pid == 0 && late)) ->
			looked[_pid] = 1; NOT_LATE(_pid) }
	:: /* dead, */
		d_step { AT(W6) && DEAD[blk[_pid]] -> LEAVE_QUEUE(_pid); pc = NEXT_BLOCK }
	:: /* or stuck */
		d_step { AT(W6) && !DEAD[blk[_pid]] && STUCK(blk[_pid]) ->
			HAS_LOOKED(0, blk[_pid]); HAS_LOOKED(1, blk[_pid]); HAS_LOOKED(2, blk[_pid]);
			NOT_LATE(_pid);
			same[_pid] = 1;
			pc = K1 }
	:: /* K1: old = cas(A, as seen -> dead); flush */
		d_step { AT(K1) ->
			declare_dead(_pid);
			if
			:: dead -> LEAVE_QUEUE(_pid); dead = 0; pc = NEXT_BLOCK
			:: else -> pc = W6
			fi }
	:: /* (J): old = fao(A, REL + 1); flush; and look at the clock again */
		d_step { AT(CONFIRM) ->
			REL_CHANGED(blk[_pid]);
			NOT_LATE(_pid);
			if
			:: DEAD[blk[_pid]] -> LEAVE_QUEUE(_pid); pc = NEXT_BLOCK
			:: else -> fresh[_pid] = 1; pc = W2
			fi }
	:: /* R1: succ = peek NEXT, if in the queue */
		d_step { AT(R1) ->
			succ[_pid] = (queued -> NEXT[_pid] : 0);
			if
			:: succ[_pid] != 0 && owed[_pid] < MOST ->
				role[_pid] = GIVES;
				lapsed = (lapsed && _pid != 0);
				OUT_OF(_pid);
				pc = R6
			:: else -> pc = R2
			fi }
	:: /* R6: the put, and the look, in any order */
		d_step { AT(R6) -> grant(_pid, owed[_pid] + 1); role[_pid] = OUT; owed[_pid] = 0; pc = R6_GET }
	:: d_step { AT(R6_GET) -> look_after(_pid); LEAVE_QUEUE(_pid); pc = IDLE }
	:: d_step { AT(R6) -> look_after(_pid); pc = R6_PUT }
	:: d_step { AT(R6_PUT) -> grant(_pid, owed[_pid] + 1); LEAVE_QUEUE(_pid); pc = IDLE }
	:: /* R2: the sum, and the swap of TAIL if no client is linked, in any order */
		d_step { AT(R2) && (!queued || succ[_pid] != 0) -> leave(_pid); what_next(_pid) }
	:: d_step { AT(R2) && queued && succ[_pid] == 0 -> leave_tail(_pid); pc = R2_SUM }
	:: d_step { AT(R2_SUM) -> leave(_pid); what_next(_pid) }
	:: d_step { AT(R2) && queued && succ[_pid] == 0 -> linked = 1; leave(_pid); pc = R2_TAIL }
	:: d_step { AT(R2_TAIL) -> leave_tail(_pid); what_next(_pid) }
	:: /* R3: the last writer; but its node has been linked to since */
		d_step { AT(R3) && NEXT[_pid] != 0 -> succ[_pid] = NEXT[_pid]; pc = R3_PUT }
	:: d_step { AT(R3) && NO_LINK(blk[_pid], _pid) ->
			headlost[blk[_pid]] = 1; LEAVE_QUEUE(_pid); pc = IDLE }
	:: d_step { AT(R3_PUT) ->
			assert(DEAD[blk[_pid]] || HEAD[blk[_pid]] == 0);
			HEAD[blk[_pid]] = succ[_pid];
			LEAVE_QUEUE(_pid);
			pc = IDLE }
	:: /* R4: who is next? */
		d_step { AT(R4_LINK) && NEXT[_pid] != 0 -> succ[_pid] = NEXT[_pid]; pc = R5 }
	:: d_step { AT(R4_LINK) && NO_LINK(blk[_pid], _pid) ->
			lost[blk[_pid]] = 1; LEAVE_QUEUE(_pid); pc = IDLE }
	:: d_step { AT(R4_HEAD) && HEAD[blk[_pid]] != 0 ->
			succ[_pid] = HEAD[blk[_pid]]; HEAD[blk[_pid]] = 0; pc = R5 }
	:: d_step { AT(R4_HEAD) && NO_HEAD(blk[_pid]) ->
			lost[blk[_pid]] = 1; LEAVE_QUEUE(_pid); pc = IDLE }
	:: /* R5: put(succ.STATUS, grant); flush */
		d_step { AT(R5) -> grant(_pid, 0); LEAVE_QUEUE(_pid); pc = IDLE }
	:: /* replacement = get(REPLACEMENT); flush */
		d_step { AT(FIND) -> replacement = REPLACEMENT[blk[_pid]]; pc = (replacement == 0 -> K2 : K3) }
	:: /* K2: old = cas(REPLACEMENT, 0 -> spare); flush */
		d_step { AT(K2) && !NO_SPARE(blk[_pid]) ->
			if
			:: REPLACEMENT[blk[_pid]] == 0 || K2_IS_PUT ->
				used++;
				assert(used < NB);
				REPLACEMENT[blk[_pid]] = used
			:: else
			fi;
			replacement = REPLACEMENT[blk[_pid]];
			pc = K3 }
#ifdef SLOW
	:: d_step { AT(K2) && NO_SPARE(blk[_pid]) -> bye() } break
#endif
	:: /* K3: put(REPLACEMENT of the first, replacement); flush */
		d_step { AT(K3) ->
			REPLACEMENT[0] = (blk[_pid] > 0 -> replacement : REPLACEMENT[0]);
			assert(replacement > blk[_pid] && DEAD[blk[_pid]]);
			blk[_pid] = replacement;
			fresh[_pid] = 0;
			replacement = 0;
			pc = W1 }
	od
}

active proctype Fate()
{
	if
	:: d_step {
		stopped = 1;
		late = (role[0] == LINKS || role[0] == WAITS || role[0] == GRANTED);
		lapsed = (role[0] == HOLDS) }
		if
		:: stopped = 0
		:: d_step { stopped = 0; died = 1 }
		fi
	:: true /* never */
	fi
}
