/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Create and free lock tables. After each step that can fail on one rank only, the ranks agree on
 * the result, so that all of them proceed or all return the same code.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/error.h"
#include "base/mpi_family.h"
#include "lock/kinds.h"
#include "table/transport_choice.h"
#include "options/options.h"
#include "table/setup.h"
#include "table/table.h"
#include "rma/memory/segments.h"
#include "rma/memory/shm.h"
#include "rma/shared_clock.h"
#include "observe/watchdog/watch.h"

enum { CREATE_SECONDS = 30, SPEAKERS = 4 };

#define MAX_LOCKS (UINT64_C(1) << 40)

int table_mpi_failed(const char *call, int rc)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	PMPI_Error_string(rc, text, &length);
	return error_set(PAWL_ERR_MPI, "%s failed: %.300s", call, text);
}

/* All ranks get the message of the first one whose code is the worst. */
static void tell(MPI_Comm comm, int code, int worst)
{
	char text[ERROR_LENGTH] = "another rank failed";
	int first;

	if (code == worst)
		snprintf(text, sizeof text, "%s", pawl_error_message());
	first = share_text(comm, code == worst, text, sizeof text);
	if (code != worst)
		error_set(worst, "rank %d: %.*s", first, ERROR_LENGTH - 32, text);
}

static int agreed(MPI_Comm comm, int code, int worst, int rc)
{
	if (code == PAWL_SUCCESS && rc != MPI_SUCCESS)
		return table_mpi_failed("MPI_Allreduce", rc);
	if (rc == MPI_SUCCESS && worst != PAWL_SUCCESS)
		tell(comm, code, worst);
	return worst;
}

int table_agree(MPI_Comm comm, int code)
{
	int worst = code, rc;

	rc = PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
	return agreed(comm, code, worst, rc);
}

/* The first step of a collective call: the minimum of each of n numbers. A program may make the
 * call on some ranks only: after some seconds (0: never) a few of those that wait say so. */
static int meet(MPI_Comm comm, const int64_t *mine, int64_t *all, int n, const char *call,
		double seconds)
{
	const double begin = PMPI_Wtime();
	MPI_Request request;
	int rc, rank, ranks, met = 0;
	bool says;

	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &ranks);
	says = seconds > 0 && (rank < SPEAKERS || rank == ranks - 1);
	rc = PMPI_Iallreduce(mine, all, n, MPI_INT64_T, MPI_MIN, comm, &request);
	while (rc == MPI_SUCCESS && !met) {
		rc = PMPI_Test(&request, &met, MPI_STATUS_IGNORE);
		sched_yield();
		if (met || !says || PMPI_Wtime() < begin + seconds)
			continue;
		says = false;
		fprintf(stderr,
			"pawl: rank %d of %d has waited for %.4g s in %s for other ranks: is it"
			" called on all ranks of the communicator?\n",
			rank, ranks, seconds, call);
	}
	return rc;
}

/* A program that was linked with the libpawl of another MPI reaches this check. */
static int check_library(void)
{
	char why[256];

	if (!mpi_family_differs(why, sizeof why))
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_MPI, "this libpawl %s", why);
}

/* Whether comm may come from a session (MPI-4), which needs no MPI_Init. */
static bool may_be_of_session(MPI_Comm comm)
{
#ifdef PAWL_HAVE_SESSIONS
	return comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
#else
	(void)comm;
	return false;
#endif
}

static const char how_to_begin[] =
#ifdef PAWL_HAVE_SESSIONS
    "call MPI_Init, or give a communicator of a session (MPI_Comm_create_from_group)";
#else
    "call MPI_Init first";
#endif

static int check_mpi(MPI_Comm comm)
{
	int rc = check_library(), initialized, finalized;

	if (rc == PAWL_SUCCESS)
		rc = life_check_process();
	if (rc != PAWL_SUCCESS)
		return rc;
	PMPI_Initialized(&initialized);
	PMPI_Finalized(&finalized);
	if (finalized)
		return error_set(PAWL_ERR_MPI, "MPI is finalized");
	if (!initialized && !may_be_of_session(comm))
		return error_set(PAWL_ERR_MPI, "MPI is not initialised: %s", how_to_begin);
	return PAWL_SUCCESS;
}

/* variable: the environment variable that names the kind; "": the program does. */
static int check_arguments(const char *kind, const char *variable, uint64_t n,
			   const struct lock_protocol *p)
{
	char names[256], hint[64];

	if (!p)
		return error_set(
		    PAWL_ERR_KIND, "%s%s%sthere is no lock \"%s\"%s; the kinds are: %s",
		    *variable ? "environment variable " : "", variable, *variable ? ": " : "", kind,
		    kinds_hint(kind, hint, sizeof hint), kinds_list(names, sizeof names));
	if (n < 1 || n >= MAX_LOCKS)
		return error_set(PAWL_ERR_ARG, "n: a table has 1 to 2^40 - 1 locks, not %llu",
				 (unsigned long long)n);
	return PAWL_SUCCESS;
}

/* For struct pawl_table. */
static uint32_t plain_modes(unsigned capabilities)
{
	uint32_t modes = UINT32_C(1) << PAWL_EXCLUSIVE;

	if (capabilities & PAWL_CAP_SHARED)
		modes |= UINT32_C(1) << PAWL_SHARED;
	for (int ahead = 0; ahead <= PAWL_AHEAD && capabilities & PAWL_CAP_INTENT;
	     ahead += PAWL_AHEAD)
		modes |= UINT32_C(1) << (PAWL_INTENT | ahead) | UINT32_C(1)
								    << (PAWL_INTENT_SHARED | ahead);
	return modes;
}

static int check_threads(pawl_table *t, const struct options *o, const struct lock_protocol *p)
{
	int level;

	PMPI_Query_thread(&level);
	if (o->threads == THREADS_MULTIPLE && level < MPI_THREAD_MULTIPLE)
		return error_set(PAWL_ERR_THREAD,
				 "option threads: multiple needs MPI_THREAD_MULTIPLE; MPI was"
				 " initialised with less (use MPI_Init_thread)");
	if ((p->kind.capabilities & PAWL_CAP_THREADS) && level < MPI_THREAD_MULTIPLE)
		return error_set(PAWL_ERR_THREAD,
				 "%s answers its clients from a thread of its own, which needs"
				 " MPI_THREAD_MULTIPLE; MPI was initialised with less (use"
				 " MPI_Init_thread)",
				 p->kind.name);
	if (o->progress == PROGRESS_THREAD && level < MPI_THREAD_MULTIPLE)
		return error_set(PAWL_ERR_THREAD,
				 "option progress: thread drives the MPI beside the application,"
				 " which needs MPI_THREAD_MULTIPLE; MPI was initialised with less"
				 " (use MPI_Init_thread, or lazy, far or eager)");
	t->ranges = (p->kind.capabilities & PAWL_CAP_RANGES) != 0;
	t->plain_modes = plain_modes(p->kind.capabilities);
	t->clients.by_process = o->owner == OWNER_PROCESS;
	t->clients.threaded = o->threads == THREADS_MULTIPLE ||
			      (o->threads == THREADS_AUTO && level == MPI_THREAD_MULTIPLE);
	return PAWL_SUCCESS;
}

bool table_is_first_rank(MPI_Comm comm)
{
	int initialized, rank;

	PMPI_Initialized(&initialized); /* false with sessions only */
	PMPI_Comm_rank(initialized ? MPI_COMM_WORLD : comm, &rank);
	return rank == 0;
}

/* Warn once if a host does not tell its topology; and if nodes of the string stay empty: probably
 * the user meant something else. */
static void topology_warn(const struct topo_job *job, const char *string)
{
	static atomic_flag told = ATOMIC_FLAG_INIT, done = ATOMIC_FLAG_INIT;
	const struct topo *topo = job->topo;

	if (job->warning[0] && !atomic_flag_test_and_set(&told))
		fprintf(stderr, "pawl: %s\n", job->warning);
	if (topo->asked_nodes <= topo->nnodes || atomic_flag_test_and_set(&done))
		return;
	fprintf(stderr,
		"pawl: option topology: the %d ranks are on %d of the %d nodes of \"%s\", for they"
		" fill one node after the other, a core each; fewer cores a node, or \"cyclic\" in"
		" front, would spread them\n",
		topo->nranks, topo->nnodes, topo->asked_nodes, string);
}

/* Microseconds to spin before parking. The longer times avoid the cost of waking a parked rank.
 * Where ranks outnumber cores, a waiter that spins yields its core between looks, and a rank that
 * has been woken waits for a core until the scheduler takes one from another rank. So a waiter that
 * is next spins for longer there, and one that is not parks at once. */
enum { SPIN_US = 50, SPIN_CROWDED_SOON_US = 200, SPIN_CROWDED_LATER_US = 2 };

/* Looks at the word for each call that drives the MPI. In a table over several nodes, the MPI
 * transfers the words, so each look drives it. */
enum { LOOKS_NET = 1, LOOKS_EAGER = 4, LOOKS_LAZY = 64 };

static int home_of(const struct rma_client *c)
{
	uint64_t index;
	int rank;

	lock_home(c->rma->waiting.serves_arg, c->lock, &rank, &index);
	return rank;
}

/* Whether this rank is the lock's home: the holder is then likely to work on data here. */
static bool is_home(const struct rma_client *c)
{
	return home_of(c) == c->rma->rank;
}

static void choose_waiting(pawl_table *t, const struct options *o)
{
	struct rma_waiting *w = &t->rma.waiting;
	bool eager =
	    o->progress == PROGRESS_EAGER || (o->progress == PROGRESS_FAR && !t->job->one_host);
	uint64_t soon, later;

	w->crowded = t->job->host_ranks > t->job->host_cores && o->wait != WAIT_SPIN;
	soon = w->crowded ? SPIN_CROWDED_SOON_US : SPIN_US;
	later = w->crowded ? SPIN_CROWDED_LATER_US : SPIN_US;
	if (o->spin_us >= 0)
		soon = later = (uint64_t)o->spin_us;
	w->spin_ns[RMA_SOON] = o->wait == WAIT_SPIN ? UINT64_MAX : soon * 1000;
	w->spin_ns[RMA_LATER] = o->wait == WAIT_SPIN ? UINT64_MAX : later * 1000;
	w->park = o->wait == WAIT_AUTO || o->wait == WAIT_PARK;
	w->watchdog = o->watchdog_s;
	w->looks = t->rma.net                                 ? LOOKS_NET
		   : t->rma.transport->can.is_served || eager ? LOOKS_EAGER
							      : LOOKS_LAZY;
	w->serves = eager ? is_home : NULL;
	w->serves_arg = &t->setup;
	t->rma.first_rank = t->setup.protocol->first_at_home ? home_of : NULL;
}

static int choose_layout(pawl_table *t, const struct lock_protocol *p, const struct options *o,
			 uint64_t n, pawl_home_fn *home, void *arg)
{
	struct lock_setup *s = &t->setup;
	int rc, rank;

	setup_begin(s, p, t->job->topo, o, n);
	s->era = t->era;
	s->posts = p->settled && s->domain == RMA_NET &&
		   transport_choose(o, t->job->one_host) != RMA_BY_MPI;
	if (t->clients.threaded && !t->clients.by_process)
		s->clients = lock_all_slots(s);
	if (home) {
		rc = homes_create(t, home, arg);
		if (rc != PAWL_SUCCESS)
			return rc;
	}
	if (o->watchdog_s > 0)
		s->board_bytes = watch_bytes(s->max_held);
	rc = setup_layout(s);
	PMPI_Comm_rank(t->comm, &rank);
	if (rc == PAWL_SUCCESS)
		t->bytes = lock_segment_bytes(s, rank);
	return rc;
}

/* Whether this rank is the first of a host that has too little memory. alike: all ranks of a node
 * want as much. Collective over the host, unless its first rank knows what is needed. */
static bool falls_short(struct kept *k, uint64_t bytes, bool alike, struct shm_shortage *s)
{
	const struct topo_job *j = &k->job;
	MPI_Comm host_comm = j->host_comm == MPI_COMM_NULL ? j->node_comm : j->host_comm;
	bool is_new = j->is_new;
	int rank;

	k->job.is_new = false;
	if (!is_new || !alike || j->host_comm != MPI_COMM_NULL)
		return shm_falls_short(host_comm, bytes, s);
	PMPI_Comm_rank(host_comm, &rank);
	return rank == 0 && !shm_has_room(bytes, j->host_ranks, j->untouched, j->apart, s);
}

int table_check_memory(pawl_table *t, int rc, uint64_t bytes, bool alike)
{
	struct shm_shortage s;
	char what[sizeof t->about + 16], text[ERROR_LENGTH];

	if (falls_short(t->kept, bytes, alike, &s) && rc == PAWL_SUCCESS) {
		snprintf(what, sizeof what, "a table (%s)", t->about);
		shm_tell(&s, what, text, sizeof text);
		rc = error_set(s.apart ? PAWL_ERR_WINDOW : PAWL_ERR_NOMEM, "%s", text);
	}
	return table_agree(t->comm, rc);
}

static int make_segments(pawl_table *t, const struct options *o)
{
	static const int codes[] = {
	    [RMA_OK] = PAWL_SUCCESS,
	    [RMA_FAIL_WINDOW] = PAWL_ERR_WINDOW,
	    [RMA_FAIL_MODEL] = PAWL_ERR_WINDOW,
	    [RMA_FAIL_NOMEM] = PAWL_ERR_NOMEM,
	    [RMA_FAIL_CONNECT] = PAWL_ERR_CONNECT,
	};
	char err[ERROR_LENGTH] = "";
	const struct rma_request request = {
	    .comm = t->comm,
	    .node_comm = t->job->node_comm,
	    .node = t->job->topo->node,
	    .network = t->setup.domain == RMA_NODE ? RMA_NO_NETWORK
						   : transport_choose(o, t->job->one_host),
	    .by_network = t->setup.protocol->by_network,
	    .one_host = t->job->one_host,
	    .host_comm = t->job->host_comm,
	    .leaders = t->job->leaders,
	    .kept = &t->kept->network,
	    .connections = (int)o->connections,
	    .again = t->kept->networked,
	    .bytes = t->bytes,
	};
	enum rma_failure failure = rma_segments_create(&t->rma, &request, err, sizeof err);

	if (failure == RMA_OK && request.network != RMA_NO_NETWORK)
		t->kept->networked = true;
	return failure == RMA_OK ? PAWL_SUCCESS : error_set(codes[failure], "%s", err);
}

int table_make_segments(pawl_table *t, const struct lock_protocol *p, const struct options *o,
			uint64_t n, pawl_home_fn *home, void *arg)
{
	int rc = choose_layout(t, p, o, n, home, arg);

	rc = table_check_memory(t, rc, t->bytes, true);
	if (rc == PAWL_SUCCESS)
		rc = make_segments(t, o);
	if (rc == PAWL_SUCCESS)
		t->setup.posts = t->setup.posts && t->rma.transport->can.posts;
	return rc;
}

static int open_protocol(pawl_table *t)
{
	const struct lock_protocol *p = t->setup.protocol;
	char err[ERROR_LENGTH] = "";
	int rc = PAWL_SUCCESS;

	if (p->mpi)
		rc = p->mpi->open(&t->setup, &t->comm, err, sizeof err);
	if (rc != PAWL_SUCCESS)
		error_set(rc, "%s", err);
	if (p->describe)
		p->describe(&t->setup, t->parameters, sizeof t->parameters);
	lease_describe(t);
	return rc;
}

/* A table in shared memory needs no thread, because no rank depends on another rank's MPI calls. */
static int start_progress(pawl_table *t)
{
	if (!t->rma.net)
		return PAWL_SUCCESS;
	t->progress = rma_progress_start(&t->rma, t->bytes);
	return t->progress ? PAWL_SUCCESS
			   : error_set(PAWL_ERR_NOMEM,
				       "option progress: the thread that drives the MPI could not"
				       " be started");
}

/* Free all that exists of t, in reverse order. Collective. */
static void destroy(pawl_table *t)
{
	const struct lock_protocol *p = t->setup.protocol;

	rma_progress_stop(t->progress);
	client_settle(&t->clients);
	observe_close(t->observe);
	if (p && p->mpi && t->setup.state)
		p->mpi->close(&t->setup);
	rma_segments_free(&t->rma);
	client_close(&t->clients);
	setup_free(&t->setup);
	homes_free(t);
	if (t->kept)
		kept_leave(t->kept, KEPT_FREE);
	options_free(&t->options);
	life_bury(t);
}

/* Statistics and the like, if the environment asks for them; and whether all ranks have come to
 * here. Collective. */
static int open_observers(pawl_table *t, int rc)
{
	const struct observe_table table = {
	    .comm = t->comm,
	    .setup = &t->setup,
	    .clients = &t->clients,
	    .rma = &t->rma,
	    .name = t->name,
	    .about = t->about,
	    .board = t->setup.board,
	};
	int64_t most[1 + OBSERVE_WORDS] = {0};
	int mpi;

	if (rc == PAWL_SUCCESS)
		rc = observe_prepare(&t->observe, &table);
	most[0] = rc;
	observe_ask(&table, most + 1);
	mpi = PMPI_Allreduce(MPI_IN_PLACE, most, 1 + OBSERVE_WORDS, MPI_INT64_T, MPI_MAX, t->comm);
	rc = agreed(t->comm, rc, mpi == MPI_SUCCESS ? (int)most[0] : rc, mpi);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (observe_is_asked(most + 1))
		rc = table_agree(t->comm, observe_open(t->observe, most + 1));
	if (rc != PAWL_SUCCESS || t->observe->n == 0) {
		observe_close(t->observe);
		t->observe = NULL;
		return rc;
	}
	t->rma.waiting.observe = observe_waiting;
	t->rma.waiting.observe_arg = t->observe;
	return rc;
}

/* What the tables of a communicator share. */
static int find_ranks(MPI_Comm comm, pawl_table *t, const struct options *o)
{
	struct topo_request request = {
	    .synthetic = o->topology, .file = o->topology_file, .groups = o->groups};
	char err[ERROR_LENGTH] = "";

	switch (kept_take(comm, &request, o->connections, &t->kept, err, sizeof err)) {
	case 0:
		break;
	case TOPO_NO_MEMORY:
		return error_set(PAWL_ERR_NOMEM, "%s", err);
	case TOPO_MPI:
		return error_set(PAWL_ERR_MPI, "%s", err);
	case TOPO_APART:
		return error_set(PAWL_ERR_WINDOW, "%s", err);
	default:
		return error_set(PAWL_ERR_TOPOLOGY, "%s", err);
	}
	t->job = &t->kept->job;
	t->comm = t->job->comm;
	if (table_is_first_rank(t->comm))
		topology_warn(t->job, o->topology);
	return PAWL_SUCCESS;
}

static int build(pawl_table *t, const struct lock_protocol *kind, const struct options *o,
		 uint64_t n, pawl_home_fn *home, void *arg)
{
	const struct lock_protocol *p = setup_protocol(kind, t->job->topo);
	int rc = table_make_segments(t, p, o, n, home, arg);

	if (rc != PAWL_SUCCESS)
		return rc;
	choose_waiting(t, o);
	if (p->shares_clock && !t->job->one_host && !rma_compare_clocks(t->comm, &t->rma.clock))
		return error_set(PAWL_ERR_MPI, "the clocks of the hosts could not be compared");
	t->clients.can_fail = t->rma.transport->can.can_fail;
	rc = client_open(&t->clients, &t->setup, &t->rma)
		 ? life_watch()
		 : error_set(PAWL_ERR_NOMEM, "out of memory");
	if (lease_counts(t)) {
		rc = table_agree(t->comm, rc);
		if (rc == PAWL_SUCCESS)
			rc = lease_fit(t);
	}
	t->rma.outlives = lease_counts(t);
	if (p->mpi)
		rc = table_agree(t->comm, rc);
	if (rc == PAWL_SUCCESS)
		rc = open_protocol(t);
	if (rc == PAWL_SUCCESS && o->progress == PROGRESS_THREAD)
		rc = start_progress(t);
	return open_observers(t, rc);
}

int table_check_name(const char *name)
{
	return options_check_name(name, PAWL_ERR_ARG, "name");
}

void table_describe(pawl_table *t, const struct lock_protocol *p, uint64_t n)
{
	bool ranges = p->kind.capabilities & PAWL_CAP_RANGES;

	snprintf(t->about, sizeof t->about, "%s%s%s%s, %llu %s%s", *t->name ? "\"" : "", t->name,
		 *t->name ? "\", " : "", p->kind.name, (unsigned long long)n,
		 ranges ? "space" : "lock", n == 1 ? "" : "s");
	t->of_name[0] = '\0';
	if (*t->name)
		snprintf(t->of_name, sizeof t->of_name, " of \"%s\"", t->name);
}

int table_build(const struct table_request *q, int rc, pawl_table **table)
{
	pawl_table *t = rc == PAWL_SUCCESS ? calloc(1, sizeof *t) : NULL;
	const struct table_asked asked = {q->options, q->kind, q->n, q->homed};
	int64_t mine[2 + TABLE_ITEMS], all[2 + TABLE_ITEMS];
	int mpi;

	if (rc == PAWL_SUCCESS && !t)
		rc = error_set(PAWL_ERR_NOMEM, "out of memory");
	if (rc == PAWL_SUCCESS)
		rc = check_threads(t, q->options, q->protocol);
	mine[0] = -rc;
	mine[1 + TABLE_ITEMS] = -(int64_t)q->options->held_given;
	table_items(&asked, rc == PAWL_SUCCESS, mine + 1);
	mpi = meet(q->comm, mine, all, 2 + TABLE_ITEMS, q->call,
		   q->options->watchdog_s > 0 ? q->options->watchdog_s : CREATE_SECONDS);
	rc = agreed(q->comm, rc, mpi == MPI_SUCCESS ? (int)-all[0] : rc, mpi);
	if (rc == PAWL_SUCCESS)
		rc = table_same_items(q->comm, &asked, mine + 1, all + 1);
	if (rc != PAWL_SUCCESS) {
		options_free(q->options);
		free(t);
		return rc;
	}
	t->options = *q->options;
	t->options.held_given = all[1 + TABLE_ITEMS] < 0; /* on some rank */
	t->era = q->era;
	t->homes_win = MPI_WIN_NULL;
	strcpy(t->name, q->name);
	table_describe(t, q->protocol, q->n);
	rc = find_ranks(q->comm, t, &t->options);
	if (rc == PAWL_SUCCESS)
		rc = build(t, q->protocol, &t->options, q->n, q->home, q->arg);
	if (rc != PAWL_SUCCESS) {
		destroy(t);
		return rc;
	}
	life_begin(t);
	*table = t;
	return PAWL_SUCCESS;
}

int table_check_comm(MPI_Comm comm, const char *what)
{
	int inter = 0;

	if (comm == MPI_COMM_NULL)
		return error_set(PAWL_ERR_ARG, "%s is MPI_COMM_NULL", what);
	PMPI_Comm_test_inter(comm, &inter);
	return inter ? error_set(PAWL_ERR_ARG, "%s is an inter-communicator", what) : PAWL_SUCCESS;
}

/* Create a table; homes come from a function (homed) or from option distribution. */
static int create(MPI_Comm comm, const char *asked, uint64_t n, bool homed, pawl_home_fn *home,
		  void *arg, MPI_Info info, pawl_table **table)
{
	char name[OPTIONS_NAME_BYTES], variable[OPTIONS_VARIABLE_BYTES];
	struct options o = {.max_held = 0};
	struct table_request q = {.comm = comm,
				  .call =
				      homed ? "pawl_table_create_homed()" : "pawl_table_create()",
				  .options = &o,
				  .n = n,
				  .homed = homed,
				  .home = home,
				  .arg = arg,
				  .name = name};
	int rc = check_mpi(comm);

	if (table)
		*table = NULL;
	if (rc == PAWL_SUCCESS)
		rc = table_check_comm(comm, "comm");
	if (rc != PAWL_SUCCESS)
		return rc;
	/* From here on all ranks take the same steps. */
	rc = options_name(info, name);
	q.kind = kinds_name(options_kind(asked, name, variable));
	q.protocol = kinds_find(q.kind);
	if (rc == PAWL_SUCCESS)
		rc = check_arguments(q.kind, variable, n, q.protocol);
	if (rc == PAWL_SUCCESS && !table)
		rc = error_set(PAWL_ERR_ARG, "table is a null pointer");
	if (rc == PAWL_SUCCESS && homed && !home)
		rc = error_set(PAWL_ERR_ARG, "home is a null pointer: a function, or"
					     " pawl_table_create() with option distribution");
	if (rc == PAWL_SUCCESS)
		rc = options_read(&o, q.protocol, info);
	if (table_is_first_rank(comm)) {
		options_warn_kind(stderr, asked, name);
		options_warn(stderr, q.protocol, info);
	}
	return table_build(&q, rc, table);
}

int pawl_table_create(MPI_Comm comm, const char *kind, uint64_t n, MPI_Info info,
		      pawl_table **table)
{
	return create(comm, kind, n, false, NULL, NULL, info, table);
}

int pawl_table_create_homed(MPI_Comm comm, const char *kind, uint64_t n, pawl_home_fn *home,
			    void *arg, MPI_Info info, pawl_table **table)
{
	return create(comm, kind, n, true, home, arg, info, table);
}

int table_check_idle(pawl_table *t, int rc, const char *call)
{
	const int nobody = t->setup.topo->nranks;
	int64_t mine[] = {-rc, client_in_use(&t->clients) ? t->rma.rank : nobody}, all[2] = {0};
	char text[ERROR_LENGTH] = "";
	int mpi = meet(t->comm, mine, all, 2, call, t->rma.waiting.watchdog), first;

	rc = agreed(t->comm, rc, mpi == MPI_SUCCESS ? (int)-all[0] : rc, mpi);
	if (rc != PAWL_SUCCESS)
		return rc;
	first = (int)all[1];
	if (first == nobody)
		return PAWL_SUCCESS;
	if (first == t->rma.rank)
		client_list_held(&t->clients, text, sizeof text);
	PMPI_Bcast(text, sizeof text, MPI_CHAR, first, t->comm);
	return error_set(PAWL_ERR_HELD, "rank %d %s %s%s: release before %s", first,
			 t->clients.threaded ? "holds or awaits" : "holds", text, t->of_name, call);
}

void table_forget(pawl_table *t, enum kept_end end)
{
	life_end(t);
	observe_close(t->observe);
	rma_segments_forget(&t->rma);
	client_close(&t->clients);
	setup_free(&t->setup);
	kept_leave(t->kept, end);
	options_free(&t->options);
	life_bury(t);
}

int pawl_table_free(pawl_table **table)
{
	pawl_table *t;
	int rc;

	if (!table || !*table)
		return error_set(PAWL_ERR_ARG, "table is a null %s", table ? "handle" : "pointer");
	t = *table;
	rc = life_check(t);
	if (rc != PAWL_SUCCESS && life_is_over(t)) {
		life_name_late(t);
		table_forget(t, KEPT_ENDED);
		*table = NULL;
	}
	if (rc == PAWL_SUCCESS) {
		left_await(t, false);
		rc = table_check_idle(t, PAWL_SUCCESS, "pawl_table_free()");
	}
	if (rc != PAWL_SUCCESS)
		return rc;
	life_end(t);
	if (t->observe)
		observe_report(t->observe);
	destroy(t);
	*table = NULL;
	return PAWL_SUCCESS;
}
