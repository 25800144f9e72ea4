/*
 * Standing aside: model of acquire_again() and stand_aside() of src/dropin/epochs.c, over locks that
 * serve in the order of arrival.
 *
 * Time is discrete. It goes on (tick) when no client can do anything, so what takes no time is
 * done in any order, and then the time passes that somebody awaits. A client acquires one lock or
 * two, one after the other, by turns:
 *   S1  it waits in the queues until the end of its turn, and leaves the queue where it is then
 *   S2  it gives back what it has of its request
 *   S3  it waits outside, for a quarter of the turn, to which a quarter of that may be added; for an
 *       eighth more if it asked for several locks, shared
 *   S4  it asks again, at the end of the queues, for twice as long
 * Each client first calls at any time up to LATE; a first turn that ends earlier than T, because its
 * deadline was that of an earlier call, is one that began before the call. Clients that are not
 * patient never give up: these are those with a shared lock of a target. A place that a client
 * leaves is gone; that other clients pass over it is the business of the kinds' own models. The
 * intent of a client that holds a target already goes ahead of those that wait.
 *
 * -DCROSS   readers 0 and 1 hold a lock each, and need that of the other when the writers 2 and 3
 *           have asked for one each.
 * -DALL     0 holds both locks, shared, until 1 has both, shared (MPI_Win_lock_all, which is patient,
 *           too); 2 and 3 are writers of a lock each.
 * -DPARTS   0 holds lock 1, shared, until 1 has lock 0, shared; 2 needs both exclusively (an intent,
 *           then a target); 3 is a writer of lock 1.
 * -DINTENTS lock 0 is that of the whole window, which clients have with intent, or shared. 0 has an
 *           intent and lock 1 exclusively, until 1 has an intent and lock 2 exclusively; 2 waits for
 *           the whole window, shared (MPI_Win_lock_all); 3 for an intent and lock 2 exclusively.
 *           With -DREADER 0 does not wait for 1, and 3 has lock 2 shared until 2 has the window.
 * -DAHEAD   the same locks. 0 holds lock 1, shared, and needs an intent and lock 2 exclusively; 1 an
 *           intent and lock 1 exclusively, which is behind 0; 2 the whole window, shared, which is
 *           behind the intent of 1; 3 an intent and lock 2 exclusively. With -DREADER 3
 *           needs the whole window, shared, and 2 holds it until 3 has it, too.
 * -DSTREAM  readers 0, 1 and 2 lock again and again, without a pause, each for at most H; 3 is a
 *           writer.
 *
 * What it proves: exclusion; each client has its locks before END. With -DSTREAM END follows from the
 * bound of epochs.c: the writer's turn begins 3 H + 2 T after its call at most, and then it waits for
 * the sections before it. It assumes that a section ends within H: where one lasts longer than the
 * turn, the writer stands aside again. In the other instances it assumes first calls at most LATE
 * apart; the later they are, the longer is the turn that ends all waits.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | CROSS | safe | pass | two readers that hold what the other needs, two writers; each has its locks within the time of the head | 8 989 |
 * | ALL | safe | pass | a holder of two locks that waits for another reader of both, two writers | 56 159 |
 * | PARTS | safe | pass | a holder that waits for a reader, a writer of two locks, one of one | 4 528 |
 * | STREAM | safe | pass | readers without a pause; the writer's turn comes within 3 H + 2 T | 13 718 |
 * | INTENTS | safe | pass | a holder with an intent that waits for another one, a client of the whole window, two that need an intent and one target | 4 447 |
 * | INTENTS READER | safe | pass | the same, and a reader of that target that waits for the client of the window | 4 427 |
 * | AHEAD | safe | pass | a holder of a target that needs an intent, ahead of a client of the window that is behind a client of that target | 4 158 |
 * | AHEAD READER | safe | pass | the same, and two clients of the window, one of which waits for the other | 5 401 |
 * | AHEAD BREAK_STAY | safe | pass | ahead, it has its locks also if nobody stands aside | 3 810 |
 * | AHEAD BREAK_STAY BREAK_BEHIND | safe | assert | its intent waits behind the others | deadlock |
 * | AHEAD READER BREAK_STAY | safe | assert | (S1) the second client of the window stays behind that intent | deadlock |
 * | CROSS BREAK_STAY | safe | assert | (S1) it never gives up | deadlock |
 * | INTENTS BREAK_STAY | safe | assert | the same | deadlock |
 * | PARTS BREAK_KEEP | safe | assert | (S2) it keeps the first lock, or its intent, while it stands aside | deadlock |
 * | INTENTS READER BREAK_KEEP | safe | assert | the same | deadlock |
 * | ALL BREAK_PAUSE | safe | assert | (S3) it asks again at once | a client that needs two locks is late |
 * | ALL BREAK_LAST | safe | assert | (S3) all pauses are as long | it is late |
 * | STREAM BREAK_DOUBLE | safe | assert | (S4) all turns are as long as the first one | the writer starves |
 * | STREAM BREAK_JOIN | safe | assert | a reader enters although a writer waits | the writer starves |
 */
#ifndef T
#define T 4
#endif
#ifndef LATE
#define LATE 3
#endif
#define H 6
#ifndef END
#ifdef STREAM
#define END (LATE + 3 * H + 2 * T + H + 1)
#else
#define END 400
#endif
#endif
#define NC 4
#define NL 3
#define NO NL /* no second lock */

byte shared[NL], exclusive[NL]; /* holders */
byte waits[NC];               /* 1 + 2 * lock + (exclusively), 0: in no queue */
byte before[NC];              /* the clients before it in the queue that it waits for */
byte has;                     /* those that have had what they asked for */
byte done;
short now, last = -1;

#define MASK(c) (1 << (c))
#if defined(INTENTS) || defined(AHEAD)
#define IS_WHOLE(l) ((l) == 0) /* exclusive holders are those with intent */
#else
#define IS_WHOLE(l) false
#endif
#define FREE(l, x) ((exclusive[l] == 0 || (IS_WHOLE(l) && (x))) && (!(x) || shared[l] == 0))
#ifdef BREAK_BEHIND
#define IS_AHEAD(l) false
#else
#define IS_AHEAD(l) (IS_WHOLE(l) && c != NO)
#endif
#ifdef BREAK_JOIN
#define IN_TURN(x) (before[me] == 0 || !(x))
#else
#define IN_TURN(x) (before[me] == 0)
#endif

inline queue(l, x)
{
	for (i : 0 .. NC - 1) {
		if
		:: !IS_AHEAD(l) && ((waits[i] == 2 + 2 * l && !(IS_WHOLE(l) && x)) ||
				    (x && waits[i] == 1 + 2 * l)) ->
			before[me] = before[me] | MASK(i)
		:: else
		fi
	}
	waits[me] = 1 + 2 * l + x;
	i = 0
}

/* No two patient clients ask at the same moment. */
inline begin_turn()
{
	now > last || !patient;
	last = (patient -> now : last);
	until = now + turn
}

inline unqueue()
{
	waits[me] = 0;
	before[me] = 0;
	for (i : 0 .. NC - 1) {
		before[i] = before[i] & ~MASK(me)
	}
	i = 0
}

inline count(l, x, change)
{
	if
	:: x -> exclusive[l] = exclusive[l] + change
	:: else -> shared[l] = shared[l] + change
	fi;
	assert(exclusive[l] == 0 || shared[l] == 0);
	assert(exclusive[l] <= 1 || IS_WHOLE(l))
}

/* gave_up says whether the turn has ended. */
inline acquire(l, x)
{
	queue(l, x);
	if
	:: FREE(l, x) && IN_TURN(x) -> unqueue(); count(l, x, 1)
#ifndef BREAK_STAY
	:: patient && now >= until -> unqueue(); gave_up = true /* S1 */
#endif
	fi
}

/* Calls at time late for locks a and b (or NO), exclusively or not; its section lasts until those of
 * need have had theirs, and for up to most. All that happens at once is one step. It has lock c,
 * shared, until the end of its section (or NO). */
proctype client(byte me, late, a, b, c; bool x, patient; byte need, most)
{
	byte i;
	short until, turn = T;
	bool gave_up, keeps;

	atomic {
		now >= late;
again:
		begin_turn();
		do
		:: gave_up = false;
		   if
		   :: keeps
		   :: else -> acquire(a, x)
		   fi;
		   if
		   :: !gave_up && b != NO ->
			patient || now >= 2 * LATE;
			acquire(b, x);
			if
#ifdef BREAK_KEEP
			:: gave_up -> keeps = true
#else
			:: gave_up -> count(a, x, -1) /* S2 */
#endif
			:: else
			fi
		   :: else
		   fi;
		   if
		   :: gave_up
		   :: else -> break
		   fi;
#ifndef BREAK_PAUSE
		   until = now + turn / 4; /* S3 */
#ifndef BREAK_LAST
		   until = until + (b != NO && !x -> turn / 8 : 0);
#endif
		   if
		   :: true
		   :: turn >= 16 -> until = until + turn / 16
		   fi;
		   now >= until;
#endif
#ifndef BREAK_DOUBLE
		   turn = turn * 2; /* S4 */
#endif
		   begin_turn()
		od;
		has = has | MASK(me);
		if
		:: most == 0 -> until = now
		:: most > 0 -> until = now + 1
		:: most > 0 -> until = now + most / 2
		:: most > 0 -> until = now + most
		fi;
		now >= until && (has & need) == need;
		count(a, x, -1);
		if
		:: b != NO -> count(b, x, -1)
		:: else
		fi;
		if
		:: c != NO -> count(c, false, -1)
		:: else
		fi;
		if
		:: most > 0 && !(has & MASK(3)) -> goto again
		:: else
		fi;
		until = 0;
		turn = 0;
		done++
	}
}

/* A client that calls at any time up to LATE; and one that holds a lock already. */
inline start_with(id, a, b, c, x, patient, need, most)
{
	select(late : 0 .. LATE);
	run client(id, late, a, b, c, x, patient, need, most)
}

inline start(id, a, b, x, patient, need, most)
{
	start_with(id, a, b, NO, x, patient, need, most)
}

init {
	byte late;

	atomic {
#ifdef CROSS
		start(0, 0, 1, 0, 0, 0, 0);
		start(1, 1, 0, 0, 0, 0, 0);
		start(2, 0, NO, 1, 1, 0, 0);
		start(3, 1, NO, 1, 1, 0, 0);
#endif
#ifdef ALL
		start(0, 0, 1, 0, 1, MASK(1), 0);
		start(1, 0, 1, 0, 1, 0, 0);
		start(2, 0, NO, 1, 1, 0, 0);
		start(3, 1, NO, 1, 1, 0, 0);
#endif
#ifdef PARTS
		start(0, 1, NO, 0, 0, MASK(1), 0);
		start(1, 0, NO, 0, 0, 0, 0);
		start(2, 0, 1, 1, 1, 0, 0);
		start(3, 1, NO, 1, 1, 0, 0);
#endif
#ifdef INTENTS
		start(1, 0, 2, 1, 1, 0, 0);
		start(2, 0, NO, 0, 1, 0, 0);
#ifdef READER
		start(0, 0, 1, 1, 1, 0, 0);
		start(3, 2, NO, 0, 0, MASK(2), 0);
#else
		start(0, 0, 1, 1, 1, MASK(1), 0);
		start(3, 0, 2, 1, 1, 0, 0);
#endif
#endif
#ifdef AHEAD
		shared[1] = 1;
		start_with(0, 0, 2, 1, 1, 1, 0, 0);
		start(1, 0, 1, 1, 1, 0, 0);
#ifdef READER
		start(2, 0, NO, 0, 1, MASK(3), 0);
		start(3, 0, NO, 0, 1, 0, 0);
#else
		start(2, 0, NO, 0, 1, 0, 0);
		start(3, 0, 2, 1, 1, 0, 0);
#endif
#endif
#ifdef STREAM
		start(0, 0, NO, 0, 0, 0, H);
		start(1, 0, NO, 0, 0, 0, H);
		start(3, 0, NO, 1, 1, 0, 0);
		done = 1;
#endif
		late = 0
	}
	do
	:: done == NC -> break
	:: timeout ->
		assert(now < END);
		now++
	od
}
