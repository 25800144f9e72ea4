/* SPDX-License-Identifier: BSD-3-Clause */
/* See area.h. */
#include "area.h"

#include <stdlib.h>
#include <string.h>

/* The time that a critical section takes. */
#define MIDDLE_S 20e-6

const char *const area_flavour_name[AREA_FLAVOURS] = {
    [AREA_CREATE] = "MPI_Win_create",
    [AREA_ALLOCATE] = "MPI_Win_allocate",
    [AREA_SHARED] = "MPI_Win_allocate_shared",
    [AREA_DYNAMIC] = "MPI_Win_create_dynamic",
};

bool area_broken(void)
{
	const char *text = getenv("TEST_BREAK");

	return text && strcmp(text, "1") == 0;
}

bool area_possible(enum area_flavour f)
{
	return f != AREA_SHARED || tap_one_host;
}

/* ---------------------------------------------------------------- windows */

/* MPICH 4.0 shifts operations on windows of MPI_Win_allocate whose size is not a
 * multiple of 16 bytes: the owner and its peers disagree about the start. */
MPI_Aint area_bytes(int words)
{
	return (words + 1) / 2 * 2 * (MPI_Aint)sizeof(int64_t);
}

static void make_window(struct area *a, MPI_Info info)
{
	MPI_Aint bytes = area_bytes(a->words);
	void *base = NULL;

	switch (a->flavour) {
	case AREA_CREATE:
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
		MPI_Win_create(base, bytes, sizeof(int64_t), info, a->comm, &a->win);
		break;
	case AREA_ALLOCATE:
		MPI_Win_allocate(bytes, sizeof(int64_t), info, a->comm, &base, &a->win);
		break;
	case AREA_SHARED:
		MPI_Win_allocate_shared(bytes, sizeof(int64_t), info, a->comm, &base, &a->win);
		break;
	case AREA_DYNAMIC:
	default:
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
		MPI_Win_create_dynamic(info, a->comm, &a->win);
		MPI_Win_attach(a->win, base, bytes);
		break;
	}
	a->mine = base;
}

MPI_Info area_info(MPI_Info info)
{
	const char *text = getenv("TEST_INFO"), *equals = text ? strchr(text, '=') : NULL;
	char key[MPI_MAX_INFO_KEY] = "";
	MPI_Info copy;

	if (info == MPI_INFO_NULL)
		MPI_Info_create(&copy);
	else
		MPI_Info_dup(info, &copy);
	if (equals && (size_t)(equals - text) < sizeof key) {
		memcpy(key, text, (size_t)(equals - text));
		MPI_Info_set(copy, key, equals + 1);
	}
	return copy;
}

void area_open(struct area *a, enum area_flavour f, MPI_Comm comm, int words, MPI_Info info)
{
	MPI_Aint at = 0;

	memset(a, 0, sizeof *a);
	a->flavour = f;
	a->comm = comm;
	a->words = words;
	MPI_Comm_rank(comm, &a->rank);
	MPI_Comm_size(comm, &a->size);
	info = area_info(info);
	make_window(a, info);
	MPI_Info_free(&info);
	if (f == AREA_DYNAMIC)
		MPI_Get_address((void *)a->mine, &at);
	a->at = calloc((size_t)a->size, sizeof *a->at);
	MPI_Allgather(&at, 1, MPI_AINT, a->at, 1, MPI_AINT, comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a->rank, 0, a->win);
	for (int i = 0; i < words; i++)
		a->mine[i] = 0;
	MPI_Win_unlock(a->rank, a->win);
	MPI_Barrier(comm);
}

void area_close(struct area *a)
{
	MPI_Barrier(a->comm);
	if (a->flavour == AREA_DYNAMIC)
		MPI_Win_detach(a->win, (void *)a->mine);
	MPI_Win_free(&a->win);
	if (a->flavour == AREA_CREATE || a->flavour == AREA_DYNAMIC)
		MPI_Free_mem((void *)a->mine);
	free(a->at);
}

/* ------------------------------------------------------- locks and access */

void area_lock(struct area *a, int type, int target)
{
	MPI_Win_lock(type, target, area_broken() ? MPI_MODE_NOCHECK : 0, a->win);
}

void area_lock_all(struct area *a)
{
	MPI_Win_lock_all(area_broken() ? MPI_MODE_NOCHECK : 0, a->win);
}

static MPI_Aint place(const struct area *a, int target, int index)
{
	MPI_Aint unit = a->flavour == AREA_DYNAMIC ? (MPI_Aint)sizeof(int64_t) : 1;

	return a->at[target] + index * unit;
}

void area_get(struct area *a, int target, int index, int n, int64_t *to)
{
	MPI_Get(to, n, MPI_INT64_T, target, place(a, target, index), n, MPI_INT64_T, a->win);
	MPI_Win_flush(target, a->win);
}

void area_put(struct area *a, int target, int index, int n, const int64_t *from)
{
	MPI_Put(from, n, MPI_INT64_T, target, place(a, target, index), n, MPI_INT64_T, a->win);
	MPI_Win_flush(target, a->win);
}

void area_add_plainly(struct area *a, int target, int index, int64_t value)
{
	int64_t word;

	area_get(a, target, index, 1, &word);
	linger(MIDDLE_S);
	word += value;
	area_put(a, target, index, 1, &word);
}

void area_add_mine(struct area *a, int index, int64_t value)
{
	int64_t word = a->mine[index];

	linger(MIDDLE_S);
	a->mine[index] = word + value;
}

void area_add_atomically(struct area *a, int target, int index, int64_t value)
{
	MPI_Accumulate(&value, 1, MPI_INT64_T, target, place(a, target, index), 1, MPI_INT64_T,
		       MPI_SUM, a->win);
	/* Orders the read of value before the return. */
	MPI_Win_flush_local(target, a->win);
}

/* ----------------------------------------------------------------- checks */

/* A barrier that yields the core, like meet(), over any communicator. */
static void meet_in(MPI_Comm comm)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(comm, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
		sleep_for(50e-6);
}

int64_t area_sum(struct area *a, int index)
{
	int64_t sum;

	meet_in(a->comm);
	area_lock(a, MPI_LOCK_SHARED, a->rank);
	sum = a->mine[index];
	MPI_Win_unlock(a->rank, a->win);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, a->comm);
	return sum;
}

int64_t area_word(struct area *a, int target, int index)
{
	int64_t word;

	meet_in(a->comm);
	area_lock(a, MPI_LOCK_SHARED, target);
	area_get(a, target, index, 1, &word);
	MPI_Win_unlock(target, a->win);
	meet_in(a->comm);
	return word;
}

void area_expect(struct area *a, int64_t done_here, int64_t found, const char *what)
{
	int64_t done;

	MPI_Allreduce(&done_here, &done, 1, MPI_INT64_T, MPI_SUM, a->comm);
	expect(found == done, "violation, %s: %lld done, %lld found", what, (long long)done,
	       (long long)found);
}

struct turns turns(int least)
{
	return (struct turns){seconds_now() + tap_budget, least, 0};
}

bool turn(struct turns *t)
{
	return t->done++ < t->least || seconds_now() < t->end;
}

void area_compute(double seconds)
{
	volatile double x = 1;

	for (double end = seconds_now() + seconds; seconds_now() < end;)
		for (int i = 0; i < 1000; i++)
			x = x * 1.000001 + 1e-9;
}
