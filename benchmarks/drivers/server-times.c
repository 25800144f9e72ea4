/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of the structures in which the servers of it, llc and mt keep their ranges, for the
 * lines "server" of a machine's file (pawl-sim(1)).
 *
 * N clients hold ranges of one space, drawn as in pawl-bench --bench=range. In each step a client
 * releases its range and asks for another one, with the functions that the server calls
 * (range_queue.h), until one is granted. A step is timed in two ways: by one thread, in whose cache
 * everything is; and by two threads on two cores in turn, as by the threads of a server that has
 * the requests of a NIC, so that each finds the words that the other has changed. The second time
 * includes the hand-over, one cache line. Other programs disturb a batch, and a virtual machine may
 * move its cores apart and together again; so the time printed is the best batch of several rounds.
 *
 * The lines for the machine's file are the least squares of the time of a call over N (list), or
 * over the logarithm of N + 1 (trees), of two threads in turn.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines/server/range_queue.h"
#include "benchmarks/measure/clock.h"
#include "benchmarks/measure/random.h"
#include "benchmarks/workloads/citron/ranges.h"

enum { STEPS = 100, BATCHES = 10, ROUNDS = 6, UNITS = 1 << 24 };
#define SKEW 0.9

static const int counts[] = {1, 4, 16, 64, 256};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static const struct structure {
	const char *kind, *text;
	const struct range_store *store;
	bool logarithmic;
} structures[] = {
    {"it", "interval tree", &range_tree, true},
    {"llc", "list", &range_list, false},
    {"mt", "B-tree", &range_btree, true},
};
enum { STRUCTURES = sizeof structures / sizeof structures[0] };

/* One structure with its clients. */
struct bed {
	const struct structure *of;
	struct range_queue *queue;
	int clients;
	struct spans spans;
	uint64_t random, calls;
	/* Two threads in turn. */
	_Alignas(64) _Atomic(int) turn;
	_Alignas(64) _Atomic(bool) stop;
};

static void nobody(void *arg, uint64_t client)
{
	(void)arg;
	(void)client;
}

static void ask(struct bed *b, int client)
{
	enum range_state state = RANGE_NONE;

	while (state != RANGE_HELD) {
		struct span s = spans_next(&b->spans, &b->random);
		struct range r = {.first = s.first, .last = s.last};

		b->calls++;
		state = range_queue_ask(b->queue, 0, (uint64_t)client, &r, false);
	}
}

static void release(struct bed *b, int client)
{
	b->calls++;
	range_queue_release(b->queue, (uint64_t)client, nobody, NULL);
}

static void step(struct bed *b)
{
	int client = (int)((random_next(&b->random) >> 32) % (uint64_t)b->clients);

	release(b, client);
	ask(b, client);
}

static bool make(struct bed *b, const struct structure *of, int clients, int64_t length)
{
	*b = (struct bed){.of = of, .clients = clients, .random = random_seed(1, 0)};
	b->queue = range_queue_create(of->store, 1, (uint64_t)clients);
	spans_start(&b->spans, UNITS, length, SKEW, 0, clients);
	if (!b->queue)
		return false;
	for (int c = 0; c < clients; c++)
		ask(b, c);
	return true;
}

/* The cost of drawing a range and a client, which is not the server's. */
static double draw_ns(struct bed *b)
{
	double best = HUGE_VAL;
	int64_t sum = 0;

	for (int k = 0; k < BATCHES; k++) {
		uint64_t start = clock_ns();

		for (int i = 0; i < STEPS; i++) {
			sum += (int64_t)(random_next(&b->random) >> 32) % b->clients;
			sum += spans_next(&b->spans, &b->random).first;
		}
		best = fmin(best, (double)(clock_ns() - start) / STEPS);
	}
	return sum == 1 ? 0 : best;
}

/* ns of a call, by one thread: the best batch. */
static double alone_ns(struct bed *b, double draw)
{
	double best = HUGE_VAL;

	for (int k = 0; k < BATCHES; k++) {
		uint64_t calls = b->calls, start = clock_ns();

		for (int i = 0; i < STEPS; i++)
			step(b);
		calls = b->calls - calls;
		best = fmin(best, ((double)(clock_ns() - start) - draw * (double)(calls - STEPS)) /
				      (double)calls);
	}
	return best;
}

static void await(struct bed *b, int turn)
{
	while (atomic_load_explicit(&b->turn, memory_order_acquire) != turn)
		if (atomic_load_explicit(&b->stop, memory_order_relaxed))
			return;
}

static void *other(void *arg)
{
	struct bed *b = arg;

	for (;;) {
		await(b, 1);
		if (atomic_load_explicit(&b->stop, memory_order_relaxed))
			return NULL;
		step(b);
		atomic_store_explicit(&b->turn, 0, memory_order_release);
	}
}

/* The same, by two threads in turn. */
static double in_turn_ns(struct bed *b, double draw)
{
	double best = HUGE_VAL;
	pthread_t thread;

	if (pthread_create(&thread, NULL, other, b) != 0)
		return NAN;
	for (int k = 0; k < BATCHES; k++) {
		uint64_t calls = b->calls, start = clock_ns();

		for (int i = 0; i < STEPS / 2; i++) {
			step(b);
			atomic_store_explicit(&b->turn, 1, memory_order_release);
			await(b, 0);
		}
		calls = b->calls - calls;
		best = fmin(best, ((double)(clock_ns() - start) - draw * (double)(calls - STEPS)) /
				      (double)calls);
	}
	atomic_store_explicit(&b->stop, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	return best;
}

/* ---------------------------------------------------------------------- printing */

static double abscissa(const struct structure *of, int clients)
{
	return of->logarithmic ? log2(clients + 1) : clients;
}

/* y = base + slope * x by least squares; neither is below 0. */
static void fit(const struct structure *of, const double *y, double *base, double *slope)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0;

	for (int i = 0; i < COUNTS; i++) {
		double x = abscissa(of, counts[i]);

		sx += x;
		sy += y[i];
		sxx += x * x;
		sxy += x * y[i];
	}
	*slope = fmax(0, (COUNTS * sxy - sx * sy) / (COUNTS * sxx - sx * sx));
	*base = fmax(0, (sy - *slope * sx) / COUNTS);
}

static void print_processor(void)
{
	char line[400];
	FILE *in = fopen("/proc/cpuinfo", "r");

	while (in && fgets(line, sizeof line, in))
		if (strncmp(line, "model name", 10) == 0) {
			printf("# processor: %s", strchr(line, ':') + 2);
			break;
		}
	if (in)
		fclose(in);
}

static bool measure_round(const struct structure *of, int64_t length, double *alone,
			  double *in_turn)
{
	static struct bed bed;

	for (int i = 0; i < COUNTS; i++) {
		double draw;

		if (!make(&bed, of, counts[i], length))
			return false;
		draw = draw_ns(&bed);
		alone[i] = fmin(alone[i], alone_ns(&bed, draw));
		in_turn[i] = fmin(in_turn[i], in_turn_ns(&bed, draw));
		range_queue_free(bed.queue);
	}
	return true;
}

static void print_times(const struct structure *of, const double *alone, const double *in_turn)
{
	printf("# %-4s %-14s", of->kind, of->text);
	for (int i = 0; i < COUNTS; i++)
		printf("  %d: %.0f, %.0f", counts[i], alone[i], in_turn[i]);
	printf("\n");
}

static void print_line(const struct structure *of, const double *in_turn)
{
	double base, slope;

	fit(of, in_turn, &base, &slope);
	printf("server %-8s %.0f %.1f   # ns, and for each %s\n", of->kind, base, slope,
	       of->logarithmic ? "doubling of the held ranges" : "held range");
}

int main(int argc, char **argv)
{
	int64_t length = argc > 1 ? atol(argv[1]) : 1;
	double alone[STRUCTURES][COUNTS], in_turn[STRUCTURES][COUNTS];

	if (argc > 2 || length < 1 || length > UNITS) {
		fprintf(stderr, "Usage: server-times [LENGTH]\n");
		return 2;
	}
	print_processor();
	printf("# ns of a call of the structure (ask, release), with N ranges of %lld units held:\n"
	       "# N: by one thread, by two threads in turn; the best of %d batches of %d steps\n",
	       (long long)length, ROUNDS * BATCHES, STEPS);
	for (int s = 0; s < STRUCTURES; s++)
		for (int i = 0; i < COUNTS; i++)
			alone[s][i] = in_turn[s][i] = HUGE_VAL;
	for (int round = 0; round < ROUNDS; round++)
		for (int s = 0; s < STRUCTURES; s++)
			if (!measure_round(&structures[s], length, alone[s], in_turn[s])) {
				fprintf(stderr, "server-times: out of memory\n");
				return 1;
			}
	for (int s = 0; s < STRUCTURES; s++)
		print_times(&structures[s], alone[s], in_turn[s]);
	for (int s = 0; s < STRUCTURES; s++)
		print_line(&structures[s], in_turn[s]);
	return 0;
}
