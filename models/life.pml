/*
 * Recoveries that holders are told of, and their numbers: model of src/lock/life.c, guarantees (A)
 * to (D), steps M1 to M4.
 *
 * NP clients (default 3) acquire a lock exclusively TURNS times each (default 2). A holder may be
 * taken for dead at any step, at most NL - 1 times in all (default 3 lives): then the lock is free
 * in its next life, and the holder may go on, late, or never. What a kind does for that is the
 * business of its own model; here a life is a step of the lock. A holder that is told may repair
 * (M3) and may take a number (M4), or not.
 *
 * What it proves: the holder of the present life is told unless a holder of that life has repaired
 * since the recovery (assert at TOLD), and not told if one has (at AGAIN); a number is larger than
 * those of all earlier holds, and smaller than those of later lives (at NUMBER).
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | NL=2 | safe | pass | 3 clients, 2 turns each, 2 lives | 478 401 |
 * | NP=2 TURNS=3 | safe | pass | 2 clients, 3 turns each, 3 lives | 899 305 |
 * | NP=2 NL=4 | safe | pass | 2 clients, 2 turns each, 4 lives | 287 926 |
 * | | safe middle | pass | 3 clients, 2 turns each, 3 lives | 13 278 805 |
 * | NP=2 TURNS=3 NL=4 | safe middle | pass | 2 clients, 3 turns each, 4 lives | 4 748 404 |
 * | BREAK_UNTOLD | bfs | assert | no look after a recovery | a holder is not told |
 * | BREAK_ANY | bfs | assert | a repair in an earlier life counts | a holder is not told |
 * | BREAK_PUT | bfs | assert | M3 is a put | told again, by a repair that came late |
 * | BREAK_EARLY | bfs | assert | M2 is before M1 | a holder is not told |
 * | BREAK_TERM | bfs | assert | the number has no term | a number that came late is larger |
 */
#ifndef NP
#define NP 3
#endif
#ifndef TURNS
#define TURNS 2
#endif
#ifndef NL
#define NL 3
#endif

byte life, holder;     /* holder: process + 1, in the present life */
byte REPAIRED, TOKEN;  /* REPAIRED: a life; the first is 0 */
bit repaired[NL];      /* by a holder of that life while it was the present one */
byte least[NL], most[NL]; /* numbers of the holds of each life; most 0: none */

#ifdef BREAK_TERM
#define TERM 0
#else
#define TERM 16 /* more than there are numbers */
#endif
#ifdef BREAK_ANY
#define LOOK(old) told = mine > 0 && old == 0
#else
#define LOOK(old) told = mine > 0 && old != mine
#endif

/* A holder is taken for dead. */
active proctype recoverer()
{
	do
	:: atomic { holder && life < NL - 1 -> life++; holder = 0 }
	:: break
	od
}

active [NP] proctype client()
{
	byte turns, mine, old, number, i;
	bit told;

	do
	:: turns < TURNS ->
		turns++;
		told = 0;
#ifdef BREAK_EARLY
		atomic { mine = life; LOOK(REPAIRED) }
		atomic { !holder -> holder = _pid + 1; told = told && mine == life; mine = life }
#else
		atomic { !holder -> holder = _pid + 1; mine = life } /* M1 */
#ifndef BREAK_UNTOLD
		atomic { LOOK(REPAIRED) } /* M2 */
#endif
#endif
		atomic {
			if
			:: mine == life && mine > 0 ->
TOLD:				assert(told || repaired[mine]);
AGAIN:				assert(!told || !repaired[mine])
			:: else
			fi
		}
		if
		:: skip
		:: atomic { TOKEN++; number = TERM * mine + TOKEN }; /* M4 */
			atomic {
				i = 0;
				do
				:: i < NL ->
					if
					:: most[i] && i <= mine ->
NUMBER:						assert(number > most[i])
					:: most[i] && i > mine -> assert(number < least[i])
					:: else
					fi;
					i++
				:: else -> break
				od;
				if
				:: !most[mine] -> least[mine] = number
				:: else
				fi;
				most[mine] = number;
				number = 0;
				i = 0
			}
		fi;
		if
		:: skip
		:: told ->
#ifdef BREAK_PUT
			atomic { REPAIRED = mine; repaired[mine] = repaired[mine] || mine == life }
#else
			old = REPAIRED; /* M3 */
			do
			:: atomic { old < mine && REPAIRED == old ->
				REPAIRED = mine; repaired[mine] = repaired[mine] || mine == life; break }
			:: atomic { old < mine && REPAIRED != old -> old = REPAIRED }
			:: old >= mine -> break
			od;
			old = 0
#endif
		fi;
		atomic {
			if
			:: mine == life -> holder = 0
			:: else /* it was taken for dead */
			fi
		}
	:: break
	od
}
