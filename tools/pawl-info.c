/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl-info shows what the locks find in the job in which it runs: levels, paths between
 * ranks and the times of operations on them, known traps, and advice. It uses src/topo and
 * src/rma, with the options that tables read from the environment.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/kinds.h"
#include "table/transport_choice.h"
#include "options/options.h"
#include "info.h"
#include "rma/progress.h"
#include "rma/memory/segments.h"

enum { ALL_WELL, FAILED, USAGE };
enum { SEGMENT_BYTES = 2 * RMA_HEADER_BYTES };

static struct info info;
static struct options options;
static bool json, help, version;
/* Of --ranks: a job to describe without one. */
static long long asked_ranks, asked_per_node = 128, asked_locks;
static int rank;

static void print_help(void)
{
	fputs("Usage: mpirun -n RANKS pawl-info [OPTION]...\n"
	      "       pawl-info --ranks=N [--ranks-per-node=N] [--locks=N]\n"
	      "Show what the locks find in this job: levels of the machine, times of operations\n"
	      "between ranks, known traps with their cures, and advice.\n"
	      "\n"
	      "  --json             print one JSON object instead of text\n"
	      "  --ranks=N          what a job of N ranks needs, in place of this job: memory,\n"
	      "                     connections, and which kinds it can use\n"
	      "  --ranks-per-node=N of such a job (128)\n"
	      "  --locks=N          of its table (one for each rank)\n"
	      "  -h, --help         print this text\n"
	      "  --version          print the version\n"
	      "\n"
	      "The environment variables PAWL_TOPOLOGY, PAWL_TOPOLOGY_FILE, PAWL_GROUPS and\n"
	      "PAWL_PROGRESS=thread have the same effect as on tables.\n"
	      "Exit status: 0 success; 1 tables cannot be created here; 2 wrong options.\n",
	      stdout);
}

/* Whether the argument is this option; false, with a message in err: its value is no number. */
static bool is_number(const char *argument, const char *option, long long most, long long *value,
		      char *err, size_t errlen)
{
	size_t length = strlen(option);
	long long number;
	char *end;

	if (strncmp(argument, option, length) != 0 || argument[length] != '=')
		return false;
	number = strtoll(argument + length + 1, &end, 10);
	if (end == argument + length + 1 || *end || number < 1 || number > most)
		snprintf(err, errlen, "%s: accepted is a number from 1 to %lld", option, most);
	*value = number;
	return true;
}

static bool parse(int argc, char **argv, char *err, size_t errlen)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			help = true;
		} else if (strcmp(argv[i], "--version") == 0) {
			version = true;
		} else if (!is_number(argv[i], "--ranks", 1 << 24, &asked_ranks, err, errlen) &&
			   !is_number(argv[i], "--ranks-per-node", 1 << 24, &asked_per_node, err,
				      errlen) &&
			   !is_number(argv[i], "--locks", 1LL << 40, &asked_locks, err, errlen)) {
			snprintf(err, errlen,
				 "there is no option \"%s\"; accepted: --json, --ranks=N,"
				 " --ranks-per-node=N, --locks=N, --help, --version",
				 argv[i]);
		}
	}
	if (!err[0] && asked_ranks && json)
		snprintf(err, errlen, "--ranks prints text: without --json");
	return !err[0];
}

/* Called by all ranks with the same values; rank 0 prints why. */
static int stop(int status, const char *why)
{
	if (rank == 0)
		fprintf(stderr, "pawl-info: %s\n", why);
	return status;
}

/* Windows such as a table has. A failure is one of the results, with its message. */
static bool open_windows(MPI_Comm comm)
{
	const struct topo *t = info.place.topo;
	const struct rma_request request = {
	    .comm = comm,
	    .node_comm = info.place.node_comm,
	    .node = t->node,
	    .network =
		t->nnodes == 1 ? RMA_NO_NETWORK : transport_choose(&options, info.place.one_host),
	    .one_host = info.place.one_host,
	    .host_comm = info.place.host_comm,
	    .leaders = info.place.leaders,
	    .bytes = SEGMENT_BYTES,
	};

	info.networked = request.network != RMA_NO_NETWORK;
	return rma_segments_create(&info.rma, &request, info.error, sizeof info.error) == RMA_OK;
}

static bool wants_thread(void)
{
	return options.progress == PROGRESS_THREAD;
}

static void probe(MPI_Comm comm)
{
	struct rma_progress *thread = NULL;

	if (!open_windows(comm))
		return;
	/* Tables set this, too. */
	info.rma.waiting.crowded = info.place.host_ranks > info.place.host_cores;
	if (wants_thread() && info.rma.net && info.job.thread_multiple)
		thread = rma_progress_start(&info.rma, SEGMENT_BYTES);
	info_probe(&info, comm);
	for (int i = 0; i < info.npaths; i++)
		if (strcmp(info.path[i].between, "remote") == 0)
			info.job.asleep = info.path[i].asynchronous ? ASLEEP_GOES_ON : ASLEEP_WAITS;
	info_probe_windows(&info, comm);
	if (info.rma.atomics)
		snprintf(info.atomics, sizeof info.atomics, "%s", info.rma.atomics);
	info.job.by_device = info.rma.atomics != NULL;
	MPI_Barrier(comm);
	rma_progress_stop(thread);
	rma_segments_free(&info.rma);
}

static int report(MPI_Comm comm)
{
	struct topo_request request = {
	    .synthetic = options.topology, .file = options.topology_file, .groups = options.groups};

	if (topo_compare_options(comm, &request, info.error, sizeof info.error) != 0 ||
	    topo_discover(comm, &request, &info.place, info.error, sizeof info.error) != 0)
		return stop(FAILED, info.error);
	if (!info_describe(&info, comm)) {
		topo_job_free(&info.place);
		return stop(FAILED, "out of memory");
	}
	info.job.progress_thread = wants_thread();
	probe(comm);
	info.ntraps = traps_find(&info.job, info.traps);
	if (rank == 0 && json)
		info_show_json(stdout, &info);
	else if (rank == 0)
		info_show(stdout, &info);
	fflush(stdout);
	info_forget(&info);
	topo_job_free(&info.place);
	return info.error[0] ? FAILED : ALL_WELL;
}

static int run(int argc, char **argv, MPI_Comm comm)
{
	char error[256] = "";
	int rc;

	if (!parse(argc, argv, error, sizeof error))
		return stop(USAGE, error);
	if (help || version) {
		if (rank == 0 && help)
			print_help();
		else if (rank == 0)
			printf("pawl-info (Pawl) %s\n", pawl_version());
		return ALL_WELL;
	}
	if (asked_ranks) {
		if (rank > 0)
			return ALL_WELL;
		rc = info_show_size(stdout, (int)asked_ranks, (int)asked_per_node,
				    (uint64_t)(asked_locks ? asked_locks : asked_ranks), error,
				    sizeof error);
		return rc == 0 ? ALL_WELL : stop(FAILED, error);
	}
	/* Any kind will do: the options that matter here are common to all. */
	if (rank == 0)
		options_warn(stderr, NULL, MPI_INFO_NULL);
	rc = options_read(&options, kinds_find("d-mcs"), MPI_INFO_NULL);
	rc = rc == PAWL_SUCCESS ? report(comm) : stop(USAGE, pawl_error_message());
	options_free(&options);
	return rc;
}

int main(int argc, char **argv)
{
	MPI_Comm comm;
	int level, status;
	bool several;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_rank(comm, &rank);
	status = run(argc, argv, comm);
	several = info.job.nhosts > 1;
	fflush(stdout);
	MPI_Barrier(comm);
	/* Avoids the trap mpich-finalize-hosts; the launcher reads the output during the pause. */
	if (several && info.job.mpi == MPI_NAME_MPICH) {
		usleep(200000);
		_exit(status);
	}
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return status;
}
