/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unusual beginnings and ends of tables: MPI_Finalize, fork and the
 * end of the process come while a table lives, or MPI is started by a session. The first argument
 * names the case. What each rank finds wrong goes to stdout as "wrong: ..."; the script reads that,
 * the status, and stderr.
 *
 * Does not use ranks.h, which ends by MPI_Finalize.
 */
#include <pawl.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOCKS = 9, LIMIT_S = 60 };

static pawl_table *table;
static int rank, size, mistakes;
static bool free_at_exit, of_ranges;

static __attribute__((format(printf, 2, 3))) void expect(bool holds, const char *format, ...)
{
	va_list ap;

	if (holds)
		return;
	mistakes++;
	va_start(ap, format);
	printf("wrong: rank %d: ", rank);
	vprintf(format, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
}

static void expect_code(int got, int wanted, const char *word, const char *call)
{
	expect(got == wanted, "%s returned %d (%s), not %d", call, got, pawl_strerror(got), wanted);
	if (wanted)
		expect(strstr(pawl_error_message(), word), "%s says \"%s\", without \"%s\"", call,
		       pawl_error_message(), word);
}

/* Options as pairs, up to a null pointer. */
static void create(MPI_Comm comm, const char *kind, ...)
{
	const char *key;
	MPI_Info info;
	va_list ap;
	int rc;

	MPI_Info_create(&info);
	va_start(ap, kind);
	while ((key = va_arg(ap, const char *)))
		MPI_Info_set(info, key, va_arg(ap, const char *));
	va_end(ap);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	of_ranges = pawl_kind_find(kind)->capabilities & PAWL_CAP_RANGES;
	rc = pawl_table_create(comm, kind, LOCKS, info, &table);
	MPI_Info_free(&info);
	if (rc == PAWL_SUCCESS)
		return;
	printf("wrong: no table: %s\n", pawl_error_message());
	fflush(stdout);
	_exit(1);
}

static void use(void)
{
	pawl_range range;

	if (of_ranges) {
		expect_code(pawl_range_acquire(table, 3, 0, 1, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "", "range acquire");
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "", "range release");
		return;
	}
	expect_code(pawl_lock_acquire(table, 3, PAWL_EXCLUSIVE), PAWL_SUCCESS, "", "acquire");
	expect_code(pawl_lock_release(table, 3), PAWL_SUCCESS, "", "release");
}

/* Every call on a table that cannot be used any more. */
static void expect_refusals(const char *word)
{
	struct pawl_table_info info;
	struct pawl_stats stats;
	const uint64_t locks[] = {3, 4};
	pawl_range range = {{0, 0}};
	pawl_request request;
	int64_t units = 2;
	double seconds;
	int home;

	expect_code(pawl_lock_acquire(table, 3, PAWL_EXCLUSIVE), PAWL_ERR_MPI, word, "acquire");
	expect_code(pawl_lock_acquire(table, 3, PAWL_SHARED), PAWL_ERR_MPI, word, "acquire shared");
	expect_code(pawl_lock_try_acquire(table, 3, PAWL_EXCLUSIVE), PAWL_ERR_MPI, word, "try");
	expect_code(pawl_lock_timed_acquire(table, 3, PAWL_EXCLUSIVE, 1), PAWL_ERR_MPI, word,
		    "timed acquire");
	expect_code(pawl_lock_release(table, 3), PAWL_ERR_MPI, word, "release");
	expect_code(pawl_lock_abandon(table, 3), PAWL_ERR_MPI, word, "abandon");
	expect_code(pawl_lock_acquire_part(table, 3, 4, PAWL_EXCLUSIVE), PAWL_ERR_MPI, word,
		    "acquire part");
	expect_code(pawl_lock_release_part(table, 3, 4), PAWL_ERR_MPI, word, "release part");
	expect_code(pawl_range_acquire(table, 3, 0, 1, PAWL_EXCLUSIVE, &range), PAWL_ERR_MPI, word,
		    "range acquire");
	expect_code(pawl_range_release(table, &range), PAWL_ERR_MPI, word, "range release");
	expect_code(pawl_range_abandon(table, &range), PAWL_ERR_MPI, word, "range abandon");
	expect_code(pawl_range_shrink(table, 3, 1), PAWL_ERR_MPI, word, "range shrink");
	expect_code(pawl_range_grow(table, 3, &units), PAWL_ERR_MPI, word, "range grow");
	expect_code(pawl_lock_acquire_many(table, 2, locks, NULL), PAWL_ERR_MPI, word,
		    "acquire many");
	expect_code(pawl_lock_release_many(table, 2, locks), PAWL_ERR_MPI, word, "release many");
	expect_code(pawl_lock_iacquire(table, 3, PAWL_EXCLUSIVE, &request), PAWL_ERR_MPI, word,
		    "iacquire");
	expect_code(pawl_table_set_name(table, "x"), PAWL_ERR_MPI, word, "set name");
	expect_code(pawl_table_rehome(table, NULL, NULL), PAWL_ERR_MPI, word, "table rehome");
	expect_code(pawl_table_shrink(&table, MPI_COMM_SELF), PAWL_ERR_MPI, word, "table shrink");
	expect_code(pawl_table_get_percentile(table, PAWL_TIME_HOLD, 50, &seconds), PAWL_ERR_MPI,
		    word, "percentile");
	expect_code(pawl_table_home(table, 3, &home), PAWL_ERR_MPI, word, "home");
	expect_code(pawl_table_get_info(table, &info), PAWL_ERR_MPI, word, "info");
	expect_code(pawl_table_get_stats(table, &stats), PAWL_ERR_MPI, word, "stats");
	expect_code(pawl_table_reset_stats(table), PAWL_ERR_MPI, word, "reset");
}

static void free_late(void)
{
	expect_code(pawl_table_free(&table), PAWL_ERR_MPI, "finalized", "free");
	expect(!table, "the handle of a late free is not null");
}

/* ------------------------------------------------------------ MPI_Finalize */

static void after_finalize(const char *kind)
{
	pawl_request request, waits = {{0}};
	int done, fd = -1;

	create(MPI_COMM_WORLD, kind, NULL);
	expect_code(pawl_lock_iacquire(table, (uint64_t)rank, PAWL_EXCLUSIVE, &request),
		    PAWL_SUCCESS, "", "iacquire");
	MPI_Barrier(MPI_COMM_WORLD);
	if (size > 1) { /* a thread of the library awaits what the next rank has */
		expect_code(pawl_lock_iacquire(table, (uint64_t)((rank + 1) % size), PAWL_EXCLUSIVE,
					       &waits),
			    PAWL_SUCCESS, "", "iacquire");
		expect_code(pawl_request_fd(&waits, &fd), PAWL_SUCCESS, "", "descriptor");
	}
	MPI_Finalize();
	if (size > 1) {
		expect(fcntl(fd, F_GETFD) < 0, "the descriptor of a request is open");
		expect_code(pawl_request_fd(&waits, &fd), PAWL_ERR_MPI, "finalized", "descriptor");
		expect_code(pawl_request_test(&waits, &done), PAWL_ERR_MPI, "finalized", "test");
	}
	expect_code(pawl_request_test(&request, &done), PAWL_ERR_MPI, "finalized", "test");
	expect_code(pawl_request_wait(&request), PAWL_ERR_MPI, "finalized", "wait");
	expect_code(pawl_request_cancel(&request), PAWL_ERR_MPI, "finalized", "cancel");
	expect_refusals("finalized");
	free_late();
	expect_code(pawl_table_create(MPI_COMM_WORLD, kind, 1, MPI_INFO_NULL, &table), PAWL_ERR_MPI,
		    "finalized", "create");
}

/* Like the destructor of a global object of C++. */
static void in_destructor(const char *kind)
{
	create(MPI_COMM_WORLD, kind, NULL);
	MPI_Finalize();
	free_at_exit = true;
}

static __attribute__((destructor)) void destroy(void)
{
	if (!free_at_exit)
		return;
	free_late();
	if (mistakes)
		_exit(1);
}

static void forgotten(const char *kind)
{
	create(MPI_COMM_WORLD, kind, NULL);
	use();
	/* A rank that has finalized MPI does not serve operations any more. */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

enum { LOOK_LONG_MS = 100 };

static pthread_t main_thread;
static _Atomic(bool) long_looks, looking;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The library's call, by which its thread drives the MPI: so one look can be many, and MPI_Finalize
 * finds the thread inside a call. */
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	void *found = dlsym(RTLD_NEXT, "PMPI_Iprobe");
	int (*next)(int, int, MPI_Comm, int *, MPI_Status *);
	double end = now_ms() + LOOK_LONG_MS;
	int rc;

	memcpy(&next, &found, sizeof next);
	do {
		rc = next(source, tag, comm, flag, status);
		if (!long_looks || pthread_equal(pthread_self(), main_thread))
			return rc;
		looking = true;
	} while (now_ms() < end);
	return rc;
}

/* Its thread calls the MPI. */
static void forgotten_thread(const char *kind)
{
	create(MPI_COMM_WORLD, kind, "pawl_progress", "thread", "pawl_topology", "node:2 core:1",
	       "pawl_transport", "mpi", NULL);
	use();
	main_thread = pthread_self();
	long_looks = true;
	while (!looking)
		usleep(1000);
	MPI_Finalize();
	usleep(200000);
}

/* Its thread does not, and goes on until the end. */
static void forgotten_ucx(const char *kind)
{
	create(MPI_COMM_WORLD, kind, "pawl_topology", "node:2 core:1", "pawl_transport", "ucx",
	       NULL);
	use();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	usleep(200000);
}

/* ----------------------------------------------------------- another library */

/* Frees its table when MPI_Finalize deletes the attributes of MPI_COMM_SELF. */
static int library_ends(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	use();
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "", "free in MPI_Finalize");
	return MPI_SUCCESS;
}

static void library(const char *kind)
{
	int keyval;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, library_ends, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	create(MPI_COMM_WORLD, kind, NULL);
	MPI_Finalize();
}

/* --------------------------------------------------------------------- fork */

static void child(const char *kind)
{
	pawl_table *mine = table;

	expect_refusals("forked");
	expect_code(pawl_table_free(&table), PAWL_ERR_MPI, "forked", "free");
	expect(table == mine, "the free in the child changed the handle");
	expect_code(pawl_table_create(MPI_COMM_SELF, kind, 1, MPI_INFO_NULL, &mine), PAWL_ERR_MPI,
		    "forked", "create");
	_exit(mistakes ? 1 : 0);
}

/* The child of rank 0, which holds the lock, uses the table; then all ranks go on. */
static void forks(const char *kind)
{
	int status = 1;

	create(MPI_COMM_WORLD, kind, NULL);
	if (rank == 0) {
		pid_t pid;

		expect_code(pawl_lock_acquire(table, 3, PAWL_EXCLUSIVE), PAWL_SUCCESS, "",
			    "acquire");
		pid = fork();
		if (pid == 0)
			child(kind);
		waitpid(pid, &status, 0);
		expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d",
		       status);
		expect_code(pawl_lock_release(table, 3), PAWL_SUCCESS, "", "release");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	use();
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "", "free");
	MPI_Finalize();
}

/* --------------------------------------------------------------- MPI_Init */

static void before_init(const char *kind)
{
	expect_code(pawl_table_create(MPI_COMM_WORLD, kind, 1, MPI_INFO_NULL, &table), PAWL_ERR_MPI,
		    "MPI_Init", "create");
	MPI_Init(NULL, NULL);
	create(MPI_COMM_WORLD, kind, NULL);
	use();
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "", "free");
	MPI_Finalize();
}

#ifdef PAWL_HAVE_SESSIONS
static void in_session(const char *kind, bool frees)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "pawl", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	for (int i = 0; i < (frees ? 2 : 1); i++) {
		create(comm, kind, NULL);
		use();
		MPI_Barrier(comm);
		if (frees)
			expect_code(pawl_table_free(&table), PAWL_SUCCESS, "", "free");
	}
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
}

static void session(const char *kind)
{
	in_session(kind, true);
}

static void forgotten_session(const char *kind)
{
	in_session(kind, false);
}
#endif

/* ------------------------------------------------------------------- held */

/* Rank 1 holds two locks: the message on each rank names them. */
static void held(const char *kind)
{
	create(MPI_COMM_WORLD, kind, NULL);
	if (rank == 1) {
		expect_code(pawl_lock_acquire(table, 3, PAWL_EXCLUSIVE), PAWL_SUCCESS, "", "first");
		expect_code(pawl_lock_acquire(table, 5, PAWL_SHARED), PAWL_SUCCESS, "", "second");
	}
	expect_code(pawl_table_free(&table), PAWL_ERR_HELD, "lock 3 exclusively, lock 5 shared",
		    "free");
	expect(strncmp(pawl_error_message(), "rank 1 ", 7) == 0,
	       "the message names another rank: %s", pawl_error_message());
	if (rank == 1) {
		expect_code(pawl_lock_release(table, 3), PAWL_SUCCESS, "", "release");
		expect_code(pawl_lock_release(table, 5), PAWL_SUCCESS, "", "release");
	}
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "", "free");
	MPI_Finalize();
}

/* ------------------------------------------------------------------- main */

static const struct way {
	const char *name;
	void (*go)(const char *kind);
	bool begins; /* MPI without a session */
} ways[] = {
    {"after-finalize", after_finalize, false},
    {"in-destructor", in_destructor, false},
    {"forgotten", forgotten, false},
    {"forgotten-thread", forgotten_thread, false},
    {"forgotten-ucx", forgotten_ucx, false},
    {"library", library, false},
    {"fork", forks, false},
    {"before-init", before_init, true},
    {"held", held, false},
#ifdef PAWL_HAVE_SESSIONS
    {"session", session, true},
    {"forgotten-session", forgotten_session, true},
#endif
};

/* Status 77: this MPI does not have it. */
int main(int argc, char **argv)
{
	int level;

	if (argc != 3)
		return 2;
	alarm(LIMIT_S);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		if (strcmp(ways[i].name, argv[1]) != 0)
			continue;
		if (!ways[i].begins)
			MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
		ways[i].go(argv[2]);
		return mistakes ? 1 : 0;
	}
	return 77;
}
