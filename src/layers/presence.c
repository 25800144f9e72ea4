/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes have the layer.
 *
 * A layer may be in some processes of a program only: its library is missing on one host, one of
 * the programs of a job sets LD_PRELOAD, a plugin opens it. If it sent a message of its own over a
 * communicator of such processes, that would meet a message of the program. So before its first
 * message over a communicator a layer asks whether all processes there have it.
 *
 * The answer comes from the store of names and values that the launcher keeps for the job and by
 * which the MPI itself exchanges addresses in MPI_Init. Each process that has the layer puts a
 * mark there, and looks for those of the others:
 *
 *   PMIx   Open MPI, and MPIs with that library. The MPI calls PMIx_Commit in MPI_Init, before it
 *          exchanges what is in the store; the layer defines that name (not in a static library),
 *          and adds its mark, which then is in the memory of each host. A process where that call
 *          did not come here puts a late mark when it creates its first window. Such a mark is
 *          fetched from the host where it is.
 *   PMI-1  MPICH with the launcher hydra. The MPI's library does not export its functions. The
 *          protocol is text over a socket (cmd=put, cmd=get). The mark is put before MPI_Init,
 *          because the barrier in MPI_Init passes on what is in the store, and nothing does later.
 *
 * All processes that have the layer come to the same result for a communicator:
 *
 *   - marks of processes are never removed;
 *   - MPI_Win_create and its like return after all processes have called them, and a mark is put
 *     before the call, or before MPI_Init, and looked for after it. Before it, a late mark may be
 *     there for some of them only, and none counts;
 *   - a process of another MPI_COMM_WORLD (spawned, connected) is not in the store of this one. It
 *     sees that itself, and so do the others. The layer is off in such communicators.
 *
 * A mark that was found is not looked for again. So a job where all processes have the layer pays
 * one look for each process, with the first communicator that it is in.
 *
 * With another launcher, and of a layer that is linked statically, nothing is known. The layer then
 * takes it that all processes have it, and says so if its first message is not answered.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/ranks.h"
#include "layers/layers.h"

enum { ANSWER_SECONDS = 5, SPEAKERS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the variables below */
static bool marked;                                      /* this process */
static enum mark { NO_MARK, LATE, EARLY } * found;       /* [world_size] */
static int world_size;
#if MPI_VERSION >= 4
static MPI_Group session_world = MPI_GROUP_NULL; /* if there is no MPI_COMM_WORLD */
#endif

static const char *key(void)
{
	static char text[40];

	snprintf(text, sizeof text, "pawl.%s", layer_library);
	return text;
}

/* --------------------------------------------------------------------- PMIx */

/* As in version 2 and later of its standard. The union is not larger there. */
struct pmix_proc {
	char nspace[256];
	uint32_t rank;
};
struct pmix_value {
	uint16_t type;
	union {
		bool flag;
		void *room[4];
	} data;
};
struct pmix_info {
	char key[512];
	uint32_t flags;
	struct pmix_value value;
};
enum { PMIX_BOOL = 1, PMIX_GLOBAL = 3 };

static struct {
	int (*initialized)(void);
	int (*put)(uint8_t scope, const char *key, struct pmix_value *);
	int (*commit)(void);
	int (*get)(const struct pmix_proc *, const char *key, const struct pmix_info *, size_t n,
		   struct pmix_value **);
} pmix;

static void pmix_symbol(void *library, const char *name, void *call)
{
	void *symbol = library ? dlsym(library, name) : dlsym(RTLD_DEFAULT, name);

	memcpy(call, &symbol, sizeof symbol);
}

/* Whether the process has the library, and is connected to its server. */
static bool pmix_is_there(void)
{
	void *library;

	if (!getenv("PMIX_NAMESPACE"))
		return false;
	if (!pmix.get) {
		library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
		pmix_symbol(library, "PMIx_Initialized", &pmix.initialized);
		pmix_symbol(library, "PMIx_Put", &pmix.put);
		next_find("PMIx_Commit", pmix.put ? *(void **)&pmix.put : NULL, &pmix.commit);
		pmix_symbol(library, "PMIx_Get", &pmix.get);
	}
	return pmix.initialized && pmix.put && pmix.commit && pmix.get && pmix.initialized();
}

/* In MPI_Init, or later. */
static bool pmix_mark(bool early)
{
	struct pmix_value mark = {.type = PMIX_BOOL, .data.flag = early};

	return pmix.put(PMIX_GLOBAL, key(), &mark) == 0;
}

static enum mark pmix_look(int rank)
{
	/* Do not wait for a mark that may never come. */
	const struct pmix_info now = {.key = "pmix.immediate",
				      .value = {.type = PMIX_BOOL, .data.flag = true}};
	struct pmix_proc proc = {.rank = (uint32_t)rank};
	struct pmix_value *value = NULL;
	enum mark mark = NO_MARK;

	snprintf(proc.nspace, sizeof proc.nspace, "%s", getenv("PMIX_NAMESPACE"));
	if (pmix.get(&proc, key(), &now, 1, &value) == 0 && value)
		mark = value->data.flag ? EARLY : LATE;
	free(value);
	return mark;
}

#ifdef PIC
/* The MPI's, in MPI_Init. */
__attribute__((visibility("default"))) int PMIx_Commit(void);
int PMIx_Commit(void)
{
	int (*commit)(void);

	next_find("PMIx_Commit", __builtin_return_address(0), &commit);
	if (!commit)
		return -1;
	pthread_mutex_lock(&lock);
	if (!marked && pmix_is_there())
		marked = pmix_mark(true);
	pthread_mutex_unlock(&lock);
	return commit();
}
#endif

/* -------------------------------------------------------------------- PMI-1 */

/* Whether the launcher is hydra (others that give PMI_FD do not set MPI_LOCALNRANKS), and the MPI
 * speaks PMI-1 with it. */
static bool hydra_is_there(void)
{
#ifdef MPICH_VERSION
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	if (!getenv("PMI_FD") || !getenv("PMI_RANK") || !getenv("MPI_LOCALNRANKS") ||
	    getenv("PMIX_NAMESPACE") || dlsym(RTLD_DEFAULT, "PMI2_Init") ||
	    dlsym(RTLD_DEFAULT, "PMI_Init"))
		return false;
	PMPI_Get_library_version(version, &len);
	return !strstr(version, "--with-pmi=");
#else
	return false;
#endif
}

static bool hydra_send(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			return false;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

/* The server answers with one line, and sends nothing unasked. */
static bool hydra_ask(char *line, size_t size)
{
	int fd = atoi(getenv("PMI_FD"));
	size_t n = 0;

	if (!hydra_send(fd, line))
		return false;
	while (n + 1 < size) {
		ssize_t done = read(fd, line + n, 1);

		if (done == 0 || (done < 0 && errno != EINTR))
			return false;
		if (done > 0 && line[n++] == '\n')
			break;
	}
	line[n] = '\0';
	return true;
}

static bool hydra_has_said(const char *line, const char *what)
{
	return strstr(line, what) != NULL;
}

/* The name of the job's part of the store. */
static const char *hydra_name(void)
{
	static char name[256];
	char line[1024] = "cmd=get_my_kvsname\n";

	if (!name[0] && hydra_ask(line, sizeof line) && strstr(line, "kvsname="))
		snprintf(name, sizeof name, "%.*s",
			 (int)strcspn(strstr(line, "kvsname=") + 8, " \n"),
			 strstr(line, "kvsname=") + 8);
	return name;
}

/* Before the MPI is initialised; it begins in the same way. */
static bool hydra_mark(void)
{
	char line[1024] = "cmd=init pmi_version=1 pmi_subversion=1\n";

	if (!hydra_ask(line, sizeof line) || !hydra_has_said(line, "rc=0"))
		return false;
	snprintf(line, sizeof line, "cmd=put kvsname=%s key=%s.%d value=1\n", hydra_name(), key(),
		 atoi(getenv("PMI_RANK")));
	return hydra_ask(line, sizeof line) && hydra_has_said(line, "rc=0");
}

static enum mark hydra_look(int rank)
{
	char line[1024];

	snprintf(line, sizeof line, "cmd=get kvsname=%s key=%s.%d\n", hydra_name(), key(), rank);
	return hydra_ask(line, sizeof line) && hydra_has_said(line, "value=1") ? EARLY : NO_MARK;
}

/* ---------------------------------------------------------------- processes */

enum store { NO_STORE, PMIX, HYDRA };

/* Whether the layer is linked into the program: then the MPI does not see its PMIx_Commit. */
static bool is_in_program(void)
{
	Dl_info here, program;

	return dladdr(&lock, &here) && dladdr((void *)getauxval(AT_ENTRY), &program) &&
	       here.dli_fbase == program.dli_fbase;
}

/* Once the MPI is initialised. */
static enum store store(void)
{
	static _Atomic(int) known = -1;
	int s = atomic_load_explicit(&known, memory_order_relaxed);

	if (s < 0 && is_in_program())
		s = NO_STORE;
	if (s < 0)
		s = hydra_is_there() ? HYDRA : pmix_is_there() ? PMIX : NO_STORE;
	atomic_store_explicit(&known, s, memory_order_relaxed);
	return (enum store)s;
}

static enum mark look(enum store s, int rank)
{
	if (found[rank] == NO_MARK)
		found[rank] = s == PMIX ? pmix_look(rank) : hydra_look(rank);
	return found[rank];
}

/* The processes of MPI_COMM_WORLD, or of all of a session. MPI_GROUP_NULL: the MPI does not tell.
 */
static MPI_Group world_group(void)
{
	MPI_Group world = MPI_GROUP_EMPTY;
	int initialized;

	PMPI_Initialized(&initialized);
	if (initialized && PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
		return MPI_GROUP_NULL;
#if MPI_VERSION >= 4
	if (!initialized && session_world != MPI_GROUP_NULL)
		PMPI_Group_union(session_world, MPI_GROUP_EMPTY, &world);
#endif
	if (!found) {
		PMPI_Group_size(world, &world_size);
		found = calloc((size_t)world_size + 1, sizeof *found);
	}
	return world;
}

/* The ranks of comm's processes in the world; MPI_UNDEFINED: it is of another one. NULL: the MPI
 * does not tell. */
static int *world_ranks(MPI_Comm comm, int *n)
{
	MPI_Group world = world_group();
	int *ranks = world == MPI_GROUP_NULL ? NULL : ranks_in_group(comm, world, n);

	group_free(&world);
	return ranks;
}

void presence_before_init(void)
{
	int initialized = 0;

	PMPI_Initialized(&initialized);
	pthread_mutex_lock(&lock);
	if (!initialized && !marked && hydra_is_there())
		marked = hydra_mark();
	pthread_mutex_unlock(&lock);
}

void presence_announce(void)
{
	pthread_mutex_lock(&lock);
	if (!marked && !hydra_is_there() && pmix_is_there())
		marked = pmix_mark(false) && pmix.commit() == 0;
	pthread_mutex_unlock(&lock);
}

#if MPI_VERSION >= 4
void presence_session(MPI_Session session)
{
	pthread_mutex_lock(&lock);
	if (session_world == MPI_GROUP_NULL)
		PMPI_Group_from_session_pset(session, "mpi://WORLD", &session_world);
	pthread_mutex_unlock(&lock);
}
#endif

void presence_look_at_all(void)
{
	MPI_Group world;

	pthread_mutex_lock(&lock);
	if (hydra_is_there()) {
		world = world_group();
		for (int i = 0; found && i < world_size; i++)
			look(HYDRA, i);
		group_free(&world);
	}
	pthread_mutex_unlock(&lock);
}

/* Only a process that has the layer can print, and it knows of the others by their marks. Say it
 * once, whatever the communicator is. */
static void say(MPI_Comm comm, enum store s, const int *ranks, int n, const char *what,
		const char *why)
{
	static bool said;
	int rank, first = 0;

	PMPI_Comm_rank(comm, &rank);
	while (first < n &&
	       (ranks[first] == MPI_UNDEFINED || (s != NO_STORE && found[ranks[first]] == NO_MARK)))
		first++;
	if (!said && rank == (first < n ? first : 0))
		fprintf(stderr, "pawl: %s: %s\n", what, why);
	said = true;
}

bool presence_is_full(MPI_Comm comm, const char *what)
{
	char why[160] = "";
	enum store s;
	int n, *ranks;

	PMPI_Comm_size(comm, &n);
	if (n == 1)
		return true;
	pthread_mutex_lock(&lock);
	s = store();
	ranks = world_ranks(comm, &n);
	for (int i = 0; i < n && ranks && found; i++) {
		if (ranks[i] == MPI_UNDEFINED)
			snprintf(why, sizeof why,
				 "of the processes of another MPI_COMM_WORLD (spawned, or"
				 " connected), %s does not know whether they have loaded it",
				 layer_library);
		else if (s != NO_STORE && look(s, ranks[i]) == NO_MARK && !why[0])
			snprintf(why, sizeof why,
				 "rank %d of MPI_COMM_WORLD had not loaded %s before MPI_Init",
				 ranks[i], layer_library);
	}
	if (why[0])
		say(comm, s, ranks, n, what, why);
	free(ranks);
	pthread_mutex_unlock(&lock);
	return !why[0];
}

bool presence_was_full(MPI_Comm comm)
{
	bool is_full = true;
	enum store s;
	int n, *ranks;

	PMPI_Comm_size(comm, &n);
	if (n == 1)
		return true;
	pthread_mutex_lock(&lock);
	s = store();
	ranks = s == NO_STORE ? NULL : world_ranks(comm, &n);
	for (int i = 0; is_full && i < n && ranks && found; i++)
		is_full = ranks[i] != MPI_UNDEFINED && look(s, ranks[i]) == EARLY;
	free(ranks);
	pthread_mutex_unlock(&lock);
	return is_full;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void presence_allreduce(MPI_Comm comm, uint64_t *words, int n)
{
	const double late = seconds() + ANSWER_SECONDS;
	MPI_Request request;
	bool said = false;
	int done = 0, rank;

	if (store() != NO_STORE) {
		PMPI_Allreduce(MPI_IN_PLACE, words, n, MPI_UINT64_T, MPI_BAND, comm);
		return;
	}
	PMPI_Comm_rank(comm, &rank);
	PMPI_Iallreduce(MPI_IN_PLACE, words, n, MPI_UINT64_T, MPI_BAND, comm, &request);
	while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
		sched_yield();
		if (said || rank >= SPEAKERS || seconds() < late)
			continue;
		said = true;
		fprintf(stderr,
			"pawl: rank %d of a communicator has waited for the others for %d s: has"
			" every process of it loaded %s?\n",
			rank, ANSWER_SECONDS, layer_library);
	}
}
