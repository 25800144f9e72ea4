/* SPDX-License-Identifier: BSD-3-Clause */
/* See traps.h. Each trap is a function of the description; the table at the end lists them. */
#include "traps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PRINTF(a, b) __attribute__((format(printf, a, b)))

/* ------------------------------------------------------------------ helpers */

static bool older(const struct job *j, int major, int minor)
{
	return j->version[0] < major || (j->version[0] == major && j->version[1] < minor);
}

static bool in_list(const char *list, const char *name)
{
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");

		if (strlen(name) == len && strncmp(p, name, len) == 0)
			return true;
		p += len;
		p += *p == ',';
	}
	return false;
}

/* Whether the user's list, "a,b" or "^a,b", allows Open MPI a component. */
static bool is_allowed(const struct job *j, const char *component)
{
	if (!j->osc[0])
		return true;
	return j->osc[0] == '^' ? !in_list(j->osc + 1, component) : in_list(j->osc, component);
}

static bool is_there(const struct job *j, const char *component)
{
	return !j->components[0] || in_list(j->components, component);
}

static bool has_ucx(const struct job *j)
{
	return j->mpi == MPI_NAME_MPICH ? strstr(j->device, "ucx") != NULL
					: is_allowed(j, "ucx") && is_there(j, "ucx");
}

/* The number of ranks on the host with the most. */
static int most_ranks_of_a_host(const struct job *j)
{
	int most = 0;

	for (int a = 0; a < j->nranks; a++) {
		int n = 0;

		for (int b = 0; b < j->nranks; b++)
			n += j->rank[b].host == j->rank[a].host;
		most = n > most ? n : most;
	}
	return most;
}

static bool same_cpus(const struct job_rank *a, const struct job_rank *b)
{
	return a->machine == b->machine && a->cpus == b->cpus;
}

PRINTF(2, 3) static void say_what(struct trap *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->what, sizeof t->what, format, ap);
	va_end(ap);
}

PRINTF(2, 3) static void say_cure(struct trap *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->cure, sizeof t->cure, format, ap);
	va_end(ap);
}

/* ---------------------------------------------------------------- Open MPI */

static bool takes_rdma(const struct job *j)
{
	return j->mpi == MPI_NAME_OPENMPI && j->version[0] == 4 && is_allowed(j, "rdma") &&
	       is_there(j, "rdma");
}

/* open-mpi/ompi issues 7027 and 11349. */
static bool rdma_on_one_node(const struct job *j, struct trap *t)
{
	if (!takes_rdma(j) || j->nhosts > 1)
		return false;
	say_what(t,
		 "Open MPI %d.%d.%d uses its one-sided component rdma here, which crashes in"
		 " MPI_Win_allocate, MPI_Win_create and MPI_Win_create_dynamic on one node where"
		 " processes cannot read each other's memory; Pawl's tables on one node do not use"
		 " it, other windows of the program do",
		 j->version[0], j->version[1], j->version[2]);
	say_cure(t, "OMPI_MCA_osc=^rdma in the environment, or mpirun --mca osc ^rdma");
	return true;
}

static bool rdma_over_hosts(const struct job *j, struct trap *t)
{
	if (!takes_rdma(j) || j->nhosts == 1)
		return false;
	say_what(t,
		 "Open MPI %d.%d.%d uses its one-sided component rdma here, which has no windows"
		 " over TCP: tables over several nodes fail with PAWL_ERR_WINDOW",
		 j->version[0], j->version[1], j->version[2]);
	say_cure(t, "OMPI_MCA_osc=^rdma in the environment, or mpirun --mca osc ^rdma");
	return true;
}

/* Open MPI 5 has no osc/pt2pt, and its osc/ucx refuses windows where UCX has only TCP; osc/rdma
 * works there. */
static bool no_rdma_over_hosts(const struct job *j, struct trap *t)
{
	if (j->mpi != MPI_NAME_OPENMPI || j->version[0] < 5 || j->nhosts == 1 ||
	    is_allowed(j, "rdma") || !is_there(j, "rdma") || (has_ucx(j) && j->ucx_offloads))
		return false;
	say_what(t,
		 "the one-sided components allowed (osc=%s) lack rdma, without which Open MPI"
		 " %d.%d.%d has no windows over TCP: MPI_Win_create ends the job or fails with"
		 " MPI_ERR_WIN, and tables with transport=mpi with PAWL_ERR_WINDOW",
		 j->osc, j->version[0], j->version[1], j->version[2]);
	say_cure(t, "unset OMPI_MCA_osc (leaving rdma out is for Open MPI 4)");
	return true;
}

static bool no_shared_memory(const struct job *j, struct trap *t)
{
	if (j->mpi != MPI_NAME_OPENMPI || is_allowed(j, "sm"))
		return false;
	say_what(t,
		 "the one-sided components allowed (osc=%s) lack sm, without which"
		 " MPI_Win_allocate_shared fails, and so does every table",
		 j->osc);
	say_cure(t, "add sm to OMPI_MCA_osc, or exclude only what does not work: ^rdma");
	return true;
}

static bool pt2pt_and_threads(const struct job *j, struct trap *t)
{
	if (j->mpi != MPI_NAME_OPENMPI || j->version[0] > 4 || j->nhosts == 1 ||
	    !j->thread_multiple || takes_rdma(j) || has_ucx(j))
		return false;
	say_what(t, "of Open MPI's one-sided components only pt2pt is left for windows over several"
		    " nodes, and it refuses them under MPI_THREAD_MULTIPLE");
	say_cure(t, "allow component ucx (OMPI_MCA_osc=^rdma), or initialise MPI with"
		    " MPI_THREAD_SERIALIZED");
	return true;
}

/* Seen in 4.1.4; open-mpi/ompi issue 14181 has the first one in 5. */
static bool ucx_over_hosts(const struct job *j, struct trap *t)
{
	char component[64];

	if (j->mpi != MPI_NAME_OPENMPI || j->version[0] != 4 || j->nhosts == 1 ||
	    strcmp(job_component(j, component, sizeof component), "osc/ucx") != 0)
		return false;
	say_what(
	    t,
	    "Open MPI %d.%d.%d uses its one-sided component ucx here, which may lose updates of"
	    " MPI_Accumulate with an indexed type of one element, and may abort (in"
	    " ucp_ep_rkey_unpack) when memory is attached to a dynamic window that other ranks"
	    " use; Pawl's tables do neither",
	    j->version[0], j->version[1], j->version[2]);
	say_cure(t, "a basic type in place of the indexed one, and memory attached before other"
		    " ranks use the window");
	return true;
}

/* ------------------------------------------------------------------- MPICH */

/* pmodels/mpich pull request 6596. */
static bool finalize_hangs(const struct job *j, struct trap *t)
{
	if (j->mpi != MPI_NAME_MPICH || !has_ucx(j) || j->nhosts == 1 ||
	    most_ranks_of_a_host(j) == 1 || !older(j, 4, 2) || older(j, 4, 0))
		return false;
	say_what(t,
		 "MPICH %d.%d.%d on UCX often hangs in MPI_Finalize over several hosts with more"
		 " than one rank a host: its last barrier does not drive the network",
		 j->version[0], j->version[1], j->version[2]);
	say_cure(t, "MPICH 4.2 or later; or end the program by MPI_Barrier and _exit(0), and give"
		    " mpirun a time limit");
	return true;
}

/* For a program's own atomics, where the MPI's wait for their target. */
#define BY_LAYER "libpawl-mpi with PAWL_ATOMICS=1 for the program's accumulates (pawl-mpi(7))"

static bool flush_burns(const struct job *j, struct trap *t)
{
	int per_cpu = job_ranks_per_cpu(j);

	if (j->mpi != MPI_NAME_MPICH || per_cpu == 1)
		return false;
	say_what(t,
		 "%d ranks share a cpu, and a rank of MPICH that waits in MPI_Win_flush does not"
		 " give its core away: the program's own operations on %s take as long as"
		 " the turns of the scheduler (those of Pawl's locks do not wait there)",
		 per_cpu,
		 j->nhosts == 1 ? "windows of MPI_Win_create, or on locked ones," : "other nodes");
	say_cure(t, "as many ranks as cores; " BY_LAYER);
	return true;
}

/* Seen in 4.0.2, and not in 4.2.1. */
static bool allocate_is_shifted(const struct job *j, struct trap *t)
{
	if (j->mpi != MPI_NAME_MPICH || !older(j, 4, 2) || older(j, 4, 0) ||
	    most_ranks_of_a_host(j) == 1)
		return false;
	say_what(
	    t,
	    "MPICH %d.%d.%d shifts operations on windows of MPI_Win_allocate by 8 bytes for"
	    " ranks that share a host, if their size is not a multiple of 16 bytes; the sizes of"
	    " Pawl's own windows are",
	    j->version[0], j->version[1], j->version[2]);
	say_cure(t, "sizes that are multiples of 16 bytes, or MPICH 4.2 or later");
	return true;
}

/* ----------------------------------------------------------------- any MPI */

/* Seen in MPICH 4.0.2. */
static bool rget_is_early(const struct job *j, struct trap *t)
{
	if (!j->rget_early)
		return false;
	say_what(
	    t,
	    "%s returns from MPI_Wait for the request of MPI_Rget with a vector type before the"
	    " data is there, as measured here",
	    j->library);
	say_cure(t, "MPI_Win_flush or MPI_Win_flush_local before the data is used, or a contiguous"
		    " type");
	return true;
}

/* Seen in MPICH 4.0.2. */
static bool create_is_before(const struct job *j, struct trap *t)
{
	if (!j->create_before)
		return false;
	say_what(t,
		 "operations on a window of MPI_Win_create access up to 15 bytes before its memory"
		 " with %s, if that does not begin at a multiple of 16 bytes, as measured here",
		 j->library);
	say_cure(t, "memory that begins at a multiple of 16 bytes (posix_memalign), or"
		    " MPI_Win_allocate");
	return true;
}

/* Several ranks have the same cpu set, and are more than it has cpus, while the machine has
 * other cpus. The usual reason is that each "host" begins to bind at the first core. */
static bool crowded_binding(const struct job *j, struct trap *t)
{
	for (int a = 0; a < j->nranks; a++) {
		const struct job_rank *r = &j->rank[a];
		bool other_host = false;
		int n = 0;

		for (int b = 0; b < j->nranks; b++) {
			if (!same_cpus(r, &j->rank[b]))
				continue;
			n++;
			other_host = other_host || j->rank[b].host != r->host;
		}
		if (n <= r->ncpus || r->ncpus >= r->machine_cpus)
			continue;
		say_what(
		    t,
		    "%d ranks are bound to the same %d of the %d cpus of a machine%s: they wait"
		    " for each other's turns, and an operation takes milliseconds",
		    n, r->ncpus, r->machine_cpus,
		    other_host ? ", because their hosts are really one machine" : "");
		say_cure(t, "%s",
			 j->mpi == MPI_NAME_OPENMPI ? "mpirun --bind-to none"
			 : j->mpi == MPI_NAME_MPICH ? "mpirun -bind-to none"
						    : "start the ranks without binding");
		return true;
	}
	return false;
}

static bool shared_cpus(const struct job *j, struct trap *t)
{
	int per_cpu = job_ranks_per_cpu(j);

	if (per_cpu == 1)
		return false;
	say_what(
	    t,
	    "%d ranks share a cpu: a rank that does not run serves no other rank, and keeps the"
	    " locks that it holds",
	    per_cpu);
	say_cure(t, "fewer ranks; or leave option wait at auto, and use long leases");
	return true;
}

static bool emulated_atomics(const struct job *j, struct trap *t)
{
	/* MPICH emulates atomics on any hardware. */
	if (j->mpi == MPI_NAME_MPICH || j->nhosts == 1 || !has_ucx(j) || !j->ucx_known ||
	    j->ucx_offloads || j->by_device || !strstr(j->ucx_why, "all or none"))
		return false;
	say_what(
	    t,
	    "the network has atomics, but %s: the target's CPU emulates them, and must call the"
	    " MPI for that",
	    j->ucx_why);
	say_cure(t,
		 "let the mlx5 transports of UCX be used (rc_x or dc_x in UCX_TLS, a UCX that was"
		 " built with mlx5), and switch on PCI and extended atomics in the NIC's"
		 " firmware; see doc/verbs.md");
	return true;
}

/* A measurement takes precedence over what the description suggests. */
static bool stalls(const struct job *j, struct trap *t)
{
	char why[256];
	const char *atomics = job_atomics(j, why, sizeof why);

	if (j->nhosts == 1 || j->asleep == ASLEEP_GOES_ON)
		return false;
	if (j->asleep == ASLEEP_UNKNOWN &&
	    (j->async_progress || j->progress_thread || strcmp(atomics, "emulated") != 0))
		return false;
	say_what(t,
		 "operations on other nodes are performed when their target next calls the MPI%s: a"
		 " rank that computes delays the clients of locks that live there",
		 strcmp(atomics, "offloaded") == 0 ? ", although UCX should leave them to the NIC"
						   : "");
	say_cure(t, "MPI_THREAD_MULTIPLE and option progress=thread%s%s",
		 j->mpi == MPI_NAME_MPICH ? ", or MPICH_ASYNC_PROGRESS=1, which takes a core" : "",
		 j->ucx_offloads ? "" : "; " BY_LAYER);
	return true;
}

static const struct {
	const char *name;
	bool grave;
	bool (*is_in)(const struct job *j, struct trap *t);
} known[] = {
    {"openmpi-osc-rdma-one-node", true, rdma_on_one_node},
    {"openmpi-osc-rdma-hosts", true, rdma_over_hosts},
    {"openmpi-osc-without-rdma", true, no_rdma_over_hosts},
    {"openmpi-osc-without-sm", true, no_shared_memory},
    {"openmpi-osc-pt2pt-threads", true, pt2pt_and_threads},
    {"ucx-accumulate-attach", true, ucx_over_hosts},
    {"mpich-finalize-hosts", true, finalize_hangs},
    {"mpich-allocate-shifted", true, allocate_is_shifted},
    {"rget-vector-early", true, rget_is_early},
    {"create-unaligned", true, create_is_before},
    {"binding-same-cpus", false, crowded_binding},
    {"oversubscribed", false, shared_cpus},
    {"mpich-flush-oversubscribed", false, flush_burns},
    {"atomics-emulated", false, emulated_atomics},
    {"no-asynchronous-progress", false, stalls},
};
enum { KNOWN = sizeof known / sizeof known[0] };
_Static_assert((int)KNOWN <= (int)MAX_TRAPS, "all traps fit");

int traps_find(const struct job *j, struct trap *traps)
{
	int n = 0;

	for (int i = 0; i < KNOWN; i++) {
		if (!known[i].is_in(j, &traps[n]))
			continue;
		traps[n].name = known[i].name;
		traps[n].grave = known[i].grave;
		n++;
	}
	return n;
}

/* -------------------------------------------------------------------- facts */

/* The word behind "KEY:" in the text. */
static void read_word(const char *text, const char *key, char *word, size_t len)
{
	const char *p = strstr(text, key);

	if (!p)
		return;
	p += strlen(key);
	p += strspn(p, " \t");
	snprintf(word, len, "%.*s", (int)strcspn(p, " \t\r\n,"), p);
}

void job_read_library(struct job *j, const char *text)
{
	const char *version = NULL;
	char word[64] = "";
	size_t used = 0;

	if (strncmp(text, "Open MPI v", 10) == 0) {
		j->mpi = MPI_NAME_OPENMPI;
		version = text + 10;
	} else if (strncmp(text, "MPICH Version:", 14) == 0) {
		j->mpi = MPI_NAME_MPICH;
		read_word(text, "MPICH Version:", word, sizeof word);
		read_word(text, "MPICH Device:", j->device, sizeof j->device);
		version = word;
	}
	if (version)
		sscanf(version, "%d.%d.%d", &j->version[0], &j->version[1], &j->version[2]);
	if (j->mpi == MPI_NAME_MPICH) {
		snprintf(j->library, sizeof j->library, "MPICH %s", word);
		return;
	}
	/* The first line, to its first comma. */
	for (const char *p = text; *p && !strchr(",\r\n", *p) && used < sizeof j->library - 1; p++)
		j->library[used++] = *p;
	j->library[used] = '\0';
}

const char *job_component(const struct job *j, char *text, size_t len)
{
	text[0] = '\0';
	if (j->mpi == MPI_NAME_MPICH)
		snprintf(text, len, "%s", j->device);
	else if (takes_rdma(j))
		snprintf(text, len, "osc/rdma");
	else if (j->mpi == MPI_NAME_OPENMPI && has_ucx(j))
		snprintf(text, len, "osc/ucx");
	else if (j->mpi == MPI_NAME_OPENMPI && is_allowed(j, "pt2pt") && is_there(j, "pt2pt"))
		snprintf(text, len, "osc/pt2pt");
	return text;
}

const char *job_atomics(const struct job *j, char *why, size_t len)
{
	char component[64];

	job_component(j, component, sizeof component);
	if (j->mpi == MPI_NAME_MPICH && has_ucx(j)) {
		snprintf(why, len,
			 "MPICH on UCX sends messages to the target's MPI, which performs"
			 " them, whatever the network can do");
		return "emulated";
	}
	if (strcmp(component, "osc/pt2pt") == 0) {
		snprintf(why, len, "osc/pt2pt sends messages to the target's MPI");
		return "emulated";
	}
	if (strcmp(component, "osc/ucx") == 0 && j->ucx_known) {
		snprintf(why, len, "UCX: %s", j->ucx_why);
		return j->ucx_offloads ? "offloaded" : "emulated";
	}
	snprintf(why, len, "%s",
		 strcmp(component, "osc/ucx") == 0
		     ? "ucx_info is not installed"
		     : "nothing is known of this MPI; see the measured progress");
	return "unknown";
}

int job_ranks_per_cpu(const struct job *j)
{
	int most = 1;

	for (int a = 0; a < j->nranks; a++) {
		const struct job_rank *r = &j->rank[a];
		int n = 0, sharing = 0, ncpus = r->machine_cpus;

		for (int b = 0; b < j->nranks; b++) {
			n += j->rank[b].machine == r->machine;
			sharing += same_cpus(r, &j->rank[b]);
		}
		if (ncpus > 0 && (n + ncpus - 1) / ncpus > most)
			most = (n + ncpus - 1) / ncpus;
		if (r->ncpus > 0 && (sharing + r->ncpus - 1) / r->ncpus > most)
			most = (sharing + r->ncpus - 1) / r->ncpus;
	}
	return most;
}

int64_t advise_lease_us(double round_trip_ns, int ranks_per_cpu)
{
	enum { LEAST_US = 10000, TURN_US = 10000, ROUND_TRIPS = 100 };
	int64_t us = (int64_t)(ROUND_TRIPS * round_trip_ns / 1000) + 1, turns = 0;

	if (ranks_per_cpu > 1)
		turns = (int64_t)ranks_per_cpu * TURN_US;
	us = us > turns ? us : turns;
	return us > LEAST_US ? us : LEAST_US;
}
