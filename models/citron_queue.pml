/*
 * Citron's queues in front of the fast path: the word of one, as in src/lock/citron/citron_queue.c.
 *
 * What it models. N clients draw places of a word again and again, each when it has none. A place
 * counts two in NEXT, and its turn two in DONE, both modulo 2 * PLACES; they are fields of one
 * word, so that a sum of one may carry into the other. A client begins when its turn has come (Q0),
 * or when the one before has ended by half, unless it has the last place before DONE wraps. It ends
 * its turn by Q1 and Q2, each of which adds 1 to DONE, in any order and at any time; or by both in
 * one; at that last place by one sum that sets DONE to 0. Then it may draw again.
 *
 * What it proves. Clients begin in the order of their places (assert); no sum carries (assert); no
 * client waits for a turn that has gone by (deadlock).
 *
 * What it abstracts. What a client does in its turn, for which the word has no meaning; BELOW,
 * which the same sums change by the client's own 1.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | N=2 | safe | pass | 2 clients, 4 places | 451 |
 * | N=3 | safe | pass | 3 clients, 4 places | 5 363 |
 * | BREAK_LAST | safe | assert | the last turn before DONE wraps ends in two steps, too | DONE carries |
 * | BREAK_EARLY | safe | assert | a client at that place begins early, too | DONE borrows |
 * | BREAK_BACK | safe | assert | Q1 adds 3, and Q2 takes 1 away | out of order |
 * | BREAK_SOON | safe | assert | a client begins when a whole turn is left | out of order |
 */
#ifndef N
#define N 3
#endif
#define PLACES 4
#define RANGE (2 * PLACES)
#define LAST (RANGE - 2)
#define NEXT (word / RANGE)
#define DONE (word % RANGE)
#define LEFT ((ticket + RANGE - DONE) % RANGE)
#define ADD(n) word = (word + RANGE * RANGE + (n)) % (RANGE * RANGE)
#ifdef BREAK_BACK
#define Q1 3
#define Q2 (-1)
#define BEGINS (LEFT == 0 || LEFT == RANGE - 1)
#elif defined(BREAK_SOON)
#define Q1 1
#define Q2 1
#define BEGINS (LEFT <= 2)
#else
#define Q1 1
#define Q2 1
#ifdef BREAK_EARLY
#define BEGINS (LEFT <= 1)
#else
#define BEGINS (LEFT == 0 || (LEFT == 1 && ticket != LAST))
#endif
#endif
#ifdef BREAK_LAST
#define IN_STEPS true
#else
#define IN_STEPS (ticket != LAST)
#endif

byte word;
byte drawn, begun; /* ghosts, modulo PLACES */

active [N] proctype client()
{
	byte ticket, place;
	bool first, second;

end:	do
	:: d_step {
		ticket = NEXT;
		assert(ticket == 2 * drawn);
		place = drawn;
		drawn = (drawn + 1) % PLACES;
		ADD(2 * RANGE)
	   }
	   d_step { /* Q0 */
		BEGINS ->
		assert(place == begun);
		begun = (begun + 1) % PLACES
	   }
	   if
	   :: IN_STEPS ->
		first = true;
		second = true;
		do
		:: d_step { first -> ADD(Q1); first = false }
		:: d_step { second -> ADD(ticket == LAST -> -(LAST + 1) : Q2); second = false }
		:: !first && !second -> break
		od
	   :: ADD(ticket == LAST -> -LAST : 2)
	   fi;
	   ticket = 0;
	   place = 0
	od
}
