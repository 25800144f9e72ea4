/*
 * DecLock, a queue at the home with a ring of entries: model of src/lock/declock/declock.c.
 *
 * What it models. NW writers (default 1) and NR readers (2) at one lock, with one slot each, and a
 * ring of as many entries (C). A process takes the lock at most ROUNDS times (3; LONG of
 * them by the last process) and may stop between two acquisitions, so the ring goes round several times.
 *
 * What it proves. A writer is alone and readers meet no writer (assert at CS); no deadlock (awaits
 * are blocking guards, so a hang is an invalid end state); a grant goes to a client that waits; an
 * entry replaces only older ones, and none of a writer that waits; at the end the lock is free.
 * With -DTRY also when processes try. With -DTIMED also when waiters time out at any time: they
 * abandon their places, may resume them, and use the slot for another acquire after it was passed
 * over; at the end all abandoned places were passed over.
 *
 * With -DSWEEP=n the client at position n sweeps the ring.
 *
 * With -DCHANGE=n a holder may change its mode up to n times, from shared to exclusive (C1 to C4, with
 * -DTIMED with deadlines that pass at any time) and from exclusive to shared (C5): a writer is alone,
 * and no other one is in between.
 *
 * With -DREADER one more process reads once without the lock, at any time: a read that is valid met no
 * writer. VERSION is modulo 2, and a writer that leaves, or is left for, finds the VERSION that (I)
 * says (assert).
 *
 * What it abstracts. One lock; one slot for each process. Positions are numbers without a limit, so
 * the number of acquisitions has one. An operation and its flush, with nothing of the same process
 * between them, are one step, when the operation takes effect. The shared clients that follow an
 * exclusive one are granted the lock one after the other, each as in the code. Operations are
 * atomic on each word, and memory is sequentially consistent. With -DTIMED every entry says that
 * its client may abandon its place.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | ROUNDS=2 | safe | pass | 1 writer, 2 readers, two acquires each; an entry replaces older ones only | 447 166 |
 * | ROUNDS=2 NW=2 NR=1 | safe | pass | 2 writers, 1 reader, two acquires each; an entry replaces older ones only | 395 129 |
 * | ROUNDS=2 TRY | safe | pass | 1 writer, 2 readers, two acquires each, with tries | 807 090 |
 * | ROUNDS=2 TIMED | safe | pass | the same, with deadlines that pass at any moment; abandoned places are passed over | 1 551 932 |
 * | NW=2 ROUNDS=1 LONG=3 | safe middle | pass | 2 writers, 2 readers, one of which acquires 3 times, the others once | 2 574 698 |
 * | NW=2 NR=1 ROUNDS=2 TRY TIMED | safe long | pass | 2 writers, 1 reader, with deadlines and tries | 2 981 822 |
 * | ROUNDS=2 TIMED SWEEP=5 | safe long | pass | 1 writer, 2 readers, with deadlines, the ring swept at position 5 | 2 373 645 |
 * | | safe long | pass | 1 writer, 2 readers, three acquires each | 7 427 320 |
 * | NW=2 NR=1 | safe long | pass | 2 writers, 1 reader, three acquires each | 6 590 373 |
 * | SWEEP=5 | safe long | pass | 1 writer, 2 readers, three acquires each, the ring swept | 11 740 907 |
 * | NW=2 NR=1 SWEEP=5 | safe long | pass | 2 writers, 1 reader, three acquires each, the ring swept | 10 275 766 |
 * | NW=2 ROUNDS=1 LONG=5 SWEEP=7 | safe long | pass | 2 writers, 2 readers, one of which acquires 5 times, the ring swept | 12 422 156 |
 * | READER NR=1 | safe | pass | a client that reads without the lock; 1 reader | 230 737 |
 * | READER ROUNDS=1 NW=2 NR=1 TIMED | safe | pass | the same, 2 writers, 1 reader, one acquire each, with deadlines | 125 282 |
 * | READER ROUNDS=2 | safe long | pass | 1 writer, 2 readers, two acquires each, and a client that reads without the lock | |
 * | ROUNDS=1 CHANGE=2 | safe | pass | 1 writer, 2 readers, one acquire each, that change modes twice | 291 175 |
 * | NW=2 NR=1 ROUNDS=1 CHANGE=2 | safe | pass | 2 writers, 1 reader that change modes twice | 179 955 |
 * | ROUNDS=1 CHANGE=1 TIMED | safe | pass | 1 writer, 2 readers that change modes once, with deadlines | 672 930 |
 * | NR=1 ROUNDS=2 CHANGE=2 TRY TIMED | safe middle | pass | 1 writer, 1 reader, two acquires each, that change modes, with tries and deadlines | 1 831 954 |
 * | NR=1 ROUNDS=1 CHANGE=3 READER | safe | pass | the same beside a client that reads without the lock | 52 180 |
 * | NR=1 ROUNDS=1 CHANGE=2 TIMED READER | safe | pass | the same with deadlines | 208 696 |
 * | ROUNDS=1 CHANGE=2 TIMED | safe long | pass | 1 writer, 2 readers that change modes twice, with deadlines | 8 238 478 |
 * | NW=2 NR=1 ROUNDS=2 CHANGE=2 | safe long | pass | 2 writers, 1 reader, two acquires each, that change modes twice | 53 602 142 |
 * | BREAK_TURN | safe | deadlock | a reader that leaves does not mark an entry that is not written yet | |
 * | BREAK_MARK | safe | deadlock | a writer does not look for the mark of its turn | |
 * | NW=2 ROUNDS=1 LONG=3 BREAK_OVERDUE | safe middle | deadlock | does not grant to a reader whose entry it replaces | |
 * | NW=2 ROUNDS=1 LONG=3 BREAK_LATE | safe middle | deadlock | a reader writes its entry over that of a client behind it | |
 * | BREAK_ROUND | safe | deadlock | takes the mark of an earlier round of the ring for this one | |
 * | BREAK_TAKE | safe | assert | a writer that leaves grants without taking the entry from the ring | |
 * | BREAK_FIRST | safe | deadlock | a writer that leaves lets in only one reader | |
 * | NW=2 NR=1 SWEEP=5 BREAK_SWEEP | safe | deadlock | a sweep takes the round of the client that sweeps for an earlier one | |
 * | READER BREAK_VERSION | safe | assert | a writer leaves without a new version | |
 * | READER BREAK_WRITER | safe | assert | a read is valid although a writer is in | |
 * | READER BREAK_ROUNDS | safe | assert | a read is valid however many have left meanwhile | |
 * | ROUNDS=1 CHANGE=2 BREAK_SECOND | safe | deadlock | a second sharer that would be exclusive waits for the first one | |
 * | ROUNDS=1 CHANGE=2 BREAK_WAIT | safe | assert | a sharer becomes exclusive beside others | |
 * | ROUNDS=1 CHANGE=2 BREAK_BEHIND | safe | assert | the same while a writer waits | |
 * | ROUNDS=1 CHANGE=2 BREAK_LET | safe | deadlock | a writer that goes on to share does not let in readers that wait | |
 * | NR=1 ROUNDS=2 CHANGE=2 READER BREAK_BACK | safe | assert | it makes no new version | |
 * | NR=1 ROUNDS=1 CHANGE=3 READER BREAK_STAY | safe | assert | it keeps its position although no writer waits | |
 * | ROUNDS=1 TIMED BREAK_PASS | safe | assert | a client that is granted to in vain is not left for | |
 */
#ifndef NW
#define NW 1
#endif
#ifndef NR
#define NR 2
#endif
#define NP (NW + NR)
#define C NP
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifdef LONG
#define MOST(p) (p == NP - 1 -> LONG : ROUNDS)
#else
#define MOST(p) ROUNDS
#endif

#define NONE 0
#define WAITS_X 1
#define WAITS_S 2
#define TURN 3
#define DONE 4

#define WAIT 0
#define GRANTED 1
#define ABANDONED 2
#define PASSED 3

byte HEAD, SIZE, WRITERS;                /* the header */
byte AT[C], STATE[C], OWNER[C];          /* the ring; OWNER: process */
byte STATUS[NP];                         /* in the slots */
#ifdef CHANGE
bit UPGRADER;                            /* at the home */
#endif
byte waits[NP];                          /* ghost: 1 + the position at which a writer waits */

#include "ghost.inc"
#ifdef CHANGE
#define FREE_UPGRADER && !UPGRADER
#else
#define FREE_UPGRADER
#endif

#ifdef READER
#define VERSIONS 2
bit VERSION;
bit met; /* ghost: a writer was in since the look before the read */
#define COMES version = (VERSION + WRITERS) % VERSIONS
#define IS_IN met = 1
#ifdef BREAK_VERSION
#define LEAVES skip
#else
#define LEAVES \
	if \
	:: !shared -> assert(VERSION == (pass -> seen : version)); VERSION = (VERSION + 1) % VERSIONS \
	:: else \
	fi; \
	seen = VERSION
#endif
#else
#define COMES skip
#define IS_IN skip
#define LEAVES skip
#endif

#ifdef TIMED
bit QUEUED[NP]; /* the process has abandoned its place and has not seen it passed over */
#define FREE (!QUEUED[p] || STATUS[p] == PASSED)
#define TAKE_SLOT QUEUED[p] = 0
#else
#define FREE true
#define TAKE_SLOT skip
#endif

#ifdef SWEEP
#ifdef BREAK_SWEEP
#define SWEPT (SWEEP - (C - 1))
#else
#define SWEPT (SWEEP - (2 * C - 1))
#endif
#endif

#define WRITER (p < NW)
#define IS_FREE (WRITER -> SIZE == 0 : WRITERS == 0)
#define I(x) ((x) % C)
#ifdef BREAK_ROUND
#define SAME(a, b) true
#else
#define SAME(a, b) (a == b)
#endif
#define READ(x) ea = AT[I(x)]; es = STATE[I(x)]; eo = OWNER[I(x)]
#define UNCHANGED(x) (AT[I(x)] == ea && STATE[I(x)] == es && OWNER[I(x)] == eo)
#define WRITE(x, s, o) \
	assert(STATE[I(x)] == NONE || AT[I(x)] <= x); \
	AT[I(x)] = x; STATE[I(x)] = s; OWNER[I(x)] = o

proctype P(byte p)
{
	byte at, rounds;
	byte ea, es, eo;             /* an entry, as read */
	byte head, size, writers;    /* the header after a departure */
	byte first, to, end;         /* the walk over shared clients: while to < end */
	byte pass;                   /* 1 + process for which it leaves */
	byte who, old;
	bit ok, shared;
#ifdef READER
	bit version, seen; /* that it expects when it leaves; and after the last departure it counted */
#endif
	byte coming; /* it grants while it comes: 1 for an entry that it replaced, 2 in a sweep; 3: it
		      * holds the lock, and lets sharers in */
#ifdef CHANGE
	bit alone, counted; /* holds exclusively; is counted in WRITERS */
	bit marked;         /* has UPGRADER */
	byte changes, saw;
#endif
#ifdef SWEEP
	byte sweeps;
	bit free;
#endif

	do
#ifdef TRY
	:: atomic { rounds < MOST(p) && FREE -> TAKE_SLOT; rounds++ }
		/* T: get the header; come by compare-and-swap if it is free; else busy */
		d_step {
			ok = IS_FREE;
			if
			:: ok -> COMES; at = HEAD + SIZE; SIZE++; WRITERS = WRITERS + WRITER
			:: else
			fi
		}
		if
		:: ok -> ok = 0; goto cs
		:: else -> goto out
		fi
#endif
#ifdef TIMED
	::	/* cas(STATUS, ABANDONED -> WAIT); flush. Else it is about to be passed over */
		atomic { QUEUED[p] && STATUS[p] == ABANDONED -> STATUS[p] = WAIT; QUEUED[p] = 0; WANT }
		goto wait
#endif
	:: atomic { rounds < MOST(p) && FREE -> TAKE_SLOT; rounds++; WANT }
		/* A1: fao(HEADER, + 1 client); flush */
		d_step {
			ok = IS_FREE;
			at = HEAD + SIZE;
			COMES;
			SIZE++;
			WRITERS = WRITERS + WRITER
		}
#ifdef SWEEP
		if
		:: at == SWEEP ->
			/* W: position `to` of the round before */
			d_step { free = ok; ok = 0; to = SWEPT; end = SWEPT + C }
sweep:			if
			:: to < end ->
				/* get(entry); flush */
				d_step { READ(to) };
				if
				:: es != NONE && ea < to ->
					/* cas(entry, as read -> DONE); flush */
					d_step {
						ok = UNCHANGED(to);
						if
						:: ok -> WRITE(to, DONE, 0)
						:: else
						fi;
						to++
					}
					if
					:: ok && es == WAITS_S ->
						/* the walk of a departure uses to and end */
						d_step {
							ok = 0; coming = 2; sweeps = to; to = 0; end = 0;
							who = eo; ea = 0; es = 0; eo = 0
						}
						goto grant_s
					:: else -> ok = 0
					fi
				:: else -> to++
				fi;
				goto sweep
			:: else -> d_step { ok = free; free = 0; to = 0; end = 0; ea = 0; es = 0; eo = 0 }
			fi
		:: else
		fi;
#endif
		if
		:: ok -> ok = 0; goto cs
		:: else
		fi;
		/* A2; STATUS is the slot's own, and no client knows of the slot before the entry */
		if
		:: WRITER ->
			/* fao(entry, mine, REPLACE); flush */
			d_step {
				READ(at);
				STATUS[p] = WAIT;
				assert(es != WAITS_X || waits[eo] != ea + 1);
				waits[p] = at + 1;
				WRITE(at, WAITS_X, p)
			}
		:: else ->
			/* get(entry); flush */
			d_step { READ(at); STATUS[p] = WAIT };
again:			if
#ifndef BREAK_LATE
			:: es != NONE && (ea > at || (ea == at && es == DONE)) -> d_step { ea = 0; es = 0; eo = 0 } goto cs
#endif
			:: else ->
				/* cas(entry, as read -> mine); flush */
				d_step {
					ok = UNCHANGED(at);
					if
#ifdef BREAK_LATE
					:: ok -> AT[I(at)] = at; STATE[I(at)] = WAITS_S; OWNER[I(at)] = p
#else
					:: ok -> WRITE(at, WAITS_S, p)
#endif
					:: else -> READ(at)
					fi
				}
				if
				:: ok -> ok = 0
				:: else -> goto again
				fi
			fi
		fi;
		if
#ifndef BREAK_OVERDUE
		:: es == WAITS_S && ea < at ->
			d_step { coming = 1; who = eo; ea = 0; es = 0; eo = 0 }
			goto grant_s
#endif
#ifndef BREAK_MARK
		:: WRITER && es == TURN && SAME(ea, at) -> d_step { waits[p] = 0; ea = 0; es = 0; eo = 0 } goto cs
#endif
		:: else -> d_step { ea = 0; es = 0; eo = 0 }
		fi;
		/* A3: await STATUS != WAIT */
wait:		if
		:: STATUS[p] != WAIT
#ifdef TIMED
		:: atomic { STATUS[p] == WAIT -> STATUS[p] = ABANDONED; QUEUED[p] = 1 }
			goto out
#endif
		fi;
cs:
#ifndef CHANGE
		if
		:: WRITER -> IS_IN; critical_exclusive(p)
		:: else -> critical_shared(p)
		fi;
		shared = !WRITER;
#else
		atomic {
			counted = WRITER; alone = WRITER; changes = 0;
			if
			:: WRITER -> IS_IN; nw++; assert(nw == 1 && nr == 0)
			:: else -> nr++; assert(nw == 0)
			fi
		}
hold:		do
		:: changes < CHANGE && alone ->
			/* what it was exclusive for is over */
			atomic { changes++; alone = 0; nw--; nr++; assert(nw == 0) }
			if
			:: counted -> goto share
			:: else /* C5: an exclusive client waits, and lets in whoever comes */
			fi
		:: changes < CHANGE && !alone && !marked ->
			changes++;
			/* C1: cas(UPGRADER, 0 -> 1); flush */
			d_step { ok = !UPGRADER; UPGRADER = 1; marked = ok }
			if
			:: !ok
#ifdef BREAK_SECOND
				-> goto mark
#endif
			:: else -> ok = 0; goto mark
			fi
		:: break
		od;
		goto over;

		/* C2: get(HEADER); unless there are WRITERS, cas(HEADER, as read -> left as a sharer,
		 * and come as a writer) */
mark:		ok = 0;
		d_step {
			ok = 0;
			if
			:: WRITERS == 0 -> COMES; counted = 1; at = HEAD + SIZE; HEAD++; WRITERS++
			:: else
			fi
		}
		if
		:: counted ->
			/* C3: get(HEADER) until all others have left */
			if
#ifdef BREAK_WAIT
			:: true
#else
			:: HEAD == at
#endif
#ifdef TIMED
			:: true -> goto share
#endif
			fi
		:: else ->
			/* C4: get(HEADER); get(entry at HEAD + 1); flush */
again_c:		saw = HEAD;
			if
#ifdef BREAK_BEHIND
			:: true
#else
			:: STATE[I(saw + 1)] == WAITS_X && AT[I(saw + 1)] == saw + 1
#endif
			:: HEAD != saw -> goto again_c
#ifdef TIMED
			:: true -> d_step { saw = 0; marked = 0; UPGRADER = 0 } goto hold
#endif
			fi;
			saw = 0
		fi;
		atomic { IS_IN; alone = 1; nr--; nw++; assert(nw == 1 && nr == 0) }
		/* put(UPGRADER, 0); flush */
		d_step { marked = 0; UPGRADER = 0 }
		goto hold;

		/* C5: get(HEADER); cas(HEADER, as read -> one less of WRITERS, next version; if there is no
		 * other writer, left, and come as a sharer) */
share:		atomic {
			shared = 0;
#ifndef BREAK_BACK
			LEAVES;
#endif
			counted = 0;
			first = 0; to = at + 1; end = HEAD + SIZE; at = 0; coming = 3;
#ifndef BREAK_STAY
			if
			:: WRITERS == 1 -> HEAD++
			:: else
			fi;
#endif
			WRITERS--
		}
#ifdef BREAK_LET
		d_step { to = 0; end = 0 }
#endif
		goto next;
shared_on:	if
		:: marked -> d_step { marked = 0; UPGRADER = 0 } /* a deadline has passed */
		:: else
		fi;
		goto hold;

over:		atomic {
			if
			:: alone -> nw--
			:: else -> nr--
			fi;
			shared = !counted; counted = 0; alone = 0; changes = 0
		}
#endif
		/* R1: fao(HEADER, - 1 client); flush */
leave:		atomic {
			LEAVES;
			HEAD++;
			SIZE--;
			WRITERS = WRITERS - !shared;
			head = HEAD; size = SIZE; writers = WRITERS;
			at = (coming -> at : 0)
		}
#ifdef TIMED
		/* S: put(STATUS, PASSED); flush */
		if
		:: pass -> d_step { STATUS[pass - 1] = PASSED; pass = 0 }
		:: else
		fi;
#endif
		if
		:: !shared -> d_step { first = head; to = head; end = head + size; head = 0; size = 0; writers = 0 }
			goto next
		:: shared && writers == 0 -> goto next
		:: else
		fi;
		/* R2: get(entry at HEAD); flush */
		d_step { READ(head) };
look:		if
		:: es == WAITS_X && SAME(ea, head) -> d_step { who = eo; ea = 0; es = 0; eo = 0 } goto grant_x
		:: es != NONE && ea >= head && !(es == WAITS_X && SAME(ea, head)) -> goto next
		:: else ->
#ifdef BREAK_TURN
			goto next
#endif
			/* cas(entry, as read -> TURN); flush */
			d_step {
				ok = UNCHANGED(head);
				if
				:: ok -> WRITE(head, TURN, 0)
				:: else -> READ(head)
				fi
			}
			if
			:: !ok -> goto look
			:: ok && es == WAITS_S -> d_step { ok = 0; who = eo; ea = 0; es = 0; eo = 0 } goto grant_s
			:: else -> ok = 0; goto next
			fi
		fi;
		/* R4: old = fao(STATUS, GRANTED, REPLACE); flush */
grant_x:	atomic { waits[who] = 0; old = STATUS[who]; assert(old == WAIT || old == ABANDONED); STATUS[who] = GRANTED }
		shared = 0;
		goto granted;
grant_s:	atomic { old = STATUS[who]; assert(old == WAIT || old == ABANDONED); STATUS[who] = GRANTED }
		shared = 1;
granted:	if
#ifndef BREAK_PASS
		:: old == ABANDONED -> d_step { old = 0; pass = who + 1; who = 0 } goto leave
#endif
		:: else -> d_step { old = 0; who = 0 }
		fi;
		/* R3: the next entry of the walk */
next:		atomic { ea = 0; es = 0; eo = 0; head = 0; size = 0; writers = 0 }
		if
		:: to < end ->
			/* get(entry); flush; until it is written */
			atomic {
				STATE[I(to)] != NONE && (AT[I(to)] > to || (AT[I(to)] == to && STATE[I(to)] != TURN)) ->
				READ(to)
			}
			if
			:: ea == to && es == WAITS_X && to == first ->
				d_step { who = eo; first = 0; to = 0; end = 0 }
				goto grant_x
			:: ea == to && es == WAITS_X && to != first ->
				d_step { first = 0; to = 0; end = 0 }
			:: ea == to && es == WAITS_S ->
				/* cas(entry, as read -> DONE); flush */
#ifdef BREAK_TAKE
				d_step { ok = 1; to++; who = eo }
#else
				d_step {
					ok = UNCHANGED(to);
					if
					:: ok -> WRITE(to, DONE, 0); who = eo
					:: else
					fi;
					to++
				}
#endif
#ifdef BREAK_FIRST
				end = to;
#endif
				if
				:: ok -> ok = 0; goto grant_s
				:: else
				fi
			:: else -> to++
			fi;
			goto next
		:: else
		fi;
		d_step { first = 0; to = 0; end = 0 }
		if
		:: coming == 1 -> coming = 0; goto wait
#ifdef CHANGE
		:: coming == 3 -> d_step { coming = 0; shared = 0 } goto shared_on
#endif
#ifdef SWEEP
		:: coming == 2 -> d_step { coming = 0; to = sweeps; end = SWEPT + C; sweeps = 0 } goto sweep
#endif
		:: else
		fi;
out:
#if defined(TIMED) && defined(CHANGE)
		atomic { at = (QUEUED[p] -> at : 0); shared = 0 } /* it may resume */
#else
		atomic { at = 0; shared = 0 }
#endif
	:: d_step {
		alive--;
		if
		:: alive == 0 -> assert(SIZE == 0 && WRITERS == 0 && nw == 0 && nr == 0 FREE_UPGRADER)
		:: else
		fi } break
	od
}

#ifdef READER
proctype R()
{
	byte head;
	bit version;

	/* L1: get the header; flush */
	if
	:: d_step { WRITERS == 0 -> head = HEAD; version = VERSION; met = 0 }
	:: d_step { WRITERS > 0 -> head = 0 }
		goto out
	fi;
	/* L2: get the header; flush */
	d_step {
		if
#ifndef BREAK_WRITER
		:: WRITERS > 0
#endif
		:: VERSION != version
#ifndef BREAK_ROUNDS
		:: HEAD - head >= VERSIONS
#endif
		:: else -> assert(!met)
		fi
	}
out:	skip
}
#endif

init {
	byte i;
#ifdef READER
	run R();
#endif
	atomic { do :: i < NP -> run P(i); i++ :: else -> break od }
#ifdef TIMED
	d_step { alive == 0 -> i = 0;
		do :: i < NP -> assert(!QUEUED[i] || STATUS[i] == PASSED); i++ :: else -> break od }
#endif
}
