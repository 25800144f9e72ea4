/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traps that apply to a job: descriptions that pawl-info made of real jobs, and
 * invented ones that differ in one respect. Prints TAP; any failed check
 * fails the program.
 */
#include <stdio.h>
#include <string.h>

#include "traps.h"
#include "tests/tap.h"

/* Check that the traps are those named, in this order, separated by blanks. */
static void is_in(const struct job *j, const char *wanted, const char *what)
{
	struct trap traps[MAX_TRAPS];
	int n = traps_find(j, traps), complete = 1;
	char got[512] = "";

	for (int i = 0; i < n; i++) {
		size_t used = strlen(got);

		snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", traps[i].name);
		complete = complete && traps[i].what[0] && traps[i].cure[0];
	}
	if (!ok(strcmp(got, wanted) == 0 && complete, "%s", what))
		printf("# got \"%s\", wanted \"%s\"\n", got, wanted);
}

/* Check that the cure of the only trap has these words. */
static void cured_by(const struct job *j, const char *words, const char *what)
{
	struct trap traps[MAX_TRAPS];
	int n = traps_find(j, traps);

	if (!ok(n == 1 && strstr(traps[0].cure, words), "%s", what))
		printf("# %d traps, the cure is \"%s\"\n", n, n ? traps[0].cure : "");
}

/* host, machine, a name for the cpu set, cpus in it, cpus of the machine */
static const struct job_rank one_node[] = {{0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}};
static const struct job_rank bound[] = {{0, 0, 1, 1, 8}, {0, 0, 2, 1, 8}};
static const struct job_rank all_on_first[] = {{0, 0, 1, 1, 8}, {0, 0, 1, 1, 8}};
static const struct job_rank crowd[] = {
    {0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}};
static const struct job_rank cluster[] = {{0, 0, 1, 1, 8}, {1, 1, 1, 1, 8}};
static const struct job_rank cluster4[] = {
    {0, 0, 1, 1, 8}, {0, 0, 2, 1, 8}, {1, 1, 1, 1, 8}, {1, 1, 2, 1, 8}};
/* Two network namespaces of one machine with 2 cores, a rank each, bound by Open MPI to
 * the first core of "their" host; and not bound. */
static const struct job_rank namespaces[] = {{0, 0, 1, 1, 2}, {1, 0, 1, 1, 2}};
static const struct job_rank unbound[] = {{0, 0, 3, 2, 2}, {1, 0, 3, 2, 2}};

#define RANKS(r, hosts) .nranks = sizeof(r) / sizeof *(r), .nhosts = (hosts), .rank = (r)
#define OPENMPI .mpi = MPI_NAME_OPENMPI, .version = {4, 1, 4}
#define ALL_COMPONENTS .components = "sm,rdma,ucx,pt2pt,monitoring"
#define MPICH .mpi = MPI_NAME_MPICH, .version = {4, 0, 2}, .device = "ch4:ucx"
#define TCP .ucx_known = true, .ucx_why = "tcp on eth0 has no atomics"
#define MLX5 .ucx_known = true, .ucx_offloads = true, .ucx_why = "rc_mlx5 on mlx5_0:1 has all"
#define PARTLY                                                                                  \
	.ucx_known = true, .ucx_why = "rc_verbs on mlx5_0:1 lacks some atomics (such as swap)," \
				      " and UCX takes all or none"

static void open_mpi(void)
{
	struct job j = {OPENMPI, ALL_COMPONENTS, RANKS(one_node, 1)};

	is_in(&j, "openmpi-osc-rdma-one-node", "Open MPI 4.1.4 as it is, one node");
	cured_by(&j, "OMPI_MCA_osc=^rdma", "the cure is named");
	strcpy(j.osc, "^rdma");
	is_in(&j, "", "one node without rdma");
	strcpy(j.osc, "rdma,sm");
	is_in(&j, "openmpi-osc-rdma-one-node", "one node, rdma asked for");
	strcpy(j.osc, "ucx");
	is_in(&j, "openmpi-osc-without-sm", "one node, only ucx");
	strcpy(j.osc, "^sm,rdma");
	is_in(&j, "openmpi-osc-without-sm", "one node, all but sm and rdma");
	strcpy(j.osc, "");
	j.version[0] = 5;
	is_in(&j, "", "Open MPI 5, one node");
	j = (struct job){OPENMPI, .components = "sm,pt2pt", RANKS(one_node, 1)};
	is_in(&j, "", "Open MPI that was built without rdma");
}

static void open_mpi_hosts(void)
{
	struct job j = {OPENMPI, ALL_COMPONENTS, MLX5, RANKS(cluster, 2)};

	is_in(&j, "openmpi-osc-rdma-hosts", "Open MPI 4.1.4 as it is, two hosts");
	strcpy(j.osc, "^rdma");
	is_in(&j, "ucx-accumulate-attach", "two hosts, ucx that offloads");
	cured_by(&j, "a basic type", "the cure is another type");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, TCP, RANKS(cluster, 2)};
	j.version[0] = 5;
	j.asleep = ASLEEP_GOES_ON;
	is_in(&j, "openmpi-osc-without-rdma", "Open MPI 5 without rdma, two hosts over TCP");
	cured_by(&j, "unset OMPI_MCA_osc", "the cure is to leave the choice to it");
	j.osc[0] = '\0';
	is_in(&j, "", "Open MPI 5 as it is, two hosts");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, MLX5, RANKS(cluster, 2)};
	j.version[0] = 5;
	is_in(&j, "", "Open MPI 5 without rdma, ucx that offloads");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, TCP, RANKS(cluster, 2)};
	is_in(&j, "ucx-accumulate-attach no-asynchronous-progress", "two hosts, ucx over TCP");
	j.progress_thread = true;
	is_in(&j, "ucx-accumulate-attach", "with a thread");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, PARTLY, RANKS(cluster, 2)};
	is_in(&j, "ucx-accumulate-attach atomics-emulated no-asynchronous-progress",
	      "a NIC with some atomics only");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, MLX5, RANKS(cluster, 2)};
	j.asleep = ASLEEP_WAITS;
	is_in(&j, "ucx-accumulate-attach no-asynchronous-progress",
	      "ucx should offload, and the target is waited for");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, TCP, RANKS(cluster, 2)};
	j.asleep = ASLEEP_GOES_ON;
	is_in(&j, "ucx-accumulate-attach", "over TCP, and the target is not waited for");
	j = (struct job){OPENMPI, .osc = "^rdma,ucx", .thread_multiple = true, RANKS(cluster, 2)};
	is_in(&j, "openmpi-osc-pt2pt-threads no-asynchronous-progress", "pt2pt and threads");
	j.thread_multiple = false;
	is_in(&j, "no-asynchronous-progress", "pt2pt without threads");
	cured_by(&j, "progress=thread", "the cure is a thread");
	cured_by(&j, "PAWL_ATOMICS=1", "and the layer's, for accumulates");
}

static void mpich(void)
{
	struct job j = {MPICH, RANKS(one_node, 1)};

	is_in(&j, "mpich-allocate-shifted", "MPICH 4.0.2, one node");
	cured_by(&j, "multiples of 16", "the cure is the size");
	j.rget_early = true;
	is_in(&j, "mpich-allocate-shifted rget-vector-early", "and MPI_Rget was early");
	j.version[1] = 2;
	is_in(&j, "rget-vector-early", "MPICH 4.2, one node, as measured");
	cured_by(&j, "MPI_Win_flush", "the cure is a flush");
	j.rget_early = false;
	is_in(&j, "", "MPICH 4.2, one node");
	j.create_before = true;
	is_in(&j, "create-unaligned", "and MPI_Win_create began too early");
	cured_by(&j, "posix_memalign", "the cure is the memory");
	j = (struct job){MPICH, TCP, RANKS(cluster, 2)};
	is_in(&j, "no-asynchronous-progress", "MPICH, two hosts of one rank");
	cured_by(&j, "MPICH_ASYNC_PROGRESS=1", "the cure also names MPICH's own");
	j.async_progress = true;
	is_in(&j, "", "with MPICH's own progress thread");
	j = (struct job){MPICH, MLX5, RANKS(cluster4, 2)};
	is_in(&j, "mpich-finalize-hosts mpich-allocate-shifted no-asynchronous-progress",
	      "MPICH, two hosts of two ranks, whatever the network can do");
	j = (struct job){MPICH, PARTLY, RANKS(cluster4, 2)};
	is_in(&j, "mpich-finalize-hosts mpich-allocate-shifted no-asynchronous-progress",
	      "nor what it cannot");
	j.progress_thread = true;
	j.asleep = ASLEEP_WAITS;
	is_in(&j, "mpich-finalize-hosts mpich-allocate-shifted no-asynchronous-progress",
	      "a thread that does not help");
	j.progress_thread = false;
	j.version[1] = 2;
	is_in(&j, "no-asynchronous-progress", "MPICH 4.2");
	j = (struct job){MPICH, .async_progress = true, RANKS(cluster4, 2)};
	strcpy(j.device, "ch4:ofi");
	is_in(&j, "mpich-allocate-shifted", "MPICH on libfabric");
}

static void binding(void)
{
	struct job j = {OPENMPI, .osc = "^rdma", ALL_COMPONENTS, MLX5, RANKS(bound, 1)};

	is_in(&j, "", "each rank on its own core");
	j.rank = all_on_first;
	is_in(&j, "binding-same-cpus oversubscribed", "both on the first core");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, MLX5, RANKS(namespaces, 2)};
	is_in(&j, "ucx-accumulate-attach binding-same-cpus oversubscribed",
	      "two hosts that are one machine");
	j.rank = unbound;
	is_in(&j, "ucx-accumulate-attach", "the same without binding");
	j.rank = cluster;
	is_in(&j, "ucx-accumulate-attach", "two machines, both bound to their first core");
	j = (struct job){OPENMPI, .osc = "^rdma", ALL_COMPONENTS, RANKS(crowd, 1)};
	is_in(&j, "oversubscribed", "5 ranks on 2 cores");
	ok(job_ranks_per_cpu(&j) == 3, "that is 3 on one");
	j = (struct job){MPICH, .async_progress = true, RANKS(crowd, 2)};
	strcpy(j.device, "ch4:ofi");
	is_in(&j, "mpich-allocate-shifted oversubscribed mpich-flush-oversubscribed",
	      "and MPICH over hosts");
	j.nhosts = 1;
	is_in(&j, "mpich-allocate-shifted oversubscribed mpich-flush-oversubscribed",
	      "and on one host");
}

/* Version strings of MPIs, captured. */
static void libraries(void)
{
	struct job j = {.mpi = MPI_NAME_OTHER};

	job_read_library(&j, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev:"
			     " v4.1.4, May 26, 2022");
	ok(j.mpi == MPI_NAME_OPENMPI && j.version[0] == 4 && j.version[1] == 1 &&
	       j.version[2] == 4 && strcmp(j.library, "Open MPI v4.1.4") == 0,
	   "the name of Open MPI 4.1.4");
	j = (struct job){.mpi = MPI_NAME_OTHER};
	job_read_library(&j, "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT"
			     " 2022\nMPICH ABI:\t14:2:2\nMPICH Device:\tch4:ucx\n");
	ok(j.mpi == MPI_NAME_MPICH && j.version[0] == 4 && j.version[1] == 0 && j.version[2] == 2 &&
	       strcmp(j.device, "ch4:ucx") == 0 && strcmp(j.library, "MPICH 4.0.2") == 0,
	   "the name of MPICH 4.0.2");
	j = (struct job){.mpi = MPI_NAME_OTHER};
	job_read_library(&j, "Some MPI 1.0\nof its own");
	ok(j.mpi == MPI_NAME_OTHER && strcmp(j.library, "Some MPI 1.0") == 0, "another MPI");
}

static void facts(void)
{
	struct job j = {OPENMPI, ALL_COMPONENTS, MLX5, RANKS(cluster, 2)};
	char text[256];

	ok(strcmp(job_component(&j, text, sizeof text), "osc/rdma") == 0, "rdma goes first");
	strcpy(j.osc, "^rdma");
	ok(strcmp(job_component(&j, text, sizeof text), "osc/ucx") == 0, "then ucx");
	ok(strcmp(job_atomics(&j, text, sizeof text), "offloaded") == 0, "ucx on mlx5 offloads");
	strcpy(j.osc, "^rdma,ucx");
	ok(strcmp(job_component(&j, text, sizeof text), "osc/pt2pt") == 0, "then pt2pt");
	ok(strcmp(job_atomics(&j, text, sizeof text), "emulated") == 0, "pt2pt emulates");
	j = (struct job){MPICH, MLX5, RANKS(cluster, 2)};
	ok(strcmp(job_atomics(&j, text, sizeof text), "emulated") == 0, "so does MPICH on UCX");
	j = (struct job){.mpi = MPI_NAME_OTHER, RANKS(cluster, 2)};
	ok(strcmp(job_atomics(&j, text, sizeof text), "unknown") == 0, "another MPI is unknown");
	ok(advise_lease_us(2000, 1) == 10000, "a lease of 10 ms for 2 us");
	ok(advise_lease_us(1e6, 1) == 100001, "of 100 round trips for 1 ms");
	ok(advise_lease_us(2000, 4) == 40000, "of 40 ms for 4 ranks a cpu");
}

int main(void)
{
	open_mpi();
	open_mpi_hosts();
	mpich();
	binding();
	libraries();
	facts();
	return tap_plan();
}
