/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same calls for Fortran, under the names that programs call. So the program's line is the
 * caller, and a linker that keeps only the libraries that the program refers to (--as-needed)
 * keeps this one:
 *
 *   mpif.h and module mpi  mpi_win_lock_, in one of four spellings
 *   module mpi_f08         mpi_win_lock_f08_
 *
 * On Open MPI their own definitions call PMPI_Win_lock; on MPICH those of mpif.h and module mpi
 * call MPI_Win_lock, the others PMPI_Win_lock. Those that call MPI_Win_lock do so here as well, if
 * a tool in front of this layer has it.
 *
 * Calls that create windows are passed to the MPI's own Fortran symbol in the PMPI spelling. It
 * knows Fortran's MPI_BOTTOM, descriptors and pointers, and calls PMPI_Win_create or the like,
 * where this layer must not take the window a second time. (On MPICH those of mpif.h and module mpi
 * are left to the MPI, which calls MPI_Win_create.) These symbols are weak, because a program that
 * is not Fortran has none of them. If the program opens a Fortran library by dlopen(RTLD_LOCAL), a
 * weak reference is null, so the name is looked up from the calling library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/calls.h"
#include "dropin/request.h"

#define PUBLIC __attribute__((visibility("default")))
/* The program's line. */
#define SITE __builtin_return_address(0)
/* Only Fortran calls them, so they have no prototypes. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

static inline void finish(MPI_Fint *ierr, int rc)
{
	if (ierr)
		*ierr = rc;
}

static inline void made(MPI_Fint *ierr, MPI_Fint rc, const MPI_Fint *comm, const MPI_Fint *info,
			MPI_Fint *win)
{
	if (rc == MPI_SUCCESS && !is_behind()) {
		MPI_Win w = PMPI_Win_f2c(*win);

		rc = dropin_attach(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &w);
		*win = PMPI_Win_c2f(w);
	}
	finish(ierr, rc);
}

/* dropin_allocate() with *win. */
static inline bool allocate(struct making *m, const MPI_Fint *comm, const MPI_Fint *info,
			    MPI_Aint size, MPI_Aint unit, void *base, MPI_Fint *win, MPI_Fint *ierr)
{
	MPI_Win w = MPI_WIN_NULL;
	int rc;

	if (is_behind()) {
		*m = (struct making){.passes = true};
		return true;
	}
	if (dropin_allocate(m, PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), size, unit, base, &w,
			    &rc))
		return true;
	*win = PMPI_Win_c2f(w);
	finish(ierr, rc);
	return false;
}

static inline void allocated(struct making *m, MPI_Fint *ierr, MPI_Fint rc, MPI_Fint *win)
{
	const bool is_made = rc == MPI_SUCCESS;
	MPI_Win w = is_made ? PMPI_Win_f2c(*win) : MPI_WIN_NULL;

	rc = dropin_allocated(m, rc, &w);
	if (is_made)
		*win = PMPI_Win_c2f(w);
	finish(ierr, rc);
}

static inline void window_free(bool by_c, MPI_Fint *win, MPI_Fint *ierr)
{
	MPI_Win w = PMPI_Win_f2c(*win);
	int rc = by_c && next_front.Win_free ? next_front.Win_free(&w) : call_free(&w);

	if (rc == MPI_SUCCESS)
		*win = PMPI_Win_c2f(w);
	finish(ierr, rc);
}

/* The MPI's symbol that was not there when this library was loaded. */
static void find_native(const char *name, const void *caller, void *call)
{
	void *found;

	next_find(name, caller, call);
	memcpy(&found, call, sizeof found);
	if (found)
		return;
	fprintf(stderr,
		"pawl: libpawl-mpi cannot find %s of the MPI's Fortran library; preload that"
		" library, too\n",
		name);
	PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* clang-format off */
/* by_c: the MPI's own calls the name of C. */
#define LOCKS(by_c, name, here, ...) (by_c && next_front.name ? next_front.name(__VA_ARGS__) : here(SITE, __VA_ARGS__))
#define LOCK(name, by_c) PUBLIC void name(MPI_Fint *t, MPI_Fint *r, MPI_Fint *a, MPI_Fint *w, MPI_Fint *e) { finish(e, LOCKS(by_c, Win_lock, call_lock, *t, *r, *a, PMPI_Win_f2c(*w))); }
#define UNLOCK(name, by_c) PUBLIC void name(MPI_Fint *r, MPI_Fint *w, MPI_Fint *e) { finish(e, LOCKS(by_c, Win_unlock, call_unlock, *r, PMPI_Win_f2c(*w))); }
#define LOCK_ALL(name, by_c) PUBLIC void name(MPI_Fint *a, MPI_Fint *w, MPI_Fint *e) { finish(e, LOCKS(by_c, Win_lock_all, call_lock_all, *a, PMPI_Win_f2c(*w))); }
#define UNLOCK_ALL(name, by_c) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { finish(e, LOCKS(by_c, Win_unlock_all, call_unlock_all, PMPI_Win_f2c(*w))); }
#define FREE(name, by_c) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { window_free(by_c, w, e); }
#define FLUSH(name, by_c, call) PUBLIC void name(MPI_Fint *r, MPI_Fint *w, MPI_Fint *e) { finish(e, (by_c ? MPI_##call : dropin_##call)(*r, PMPI_Win_f2c(*w))); }
#define FLUSH_ALL(name, by_c, call) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { finish(e, (by_c ? MPI_##call : dropin_##call)(PMPI_Win_f2c(*w))); }

/* Memory comes from the caller (create) or from the MPI (allocate, shared). base is an address or a
 * descriptor; unit points to an integer of either size. */
#define MAKER(name, native, before, after, parameters, arguments) \
	extern __attribute__((weak)) void native parameters; \
	PUBLIC void name parameters \
	{ \
		void (*call) parameters = native; \
		MPI_Fint rc = MPI_SUCCESS, *ierr = e; \
		if (!call) \
			find_native(#native, SITE, &call); \
		presence_announce(); \
		before \
		behind_depth++; \
		e = &rc; \
		call arguments; \
		behind_depth--; \
		after; \
	}
#define MADE made(ierr, rc, c, i, w)
#define CREATE(name, native) \
	MAKER(name, native, , MADE, (void *base, MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e), (base, size, unit, i, c, w, e))
#define BY_MPI(name, native, before, after) \
	MAKER(name, native, before, after, (MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, void *base, MPI_Fint *w, MPI_Fint *e), (size, unit, i, c, base, w, e))
#define SHARED(name, native) BY_MPI(name, native, , MADE)
#define ALLOCATE_OF(name, native, unit_t) \
	BY_MPI(name, native, \
	       struct making m; if (!allocate(&m, c, i, *size, *(unit_t *)unit, base, w, e)) return;, \
	       allocated(&m, ierr, rc, w))
#define ALLOCATE(name, native) ALLOCATE_OF(name, native, MPI_Fint)
#define DYNAMIC(name, native) \
	MAKER(name, native, , MADE, (MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e), (i, c, w, e))

#ifdef MPICH_VERSION
#define BY_C true
#else
#define BY_C false
#endif
#define SPELLINGS(MACRO, lower, upper) \
	MACRO(lower, BY_C) MACRO(lower##_, BY_C) MACRO(lower##__, BY_C) MACRO(upper, BY_C) MACRO(lower##_f08_, false)
#define SPELLINGS_OF(MACRO, lower, upper, call) \
	MACRO(lower, BY_C, call) MACRO(lower##_, BY_C, call) MACRO(lower##__, BY_C, call) MACRO(upper, BY_C, call) MACRO(lower##_f08_, false, call)
#define SPELLINGS_MADE(MACRO, lower, upper) \
	MACRO(lower, p##lower) MACRO(lower##_, p##lower##_) MACRO(lower##__, p##lower##__) \
	MACRO(upper, P##upper) MACRO(lower##_f08_, p##lower##_f08_)

#if defined(OPEN_MPI) || defined(MPICH_VERSION)
SPELLINGS(LOCK, mpi_win_lock, MPI_WIN_LOCK)
SPELLINGS(UNLOCK, mpi_win_unlock, MPI_WIN_UNLOCK)
SPELLINGS(LOCK_ALL, mpi_win_lock_all, MPI_WIN_LOCK_ALL)
SPELLINGS(UNLOCK_ALL, mpi_win_unlock_all, MPI_WIN_UNLOCK_ALL)
SPELLINGS_OF(FLUSH, mpi_win_flush, MPI_WIN_FLUSH, Win_flush)
SPELLINGS_OF(FLUSH, mpi_win_flush_local, MPI_WIN_FLUSH_LOCAL, Win_flush_local)
SPELLINGS_OF(FLUSH_ALL, mpi_win_flush_all, MPI_WIN_FLUSH_ALL, Win_flush_all)
SPELLINGS_OF(FLUSH_ALL, mpi_win_flush_local_all, MPI_WIN_FLUSH_LOCAL_ALL, Win_flush_local_all)
SPELLINGS(FREE, mpi_win_free, MPI_WIN_FREE)
#endif

#if defined(OPEN_MPI)

SPELLINGS_MADE(CREATE, mpi_win_create, MPI_WIN_CREATE)
SPELLINGS_MADE(DYNAMIC, mpi_win_create_dynamic, MPI_WIN_CREATE_DYNAMIC)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate, MPI_WIN_ALLOCATE)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate_cptr, MPI_WIN_ALLOCATE_CPTR)
SPELLINGS_MADE(SHARED, mpi_win_allocate_shared, MPI_WIN_ALLOCATE_SHARED)
SPELLINGS_MADE(SHARED, mpi_win_allocate_shared_cptr, MPI_WIN_ALLOCATE_SHARED_CPTR)

#elif defined(MPICH_VERSION)

CREATE(mpi_win_create_f08ts_, pmpir_win_create_f08ts_)
CREATE(mpi_win_create_f08ts_large_, pmpir_win_create_f08ts_large_)
DYNAMIC(mpi_win_create_dynamic_f08_, pmpir_win_create_dynamic_f08_)
ALLOCATE(mpi_win_allocate_f08_, pmpir_win_allocate_f08_)
ALLOCATE_OF(mpi_win_allocate_f08_large_, pmpir_win_allocate_f08_large_, MPI_Aint)
SHARED(mpi_win_allocate_shared_f08_, pmpir_win_allocate_shared_f08_)
SHARED(mpi_win_allocate_shared_f08_large_, pmpir_win_allocate_shared_f08_large_)

/* The others come to MPI_Init of this library. */
#ifndef PIC
#define INIT(name, native, parameters, arguments) \
	extern __attribute__((weak)) void native parameters; \
	PUBLIC void name parameters { presence_before_init(); native arguments; dropin_begin(); }
INIT(mpi_init_f08_, pmpir_init_f08_, (MPI_Fint *e), (e))
INIT(mpi_init_thread_f08_, pmpir_init_thread_f08_, (MPI_Fint *level, MPI_Fint *got, MPI_Fint *e), (level, got, e))
#endif

#endif
