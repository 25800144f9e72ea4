/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport ucx on a rank that lacks a resource: file descriptors, or a system call of UCX that
 * fails. To be run on 4 ranks of one host, each a node (topology "node:4 core:1").
 *
 * At creation all ranks get the same code and a sentence. At the first use of a rank the call
 * returns PAWL_ERR_CONNECT and has changed nothing; nobody is taken for dead. What is connected
 * goes on. When the resource is back, the same call succeeds.
 *
 * The system calls are functions of this program, which UCX calls in place of those of libc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lock/tables.h"
#include "words.h"

enum { LIMIT = 256, VICTIM = 1, HOLDER = 2, MOST = 200 };
#define LONG_HOLD_S 2.5

/* ------------------------------------------------------------------ system calls */

enum { NONE, SOCKET, CONNECT, ACCEPT, EPOLL, EVENTFD, CALLS };
static const char *const call_name[CALLS] = {"",       "socket",       "connect",
					     "accept", "epoll_create", "eventfd"};
static _Atomic(int) failing, left; /* the call that fails once, after so many others */
static _Atomic(bool) deaf;         /* what comes over connections begun now is held back, */
static _Atomic(int) heard;         /* after so many receptions */
static _Atomic(bool) is_deaf[LIMIT];

static bool fails(int call)
{
	if (atomic_load(&failing) != call || atomic_fetch_sub(&left, 1) != 0)
		return false;
	errno = call == CONNECT ? ENETUNREACH : EMFILE;
	return true;
}

/* Each is looked up under its own type. */
#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

int socket(int domain, int type, int protocol)
{
	return fails(SOCKET) ? -1 : REAL("socket", int (*)(int, int, int))(domain, type, protocol);
}

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
	if (fd >= 0 && fd < LIMIT)
		atomic_store(&is_deaf[fd], atomic_load(&deaf));
	return fails(CONNECT) ? -1
			      : REAL("connect", int (*)(int, const struct sockaddr *, socklen_t))(
				    fd, to, length);
}

int accept(int fd, struct sockaddr *from, socklen_t *length)
{
	return fails(ACCEPT)
		   ? -1
		   : REAL("accept", int (*)(int, struct sockaddr *, socklen_t *))(fd, from, length);
}

ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
	if (fd >= 0 && fd < LIMIT && atomic_load(&is_deaf[fd]) &&
	    atomic_fetch_sub(&heard, 1) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return REAL("recv", ssize_t(*)(int, void *, size_t, int))(fd, to, bytes, flags);
}

int epoll_create(int size)
{
	return fails(EPOLL) ? -1 : REAL("epoll_create", int (*)(int))(size);
}

int eventfd(unsigned value, int flags)
{
	return fails(EVENTFD) ? -1 : REAL("eventfd", int (*)(unsigned, int))(value, flags);
}

/* Let the call after n others fail on the victim. */
static void arm(int call, int n)
{
	if (tap_rank != VICTIM)
		return;
	atomic_store(&left, n);
	atomic_store(&failing, call);
}

/* Whether it has failed. Collective. */
static bool disarm(void)
{
	int failed = tap_rank == VICTIM && atomic_load(&left) < 0;

	atomic_store(&failing, NONE);
	MPI_Bcast(&failed, 1, MPI_INT, VICTIM, MPI_COMM_WORLD);
	return failed;
}

/* ------------------------------------------------------------------- descriptors */

static int taken[LIMIT], n_taken;

/* Take all descriptors of the victim but so many. */
static void eat(int but)
{
	int fd;

	if (tap_rank != VICTIM)
		return;
	while (n_taken < LIMIT && (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		taken[n_taken++] = fd;
	while (but-- > 0 && n_taken > 0)
		close(taken[--n_taken]);
}

static void give_back(void)
{
	while (n_taken > 0)
		close(taken[--n_taken]);
}

/* ----------------------------------------------------------------------- creation */

static int create(pawl_table **t)
{
	return pawl_table_create(MPI_COMM_WORLD, "d-mcs", (uint64_t)tap_size, MPI_INFO_NULL, t);
}

/* A sample of the sockets, of which UCX opens many only to ask for the addresses of interfaces. */
static int after(int call, int n)
{
	return n + (call == SOCKET && !tap_long ? 23 : 1);
}

/* The same code on all ranks: success, or one with a sentence that has one of these words. */
static void expect_end(int rc, const pawl_table *t, bool may_fail, const char *word)
{
	int code[2] = {rc, -rc};

	MPI_Allreduce(MPI_IN_PLACE, code, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	expect(code[0] == -code[1], "codes %d to %d", code[0], -code[1]);
	expect((rc == PAWL_SUCCESS) == (t != NULL), "%s and %s table", pawl_strerror(rc),
	       t ? "a" : "no");
	if (rc == PAWL_SUCCESS)
		return;
	expect(may_fail && (rc == PAWL_ERR_CONNECT || rc == PAWL_ERR_WINDOW), "%s: %s",
	       pawl_strerror(rc), pawl_error_message());
	expect_message(word);
}

static void use(pawl_table *t)
{
	for (int i = 0; t && i < tap_size; i++) {
		uint64_t lock = (uint64_t)((tap_rank + i) % tap_size);

		expect_code(pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "release");
	}
}

static void create_well(void)
{
	pawl_table *t = NULL;

	expect_code(create(&t), PAWL_SUCCESS, "create with all resources");
	use(t);
	table_close(t);
}

static void creations(void)
{
	for (int call = SOCKET; call < CALLS; call++) {
		int n = 0;

		for (bool more = true; more && n < MOST; n = more ? after(call, n) : n) {
			pawl_table *t = NULL;
			int rc;

			now_doing("create, %s %d", call_name[call], n);
			arm(call, n);
			rc = create(&t);
			more = disarm();
			expect_end(rc, t, more, "UCX");
			table_close(t);
		}
		create_well();
		expect(n > 0 && n < MOST, "%d calls of %s", n, call_name[call]);
		result("creation: each of %d calls of %s fails", n, call_name[call]);
	}
}

static void few_descriptors(void)
{
	for (int but = 0; but < 36; but += 5) {
		pawl_table *t = NULL;
		int rc;

		now_doing("create with %d descriptors", but);
		eat(but);
		rc = create(&t);
		give_back();
		expect_end(rc, t, true, "file descriptors");
		expect(but > 15 || rc != PAWL_SUCCESS, "a table with %d descriptors", but);
		table_close(t);
	}
	create_well();
	result("creation with few descriptors");
}

/* The answers of the rank that the victim calls do not arrive: they could not be sent, or are held
 * back, when the connection is given up. */
static void deafness(void)
{
	int last = tap_long ? 4 : 1;

	for (int n = tap_long ? 0 : 1; n <= last; n++) {
		pawl_table *t = NULL;
		int rc;

		now_doing("create, deaf after %d receptions", n);
		atomic_store(&heard, n);
		atomic_store(&deaf, tap_rank == VICTIM);
		rc = create(&t);
		expect_end(rc, t, true, "no answer within 5 s");
		atomic_store(&deaf, false);
		for (int fd = 0; fd < LIMIT; fd++)
			atomic_store(&is_deaf[fd], false);
		expect(n > 1 || !t, "a table after %d receptions", n);
		table_close(t);
	}
	create_well();
	result("creation: what a connection receives is held back");
}

static void wrong_device(void)
{
	pawl_table *t = NULL;
	struct rma r;
	int rc;

	setenv("UCX_NET_DEVICES", "nosuch0", 1);
	rc = create(&t);
	expect_end(rc, t, true, "UCX_NET_DEVICES");
	expect(!t, "a table without a device");
	if (expect(words_open(&r, RMA_BY_EITHER), "no words with transport auto")) {
		expect(strcmp(r.transport->name, "ucx") != 0, "words over a device that is not");
		words_close(&r);
	}
	unsetenv("UCX_NET_DEVICES");
	create_well();
	result("a device that does not exist: ucx says so, auto takes the MPI");
}

/* ---------------------------------------------------------------------- first use */

/* Acquire and release a lock at another rank; says whether the lock was acquired. */
static bool try_once(pawl_table *t, uint64_t lock)
{
	int rc = pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE);

	if (rc == PAWL_SUCCESS)
		expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "release");
	else
		expect(rc == PAWL_ERR_CONNECT && strstr(pawl_error_message(), "cannot be reached"),
		       "%s: %s", pawl_strerror(rc), pawl_error_message());
	return rc == PAWL_SUCCESS;
}

/* A living holder is awaited for longer than a death would allow. */
static void nobody_died(pawl_table *t)
{
	meet();
	if (tap_rank == HOLDER)
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "hold");
	meet();
	if (tap_rank == HOLDER)
		linger(LONG_HOLD_S);
	else
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "long wait");
	expect_code(pawl_lock_release(t, 0), PAWL_SUCCESS, "release");
	meet();
}

static void first_use_without_descriptors(void)
{
	pawl_table *t = NULL;
	int far = 0;

	now_doing("first use without descriptors");
	expect_code(create(&t), PAWL_SUCCESS, "create");
	eat(0);
	for (int i = 0; t && tap_rank == VICTIM && i < tap_size; i++)
		far += try_once(t, (uint64_t)i);
	expect(tap_rank != VICTIM || far == 1, "%d locks acquired", far);
	give_back();
	meet();
	use(t);
	meet(); /* UCX 1.13 closes the port of a rank that lacks a descriptor for a caller */
	eat(0);
	meet();
	if (tap_rank == VICTIM) /* the connections that exist */
		use(t);
	meet();
	give_back();
	if (t)
		nobody_died(t);
	table_close(t);
	result("first use without descriptors, and use of what is connected");
}

/* Longer than a client waits before it says so. */
static void *later(void *arg)
{
	sleep_for(2.5);
	give_back();
	return arg;
}

/* What the process writes to stderr goes to a file; and what it was. */
static FILE *said;
static int to_stderr;

static void record(void)
{
	said = tmpfile();
	to_stderr = dup(STDERR_FILENO);
	if (expect(said && to_stderr >= 0, "no file"))
		dup2(fileno(said), STDERR_FILENO);
}

static void expect_said(const char *const words[], int n)
{
	char text[1024] = "";

	dup2(to_stderr, STDERR_FILENO);
	close(to_stderr);
	if (!said)
		return;
	rewind(said);
	text[fread(text, 1, sizeof text - 1, said)] = 0;
	fclose(said);
	for (int i = 0; i < n; i++)
		expect(strstr(text, words[i]), "no \"%s\" in: %s", words[i], text);
}

/* A lock of adaptive is entered at the own node first: the call waits for its descriptors. */
static void wait_inside(void)
{
	static const char *const words[] = {"has waited 2 s for a connection to rank", " on host ",
					    "file descriptors", "prlimit --pid="};
	pawl_table *t = NULL;
	pthread_t thread;

	now_doing("waiting for descriptors");
	expect_code(
	    pawl_table_create(MPI_COMM_WORLD, "adaptive", (uint64_t)tap_size, MPI_INFO_NULL, &t),
	    PAWL_SUCCESS, "create");
	record();
	eat(0);
	if (tap_rank == VICTIM && pthread_create(&thread, NULL, later, NULL) == 0) {
		use(t);
		pthread_join(thread, NULL);
	}
	expect_said(words, tap_rank == VICTIM ? 4 : 0);
	meet();
	use(t);
	table_close(t);
	result("a call that has begun waits until there are descriptors");
}

static void first_use(int call)
{
	int n = 0;

	for (bool more = true; more && n < MOST; n = more ? after(call, n) : n) {
		pawl_table *t = NULL;

		now_doing("first use, %s %d", call_name[call], n);
		expect_code(create(&t), PAWL_SUCCESS, "create");
		meet();
		arm(call, n);
		for (int i = 0; t && tap_rank == VICTIM && i < tap_size; i++)
			if (!try_once(t, (uint64_t)i))
				expect(try_once(t, (uint64_t)i), "not the second time either");
		meet();
		more = disarm();
		use(t);
		if (t && n == 0)
			nobody_died(t);
		table_close(t);
	}
	expect(n > 0 && n < MOST, "%d calls of %s", n, call_name[call]);
	result("first use: each of %d calls of %s fails", n, call_name[call]);
}

int main(int argc, char **argv)
{
	const struct rlimit limit = {LIMIT, LIMIT};

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	setrlimit(RLIMIT_NOFILE, &limit);
	wrong_device();
	few_descriptors();
	creations();
	deafness();
	first_use_without_descriptors();
	wait_inside();
	first_use(SOCKET);
	first_use(CONNECT);
	return tap_end();
}
