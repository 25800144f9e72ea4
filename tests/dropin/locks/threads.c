/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank under MPI_THREAD_MULTIPLE. Locks belong to the process: threads
 * lock different targets, or different windows, at the same time, and one thread may
 * unlock what another one has locked.
 */
#include <pthread.h>
#include <semaphore.h>

#include "tests/dropin/area.h"

enum { THREADS = 3 };

struct worker {
	pthread_t thread;
	struct area *area;
	int number;
	uint64_t seed;
	int64_t done;
};

static struct area windows[THREADS];

static void start(struct worker *w, void *(*work)(void *))
{
	for (int i = 0; i < THREADS; i++) {
		w[i].number = i;
		w[i].seed = (uint64_t)(tap_rank * THREADS + i + 1);
		w[i].done = 0;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0) {
			fail("no thread %d", i);
			w[i].number = -1;
		}
	}
}

static int64_t join(struct worker *w)
{
	int64_t done = 0;

	for (int i = 0; i < THREADS; i++) {
		if (w[i].number >= 0)
			pthread_join(w[i].thread, NULL);
		done += w[i].done;
	}
	return done;
}

/* linger() drives the MPI in the thread that calls it. */
static void add(struct area *a, int target)
{
	area_lock(a, MPI_LOCK_EXCLUSIVE, target);
	area_add_plainly(a, target, 0, 1);
	MPI_Win_unlock(target, a->win);
}

/* Targets t, t + THREADS, t + 2 THREADS, ... are thread t's. */
static void *own_targets(void *arg)
{
	struct worker *w = arg;
	int all = (w->area->size - w->number + THREADS - 1) / THREADS;

	if (all <= 0)
		return NULL;
	for (struct turns t = turns(3); turn(&t); w->done++)
		add(w->area, w->number + THREADS * (int)random_below(&w->seed, (uint32_t)all));
	return NULL;
}

static void different_targets(enum area_flavour f)
{
	struct worker w[THREADS];
	struct area a;
	int64_t done;

	area_open(&a, f, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	now_doing("%s: threads lock different targets", area_flavour_name[f]);
	for (int i = 0; i < THREADS; i++)
		w[i].area = &a;
	start(w, own_targets);
	done = join(w);
	area_expect(&a, done, area_sum(&a, 0), "threads");
	area_close(&a);
	result("%s: threads lock different targets", area_flavour_name[f]);
}

static void *own_window(void *arg)
{
	struct worker *w = arg;

	for (struct turns t = turns(3); turn(&t); w->done++)
		add(w->area, (int)random_below(&w->seed, (uint32_t)w->area->size));
	return NULL;
}

static void different_windows(void)
{
	struct worker w[THREADS];

	for (int i = 0; i < THREADS; i++) {
		area_open(&windows[i], AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
		w[i].area = &windows[i];
	}
	now_doing("threads lock different windows");
	start(w, own_window);
	join(w);
	for (int i = 0; i < THREADS; i++) {
		area_expect(&windows[i], w[i].done, area_sum(&windows[i], 0), "threads");
		area_close(&windows[i]);
	}
	result("threads lock different windows");
}

/* Each window has a communicator of its own; the layer has the locks of all in one pool. */
static void *free_own_window(void *arg)
{
	struct worker *w = arg;

	add(w->area, w->number % w->area->size);
	area_close(w->area);
	return NULL;
}

static void freed_at_once(void)
{
	MPI_Comm comms[THREADS];
	struct worker w[THREADS];

	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
		area_open(&windows[i], AREA_ALLOCATE, comms[i], 1, MPI_INFO_NULL);
		w[i].area = &windows[i];
	}
	now_doing("threads free their windows");
	start(w, free_own_window);
	join(w);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	result("threads free their windows");
}

/* One thread locks, and another one changes the words and unlocks. */
static struct area shared_area;
static sem_t locked, unlocked;
static int rounds;

static void *unlocker(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++) {
		while (sem_wait(&locked) != 0)
			;
		area_add_plainly(&shared_area, i % shared_area.size, 0, 1);
		MPI_Win_unlock(i % shared_area.size, shared_area.win);
		sem_post(&unlocked);
	}
	return NULL;
}

static void locked_here_unlocked_there(void)
{
	pthread_t other;

	rounds = tap_long ? 200 : 20;
	area_open(&shared_area, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	now_doing("one thread locks, the other unlocks");
	sem_init(&locked, 0, 0);
	sem_init(&unlocked, 0, 0);
	if (!expect(pthread_create(&other, NULL, unlocker, NULL) == 0, "no thread"))
		rounds = 0;
	for (int i = 0; i < rounds; i++) {
		area_lock(&shared_area, MPI_LOCK_EXCLUSIVE, i % shared_area.size);
		sem_post(&locked);
		while (sem_wait(&unlocked) != 0)
			;
	}
	if (rounds)
		pthread_join(other, NULL);
	area_expect(&shared_area, rounds, area_sum(&shared_area, 0), "handed over");
	area_close(&shared_area);
	result("one thread locks and another unlocks");
}

/* The same with MPI_Win_lock_all. */
static void *unlock_all(void *arg)
{
	(void)arg;
	area_add_atomically(&shared_area, 0, 0, 1);
	MPI_Win_unlock_all(shared_area.win);
	return NULL;
}

static void all_locked_here(void)
{
	pthread_t other;
	int64_t done = 0;

	area_open(&shared_area, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	now_doing("one thread locks all, the other unlocks");
	for (; done < 5; done++) {
		area_lock_all(&shared_area);
		if (!expect(pthread_create(&other, NULL, unlock_all, NULL) == 0, "no thread")) {
			unlock_all(NULL);
			continue;
		}
		pthread_join(other, NULL);
	}
	area_expect(&shared_area, done, area_sum(&shared_area, 0), "handed over");
	area_close(&shared_area);
	result("one thread locks all and another unlocks");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_MULTIPLE);
	if (tap_thread_level < MPI_THREAD_MULTIPLE) {
		skip("the MPI does not grant MPI_THREAD_MULTIPLE", "threads");
		return tap_end();
	}
	different_targets(AREA_ALLOCATE);
	different_targets(AREA_CREATE);
	different_windows();
	freed_at_once();
	locked_here_unlocked_there();
	all_locked_here();
	return tap_end();
}
