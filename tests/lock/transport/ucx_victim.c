/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that is attacked by a process outside it (ucx_outsider.c). To be run on two ranks, on
 * two nodes of one host, with the name of a file in TEST_OUTSIDER.
 *
 * The job writes the ports on which it listens, and messages of its own, into FILE. It then
 * acquires locks until FILE.done exists, which the outsider creates, with the number of its
 * messages. Then every word of the segments must be as the job left it, and the messages must have
 * arrived and been refused. TEST_DELAY in the environment limits, in per cent, the delay of locks
 * compared with turns in which the outsider sends the same messages elsewhere.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "listeners.h"
#include "outsider.h"
#include "rma/ucx/parts.h"
#include "tests/lock/tables.h"
#include "words.h"

enum {
	WARM = 20,
	SECTIONS = 50,
	LEAST_TURNS = 20,
	COUNTER = 0,
	IDLE = 1,
	TEXT = 1 << 17,
	PATH = 4096
};
#define LIMIT_S 100.0

static struct rma words;
static struct rma_client client;
static pawl_table *table;
static int64_t sections;

static int64_t pattern(int rank, int i)
{
	return (int64_t)((uint64_t)(rank * WORDS_EACH + i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* ---------------------------------------------------------- what the outsider learns */

static void append(char *text, const char *line)
{
	size_t used = strlen(text);

	if (used + strlen(line) + 2 < TEXT)
		sprintf(text + used, "%s\n", line);
}

static void tell_ports(const struct listener *before, int n, char *text)
{
	static struct listener now[MOST_LISTENERS];
	int m = listeners_find(now);
	char line[64];

	for (int i = 0; i < m; i++) {
		snprintf(line, sizeof line, "port %u", now[i].port);
		if (!listeners_have(before, n, now[i].inode))
			append(text, line);
	}
}

static void print_message(int type, const char *bytes, size_t length, char *text)
{
	static char line[64 + 2 * WIRE_REQUEST_BYTES];
	int at = snprintf(line, sizeof line, "message %d ", type);

	for (size_t i = 0; i < length; i++)
		at +=
		    snprintf(line + at, sizeof line - (size_t)at, "%02x", (unsigned char)bytes[i]);
	append(text, line);
}

/* The last message is still in its buffer. */
static void tell_messages(const struct ucx_net *n, char *text)
{
	for (uint32_t i = 0; i < n->batches; i++)
		if (n->batch[i]->number)
			print_message(WIRE_REQUEST, n->batch[i]->bytes, n->batch[i]->used.length,
				      text);
	if (n->answer && n->answer->used.length)
		print_message(WIRE_ANSWER, n->answer->bytes, n->answer->used.length, text);
}

static void write_file(const char *path, const struct listener *before, int n)
{
	char *mine = calloc(1, TEXT), *all = calloc((size_t)tap_size, TEXT), *hidden;
	FILE *f = NULL;

	tell_ports(before, n, mine);
	tell_messages(ucx_net_of(&words), mine);
	MPI_Gather(mine, TEXT, MPI_CHAR, all, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (tap_rank == 0 && asprintf(&hidden, "%s.new", path) > 0) {
		f = fopen(hidden, "w");
		for (int i = 0; f && i < tap_size; i++)
			fputs(all + (size_t)i * TEXT, f);
		if (f)
			fclose(f);
		/* Renamed when it is complete. */
		expect(f && rename(hidden, path) == 0, "%s cannot be written", path);
		free(hidden);
	}
	free(mine);
	free(all);
}

/* ------------------------------------------------------------------ the job */

/* The mean time of a lock and its critical section in each sort of turn of the outsider. */
enum { TURNS = 1000 };
static double *turns_of[2], turn_sum;
static int turns[2], turn_sections;
static long turn;

static void count(double seconds)
{
	long is = outsider_turn();
	int attack = outsider_attacks_in(turn);

	if (is == turn) {
		turn_sum += seconds;
		turn_sections++;
		return;
	}
	if (turn && turn_sections && turns[attack] < TURNS)
		turns_of[attack][turns[attack]++] = turn_sum / turn_sections;
	turn = is;
	turn_sum = 0;
	turn_sections = 0;
}

static void work(void)
{
	for (int i = 0; i < SECTIONS; i++) {
		struct rma_word w = words_at(&words, 0, COUNTER);
		double start = seconds_now();
		int64_t value;

		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		rma_get(&client, w, &value);
		rma_flush(&client, w); /* the value, before the next one is computed from it */
		rma_put(&client, w, value + 1);
		rma_flush(&client, w); /* orders the store before the release of the lock */
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		count(seconds_now() - start);
		sections++;
	}
}

/* Acquire and release until the file exists. */
static void work_until(const char *path)
{
	double end = seconds_now() + LIMIT_S;
	int over = 0;

	while (!over) {
		work();
		over = seconds_now() > end || access(path, F_OK) == 0;
		/* And so that no rank gets ahead of the other. */
		MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	expect(access(path, F_OK) == 0, "the outsider did not end");
}

static double median(double *of, int n)
{
	sort_values(of, n);
	return n ? of[n / 2] : 0;
}

/* The ratio of the times of locks while the messages come here and while the same messages
 * go elsewhere; of both ranks together, because a delay of one rank favours the other. */
static void delayed(const char *limit)
{
	double us[2] = {1e6 * median(turns_of[false], turns[false]),
			1e6 * median(turns_of[true], turns[true])};

	expect(turns[true] >= LEAST_TURNS && turns[false] >= LEAST_TURNS,
	       "only %d and %d turns were measured", turns[true], turns[false]);
	MPI_Allreduce(MPI_IN_PLACE, us, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	note("two locks and their sections take %.1f us, with messages %.1f us: %.3f", us[0], us[1],
	     us[1] / us[0]);
	expect_time(us[1] < us[0] * (1 + atof(limit) / 100), "locks took %.3f times as long",
		    us[1] / us[0]);
	result("locks are delayed by less than %s %%", limit);
}

static void fill(void)
{
	for (int i = IDLE; i < WORDS_EACH; i++)
		rma_poke(&client, words_at(&words, tap_rank, i), pattern(tap_rank, i));
	meet();
}

/* Messages that an outsider could have seen. */
static void talk(void)
{
	int other = (tap_rank + 1) % tap_size;
	int64_t old;

	for (int i = 0; i < WARM; i++) {
		struct rma_word w = words_at(&words, other, IDLE + i);

		rma_acc(&client, w, 1);
		rma_acc(&client, w, -2);
		rma_fao(&client, w, RMA_SUM, i, &old);
		rma_fao(&client, w, RMA_SUM, 1 - i, &old);
		rma_flush(&client, w); /* completes them */
	}
	/* The last operation would show if it were performed again. */
	rma_fao(&client, words_at(&words, other, IDLE), RMA_SUM, 1, &old);
	rma_flush(&client, words_at(&words, other, IDLE)); /* completes it */
	meet();
	rma_poke(&client, words_at(&words, tap_rank, IDLE), pattern(tap_rank, IDLE));
	meet();
}

static void unchanged(void)
{
	const struct ucx_asleep *asleep = ucx_asleep_in(words.map, tap_rank);
	int64_t total = sections, mine = sections;
	int changed = 0;

	MPI_Reduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = IDLE; i < WORDS_EACH; i++)
		changed += rma_peek(&client, words_at(&words, tap_rank, i)) != pattern(tap_rank, i);
	expect(changed == 0, "%d words were changed", changed);
	expect(!atomic_load(&ucx_net_of(&words)->shared->deaths) && !atomic_load(&asleep->sleepers),
	       "what is before the words was changed");
	if (tap_rank == 0)
		expect(rma_peek(&client, words_at(&words, 0, COUNTER)) == total,
		       "%lld of %lld critical sections counted",
		       (long long)rma_peek(&client, words_at(&words, 0, COUNTER)),
		       (long long)total);
	note("%lld critical sections", (long long)total);
	result("every word is as the job left it");
}

static void refused(const char *path)
{
	/* Messages of this table are refused by other tables. */
	int64_t here = (int64_t)atomic_load(&ucx_net_of(&words)->refused), all = 0, sent = 0;
	FILE *f = tap_rank == 0 ? fopen(path, "r") : NULL;
	long long n = 0;

	if (f && fscanf(f, "%lld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	sent = n;
	MPI_Bcast(&sent, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	MPI_Allreduce(&here, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	note("%lld messages sent to the ports of both, %lld refused by the words alone",
	     (long long)sent, (long long)all);
	expect(sent >= 10000 && all >= sent / 4, "only %lld of %lld were refused", (long long)all,
	       (long long)sent);
	result("the messages came, and were refused");
}

int main(int argc, char **argv)
{
	static struct listener before[MOST_LISTENERS];
	const char *file = getenv("TEST_OUTSIDER"), *limit = getenv("TEST_DELAY");
	char done[PATH];
	int n;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	snprintf(done, sizeof done, "%s.done", file ? file : "none");
	expect(file, "no TEST_OUTSIDER in the environment");
	n = listeners_find(before);
	if (!file || !words_open(&words, RMA_BY_UCX)) {
		result("words over UCX");
		return tap_end();
	}
	client = words_client(&words);
	table = table_open("d-mcs", 1, "transport", "ucx");
	fill();
	talk();
	for (int i = 0; i < 2; i++)
		turns_of[i] = calloc(TURNS, sizeof *turns_of[i]);
	write_file(file, before, n);
	now_doing("locks during the attack");
	work_until(done);
	meet();
	unchanged();
	refused(done);
	if (limit && *limit)
		delayed(limit);
	table_close(table);
	words_close(&words);
	return tap_end();
}
