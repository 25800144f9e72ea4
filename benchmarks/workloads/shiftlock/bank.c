/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BANK: the application of the ShiftLock paper (FAST'25), section 4.5, in the manner of
 * SmallBank: accounts in a Redis server, a lock for each (--locks), two-phase locking.
 * 15 % of the transactions read the balance of an account; the others (--fw) transfer
 * between two: they read both, compute, and write both, in separate messages, so that
 * only the locks keep them apart. Pawl's locks and Redlock use the same server.
 *
 * Checked: transfers do not change the sum of all balances.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"
#include "redis.h"
#include "redlock.h"
#include "txn.h"

enum { OPENING = 1000, MOST_MOVED = 100 };

static struct {
	bool runs, connected;
	bool broken; /* TEST_BREAK=1: no locks, so that a test sees whether the check notices */
	char where[REDIS_PATH];
	uint64_t accounts;
} bank;

/* One or two accounts in ascending order, with Redlock's tokens. */
struct deal {
	uint64_t account[2];
	int n, mode;
	char token[REDIS_TOKEN];
};

static void check(const struct trial *t, bool ok, const char *doing)
{
	if (ok)
		return;
	fprintf(stderr, "pawl-bench: %s\n", redis_error());
	trial_abort(t, doing);
}

/* -------------------------------------------------------------------------- locks */

/* The number of accounts that Redlock locked before it gave up. */
static int claim(struct trial *t, const struct deal *d)
{
	bool got = true;
	int n = 0;

	for (; n < d->n; n++) {
		check(t, redlock_acquire(d->account[n], d->token, &t->random, &got), "acquire");
		if (!got)
			break;
	}
	return n;
}

static void unclaim(struct trial *t, const struct deal *d, int n)
{
	while (n-- > 0)
		check(t, redlock_release(d->account[n], d->token), "release");
}

static void enter(struct trial *t, struct deal *d)
{
	int n;

	if (bank.broken)
		return;
	for (int i = 0; t->table && i < d->n; i++)
		if (trial_refused(pawl_lock_acquire(t->table, d->account[i], d->mode)))
			trial_abort(t, "acquire");
	if (t->table)
		return;
	redlock_token(d->token, &t->random);
	while ((n = claim(t, d)) < d->n)
		unclaim(t, d, n);
}

static void leave(struct trial *t, const struct deal *d)
{
	if (bank.broken)
		return;
	for (int i = d->n - 1; t->table && i >= 0; i--)
		trial_release(t, d->account[i]);
	if (!t->table)
		unclaim(t, d, d->n);
}

/* ------------------------------------------------------------------- transactions */

static void look(struct trial *t, const struct deal *d)
{
	int64_t balance = 0;

	check(t, redis_read(d->account[0], &balance), "reading a balance");
	t->violations += balance < 0;
}

static void move(struct trial *t, const struct deal *d)
{
	int64_t balance[2], amount = (int64_t)(random_next(&t->random) % MOST_MOVED) + 1;
	int from = (int)(random_next(&t->random) >> 63);

	check(t, redis_read_two(d->account, balance), "reading two balances");
	if (balance[from] < amount)
		return;
	balance[from] -= amount;
	balance[!from] += amount;
	check(t, redis_write_two(d->account, balance), "writing two balances");
}

static uint64_t account(void *trial)
{
	return trial_pick(trial).lock;
}

static void draw(struct trial *t, struct deal *d)
{
	bool transfers = (uint32_t)(random_next(&t->random) >> 32) < t->transfers;
	struct txn x;

	bank_draw(transfers, account, t, &x);
	d->n = x.n;
	d->mode = contestant_shares(t->contestant) ? x.want[0].mode : PAWL_EXCLUSIVE;
	for (int i = 0; i < x.n; i++)
		d->account[i] = x.want[i].lock;
}

void bank_run(struct trial *t)
{
	const uint64_t start = ticks();
	uint64_t now, done = 0;
	struct deal d;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		uint64_t began, took;

		draw(t, &d);
		began = ticks();
		enter(t, &d);
		(d.n == 2 ? move : look)(t, &d);
		leave(t, &d);
		took = ticks() - began;
		times_add(&t->hist, took);
		times_add(&t->series[d.n == 2 ? BANK_TRANSFER : BANK_BALANCE], took);
		t->exclusive += d.n == 2;
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* ---------------------------------------------------------------- start, check, end */

/* Of rank 0. */
static bool open_bank(const struct trial *t, char *why, size_t whylen)
{
	if (!redis_usable(why, whylen))
		return false;
	bank.runs = redis_start(bank.where, t->team->nodes > 1, why, whylen);
	if (!bank.runs || !redis_connect(bank.where, why, whylen))
		return false;
	bank.connected = true;
	if (redis_fill(t->set->n, OPENING))
		return true;
	snprintf(why, whylen, "%s", redis_error());
	return false;
}

/* The first trial of the run opens the bank for all. */
static bool open_all(struct trial *t, char *why, size_t whylen)
{
	bool ok = true;

	if (t->team->rank == 0)
		ok = open_bank(t, why, whylen);
	MPI_Bcast(&ok, sizeof ok, MPI_BYTE, 0, t->team->comm);
	MPI_Bcast(why, (int)whylen, MPI_CHAR, 0, t->team->comm);
	MPI_Bcast(bank.where, REDIS_PATH, MPI_CHAR, 0, t->team->comm);
	if (ok && t->team->rank > 0)
		ok = bank.connected = redis_connect(bank.where, why, whylen);
	return team_sum(t->team, !ok) == 0;
}

int bank_open(struct trial *t, char *why, size_t whylen)
{
	if (t->set->n < 2) {
		snprintf(why, whylen,
			 "--locks: the bank has an account for each; accepted: from 2 on");
		return BENCH_USAGE;
	}
	if (bank.accounts == 0 && !open_all(t, why, whylen)) {
		bank_end();
		return BENCH_USAGE;
	}
	bank.accounts = t->set->n;
	bank.broken = getenv("TEST_BREAK") != NULL;
	t->transfers = t->set->fw >= 100 ? UINT32_MAX : (uint32_t)(t->set->fw / 100 * 0x1p32);
	return BENCH_OK;
}

void bank_close(struct trial *t)
{
	int64_t sum = 0, expected = (int64_t)bank.accounts * OPENING;

	if (t->team->rank != 0)
		return;
	check(t, redis_sum(bank.accounts, &sum), "adding up the balances");
	if (sum == expected)
		return;
	fprintf(stderr, "pawl-bench: %s: the bank has %lld and should have %lld\n",
		t->contestant->name, (long long)sum, (long long)expected);
	t->violations++;
	/* The next trial begins anew. */
	check(t, redis_fill(bank.accounts, OPENING), "opening the accounts again");
}

void bank_end(void)
{
	if (bank.connected)
		redis_disconnect();
	if (bank.runs)
		redis_stop();
	memset(&bank, 0, sizeof bank);
}
