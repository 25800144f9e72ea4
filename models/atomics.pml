/*
 * Pawl's atomics under MPI's accumulates: model of src/dropin/atomics, over an MPI that promises no
 * more than the standard. Steps on memory are sequentially consistent; what one statement does is one
 * instruction.
 *
 * -DPSCW    process 0 stores to its memory, posts for both others, and waits for them; they start, add
 *           to it and complete. MPI_Win_start of the MPI returns at any time.
 * -DFENCE   all processes store to their memory, call a fence, add to the memory of each, and call a
 *           fence. The first one of the MPI returns at any time (MPI_MODE_NOPRECEDE).
 * -DPUT     process 1 puts a word to 0, by the MPI: 0 performs that when it drives the MPI; flushes;
 *           and changes a flag by an atomic. 0 polls the flag, and then loads the word.
 * -DMEET    all processes add to one element: by an instruction (0), by compare-and-swap (1, 2); or,
 *           with -DLOCKED, all under the lock of the target.
 * -DFAR     process 1 replaces a word of 0 by 1, 2 and 3, by messages to a thread of 0 that may
 *           overtake each other, flushes, and changes a flag; 2 polls the flag, and then reads the
 *           word.
 *
 *   X2  the origin waits until the target has posted for it as often as it has started
 *   X3  a process waits until all have called the fence as often as itself
 *   P1  a flush remains the MPI's, also when all accumulates are complete
 *   P2  a poll drives the MPI now and then
 *   D   an element is always changed in the same way
 *   C   what was computed from a value replaces only that value
 *   A   a flush returns when all messages are answered, and an answer comes when one is performed
 *   N   the target performs the messages of an origin by number; what has come too early changes
 *       nothing, and is sent again, in order, when no other one is on its way
 *
 * What it proves: no operation comes before the stores of its target, and all are there after the
 * epoch (PSCW, FENCE); the word is there with the flag, and no process waits for ever (PUT); no update
 * is lost (MEET); operations of one process are in its order, and complete (FAR). Checked by
 * assertions and as absence of a deadlock.
 *
 * | PSCW | safe | pass | two rounds of epochs, 3 processes | 101 |
 * | FENCE | safe | pass | the same | 15 279 |
 * | PUT | safe | pass | a put, its flush and a flag | 16 |
 * | MEET | safe | pass | 3 processes add twice, by instructions | 4 850 |
 * | MEET LOCKED | safe | pass | the same, under the target's lock | 6 541 |
 * | FAR | safe | pass | three operations by messages, a flush and a flag | 331 |
 * | PSCW BREAK_POST | safe | assert | X2: it does not wait | an operation comes before the target's store |
 * | PSCW BREAK_ONCE | safe | assert | X2: it waits for the first post only | the same |
 * | FENCE BREAK_FENCE | safe | assert | X3: it does not wait | the same |
 * | FENCE BREAK_EARLY | safe | assert | X3: it counts before its stores | the same |
 * | PUT BREAK_FLUSH | safe | assert | P1: the flush is left out | the flag comes before the word |
 * | PUT BREAK_DRIVE | safe | deadlock | P2: it only polls | both wait for ever |
 * | MEET BREAK_DOMAIN | safe | assert | D: one process adds by the MPI: load, store | an update is lost |
 * | MEET LOCKED BREAK_LOCK | safe | assert | D: one process adds by an instruction | the same |
 * | MEET BREAK_SWAP | safe | assert | C: it stores what it has computed | the same |
 * | FAR BREAK_ANSWER | safe | assert | A: the flush does not wait | the flag comes before the word |
 * | FAR BREAK_PERFORM | safe | assert | A: the answer comes first | the same |
 * | FAR BREAK_NUMBER | safe | assert | N: all are performed as they come | the last one comes first |
 * | FAR BREAK_AGAIN | safe | assert | N: what was refused is not sent again | an operation is lost |
 */
#define N 3
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define ROUND 10 /* what a target stores in round r: ROUND * r */

byte memory[N];

#ifdef PSCW
byte posts[N], completes;

proctype target()
{
	byte r;

	for (r : 1 .. ROUNDS) {
		memory[0] = ROUND * r;
		posts[1]++;
		posts[2]++;
		completes >= 2 * r;
		assert(memory[0] == ROUND * r + 2)
	}
}

proctype origin(byte me)
{
	byte r;

	for (r : 1 .. ROUNDS) {
#if defined(BREAK_ONCE)
		posts[me] >= 1;
#elif !defined(BREAK_POST)
		posts[me] >= r; /* X2 */
#endif
		memory[0]++;
		completes++
	}
}
#endif

#ifdef FENCE
byte entered[N];

inline enter()
{
	calls++;
	entered[me]++
}

inline await()
{
	for (i : 0 .. N - 1) {
#ifdef BREAK_FENCE
		skip
#else
		entered[i] >= calls /* X3 */
#endif
	}
}

proctype process(byte me)
{
	byte r, i, calls;

	for (r : 1 .. ROUNDS) {
#ifdef BREAK_EARLY
		enter();
		memory[me] = ROUND * r;
#else
		memory[me] = ROUND * r;
		enter();
#endif
		await();
		for (i : 0 .. N - 1) {
			memory[i]++
		}
		enter();
		await();
		assert(memory[me] == ROUND * r + N);
		/* The program: no stores before all have looked. */
		enter();
		await()
	}
}
#endif

#ifdef PUT
byte word, flag, performed;
chan puts = [1] of { byte };

proctype target()
{
	byte value;

	do
	:: flag == 1 -> break
#ifndef BREAK_DRIVE
	:: puts?value -> word = value; performed++ /* P2 */
#endif
	od;
	assert(word == 7)
}

proctype origin(byte me)
{
	if
	:: me == 1 ->
		puts!7;
#ifndef BREAK_FLUSH
		performed == 1; /* P1 */
#endif
		flag = 1
	:: else
	fi
}
#endif

#ifdef MEET
byte lock, ended;

inline by_lock()
{
	atomic { lock == 0 -> lock = 1 };
	old = memory[0];
	memory[0] = old + 1;
	lock = 0
}

inline by_swap()
{
	do
	:: old = memory[0];
#ifdef BREAK_SWAP
	   memory[0] = old + 1;
	   break
#else
	   if
	   :: atomic { memory[0] == old -> memory[0] = old + 1 }; /* C */
	      break
	   :: memory[0] != old
	   fi
#endif
	od
}

proctype process(byte me)
{
	byte r, old;

	for (r : 1 .. ROUNDS) {
		if
#ifdef BREAK_DOMAIN
		:: me == 2 -> old = memory[0]; memory[0] = old + 1
#endif
#ifdef LOCKED
#ifdef BREAK_LOCK
		:: me == 0 -> memory[0]++
		:: me == 1 -> by_lock()
		:: me == 2 -> by_lock()
#else
		:: by_lock()
#endif
#else
		:: me == 0 -> memory[0]++
		:: me == 1 -> by_swap()
#ifndef BREAK_DOMAIN
		:: me == 2 -> by_swap()
#endif
#endif
		fi
	}
	ended++;
	if
	:: ended == N -> assert(memory[0] == N * ROUNDS)
	:: else
	fi
}
#endif

#ifdef FAR
#define MESSAGES 3
#define NONE 0
#define DONE 1
#define LATER 2
byte word, flag, next;
bool sent[MESSAGES];
byte answer[MESSAGES];

inline receive(k)
{
	atomic { sent[k] -> sent[k] = false };
	if
#ifdef BREAK_NUMBER
	:: true ->
#else
	:: next != k -> answer[k] = LATER
	:: else ->
#endif
#ifdef BREAK_PERFORM
		answer[k] = DONE;
#endif
		word = k + 1; /* N */
		next++;
		answer[k] = DONE
	fi
}

proctype thread()
{
end:
	do
	:: receive(0)
	:: receive(1)
	:: receive(2)
	od
}

proctype process(byte me)
{
	byte i;

	if
	:: me == 1 ->
		for (i : 0 .. MESSAGES - 1) {
			sent[i] = true
		}
#ifndef BREAK_ANSWER
		for (i : 0 .. MESSAGES - 1) {
			answer[i] != NONE /* A */
		}
#ifndef BREAK_AGAIN
		for (i : 0 .. MESSAGES - 1) {
			if
			:: answer[i] == LATER -> /* N */
				answer[i] = NONE;
				sent[i] = true;
				answer[i] != NONE;
				assert(answer[i] == DONE)
			:: else
			fi
		}
#endif
#endif
		flag = 1
	:: me == 2 ->
		flag == 1;
		assert(word == MESSAGES)
	:: else
	fi
}
#endif

init {
	byte i;

	atomic {
#if defined(PSCW) || defined(PUT)
		run target();
		for (i : 1 .. N - 1) {
			run origin(i)
		}
#else
#ifdef FAR
		run thread();
#endif
		for (i : 0 .. N - 1) {
			run process(i)
		}
#endif
	}
}
