/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the job for traps.c, from the MPI, the environment, the kernel and ucx_info. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "base/child.h"
#include "base/hash.h"
#include "ucx_devices.h"

enum { RANK_INTS = sizeof(struct job_rank) / sizeof(int), UCX_TEXT = 1 << 18 };

static uint64_t hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = HASH_BEGIN;

	for (size_t i = 0; i < len; i++)
		h = hash_add(h, p[i]);
	return h;
}

static void copy_variable(char *text, size_t len, const char *name)
{
	const char *value = getenv(name);

	snprintf(text, len, "%s", value ? value : "");
}

/* --------------------------------------------------------------------- ranks */

/* Differs between machines, and not between containers of one. */
static uint64_t machine_id(void)
{
	char text[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	if (f)
		fclose(f);
	if (n == 0)
		gethostname(text, sizeof text - 1);
	return hash(text, strlen(text));
}

static void look_at_cpus(struct job_rank *r)
{
	cpu_set_t set;

	r->machine_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		r->ncpus = CPU_COUNT(&set);
	else
		r->ncpus = r->machine_cpus; /* more cpus than a cpu_set_t has */
	r->cpus = hash(&set, sizeof set);
}

/* Number the different values, from 0 in the order of ranks. Returns how many there are. */
static int number(const uint64_t *values, int n, struct job_rank *ranks)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		int j = 0;

		while (values[j] != values[i])
			j++;
		ranks[i].machine = j < i ? ranks[j].machine : count++;
	}
	return count;
}

static bool gather_ranks(struct info *in, MPI_Comm comm)
{
	struct job *j = &in->job;
	struct job_rank mine = {.host = 0}, *all;
	uint64_t machine = machine_id(), *machines;
	MPI_Comm host;
	int rank, leader;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &j->nranks);
	all = calloc((size_t)j->nranks, sizeof *all);
	machines = calloc((size_t)j->nranks, sizeof *machines);
	if (!all || !machines) {
		free(all);
		free(machines);
		return false;
	}
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
	leader = rank;
	MPI_Bcast(&leader, 1, MPI_INT, 0, host);
	MPI_Comm_free(&host);
	look_at_cpus(&mine);
	mine.host = leader;
	MPI_Allgather(&mine, RANK_INTS, MPI_INT, all, RANK_INTS, MPI_INT, comm);
	MPI_Allgather(&machine, 1, MPI_UINT64_T, machines, 1, MPI_UINT64_T, comm);
	in->machines = number(machines, j->nranks, all);
	free(machines);
	in->unbound = true;
	for (int i = 0; i < j->nranks; i++) {
		j->nhosts += all[i].host == i;
		in->unbound = in->unbound && all[i].ncpus == all[i].machine_cpus;
	}
	j->rank = all;
	return true;
}
_Static_assert(sizeof(struct job_rank) % sizeof(int) == 0, "it travels as MPI_INT");

/* ----------------------------------------------------------------------- MPI */

/* Open MPI's one-sided components that are loaded have variables osc_NAME_..._version. */
static void find_components(struct job *j)
{
	static const char end[] = "_major_version";
	int n = 0, level;

	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
		return;
	MPI_T_cvar_get_num(&n);
	for (int i = 0; i < n; i++) {
		char name[256] = "", text[2];
		int len = sizeof name, text_len = sizeof text, verbosity, bind, scope;
		MPI_Datatype type;
		MPI_T_enum choices;
		size_t used = strlen(j->components), word;

		if (MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &choices, text, &text_len,
					&bind, &scope) != MPI_SUCCESS ||
		    strncmp(name, "osc_", 4) != 0 || !strstr(name, end))
			continue;
		word = strlen(name) - 4 - strlen(end);
		snprintf(j->components + used, sizeof j->components - used, "%s%.*s",
			 used ? "," : "", (int)word, name + 4);
	}
	MPI_T_finalize();
}

static void ask_mpi(struct job *j)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	const char *async = getenv("MPICH_ASYNC_PROGRESS");
	int len, level;

	MPI_Get_library_version(text, &len);
	job_read_library(j, text);
	MPI_Query_thread(&level);
	j->thread_multiple = level == MPI_THREAD_MULTIPLE;
	if (j->mpi == MPI_NAME_OPENMPI)
		find_components(j);
	copy_variable(j->osc, sizeof j->osc, "OMPI_MCA_osc");
	j->async_progress = j->mpi == MPI_NAME_MPICH && async && async[0] && async[0] != '0';
}

/* ----------------------------------------------------------------------- UCX */

static void ask_ucx(struct job *j)
{
	struct ucx_environment env = {getenv("UCX_TLS"), getenv("UCX_NET_DEVICES"),
				      getenv("UCX_ATOMIC_MODE")};
	struct ucx_device *devices = calloc(UCX_MAX_DEVICES, sizeof *devices);
	char *text = calloc(1, UCX_TEXT);
	char program[] = "ucx_info", flag[] = "-d", *arguments[] = {program, flag, NULL};
	pid_t child;
	FILE *f = devices && text ? child_start(arguments, &child) : NULL;
	int n = 0;

	if (f) {
		text[fread(text, 1, UCX_TEXT - 1, f)] = '\0';
		n = ucx_parse(text, devices, UCX_MAX_DEVICES);
		fclose(f);
		child_await(child);
	}
	if (n > 0) {
		struct ucx_choice c = ucx_choose(devices, n, &env, j->mpi == MPI_NAME_OPENMPI);

		j->ucx_known = true;
		j->ucx_offloads = c.offloaded;
		snprintf(j->ucx_why, sizeof j->ucx_why, "%s", c.why);
		if (c.device >= 0)
			snprintf(j->ucx_device, sizeof j->ucx_device, "%.24s/%.36s",
				 devices[c.device].transport, devices[c.device].device);
	}
	copy_variable(j->atomic_mode, sizeof j->atomic_mode, "UCX_ATOMIC_MODE");
	free(devices);
	free(text);
}

bool info_describe(struct info *in, MPI_Comm comm)
{
	bool good = gather_ranks(in, comm);
	int rank;

	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_C_BOOL, MPI_LAND, comm);
	if (!good)
		return false;
	MPI_Comm_rank(comm, &rank);
	ask_mpi(&in->job);
	if (rank == 0)
		ask_ucx(&in->job);
	in->ranks_per_cpu = job_ranks_per_cpu(&in->job);
	return true;
}

void info_forget(struct info *in)
{
	free((void *)(uintptr_t)in->job.rank);
	in->job.rank = NULL;
}
