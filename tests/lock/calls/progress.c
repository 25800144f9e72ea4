/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Option progress=thread: the home of a lock sleeps outside the MPI, and the others still
 * acquire and release the lock; the test prints how long they take. A thread that has
 * nothing to do takes almost no time. Without MPI_THREAD_MULTIPLE the option is refused.
 *
 * Without --threads 1 and on one host, where no thread is needed, this is not tested; waiters with
 * progress=eager are. In any case: whether a rank sleeps while it waits for a lock of its own, with
 * progress=lazy, eager and far.
 */
#include <string.h>

#include "tests/lock/tables.h"

/* Other users of the machine can spoil an attempt, not several in a row. */
enum { ATTEMPTS = 3, MOST_TIMES = 100000 };
#define SLEEP_S 3.0
#define IDLE_S 1.0
/* Ranks and hosts share few cores in tests, so the bound is only that it is less than the sleep. */
#define MOST_P99_S 0.5
#define MOST_IDLE 0.01

/* Kinds that serve in turn; the times of other kinds depend mostly on their thresholds. */
static const char *const kinds[] = {"d-mcs", "shiftlock", "alock"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double times[MOST_TIMES];

static void acquire_and_release(pawl_table *table)
{
	expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
}

/* Acquires and releases of the other ranks while rank 0 slept: the number of the rank with the
 * fewest, and the worst rank's p99 and slowest. */
struct figures {
	double times, p99, slowest;
};

static struct figures home_sleeps(pawl_table *table, double seconds)
{
	struct figures mine = {.times = 1e9}, all;
	double start, before;
	int n = 0;

	acquire_and_release(table);
	meet();
	start = seconds_now();
	if (tap_rank == 0)
		sleep_for(seconds);
	while (tap_rank != 0 && n < MOST_TIMES && seconds_now() - start < seconds - 0.1) {
		before = seconds_now();
		acquire_and_release(table);
		times[n++] = seconds_now() - before;
	}
	if (n > 0) {
		sort_values(times, n);
		mine.times = n;
		mine.p99 = times[(n * 99 - 1) / 100];
		mine.slowest = times[n - 1];
	}
	meet();
	MPI_Allreduce(&mine.times, &all.times, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&mine.p99, &all.p99, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(&mine.slowest, &all.slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void print_figures(const char *kind, const char *progress, const struct figures *f)
{
	note("%s, progress=%s, the home sleeps %.0f s: %.0f times or more a rank,"
	     " acquire + release p99 %.3f ms, slowest %.3f ms",
	     kind, progress, SLEEP_S, f->times, f->p99 * 1e3, f->slowest * 1e3);
}

static void with_thread(const char *kind)
{
	struct figures f = {.p99 = 1e9};
	pawl_table *table;

	now_doing("%s, progress=thread", kind);
	table = table_open(kind, 1, "progress", "thread");
	for (int i = 0; table && i < ATTEMPTS && f.p99 > MOST_P99_S; i++) {
		now_doing("%s, progress=thread, attempt %d", kind, i + 1);
		f = home_sleeps(table, SLEEP_S);
		print_figures(kind, "thread", &f);
	}
	expect_time(f.p99 <= MOST_P99_S, "p99 is %.1f ms in each of %d attempts", f.p99 * 1e3,
		    ATTEMPTS);
	table_close(table);
	result("%s: with progress=thread a home that sleeps delays no client (p99 below %.0f ms)",
	       kind, MOST_P99_S * 1e3);
}

/* Without the thread; only printed, because it depends on the MPI and the network. */
static void without_thread(void)
{
	pawl_table *table;
	struct figures f;

	now_doing("d-mcs, progress=lazy");
	table = table_open("d-mcs", 1, NULL, NULL);
	if (table) {
		f = home_sleeps(table, SLEEP_S);
		print_figures("d-mcs", "lazy", &f);
	}
	table_close(table);
	result("d-mcs: without a thread the lock works when its home is awake again");
}

static void idle(void)
{
	double cpu, mine, most = 1;
	pawl_table *table;

	now_doing("an idle thread");
	table = table_open("d-mcs", 1, "progress", "thread");
	for (int i = 0; table && i < ATTEMPTS && most >= MOST_IDLE; i++) {
		meet();
		sleep_for(0.1); /* until the traffic of the barrier is over */
		cpu = cpu_seconds();
		sleep_for(IDLE_S);
		mine = (cpu_seconds() - cpu) / IDLE_S;
		sleep_for(0.1); /* so that others do not measure our next barrier */
		MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		note("an idle thread takes %.2f %% of a core", most * 100);
	}
	expect_time(most < MOST_IDLE, "%.2f %% of a core in each of %d attempts", most * 100,
		    ATTEMPTS);
	table_close(table);
	result("a thread that has nothing to do takes less than 1 %% of a core");
}

static void refusal(void)
{
	pawl_table *table = NULL;
	MPI_Info info;
	int rc;

	now_doing("a thread level too low");
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_progress", "thread");
	rc = pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, info, &table);
	MPI_Info_free(&info);
	expect_code(rc, PAWL_ERR_THREAD, "progress=thread");
	expect(!table, "there is a table");
	expect(strstr(pawl_error_message(), "option progress") &&
		   strstr(pawl_error_message(), "MPI_THREAD_MULTIPLE"),
	       "the message is \"%s\"", pawl_error_message());
	table_close(table);
	result("progress=thread without MPI_THREAD_MULTIPLE is refused, and the message says why");
}

/* A waiter for a lock of its own rank drives the MPI as often as it looks at the word, and the
 * others seldom; in shared memory no thread is needed. */
static void in_shared_memory(void)
{
	pawl_table *table = table_open("d-mcs", 1, "progress", "eager");
	int first = tap_size - 1;

	now_doing("progress=eager");
	if (table && tap_rank == first)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == first)
		linger(0.05);
	else if (table)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	if (table)
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	table_close(table);
	result("progress=eager: waiters get the lock");
	if (tap_thread_level < MPI_THREAD_MULTIPLE)
		return;
	table = table_open("d-mcs", 1, "progress", "thread");
	if (table)
		acquire_and_release(table);
	table_close(table);
	result("progress=thread in shared memory");
}

/* Shorter than waiters poll before they nap. */
#define WAIT_S 0.005

/* How often the home slept while another rank held the lock. */
static int sleeps_of_home(pawl_table *table)
{
	struct pawl_stats before = {0}, after = {0};
	int first = tap_size - 1;

	if (tap_rank == first)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		pawl_table_get_stats(table, &before);
		expect_code(pawl_lock_timed_acquire(table, 0, PAWL_EXCLUSIVE, WAIT_S),
			    PAWL_ERR_TIMEOUT, "timed acquire");
		pawl_table_get_stats(table, &after);
	}
	meet();
	if (tap_rank == first)
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	return (int)(after.parks - before.parks);
}

/* On a busy machine the deadline may pass before the home would sleep. */
static void home_waits(const char *progress, bool sleeps)
{
	pawl_table *table = table_open("d-mcs", 1, "progress", progress);
	int n = 0;

	now_doing("a home that waits, progress=%s", progress);
	for (int i = 0; table && i < ATTEMPTS; i++)
		n += sleeps_of_home(table);
	if (tap_rank == 0)
		expect((n > 0) == sleeps, "the home slept %d times", n);
	table_close(table);
	result("progress=%s: a home that waits for its lock %s", progress,
	       sleeps ? "sleeps" : "does not sleep at first");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size > 1) {
		home_waits("eager", false);
		home_waits("far", tap_one_host);
		if (tap_one_host)
			home_waits("lazy", true);
	}
	if (tap_one_host)
		in_shared_memory();
	if (tap_thread_level < MPI_THREAD_MULTIPLE) {
		refusal();
		return tap_end();
	}
	if (tap_one_host)
		return tap_end();
	if (tap_size < 2) {
		skip("needs 2 ranks", "progress");
		return tap_end();
	}
	for (int i = 0; i < KINDS; i++)
		if (tap_wants(pawl_kind_find(kinds[i])))
			with_thread(kinds[i]);
	without_thread();
	idle();
	return tap_end();
}
