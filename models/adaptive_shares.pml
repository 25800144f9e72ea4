/*
 * The shares of nodes of kind adaptive (src/lock/adaptive/shares.c, and what sharing.c does with
 * them), with the root (kept_root.pml), which may be whole or split.
 *
 * A sharer adds itself to R of its node (E1), once without a look at R before, later only if it
 * found the share open. It is in if R had OPEN, and GATE the number (E2); if not, it takes its
 * count back (E3). A client opens the share: it sets OPENING (O1), writes a new number into GATE
 * and R, where it takes OPEN back (O2), sets the node's bit in H (O3), and sets OPEN (O4), if H is
 * split and no client excludes sharers. With a whole root it leaves out O3 and sets HERE, which
 * goes with the root: the node that gets it splits the root and sets the bit of the node that had
 * it, or an exclusive client closes the share there (H7). An exclusive client with a split root sets
 * STRICT, by which it finds the bits (C1), closes GATE (C2), and waits until R is empty (C3); then
 * it sets HELD and clears the bits. If only its own node has a share, and it has no sharers, it
 * makes the root whole instead (S3), and it may do so when it has closed the shares and no intent
 * ahead is in H (S5). With a whole root and HERE it closes the share of its own node (S7).
 * An intent ahead (IX) counts itself in H (A1), waits until the root is split and no client holds
 * the lock exclusively (A2), and closes the shares that it found by then; if the root is whole, it
 * gets it and splits it (A3).
 *
 * With -DGUESTS a sharer may also use the lock at another node, its host: it counts itself there
 * (G6), is in if the root is whole and free at that node then (G7), and takes its count back (G8).
 * A client that has the root at the host waits for these counts with the sharers of the host's
 * share; if the root goes to another node, that learns of the counts as of HERE, and notes in H
 * that the shares that it finds there may have guests. An exclusive client may use the lock at its
 * host, too, if no guest shares it (G1, G2); it closes the share of the host.
 *
 * With -DFIRST the shares of all nodes may be open at first (first.c): the root is at node 0 then,
 * and FRESH. A share with number 0 is open if GATE is 0 and READS of the node is set. A sharer sets
 * READS after it has marked its node and has found no client that has taken the lock other than
 * shared (F1). A client that takes a fresh root other than shared says so in TAKEN, if it is of
 * node 0, or in CLAIMED, and finds the marks (F2). Then it closes the shares of the marked nodes
 * (F3), or splits the root with their bits. When it leaves, an exclusive client may open the shares
 * again, and leave the root fresh (F4).
 *
 * With -DUNUSED the last sharer of a share may take the root, if that is whole and free at its node,
 * close the share, and clear HERE if it then finds neither sharers nor guests (S8).
 *
 * What it proves. NN nodes (default 2) with NC clients each (default 2; NP of all: as many); each
 * asks for the lock any number of times, exclusively, shared, or, with -DAHEAD, as an intent ahead:
 * no two holders that exclude each other, and no deadlock. With -DTIMED an exclusive client may
 * give up while it waits for sharers. With -DLIVE=v, under weak fairness, client v gets the lock
 * whenever it asks for it, exclusively, or with -DAS=S shared, however often others ask for it; no
 * intents ahead then, and no bound on the openings of v, which as a sharer asks once and whose
 * patience has ended.
 *
 * What it abstracts. The root is a lock that a client takes at one step (with LIVE no other client
 * takes it while v waits for it; in the lock there are as many before v as are queued); the words that go with it
 * (WHOLE, HERE) are read at that step, and the bit that HERE asks for is set by the next one.
 * Numbers count openings, and have no bound but OPENINGS (default 3): a client that would need
 * another one stops. Operations on a word and their flushes are one step.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NC=1 | safe | pass | 2 nodes of one | 654 510 |
 * | NC=1 AHEAD | safe middle | pass | 2 nodes of one, intents ahead too | 1 888 850 |
 * | NC=1 AHEAD TIMED | safe | pass | that with deadlines | 1 987 523 |
 * | NC=1 GUESTS OPENINGS=2 | safe | pass | 2 nodes of one with guests | 2 517 457 |
 * | NC=1 GUESTS OPENINGS=1 AHEAD | safe | pass | the same and intents ahead, each opens once | 1 236 948 |
 * | NN=3 NC=1 OPENINGS=1 | safe middle | pass | 3 nodes of one, each opens once | 3 474 672 |
 * | NP=3 OPENINGS=2 | safe long | pass | 2 clients and 1, each node opens twice | 14 001 481 |
 * | NC=1 FIRST OPENINGS=1 | safe | pass | first shares: 2 nodes of one, each opens once | 928 473 |
 * | NC=1 FIRST OPENINGS=1 AHEAD TIMED | safe middle | pass | first shares: 2 nodes of one, each opens once, with intents ahead and deadlines | 6 085 758 |
 * | NC=1 FIRST OPENINGS=2 | safe long | pass | first shares: 2 nodes of one, each opens twice | 6 672 191 |
 * | NN=3 NC=1 FIRST OPENINGS=0 | safe middle | pass | first shares, no opening: 3 nodes of one | 3 332 886 |
 * | NC=1 FIRST GUESTS OPENINGS=0 | safe middle | pass | first shares, no opening: 2 nodes of one with guests | 2 450 920 |
 * | NP=3 FIRST OPENINGS=0 | safe | pass | 2 clients and 1 | 1 206 131 |
 * | NC=1 FIRST GUESTS OPENINGS=1 | safe long | pass | first shares, 2 nodes of one with guests, each opens once | 14 651 169 |
 * | NC=1 UNUSED | safe | pass | the last sharer closes: 2 nodes of one | 703 539 |
 * | NC=1 UNUSED GUESTS OPENINGS=1 | safe | pass | with guests, each opens once | 515 081 |
 * | NP=3 UNUSED OPENINGS=1 | safe | pass | 2 clients and 1, as before | 1 652 230 |
 * | NC=1 UNUSED OPENINGS=2 LIVE=0 | live3 | pass | the last sharer closes, 2 nodes of one, each opens twice, v exclusive | 21 920 |
 * | NC=1 OPENINGS=2 LIVE=0 | live3 | pass | 2 nodes of one, v exclusive | 20 696 |
 * | NP=3 OPENINGS=1 LIVE=2 | live4 | pass | 2 clients and 1, each node opens once | 194 226 |
 * | NP=3 OPENINGS=2 LIVE=2 | live4 long | pass | 2 clients and 1, each node opens twice | 1 176 337 |
 * | NC=1 OPENINGS=1 LIVE=0 AS=S | live3 middle | pass | 2 nodes of one, v shared, the other opens once | 1 869 298 |
 * | NC=1 OPENINGS=2 LIVE=0 AS=S | live3 long | pass | 2 nodes of one, v shared, the other opens twice | 3 507 601 |
 * | NP=3 OPENINGS=2 BREAK_GATE | safe | assert | no E2 by a sharer that finds the share open | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_OPENED | safe | assert | no E2 by the sharer that opens the share | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_MARK | safe | assert | O3 does not look at STRICT | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_CLOSE | safe | assert | C3 comes before C2 | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_EMPTIED | safe | assert | no C4 | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_OWN | safe | assert | S3 does not look for sharers of its own node | sharer and writer together |
 * | NC=1 AHEAD BREAK_COUNTS | safe | assert | S5 does not look for intents ahead | two holders |
 * | NP=3 OPENINGS=2 BREAK_LOCAL | safe | assert | HERE does not go with the root | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_BEHIND | safe | assert | nor does the client that gets the root close that share | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_NUMBER | safe | assert | each opening has the same number | sharer and writer together |
 * | NP=3 OPENINGS=2 BREAK_O2 | safe | assert | OPEN stays set while the share is opened again | sharer and writer together |
 * | NP=3 TIMED BREAK_GIVE_UP | safe | assert | S7 that gives up clears HERE | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_SHARERS | safe | assert | S7 does not look at the counts of guests | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_THERE | safe | assert | C3 does not | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_UNTOLD | safe | assert | the root moves as if there were none | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_SEEN | safe | assert | no G7 | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_NOTED | safe | assert | H has no note of guests | sharer and writer together |
 * | NC=1 GUESTS OPENINGS=2 BREAK_HOST | safe | assert | an exclusive guest does not close the share of its host | sharer and writer together |
 * | NC=1 FIRST BREAK_UNMARKED | safe | assert | F1 sets no mark | sharer and writer together |
 * | NC=1 FIRST BREAK_TAKEN | bfs | assert | F1 looks at TAKEN before it sets the mark | sharer and writer together |
 * | NC=1 FIRST BREAK_CLAIM | bfs | assert | F2 sets neither TAKEN nor CLAIMED | sharer and writer together |
 * | NC=1 FIRST BREAK_FIRST | bfs | assert | no F3 | sharer and writer together |
 * | NC=1 FIRST BREAK_FRESH | safe | assert | the root moves as if it were not fresh | sharer and writer together |
 * | NC=1 FIRST BREAK_ZERO | safe | assert | F3 writes 0 | sharer and writer together |
 * | NC=1 FIRST BREAK_FORGET | bfs | assert | F4 does not leave the root fresh (UNUSED) | sharer and writer together |
 * | NP=3 UNUSED OPENINGS=2 BREAK_UNUSED | safe | assert | S8 clears HERE whatever it finds | sharer and writer together |
 * | NP=3 OPENINGS=2 LIVE=2 BREAK_STREAM | live4 | cycle | C2 and C3 are one step, once R is empty | |
 */
#ifndef NN
#define NN 2
#endif
#ifndef NC
#define NC 2
#endif
#ifndef OPENINGS
#define OPENINGS 3
#endif
#ifndef NP
#define NP (NN * NC)
#endif
#define X 1
#define S 2
#define IX 3

#ifdef LIVE
#ifndef AS
#define AS X
#endif
bit want, in, queued;
#define MAY_ASK(m) (p != LIVE || m == AS)
#define WANT atomic { want = (want || p == LIVE); queued = want }
#define IN if :: p == LIVE -> d_step { want = 0; in = 1 } :: else fi
#define OUT_OF if :: p == LIVE -> in = 0 :: else fi
#define ROOT_FREE (ROOT == 0 && (p == LIVE || !queued))
#define TAKE_ROOT ROOT = p + 1; queued = (p == LIVE -> 0 : queued)
#define MAY_OPEN (p == LIVE || NUMBER[n] < OPENINGS)
#define IS_PATIENT (p != LIVE)
ltl live { [] (want -> <> in) }
#else
#define MAY_ASK(m) true
#define WANT skip
#define IN skip
#define OUT_OF skip
#define ROOT_FREE (ROOT == 0)
#define TAKE_ROOT ROOT = p + 1
#define MAY_OPEN (NUMBER[n] < OPENINGS)
#define IS_PATIENT true
#endif

/* H */
bit HELD, STRICT, SPLIT;
byte AHEADS;       /* counts of intents ahead */
bit BIT[NN];
/* of a node */
byte R[NN], NUMBER[NN], GATE[NN];
bit OPEN[NN], OPENING[NN];
/* with the root */
byte ROOT;         /* 0 or 1 + the process that has it */
bit split;
byte HERE;        /* 0 or 1 + the node whose share H does not have */
#ifdef GUESTS
byte AT;          /* the node of the client that had the root last */
byte GUESTS_AT[NN]; /* SHARERS of GUEST */
bit NOTED;          /* of H: there may be guests at a node whose bit is set */
/* Whether guests share the lock at the node that had the root last: H1, Q3. */
#ifndef VISITOR
#define VISITOR p
#endif
#define MAY_VISIT (p == VISITOR)
#define LOOK_AT_GUESTS told = (AT != n && !split && GUESTS_AT[AT] > 0)
#ifdef BREAK_UNTOLD
#define TOLD false
#else
#define TOLD told
#endif
#define ARRIVE atomic { AT = n; told = 0 }
#define FROM AT
#define NO_GUESTS_AT(node) (GUESTS_AT[node] == 0)
#ifdef BREAK_NOTED
#define NOTE skip
#else
#define NOTE NOTED = 1
#endif
#define NOTED_THEN guests = NOTED
#define GUESTS_TOO guests = 1
#define FORGET NOTED = 0
#else
#define LOOK_AT_GUESTS skip
#define TOLD false
#define ARRIVE skip
#define FROM (HERE - 1)
#define NO_GUESTS_AT(node) true
#define NOTE skip
#define NOTED_THEN skip
#define GUESTS_TOO skip
#define FORGET skip
#endif

#ifdef FIRST
bit MARK[NN], READS[NN];
bit TAKEN, CLAIMED; /* the lock's bits in TAKEN and in MARKS */
bit FRESH = 1;
#ifdef BREAK_ZERO
#define SHUT 0
#else
#define SHUT 255
#endif
#define COUNTED(was, no) ((no == 0 && READS[n]) || (no != 0 && was))
#define MARKED(j) MARK[j]
#ifdef BREAK_CLAIM
#define TAKE_HERE skip
#define CLAIM skip
#else
#define TAKE_HERE TAKEN = 1
#define CLAIM CLAIMED = 1
#endif
#else
#define SHUT 0
#define COUNTED(was, no) (was)
#endif
#define IS_OPEN (COUNTED(OPEN[n], NUMBER[n]) && GATE[n] == NUMBER[n])

/* At the client's own node. A first share has another number then. */
inline close_own()
{
#ifdef FIRST
	atomic { !OPENING[n] -> OPENING[n] = 1 };
	if
	:: NUMBER[n] == 0 ->
		GATE[n] = 1;
		NUMBER[n] = 1
	:: else
	fi;
	d_step { OPEN[n] = 0; OPENING[n] = 0 }
#else
	atomic { !OPENING[n] -> OPEN[n] = 0 }
#endif
}

/* F3: C2 ... C4 of first shares, which keep their number. */
inline close_first()
{
#if !defined(FIRST) || defined(BREAK_FIRST)
	skip
#else
	j = 0;
	do
	:: j == NN || late -> break
	:: !late && j < NN && !bits[j] -> j++
	:: !late && j < NN && bits[j] ->
		GATE[j] = SHUT;
		if
#ifdef GUESTS
		:: R[j] == 0 -> j != 0 || NO_GUESTS_AT(0)
#else
		:: R[j] == 0
#endif
#ifdef TIMED
		:: R[j] != 0 -> late = 1
#endif
		fi;
		j++
	od
#endif
}

/* F4: open them again, and leave the root fresh; or do not. */
inline reopen_first()
{
#ifdef FIRST
	if
	:: j = 0;
		do
		:: j == NN -> break
		:: j < NN && bits[j] -> GATE[j] = 0; j++
		:: j < NN && !bits[j] -> j++
		od;
#ifdef BREAK_FORGET
		FRESH = 0;
		HERE = 0
#else
		HERE = (bits[0] -> 1 : HERE)
#endif
	:: FRESH = 0; HERE = 0
	fi
#endif
}

/* F2 of a client of another node to which the root has come, or which leaves a fresh root; HERE and
 * counts of guests are of node 0. */
inline publish(guests_there)
{
#ifdef FIRST
	if
#ifdef BREAK_FRESH
	:: FRESH -> FRESH = 0
#else
	:: FRESH ->
		d_step {
			CLAIM;
			for (j : 0 .. NN - 1) { bits[j] = MARK[j] }
			bits[0] = bits[0] || HERE || guests_there;
			ok = false;
			for (j : 0 .. NN - 1) { ok = ok || bits[j] }
			j = 0
		};
		d_step {
			if
			:: ok ->
				SPLIT = 1;
				for (j : 0 .. NN - 1) { BIT[j] = BIT[j] || bits[j] }
				NOTE;
				HERE = 0;
				split = 1
			:: else
			fi;
			ok = 0;
			for (j : 0 .. NN - 1) { bits[j] = 0 }
			j = 0;
			FRESH = 0
		}
#endif
	:: else
	fi
#endif
}

/* A sharer leaves. S8: it may close the share of its node if it was the last one. */
inline close_unused()
{
#ifndef UNUSED
	R[n]--
#else
	d_step { R[n]--; ok = R[n] == 0 && OPEN[n] && !OPENING[n]; number = 0 };
	if
	:: atomic { ok && !split && ROOT_FREE && HERE == n + 1 -> TAKE_ROOT };
		if
		:: atomic { !OPENING[n] -> OPENING[n] = 1 };
			d_step { OPEN[n] = 0; OPENING[n] = 0 };
#ifdef BREAK_UNUSED
			HERE = 0
#else
			if
			:: R[n] == 0 ->
				if
				:: NO_GUESTS_AT(n) -> HERE = 0
				:: else
				fi
			:: else
			fi
#endif
		:: OPENING[n]
		fi;
		ROOT = 0
	:: true
	fi;
	ok = 0
#endif
}

byte has[4];
#define EXCLUDED(m) (has[X] || (m == X && (has[S] || has[IX])) || (m == S && has[IX]) || \
		     (m == IX && has[S]))

inline critical(m)
{
	atomic { assert(!EXCLUDED(m)); has[m]++; IN };
	atomic { has[m]--; OUT_OF }
}

/* In which order the nodes' shares are closed does not matter: 0, 1, ... own last. */
inline close_shares()
{
	j = 0;
	do
	:: j == NN || late -> break
	:: !late && j < NN && (!bits[j] || j == n) -> j++
	:: !late && j < NN && bits[j] && j != n ->
#ifdef BREAK_CLOSE
		R[j] == 0;
		GATE[j] = SHUT; /* C2 */
#else
#ifdef BREAK_STREAM
		atomic { R[j] == 0 -> GATE[j] = SHUT };
#else
		GATE[j] = SHUT;
#ifndef BREAK_EMPTIED
		if
#if defined(GUESTS) && !defined(BREAK_THERE)
		:: R[j] == 0 -> !guests || NO_GUESTS_AT(j) /* C3, C4 */
#else
		:: R[j] == 0 /* C3, C4 */
#endif
#ifdef TIMED
		:: R[j] != 0 -> late = 1
#endif
		fi;
#endif
#endif
#endif
		j++
	od;
	if
	:: bits[n] && !late ->
		close_own();
#ifndef BREAK_EMPTIED
		if
#ifdef GUESTS
		:: R[n] == 0 -> NO_GUESTS_AT(n)
#else
		:: R[n] == 0
#endif
#ifdef TIMED
		:: R[n] != 0 -> late = 1
#endif
		fi
#endif
	:: else
	fi
}

proctype P(byte p)
{
	byte n = p / NC, j, number;
	bit ok, was, has_root, late, bits[NN];
#ifdef GUESTS
	byte host;
	bit told, guests;
#endif

	do
	/* ------------------------------------------------------------ a sharer */
	:: MAY_ASK(S) ->
		WANT;
		if
		/* E1, E2 without a look before */
		:: d_step { ok = OPEN[n]; number = NUMBER[n]; R[n]++ };
			if
#ifdef BREAK_GATE
			:: ok -> goto in_by_share
#else
			:: COUNTED(ok, number) && GATE[n] == number -> goto in_by_share
#endif
			:: else -> R[n]-- /* E3 */
			fi;
			d_step { ok = 0; number = 0 }
		:: skip
		fi;
again:
		if
		:: IS_OPEN ->
			/* E1 */
			d_step { ok = OPEN[n]; number = NUMBER[n]; R[n]++ };
#ifdef BREAK_GATE
			if
			:: ok -> goto in_by_share
#else
			if
			:: COUNTED(ok, number) && GATE[n] == number -> goto in_by_share /* E2 */
#endif
			:: else -> R[n]--; goto again /* E3 */
			fi
#ifdef FIRST
		/* F1 */
		:: NUMBER[n] == 0 && GATE[n] == 0 && !READS[n] && !MARK[n] ->
#ifdef BREAK_TAKEN
			was = TAKEN;
#endif
			d_step {
				ok = CLAIMED;
#ifndef BREAK_UNMARKED
				MARK[n] = 1
#endif
			};
#ifndef BREAK_TAKEN
			was = TAKEN;
#endif
			d_step {
				READS[n] = READS[n] || !(ok || was);
				ok = 0;
				was = 0
			};
			goto again
#endif
		:: !IS_OPEN ->
			if
			/* without the root */
			:: IS_PATIENT
			/* with the root */
			:: atomic { ROOT_FREE -> TAKE_ROOT };
				atomic { has_root = 1; LOOK_AT_GUESTS };
#ifdef FIRST
				if
				:: n != 0 -> publish(TOLD)
				:: else
				fi;
#endif
#ifdef BREAK_LOCAL
				HERE = (HERE == n + 1 -> HERE : 0);
#endif
				if
				:: (HERE && HERE != n + 1) || TOLD ->
					d_step { SPLIT = 1; BIT[FROM] = 1; NOTE; HERE = 0; split = 1 }
				:: else
				fi;
				ARRIVE
			fi;
			/* O1 */
			if
			:: atomic { !OPENING[n] && MAY_OPEN -> OPENING[n] = 1 }
			:: !MAY_OPEN -> goto out
			fi;
			/* O2 */
#ifdef BREAK_NUMBER
			d_step { NUMBER[n] = (NUMBER[n] == 0 -> 1 : NUMBER[n]) };
			GATE[n] = NUMBER[n];
			OPEN[n] = 0;
#else
			GATE[n] = NUMBER[n] + 1;
#ifdef BREAK_O2
			NUMBER[n]++;
#else
			d_step { NUMBER[n]++; OPEN[n] = 0 };
#endif
#endif
			if
			:: has_root && !split -> ok = 1; HERE = n + 1
			:: else ->
				/* O3 */
				d_step {
#ifdef BREAK_MARK
					ok = SPLIT && !HELD && !AHEADS;
#else
					ok = SPLIT && !HELD && !AHEADS && (has_root || !STRICT);
#endif
					BIT[n] = 1
				}
			fi;
			/* O4 */
			d_step {
				number = NUMBER[n];
				OPEN[n] = OPEN[n] || ok;
				R[n] = R[n] + ok;
				OPENING[n] = 0
			};
			if
			:: has_root -> has_root = 0; ROOT = 0
			:: else
			fi;
#ifdef BREAK_OPENED
			if
			:: ok
#else
			if
			:: ok && GATE[n] == number /* E2 */
			:: ok && GATE[n] != number -> R[n]--; goto out
#endif
			:: !ok -> goto out
			fi;
in_by_share:
			critical(S);
			close_unused();
#ifdef LIVE
			if
			:: p == LIVE -> break
			:: else
			fi
#endif
		fi
#ifdef GUESTS
	/* ------------------------------------------------- guests */
	:: MAY_VISIT ->
		if
		:: host = 0
		:: host = NN - 1
		fi;
		/* G6 */
		GUESTS_AT[host]++;
		/* G7 */
		if
#ifdef BREAK_SEEN
		:: true -> critical(S)
#else
		:: ROOT == 0 && AT == host && !split -> critical(S)
#endif
		:: else
		fi;
		/* G8 */
		d_step { GUESTS_AT[host]--; host = 0 }
	:: MAY_VISIT && MAY_ASK(X) ->
		if
		:: host = 0
		:: host = NN - 1
		fi;
		if
		/* G1, G2 */
		:: atomic { ROOT == 0 && AT == host && n != host && !split && NO_GUESTS_AT(host) ->
				ROOT = p + 1 };
#ifdef FIRST
			if
			:: FRESH && host == 0 ->
				d_step {
					CLAIM;
					for (j : 0 .. NN - 1) { bits[j] = MARK[j] }
					bits[0] = bits[0] || HERE;
					j = 0
				};
				close_first();
				if
				:: late -> late = 0
				:: else -> critical(X); reopen_first()
				fi;
				goto guest_leaves
			:: else
			fi;
#endif
			if
#ifndef BREAK_HOST
			:: HERE ->
				GATE[host] = SHUT;
				if
				:: R[host] == 0 -> critical(X)
#ifdef TIMED
				:: R[host] != 0
#endif
				fi
			:: !HERE -> critical(X)
#else
			:: critical(X)
#endif
			fi;
#ifdef FIRST
guest_leaves:
			atomic { for (j : 0 .. NN - 1) { bits[j] = 0 } j = 0 };
#endif
			host = 0;
			/* G4 */
			ROOT = 0
		:: else -> host = 0
		fi
#endif
	/* -------------------------------------------------- an exclusive client */
	:: MAY_ASK(X) ->
		WANT;
		atomic { ROOT_FREE -> TAKE_ROOT };
		LOOK_AT_GUESTS;
#ifdef FIRST
		if
		:: FRESH && n == 0 ->
			TAKE_HERE;
			d_step {
				for (j : 0 .. NN - 1) { bits[j] = MARK[j] }
				bits[0] = bits[0] || HERE || !NO_GUESTS_AT(0);
				j = 0
			};
			close_first();
			if
			:: late -> late = 0
			:: else ->
				ARRIVE;
				critical(X);
				reopen_first()
			fi;
			goto release
		:: else -> publish(TOLD)
		fi;
#endif
#ifdef BREAK_LOCAL
		HERE = (HERE == n + 1 -> HERE : 0);
#endif
		if
		:: (HERE && HERE != n + 1) || TOLD ->
			d_step { SPLIT = 1; BIT[FROM] = 1; NOTE; HERE = 0; split = 1 }
		/* H7 */
		:: (HERE && HERE != n + 1) || TOLD ->
#ifndef BREAK_BEHIND
			bits[FROM] = 1;
			GUESTS_TOO;
			close_shares();
#endif
			if
			:: late ->
				d_step { SPLIT = 1; BIT[FROM] = 1; NOTE; HERE = 0; split = 1; late = 0 }
			:: else -> HERE = 0
			fi;
			atomic { j = 0; for (j : 0 .. NN - 1) { bits[j] = 0 } j = 0 }
		:: else
		fi;
		ARRIVE;
#ifdef BREAK_SHARERS
		ok = !split && !HERE;
#else
		ok = !split && !HERE && NO_GUESTS_AT(n);
#endif
		if
		:: ok -> ok = 0; critical(X)
		:: !ok && !split ->
			/* S7 */
			close_own();
			if
			:: R[n] == 0 ->
#ifdef GUESTS
#ifndef BREAK_SHARERS
				NO_GUESTS_AT(n);
#endif
#endif
				HERE = 0; critical(X)
#ifdef TIMED
			:: R[n] != 0 ->
#ifdef BREAK_GIVE_UP
				HERE = 0
#else
				skip
#endif
#endif
			fi
		:: split ->
			/* S3: the share of the own node stays closed while the root becomes whole */
			if
#ifdef BREAK_OWN
			:: atomic { OPEN[n] && !OPENING[n] -> OPENING[n] = 1; OPEN[n] = 0; was = 1 }
#else
			:: atomic { OPEN[n] && !OPENING[n] -> OPENING[n] = 1 };
				atomic { OPEN[n] = 0; was = (R[n] == 0) };
				if
				:: was && NO_GUESTS_AT(n)
				:: else -> d_step { OPENING[n] = 0; OPEN[n] = 1; was = 0 }
				fi
#endif
			:: skip
			fi;
			d_step {
#ifdef GUESTS
				ok = SPLIT && !HELD && !STRICT && !AHEADS && (!NOTED || was);
#else
				ok = SPLIT && !HELD && !STRICT && !AHEADS;
#endif
				for (j : 0 .. NN - 1) {
					ok = ok && (BIT[j] == (j == n && was))
				}
				if
				:: ok -> SPLIT = 0; BIT[n] = 0; FORGET
				:: else
				fi;
				j = 0
			};
			if
			:: was -> d_step { OPENING[n] = 0; OPEN[n] = !ok; was = 0 }
			:: else
			fi;
			if
			:: ok -> ok = 0; split = 0; critical(X); goto release
			:: else
			fi;
			/* C1 */
			d_step {
				assert(!STRICT);
				STRICT = 1;
				NOTED_THEN;
				for (j : 0 .. NN - 1) { bits[j] = BIT[j] }
				j = 0
			};
			close_shares();
			if
			:: late -> late = 0; STRICT = 0; goto release
			:: else
			fi;
			/* S5: make the root whole, or set HELD */
			if
			:: d_step {
#ifdef BREAK_COUNTS
					ok = true;
#else
					ok = AHEADS == 0;
#endif
					for (j : 0 .. NN - 1) {
						ok = ok && BIT[j] == bits[j]
					}
					if
					:: ok ->
						SPLIT = 0;
						STRICT = 0;
						for (j : 0 .. NN - 1) { BIT[j] = 0 }
					:: else
					fi;
					j = 0
				};
				if
				:: ok -> ok = 0; split = 0; critical(X); goto release
				:: else
				fi
			:: skip
			fi;
			do
			:: AHEADS == 0 ->
				d_step {
					ok = AHEADS == 0;
					HELD = ok;
					STRICT = !ok;
					FORGET;
					for (j : 0 .. NN - 1) {
						BIT[j] = BIT[j] && !bits[j];
						bits[j] = 0
					}
					j = 0
				};
				if
				:: ok -> break
				:: else
				fi
			od;
			ok = 0;
			critical(X);
			HELD = 0
		fi;
release:
#ifdef GUESTS
		guests = 0;
#endif
		atomic { j = 0; for (j : 0 .. NN - 1) { bits[j] = 0 } j = 0 }
		ROOT = 0
#ifdef AHEAD
	/* ----------------------------------------------------- an intent ahead */
	:: AHEADS < NP ->
		/* A1 */
		AHEADS++;
		do
		/* A2 */
		:: atomic {
				SPLIT && !HELD ->
				NOTED_THEN;
				for (j : 0 .. NN - 1) { bits[j] = BIT[j] }
				j = 0
			};
			close_shares();
			if
			:: late -> late = 0
			:: else -> critical(IX)
			fi;
			break
		/* A3 */
		:: atomic { !SPLIT && ROOT == 0 -> ROOT = p + 1 };
#ifdef FIRST
			publish(!NO_GUESTS_AT(0));
#endif
#ifdef GUESTS
			told = !split && GUESTS_AT[AT] > 0;
			if
			:: HERE || TOLD -> d_step { SPLIT = 1; BIT[AT] = 1; NOTE; HERE = 0; split = 1 }
			:: !HERE && !TOLD && !split -> d_step { SPLIT = 1; split = 1 }
			:: else
			fi;
			ARRIVE;
#else
			if
			:: HERE -> d_step { SPLIT = 1; BIT[HERE - 1] = 1; HERE = 0; split = 1 }
			:: !HERE && !split -> d_step { SPLIT = 1; split = 1 }
			:: else
			fi;
#endif
			ROOT = 0
		od;
#ifdef GUESTS
		guests = 0;
#endif
		atomic { j = 0; for (j : 0 .. NN - 1) { bits[j] = 0 } j = 0 }
		AHEADS--
#endif
	:: break
	od;
	goto done;
out:
	if
	:: has_root -> has_root = 0; ROOT = 0
	:: else
	fi;
	d_step { ok = 0; number = 0 };
	if
	:: MAY_OPEN -> goto again
	:: else
	fi;
done:
	skip
}

init
{
	byte i;

	atomic {
		for (i : 0 .. NP - 1) { run P(i) }
	}
}
