/*
 * ShiftLock with readers, deadlines, and a client that fails: model of
 * src/lock/shiftlock/shiftlock_lease.c and shiftlock_pass.c together, under shiftlock.c.
 *
 * What it models. NW writers (processes 0 .. NW-1, default 2) and NR readers (default 1), which take
 * the lock any number of times and may stop asking between two acquisitions. Process S (default 0) is
 * stopped once, at any step; it continues at any later time, or never. A recoverer may take any time
 * between its look and the swap (K1), from there to the replacement (K2), and to the short cut (K3). With
 * -DTIMED=mask the processes in the bit mask have deadlines that may pass at any step: a reader takes
 * its count back (L5); a writer that found readers, and no writer, leaves (L2) or is absent (L1), and
 * the last reader releases in its place (B2). Blocks: NB (default 3).
 *
 * Time. As in shiftlock_lease.pml: there is no clock. A waiting client finds the lock stuck only if no
 * living client has to act at this block: no writer that counted itself in and has yet to queue up,
 * was granted the lock, holds it, or hands it over; no reader that is in, or was let in; no writer whose
 * readers have left. At such a look all waiting clients that were not stopped have looked as well.
 * Process S is late if it was stopped since its last look, or since the operation that made it a holder.
 *
 * What it proves. A client is in from the step in which it knows that it has the lock. At blocks that
 * are not dead a writer that is in is alone. No client comes in at a dead block. No client loses the
 * block while it is in, except S when it was stopped meanwhile; the release of a client sees DEAD if a
 * client in conflict came in meanwhile. A block dies only after S was stopped: a deadline is never taken
 * for a failure. WP and RDR of a living block are the numbers of the clients that are counted in; ABSENT
 * is set once at a time, and while no writer holds the lock (asserts). No deadlock of the processes that did not die (awaits are blocking guards). If nobody died,
 * the last block is quiet at the end. With -DLIVE=v, under weak fairness, process v, which is not S and
 * has no deadlines, gets the lock whenever it wants it.
 *
 * What it abstracts. The queue of writers is a list of two, and is entered in one step; its words, tags and late puts are those of shiftlock_lease.pml, and places that a
 * deadline leaves in it those of shiftlock.pml. A releaser subtracts itself at each hand-over; rows,
 * whose last writer does it for all, are those of shiftlock_lease.pml and shiftlock.pml. A writer knows its successor, or not, by chance. REL counts
 * modulo 4. What is done to the counts of a dead block is left out. A spare is taken in one step
 * with K2. An operation and its flush are one step; memory is sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NW=1 NR=1 TIMED=3 | safe | pass | 1 writer, which stops or dies, 1 reader, deadlines of both; no client is given up in its lease, or for a deadline; the release of a lost lock sees it | 21 440 |
 * | NW=1 NR=1 TIMED=3 S=1 | safe | pass | the same; the reader stops or dies | 20 528 |
 * | NW=1 NR=1 TIMED=1 LIVE=1 | live3 | pass | the same, with deadlines of the one that stops or dies | 32 948 |
 * | NW=1 NR=1 TIMED=2 S=1 LIVE=0 | live3 | pass | the same, with deadlines of the one that stops or dies | 33 488 |
 * | NW=1 NR=2 TIMED=7 | safe long | pass | 1 writer, 2 readers, deadlines of all; the writer stops or dies | 1 930 620 |
 * | NW=1 NR=2 TIMED=7 S=1 | safe long | pass | the same; a reader stops or dies | 2 159 950 |
 * | | safe long | pass | 2 writers, 1 reader; a writer stops or dies | 10 932 956 |
 * | TIMED=3 | safe long | pass | the same, with deadlines of the writers | 13 972 486 |
 * | S=2 TIMED=4 | safe long | pass | 2 writers, 1 reader with deadlines, which stops or dies | 3 771 616 |
 * | NW=1 NR=2 TIMED=1 LIVE=1 | live3 long | pass | 1 writer, 2 readers, deadlines of the writer, which stops or dies | 2 261 076 |
 * | NW=1 NR=1 S=1 BREAK_TAKE | safe | assert | a reader that met no writer returns without a look at the clock | given up in its lease |
 * | NW=1 NR=1 S=1 BREAK_TURN | safe | assert | a reader that was let in returns though its last look is old | given up in its lease |
 * | NW=1 NR=2 BREAK_DRAIN | safe | assert | a writer whose readers have left does not confirm | given up in its lease |
 * | BREAK_CONFIRM | bfs | assert | a grant is taken without a confirmation though REL has not changed since the last look | in at a dead block |
 * | NW=1 NR=2 BREAK_LOOK | safe | assert | K1 is a put | in at a dead block |
 * | NW=1 NR=2 S=1 BREAK_READER | safe | assert | the release of a reader does not look whether the block is dead | the release of a lost lock reports nothing |
 * | NW=1 NR=2 BREAK_DEAD | safe | assert | the release of a writer does not | the release of a lost lock reports nothing |
 * | NW=1 NR=2 TIMED=7 BREAK_WITHDRAW | safe | assert | L5 is a sum | a writer waits for a release that does not come |
 * | NW=1 NR=2 TIMED=7 BREAK_LAST | safe | assert | no reader releases for a writer that is absent | its count stays |
 */
#ifndef NW
#define NW 2
#endif
#ifndef NR
#define NR 1
#endif
#define NP (NW + NR)
#ifndef NB
#define NB 3
#endif
#ifndef S
#define S 0
#endif
#ifndef TIMED
#define TIMED 0
#endif
#define MOD(x) ((x) & 3)

/* the blocks */
byte WP[NB], RDR[NB], REL[NB];
bit EPOCH[NB], ABSENT[NB], DEAD[NB];
byte HEAD[NB], SECOND[NB]; /* the queue: 0 or a writer + 1 */
byte REPLACEMENT[NB];
byte used;

/* what clients know, for all to see */
byte blk[NP];
bit looked[NP];  /* REL is as it was when they looked last */
bit same[NP];    /* A is as it was at the look before K1 */
byte until[NP];  /* REL when the readers have left that a writer waits for */
bit drains[NP];  /* the grant says that there are such readers */
bit phase[NP];   /* EPOCH as a reader found it, or as a writer knows it */

#define OUT 0
#define LINKS 1   /* counted in, and not yet queued up */
#define WAITS 2   /* for the grant, or for the readers' turn */
#define DRAINS 3  /* waits for readers */
#define GRANTED 4 /* and does not yet know that it may go in */
#define HOLDS 5
#define HANDS 6   /* has counted out, and has to grant */
byte role[NP];
bit lost[NB];   /* nobody will grant the lock */
bit robbed[NP]; /* a client in conflict came in while it held the lock */
bit stopped, died, was_stopped; /* process S; */
bit late, lapsed; /* stopped since its last look, since it knew that it had the lock */
byte alive = NP;
byte i; /* of loops within a step */

#define READS(p) ((p) >= NW)
#define CONFLICT(p, q) (role[q] == HOLDS && (!READS(p) || !READS(q)))
#define IS_FREE(b) \
	(WP[b] == 0 && RDR[b] == 0 && HEAD[b] == 0 && !ABSENT[b] && !lost[b])
#include "shiftlock_fate.inc"

#define COUNTED(p) (role[p] >= LINKS && role[p] <= HOLDS)
/* the readers of this writer have left; this reader was let in */
#define DRAINED(p) (REL[blk[p]] == until[p])
#define LET_IN(p) (EPOCH[blk[p]] != phase[p])
#define HAS_TO_ACT(p, b) (blk[p] == b && !AWAY(p) && (role[p] == LINKS || role[p] >= GRANTED || \
	(role[p] == DRAINS && DRAINED(p)) || (READS(p) && role[p] == WAITS && LET_IN(p))))
#if NP == 2
#define ANY(f, b) (f(0, b) || f(1, b))
#define SUM(f, b) (f(0, b) + f(1, b))
#elif NP == 3
#define ANY(f, b) (f(0, b) || f(1, b) || f(2, b))
#define SUM(f, b) (f(0, b) + f(1, b) + f(2, b))
#else
#define ANY(f, b) (f(0, b) || f(1, b) || f(2, b) || f(3, b))
#define SUM(f, b) (f(0, b) + f(1, b) + f(2, b) + f(3, b))
#endif
#define STUCK(b) (!ANY(HAS_TO_ACT, b))
#define IS_WRITER(p, b) (blk[p] == b && !READS(p) && COUNTED(p))
#define IS_READER(p, b) (blk[p] == b && READS(p) && COUNTED(p))
/* B2 is yet to come */
#define CHECK(b) assert(DEAD[b] || (RDR[b] == SUM(IS_READER, b) && WP[b] == SUM(IS_WRITER, b) + left[b]))
byte left[NB]; /* writers that are absent, and counted */
#define NO_LINK(b) (HEAD[b] == 0 && (DEAD[b] || (AWAY(S) && blk[S] == b && role[S] == LINKS)))
#define IS_LATE(p) ((p) == S && late)

#define CHANGED(b) \
	i = 0; \
	do :: i < NP -> same[i] = same[i] && blk[i] != b; i++ :: else -> i = 0; break od
#define REL_CHANGED(b) \
	i = 0; \
	do :: i < NP -> same[i] = same[i] && blk[i] != b; looked[i] = looked[i] && blk[i] != b; i++ \
	:: else -> i = 0; break od

#ifdef BREAK_CONFIRM
#define CONFIRMS(p) IS_LATE(p)
#else
#define CONFIRMS(p) (looked[p] || IS_LATE(p))
#endif
#ifdef BREAK_DRAIN
#define CONFIRMS_DRAIN(p) false
#else
#define CONFIRMS_DRAIN(p) (looked[p] || IS_LATE(p))
#endif
#ifdef BREAK_TAKE
#define ASKS_AGAIN(p) false
#else
#define ASKS_AGAIN(p) IS_LATE(p)
#endif
#ifdef BREAK_TURN
#define ASKS_AGAIN_LET_IN(p) false
#else
#define ASKS_AGAIN_LET_IN(p) IS_LATE(p)
#endif
#ifdef BREAK_READER
#define READER_LEASE_LOST(b) false
#else
#define READER_LEASE_LOST(b) DEAD[b]
#endif
#ifdef BREAK_WITHDRAW
#define MAY_WITHDRAW(p) true
#else
#define MAY_WITHDRAW(p) !LET_IN(p)
#endif

#define LEAVE(p) role[p] = OUT; looked[p] = 0; until[p] = 0; drains[p] = 0; phase[p] = 0; NOT_LATE(p)

inline go_in(p)
{
	come_in(p);
	assert(READS(p) || !ABSENT[blk[p]]);
	role[p] = HOLDS;
	looked[p] = 0; until[p] = 0; drains[p] = 0;
	NOT_LATE(p);
	IN(p)
}

/* K1: old = cas(A, as seen -> dead); flush */
inline declare_dead(p)
{
#ifdef BREAK_LOOK
	same[p] = 1;
#endif
	if
	:: same[p] && !DEAD[blk[p]] ->
		assert(was_stopped);
		nobody_is_given_up(p);
		DEAD[blk[p]] = 1;
		CHANGED(blk[p])
	:: else
	fi;
	same[p] = 0
}

/* L1: the readers' last release makes REL 0 */
inline be_absent(p)
{
	assert(DEAD[blk[p]] || !ABSENT[blk[p]]);
	ABSENT[blk[p]] = 1;
	REL[blk[p]] = MOD(REL[blk[p]] + 4 - until[p]);
	left[blk[p]]++;
	REL_CHANGED(blk[p])
}

mtype = { IDLE, W1, W2, W3, W4, W6, CONFIRM, R2, R4, R5, A1, A2, A3, B1, B2, BACK, K1, FIND, K2, K3 };
#define AT(step) (pc == step && !AWAY(_pid))
#define B blk[_pid]
#define ME _pid
#define NOTHING_YET(p) !((role[p] == DRAINS && DRAINED(p)) || role[p] == GRANTED || \
	(READS(p) && role[p] == WAITS && LET_IN(p)))
#define AWAITS(p) (pc == W3 || pc == W6 || pc == A2)

active [NP] proctype P()
{
	mtype pc = IDLE;
	byte replacement, succ, wp, rdr;
	bit again;

	do
	:: d_step { died && ME == S -> alive--; pc = IDLE; replacement = 0; succ = 0; wp = 0; rdr = 0; again = 0 } break
	:: d_step { AT(IDLE) -> bye() } break
	:: d_step { AT(IDLE) -> WANT(ME); pc = (READS(ME) -> A1 : W1) }
	:: /* W1: old = fao(A, WP + 1); flush; of a dead block it is taken back */
		d_step { AT(W1) ->
			if
			:: DEAD[B] -> pc = FIND
			:: else ->
				wp = WP[B];
				WP[B]++;
				if
				:: wp == 0 && RDR[B] == 0 -> role[ME] = GRANTED; pc = W2
				:: wp == 0 && RDR[B] > 0 ->
					role[ME] = DRAINS; until[ME] = MOD(REL[B] + RDR[B]); pc = W3
				:: else -> role[ME] = LINKS; pc = W4
				fi;
				phase[ME] = EPOCH[B];
				CHANGED(B);
				looked[ME] = (wp > 0 || RDR[B] > 0);
				wp = 0
			fi;
			CHECK(0); CHECK(1) }
	:: /* W2: the clock is looked at last */
		d_step { AT(W2) ->
			if
			:: IS_LATE(ME) -> pc = CONFIRM
			:: else -> go_in(ME); pc = R2
			fi }
	:: /* W3, W7: await REL */
		d_step { AT(W3) && !DEAD[B] && DRAINED(ME) ->
			role[ME] = GRANTED;
			if
			:: CONFIRMS_DRAIN(ME) -> pc = CONFIRM
			:: else -> go_in(ME); pc = R2
			fi }
	:: /* L1, L2: not of a writer that has queued up */
		d_step { AT(W3) && ((TIMED >> ME) & 1) && !drains[ME] && !DEAD[B] && !DRAINED(ME) ->
			if
			:: WP[B] == 1 && RDR[B] == MOD(until[ME] + 4 - REL[B]) -> WP[B]--; CHANGED(B)
			:: else -> be_absent(ME)
			fi;
			LEAVE(ME); pc = IDLE;
			CHECK(0); CHECK(1) }
	:: /* W4, W5: the place in the queue */
		d_step { AT(W4) ->
			if
			:: DEAD[B]
			:: !DEAD[B] && HEAD[B] == 0 -> HEAD[B] = ME + 1
			:: else -> assert(SECOND[B] == 0); SECOND[B] = ME + 1
			fi;
			role[ME] = WAITS; pc = W6 }
	:: /* W6: await the grant */
		d_step { AT(W6) && role[ME] == GRANTED ->
			if
			:: drains[ME] -> role[ME] = DRAINS; pc = W3
			:: !drains[ME] && CONFIRMS(ME) -> pc = CONFIRM
			:: else -> go_in(ME); pc = R2
			fi }
	:: /* (J): old = fao(A, REL + 1); flush; and look at the clock again */
		d_step { AT(CONFIRM) ->
			NOT_LATE(ME);
			if
			:: DEAD[B] -> LEAVE(ME); pc = FIND
			:: else -> REL[B] = MOD(REL[B] + 1); REL_CHANGED(B); pc = W2
			fi }
	:: /* R1, R2: with a change of EPOCH, or a successor is known and goes on in the row */
		d_step { AT(R2) ->
			assert(LEASE_LOST(B) || !robbed[ME]);
			OUT_OF(ME);
			robbed[ME] = 0;
			lapsed = (lapsed && ME != S);
			if
			:: DEAD[B] -> LEAVE(ME); pc = IDLE
			:: else ->
				wp = WP[B];
				WP[B]--;
				REL[B] = MOD(REL[B] + 1);
				rdr = RDR[B];
				EPOCH[B] = 1 - EPOCH[B];
				role[ME] = (wp > 1 -> HANDS : OUT);
				REL_CHANGED(B);
				until[ME] = MOD(REL[B] + rdr);
				if
				:: wp > 1 -> pc = R4
				:: else -> LEAVE(ME); pc = IDLE
				fi;
				wp = 0
			fi;
			CHECK(0); CHECK(1) }
	:: d_step { AT(R2) && !DEAD[B] && HEAD[B] != 0 -> /* no turn */
			assert(!robbed[ME]);
			OUT_OF(ME);
			lapsed = (lapsed && ME != S);
			WP[B]--;
			REL[B] = MOD(REL[B] + 1);
			rdr = 0;
			role[ME] = HANDS;
			REL_CHANGED(B);
			pc = R4 }
	:: /* R4: fao(HEAD, 0, REPLACE); flush */
		d_step { AT(R4) && HEAD[B] != 0 -> succ = HEAD[B]; HEAD[B] = SECOND[B]; SECOND[B] = 0; pc = R5 }
	:: d_step { AT(R4) && NO_LINK(B) -> /* patience is over */
			lost[B] = 1; LEAVE(ME); rdr = 0; pc = IDLE }
	:: /* R5: put(succ.STATUS, grant); flush */
		d_step { AT(R5) ->
			if
			:: blk[succ - 1] == B && role[succ - 1] == WAITS && !READS(succ - 1) ->
				role[succ - 1] = GRANTED;
				drains[succ - 1] = (rdr > 0);
				until[succ - 1] = (rdr > 0 -> until[ME] : 0)
			:: else -> assert(DEAD[B])
			fi;
			LEAVE(ME); succ = 0; rdr = 0; pc = IDLE }

	:: /* A1: old = fao(A, RDR + 1); flush */
		d_step { AT(A1) ->
			if
			:: DEAD[B] -> pc = FIND
			:: else ->
				RDR[B]++;
				CHANGED(B);
				phase[ME] = EPOCH[B];
				if
				:: WP[B] == 0 -> role[ME] = GRANTED; pc = A3
				:: else -> role[ME] = WAITS; looked[ME] = 1; pc = A2
				fi
			fi;
			CHECK(0); CHECK(1) }
	:: /* no writer there, or it was let in and has looked; the clock is looked at last */
		d_step { AT(A3) ->
			if
			:: ASKS_AGAIN(ME) -> again = 1; pc = B1
			:: else -> go_in(ME); pc = B1
			fi }
	:: /* A2: await EPOCH */
		d_step { AT(A2) && !DEAD[B] && LET_IN(ME) ->
			role[ME] = GRANTED;
			if
			:: ASKS_AGAIN_LET_IN(ME) -> again = 1; pc = B1
			:: else -> go_in(ME); pc = B1
			fi }
	:: /* L5: old = cas(A, as seen, RDR - 1); flush. Only if EPOCH is as it was */
		d_step { AT(A2) && ((TIMED >> ME) & 1) && !DEAD[B] && MAY_WITHDRAW(ME) ->
			RDR[B]--; CHANGED(B); LEAVE(ME); pc = IDLE; CHECK(0); CHECK(1) }
	:: /* B1: old = fao(A, RDR - 1, REL + 1); flush */
		d_step { AT(B1) ->
			assert(READER_LEASE_LOST(B) || !robbed[ME]);
			OUT_OF(ME);
			robbed[ME] = 0;
			lapsed = (lapsed && ME != S);
			if
			:: DEAD[B] -> LEAVE(ME); pc = (again -> FIND : IDLE); again = 0
			:: else ->
				RDR[B]--;
				REL[B] = MOD(REL[B] + 1);
				REL_CHANGED(B);
#ifdef BREAK_LAST
				if
				:: false
#else
				if
				:: ABSENT[B] && REL[B] == 0 -> role[ME] = HANDS; pc = B2
#endif
				:: else -> LEAVE(ME); pc = (again -> A1 : IDLE); again = 0
				fi
			fi;
			CHECK(0); CHECK(1) }
	:: /* B2: old = fao(A, WP - 1, REL + 1, ABSENT - 1, EPOCH); flush */
		d_step { AT(B2) ->
			again = 0;
			if
			:: DEAD[B] -> LEAVE(ME); pc = IDLE
			:: else ->
				wp = WP[B];
				WP[B]--;
				left[B]--;
				ABSENT[B] = 0;
				REL[B] = MOD(REL[B] + 1);
				EPOCH[B] = 1 - EPOCH[B];
				rdr = RDR[B];
				until[ME] = MOD(REL[B] + rdr);
				REL_CHANGED(B);
				if
				:: wp > 1 -> pc = R4
				:: else -> LEAVE(ME); rdr = 0; pc = IDLE
				fi;
				wp = 0
			fi;
			CHECK(0); CHECK(1) }

	:: /* a look: nothing, */
		d_step { !AWAY(ME) && AWAITS(ME) && !DEAD[B] && NOTHING_YET(ME) && (!looked[ME] || IS_LATE(ME)) ->
			looked[ME] = 1; NOT_LATE(ME) }
	:: /* dead, */
		d_step { !AWAY(ME) && AWAITS(ME) && DEAD[B] -> LEAVE(ME); pc = FIND }
	:: /* or stuck */
		d_step { !AWAY(ME) && AWAITS(ME) && !DEAD[B] && STUCK(B) ->
			i = 0;
			do
			:: i < NP -> looked[i] = (looked[i] || (blk[i] == B && !AWAY(i) &&
					(role[i] == WAITS || role[i] == DRAINS))); i++
			:: else -> i = 0; break
			od;
			NOT_LATE(ME);
			same[ME] = 1;
			again = READS(ME); /* where it comes from */
			wp = (pc == W3);
			pc = K1 }
	:: d_step { AT(K1) ->
			declare_dead(ME);
			if
			:: DEAD[B] -> LEAVE(ME); pc = FIND
			:: else -> pc = (again -> A2 : (wp -> W3 : W6))
			fi;
			again = 0; wp = 0 }
	:: /* replacement = get(REPLACEMENT); flush */
		d_step { AT(FIND) -> replacement = REPLACEMENT[B]; pc = (replacement == 0 -> K2 : K3) }
	:: /* K2: old = cas(REPLACEMENT, 0 -> spare); flush */
		d_step { AT(K2) ->
			if
			:: REPLACEMENT[B] == 0 -> used++; assert(used < NB); REPLACEMENT[B] = used
			:: else
			fi;
			replacement = REPLACEMENT[B];
			pc = K3 }
	:: /* K3: put(REPLACEMENT of the first, replacement); flush */
		d_step { AT(K3) ->
			REPLACEMENT[0] = (B > 0 -> replacement : REPLACEMENT[0]);
			assert(replacement > B && DEAD[B]);
			B = replacement;
			replacement = 0;
			pc = (READS(ME) -> A1 : W1) }
	od
}

active proctype Fate()
{
	if
	:: d_step {
		stopped = 1;
		was_stopped = 1;
		late = (role[S] >= LINKS && role[S] <= GRANTED);
		lapsed = (role[S] == HOLDS) }
		if
		:: stopped = 0
		:: d_step { stopped = 0; died = 1 }
		fi
	:: true /* never */
	fi
}
