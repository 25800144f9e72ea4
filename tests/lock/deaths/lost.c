/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device fails. To be run on two ranks that are two nodes, over a verbs device; the MPI has
 * another network. Each rank has used the locks of both; then rank 1 does what the variable
 * TEST_CUT says, and each rank acquires the lock at the other one. It gets PAWL_ERR_PEER in time,
 * with a message that names the device, the rank, its host and a cause, and says of nobody that it
 * has died. TEST_CUT is one of these:
 *   - error: the queue pairs of rank 1 are in their error state
 *   - a command: rank 1 runs it, and goes on
 *   - die COMMAND: its host dies of this command; rank 0 writes its message into the file
 *     TEST_VERDICT, since its launcher may not get to the end
 */
#include "tests/lock/tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_S 60.0
enum { PAIRS = 64 };

/* ------------------------------------------------------------------ queue pairs */

/* As libibverbs has them, whose header need not be there: the states, bits of masks, the
 * attributes, of which the state is the first, and the beginning of a queue pair. Only attributes
 * of a reliable connection have a timeout. */
enum { TO_SEND = 3, ERROR = 6, HAS_STATE = 1, HAS_TIMEOUT = 1 << 9 };
union attributes {
	int state;
	char room[1024];
};
struct queue_pair {
	void *of[6];
	uint32_t handle, number;
	int state;
};

static struct queue_pair *pair[PAIRS];
static int pairs;

typedef int modify_fn(struct queue_pair *qp, union attributes *to, int mask);
int ibv_modify_qp(struct queue_pair *qp, union attributes *to, int mask);

static int modify(struct queue_pair *qp, union attributes *to, int mask)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY);
	void *found = library ? dlsym(library, "ibv_modify_qp") : NULL;
	modify_fn *real;

	if (!found)
		return -1;
	memcpy(&real, &found, sizeof real);
	return real(qp, to, mask);
}

/* UCX finds this one, and not libibverbs'. */
int ibv_modify_qp(struct queue_pair *qp, union attributes *to, int mask)
{
	if (mask & HAS_STATE && mask & HAS_TIMEOUT && to->state == TO_SEND && pairs < PAIRS)
		pair[pairs++] = qp;
	return modify(qp, to, mask);
}

/* As a device does after an error: it does not tell the process. */
static bool bring_to_error(void)
{
	union attributes to = {.state = ERROR};
	bool ok = pairs > 0;

	for (int i = 0; i < pairs; i++) {
		ok = modify(pair[i], &to, HAS_STATE) == 0 && ok;
		pair[i]->state = TO_SEND;
	}
	return ok;
}

/* --------------------------------------------------------------------- the locks */

static void take(pawl_table *table, uint64_t lock)
{
	expect_code(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

/* Acquire the lock at the other rank, which does not work any more. */
static void expect_lost(pawl_table *table)
{
	double began = seconds_now(), took;
	char other[20];
	int rc;

	do { /* a release that does not wait may hide the first failure */
		rc = pawl_lock_acquire(table, (uint64_t)!tap_rank, PAWL_EXCLUSIVE);
		if (rc == PAWL_SUCCESS)
			rc = pawl_lock_release(table, (uint64_t)!tap_rank);
	} while (rc == PAWL_SUCCESS && seconds_now() < began + LONGEST_S);
	took = seconds_now() - began;
	printf("# rank %d: code %d after %.1f s: %s\n", tap_rank, rc, took, pawl_error_message());
	fflush(stdout);
	snprintf(other, sizeof other, "to rank %d on host ", !tap_rank);
	expect_code(rc, PAWL_ERR_PEER, "acquire");
	expect_message("device rc_verbs/");
	expect_message("has lost the connection");
	expect_message(other);
	expect(!strstr(pawl_error_message(), "died"), "it says that somebody died");
	expect(took < LONGEST_S, "after %.0f s", took);
}

/* Rank 1's host dies. */
static void die_alone(pawl_table *table, const char *command)
{
	const char *path = getenv("TEST_VERDICT");
	FILE *out;

	if (tap_rank == 1 && system(command) == 0)
		sleep_for(LONGEST_S);
	expect_lost(table);
	out = path ? fopen(path, "w") : NULL;
	if (out) {
		fprintf(out, "%s\n", pawl_error_message());
		fclose(out);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *cut = getenv("TEST_CUT");
	pawl_table *table;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	expect(tap_size == 2 && cut, "runs on 2 ranks, with TEST_CUT");
	table = tap_size == 2 && cut ? table_open("d-mcs", 2, NULL, NULL) : NULL;
	if (!table) {
		result("a table");
		return tap_end();
	}
	for (uint64_t l = 0; l < 2; l++) {
		take(table, l);
		meet();
	}
	result("a table, and both ranks have used both locks");
	now_doing("%s", cut);
	if (strncmp(cut, "die ", 4) == 0)
		die_alone(table, cut + 4);
	expect(tap_rank != 1 || (strcmp(cut, "error") == 0 ? bring_to_error() : system(cut) == 0),
	       "it failed");
	meet();
	expect_lost(table);
	meet();
	result("%s: the error names the device, the rank, its host and a cause", cut);
	return tap_end(); /* the table cannot be freed */
}
