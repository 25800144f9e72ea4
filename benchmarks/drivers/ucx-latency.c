/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long the last rank takes for an operation on the first rank's words, and for an
 * acquire and release of a lock there (d-mcs: a swap, and a compare-and-swap), back to back or some
 * microseconds apart, over each transport:
 *
 *   ucx-latency [BATCHES]
 *
 * UCX and the MPI take turns, batch by batch, so that a disturbance of the machine affects both.
 * Over UCX the first rank sleeps outside the MPI; over the MPI it drives the MPI. The last rank
 * prints, for each transport and operation, the median of the batches' medians and their best
 * quartile, in microseconds.
 */
#include <mpi.h>
#include <pawl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rma/memory/segments.h"
#include "topo/discover.h"

enum {
	SAMPLES = 500,
	LEAST = 20,
	WARM = 10,
	BUDGET_NS = 400000000, /* of an operation in a batch */
	SPIN_NS = 50000,
	APART_NS = 20000,
	WORD = RMA_HEADER_BYTES,
	BYTES = 4096,
	MOST_BATCHES = 1000
};
enum operation { FETCH_ADD, SWAP, CAS, LOCK, LOCK_APART, OPERATIONS };
enum { UCX, MPI, TRANSPORTS };

static const char *const names[] = {"fetch-add", "swap", "compare-and-swap", "d-mcs",
				    "d-mcs-apart"};
static const char *const transports[] = {"ucx", "mpi"};
static const enum rma_network networks[] = {RMA_BY_UCX, RMA_BY_MPI};
static struct rma words[TRANSPORTS];
static pawl_table *table[TRANSPORTS];
static double medians[TRANSPORTS][OPERATIONS][MOST_BATCHES];
static double means[TRANSPORTS][OPERATIONS][MOST_BATCHES];

_Noreturn static void stop(const char *why)
{
	fprintf(stderr, "ucx-latency: %s\n", why);
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
}

static void operate(struct rma_client *c, int transport, enum operation op)
{
	struct rma_word w = rma_word(c->rma, RMA_NET, 0, WORD);
	int64_t ignored;

	if (op >= LOCK) {
		if (pawl_lock_acquire(table[transport], 0, PAWL_EXCLUSIVE) != PAWL_SUCCESS ||
		    pawl_lock_release(table[transport], 0) != PAWL_SUCCESS)
			stop(pawl_error_message());
		return;
	}
	if (op == CAS)
		rma_cas(c, w, 1, 2, &ignored);
	else
		rma_fao(c, w, op == SWAP ? RMA_REPLACE : RMA_SUM, 1, &ignored);
	rma_flush(c, w); /* completes the operation, which is what is measured */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(int transport, enum operation op, double *median, double *mean)
{
	struct rma_client c = {.rma = &words[transport]};
	static double sample[SAMPLES];
	uint64_t start = rma_now_ns();
	int n = 0;

	*mean = 0;
	for (int i = -WARM; n < SAMPLES && (n < LEAST || rma_now_ns() - start < BUDGET_NS); i++) {
		uint64_t before = rma_now_ns();

		while (op == LOCK_APART && rma_now_ns() - before < APART_NS)
			;
		before = rma_now_ns();
		operate(&c, transport, op);
		if (i < 0)
			continue;
		sample[n] = (double)(rma_now_ns() - before) * 1e-3;
		*mean += sample[n++];
	}
	*mean /= n;
	qsort(sample, (size_t)n, sizeof sample[0], by_value);
	*median = sample[n / 2];
}

/* Wait for the last rank, driving the MPI or asleep. */
static void serve(MPI_Comm comm, bool awake)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(comm, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
		if (!awake)
			nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void play(MPI_Comm comm, int batches)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < batches * TRANSPORTS; i++) {
		int t = i % TRANSPORTS, batch = i / TRANSPORTS;

		for (int op = 0; rank == size - 1 && op < OPERATIONS; op++)
			measure(t, (enum operation)op, &medians[t][op][batch],
				&means[t][op][batch]);
		serve(comm, rank == 0 && t == MPI);
	}
}

static void print(int batches)
{
	for (int t = 0; t < TRANSPORTS; t++)
		for (int op = 0; op < OPERATIONS; op++) {
			double *median = medians[t][op], *mean = means[t][op];

			qsort(median, (size_t)batches, sizeof *median, by_value);
			qsort(mean, (size_t)batches, sizeof *mean, by_value);
			printf("%s %s %.2f %.2f %.2f\n", transports[t], names[op],
			       median[batches / 2], median[batches / 4], mean[batches / 2]);
		}
	fflush(stdout);
}

static void open_words(struct rma *r, enum rma_network network, MPI_Comm comm,
		       const struct topo_job *job)
{
	const struct rma_request request = {.comm = comm,
					    .node_comm = job->node_comm,
					    .node = job->topo->node,
					    .network = network,
					    .one_host = job->one_host,
					    .host_comm = job->host_comm,
					    .leaders = job->leaders,
					    .bytes = BYTES};
	char err[600];

	if (rma_segments_create(r, &request, err, sizeof err) != RMA_OK)
		stop(err);
	/* As tables have it. */
	r->waiting.spin_ns[RMA_SOON] = SPIN_NS;
	r->waiting.crowded = job->host_ranks > job->host_cores;
	r->waiting.park = true;
}

static void open_table(int transport, MPI_Comm comm)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", transports[transport]);
	if (pawl_table_create(comm, "d-mcs", 1, info, &table[transport]) != PAWL_SUCCESS)
		stop(pawl_error_message());
	MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	int batches = argc > 1 ? atoi(argv[1]) : 10, rank, size;
	struct topo_request request = {0};
	struct topo_job job;
	char err[600];

	if (batches < 1 || batches > MOST_BATCHES) {
		fprintf(stderr, "usage: ucx-latency [BATCHES], 1 to %d\n", MOST_BATCHES);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (topo_discover(MPI_COMM_WORLD, &request, &job, err, sizeof err) != 0 ||
	    job.topo->nnodes < 2)
		stop("needs two nodes");
	for (int t = 0; t < TRANSPORTS; t++) {
		open_words(&words[t], networks[t], MPI_COMM_WORLD, &job);
		open_table(t, MPI_COMM_WORLD);
	}
	play(MPI_COMM_WORLD, batches);
	if (rank == size - 1)
		print(batches);
	/* MPICH over several hosts may hang in MPI_Finalize. */
	MPI_Barrier(MPI_COMM_WORLD);
	_exit(0);
}
