/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of gfortran's coarray library that this layer stands for, and those of the
 * runtime behind it.
 *
 * In the shared library they have their names, so it is preloaded, or linked before the runtime's
 * shared library. A static libcaf_mpi.a has all of them in one object, and the linker would find
 * them twice. So in libpawl-caf.a their names are those of the linker's option --wrap.
 */
#include "caf/caf.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default")))

/* The calls that this layer defines: X(name, parameters, arguments). */
#define CAF_CALLS(X)                                                                              \
	X(init, (int *argc, char ***argv), (argc, argv))                                          \
	X(register,                                                                               \
	  (size_t size, int type, void **token, void *desc, int *stat, char *errmsg, size_t len), \
	  (size, type, token, desc, stat, errmsg, len))                                           \
	X(deregister, (void **token, int type, int *stat, char *errmsg, size_t len),              \
	  (token, type, stat, errmsg, len))                                                       \
	X(change_team, (void **team, int unused), (team, unused))                                 \
	X(end_team, (void **team), (team))                                                        \
	X(lock,                                                                                   \
	  (void *token, size_t index, int image, int *acquired, int *stat, char *errmsg,          \
	   size_t len),                                                                           \
	  (token, index, image, acquired, stat, errmsg, len))                                     \
	X(unlock, (void *token, size_t index, int image, int *stat, char *errmsg, size_t len),    \
	  (token, index, image, stat, errmsg, len))

/* The runtime's calls that it needs. */
#define CAF_USES(X)                                                 \
	X(get_communicator, MPI_Fint, (void *team))                 \
	X(sync_memory, void, (int *stat, char *errmsg, size_t len)) \
	X(error_stop, void, (int code, bool quiet))

static struct {
#define MEMBER(name, parameters, arguments) void(*call_##name) parameters;
	CAF_CALLS(MEMBER)
#undef MEMBER
#define MEMBER(name, result, parameters) result(*call_##name) parameters;
	CAF_USES(MEMBER)
#undef MEMBER
} next;
static bool ready; /* next is filled in */
static bool seen;  /* the program has called a function of this layer */

#ifdef PIC
#define ENTRY(name) _gfortran_caf_##name
#define FIND(name, x, y) next_find("_gfortran_caf_" #name, NULL, &next.call_##name);
#else
#define ENTRY(name) __wrap__gfortran_caf_##name
#define DECLARE(name, parameters, arguments) void __real__gfortran_caf_##name parameters;
CAF_CALLS(DECLARE)
#undef DECLARE
#define DECLARE(name, result, parameters) result _gfortran_caf_##name parameters;
CAF_USES(DECLARE)
#undef DECLARE
#endif
#define DECLARE(name, parameters, arguments) PUBLIC void ENTRY(name) parameters;
CAF_CALLS(DECLARE)
#undef DECLARE

/* Programs register their static coarrays in constructors. */
static void find_all(void)
{
	seen = true;
	if (ready)
		return;
#ifdef PIC
	CAF_CALLS(FIND)
	CAF_USES(FIND)
	presence_before_init();
#else
#define SET(name, x, y) next.call_##name = __real__gfortran_caf_##name;
	CAF_CALLS(SET)
#undef SET
#define SET(name, x, y) next.call_##name = _gfortran_caf_##name;
	CAF_USES(SET)
#undef SET
#endif
	ready = true;
}

#ifdef PIC
__attribute__((destructor)) static void at_exit(void)
{
	if (!seen)
		next_say_unused("gfortran's coarrays");
}
#endif

bool calls_comm(MPI_Comm *comm)
{
	if (!next.call_get_communicator)
		return false;
	*comm = PMPI_Comm_f2c(next.call_get_communicator(NULL));
	return true;
}

void calls_sync_memory(void)
{
	next.call_sync_memory(NULL, NULL, 0);
}

void calls_error_stop(const char *text)
{
	const struct timespec pause = {0, 100000000};
	MPI_Comm comm;
	int rank = -1;

	if (calls_comm(&comm))
		PMPI_Comm_rank(comm, &rank);
	/* One write, and time to forward it, because the launcher of MPICH ends with the abort. */
	fprintf(stderr, "pawl: image %d: %s\n", rank + 1, text);
	nanosleep(&pause, NULL);
	next.call_error_stop(EXIT_FAILURE, false);
	abort();
}

/* ------------------------------------------------------------- entry points */

void ENTRY(init)(int *argc, char ***argv)
{
	find_all();
	next.call_init(argc, argv);
}

/* MPICH 4.0 and 4.1 address the memory of other processes of a host wrongly in windows whose size
 * is not a multiple of 16 bytes. OpenCoarrays makes a window of the size of a coarray; the size of
 * one of locks is their number. */
static size_t padded(size_t size, bool locks)
{
#ifdef MPICH_VERSION
	return locks ? size : (size + 15) / 16 * 16;
#else
	(void)locks;
	return size;
#endif
}

void ENTRY(register)(size_t size, int type, void **token, void *desc, int *stat, char *errmsg,
		     size_t len)
{
	const bool critical = type == CAF_CRITICAL;
	const bool locks = critical || type == CAF_LOCK_STATIC || type == CAF_LOCK_ALLOC;

	find_all();
	next.call_register(padded(size, locks), type, token, desc, stat, errmsg, len);
	if (locks && !(stat && *stat))
		caf_register(*token, size, critical);
}

void ENTRY(deregister)(void **token, int type, int *stat, char *errmsg, size_t len)
{
	struct coarray *c = type == CAF_DEREGISTER ? tokens_find(*token) : NULL;

	find_all();
	if (c)
		caf_deregister(c);
	next.call_deregister(token, type, stat, errmsg, len);
}

void ENTRY(change_team)(void **team, int unused)
{
	find_all();
	next.call_change_team(team, unused);
	teams_change();
}

void ENTRY(end_team)(void **team)
{
	find_all();
	next.call_end_team(team);
	teams_change();
}

void ENTRY(lock)(void *token, size_t index, int image, int *acquired, int *stat, char *errmsg,
		 size_t len)
{
	const struct outcome o = {stat, errmsg, len};
	struct coarray *c = tokens_find(token);

	if (c && c->pawl)
		LAYER_FROM_HERE(&c->locks, caf_lock(c, index, image, acquired, o));
	else
		next.call_lock(token, index, image, acquired, stat, errmsg, len);
}

void ENTRY(unlock)(void *token, size_t index, int image, int *stat, char *errmsg, size_t len)
{
	const struct outcome o = {stat, errmsg, len};
	struct coarray *c = tokens_find(token);

	if (c && c->pawl)
		LAYER_FROM_HERE(&c->locks, caf_unlock(c, index, image, o));
	else
		next.call_unlock(token, index, image, stat, errmsg, len);
}
