/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same calls for Fortran. The symbols depend on the MPI:
 *
 *   Open MPI  mpif.h and module mpi call mpi_win_lock_ (in one of four spellings), module mpi_f08
 *             calls ompi_win_lock_f. All of them call PMPI_Win_lock and so bypass the C symbols.
 *   MPICH     mpif.h and module mpi call mpi_win_lock_, which calls MPI_Win_lock: nothing is needed
 *             here. Module mpi_f08 calls mpi_win_lock_f08_ and the like, which call PMPI_Win_lock.
 *
 * Calls that create windows are passed to the MPI's own Fortran symbol in the PMPI spelling. It
 * knows Fortran's MPI_BOTTOM, descriptors and pointers, and calls PMPI_Win_create or the like,
 * where this layer must not take the window a second time. These symbols are weak, because a
 * program that is not Fortran has none of them.
 */
#include "dropin/dropin.h"

#define PUBLIC __attribute__((visibility("default")))
#define NATIVE extern __attribute__((weak))
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
	behind_depth--;
	if (rc == MPI_SUCCESS && !is_behind()) {
		MPI_Win w = PMPI_Win_f2c(*win);

		rc = dropin_attach(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &w);
		*win = PMPI_Win_c2f(w);
	}
	finish(ierr, rc);
}

static inline void lock(const MPI_Fint *type, const MPI_Fint *rank, const MPI_Fint *assertion,
			const MPI_Fint *win, MPI_Fint *ierr)
{
	finish(ierr, MPI_Win_lock(*type, *rank, *assertion, PMPI_Win_f2c(*win)));
}

static inline void unlock(const MPI_Fint *rank, const MPI_Fint *win, MPI_Fint *ierr)
{
	finish(ierr, MPI_Win_unlock(*rank, PMPI_Win_f2c(*win)));
}

static inline void lock_all(const MPI_Fint *assertion, const MPI_Fint *win, MPI_Fint *ierr)
{
	finish(ierr, MPI_Win_lock_all(*assertion, PMPI_Win_f2c(*win)));
}

static inline void unlock_all(const MPI_Fint *win, MPI_Fint *ierr)
{
	finish(ierr, MPI_Win_unlock_all(PMPI_Win_f2c(*win)));
}

static inline void window_free(MPI_Fint *win, MPI_Fint *ierr)
{
	MPI_Win w = PMPI_Win_f2c(*win);
	int rc = MPI_Win_free(&w);

	if (rc == MPI_SUCCESS)
		*win = PMPI_Win_c2f(w);
	finish(ierr, rc);
}

/* clang-format off */
#define LOCK(name) PUBLIC void name(MPI_Fint *t, MPI_Fint *r, MPI_Fint *a, MPI_Fint *w, MPI_Fint *e) { lock(t, r, a, w, e); }
#define UNLOCK(name) PUBLIC void name(MPI_Fint *r, MPI_Fint *w, MPI_Fint *e) { unlock(r, w, e); }
#define LOCK_ALL(name) PUBLIC void name(MPI_Fint *a, MPI_Fint *w, MPI_Fint *e) { lock_all(a, w, e); }
#define UNLOCK_ALL(name) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { unlock_all(w, e); }
#define FLUSH(name, call) PUBLIC void name(MPI_Fint *r, MPI_Fint *w, MPI_Fint *e) { finish(e, call(*r, PMPI_Win_f2c(*w))); }
#define FLUSH_ALL(name, call) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { finish(e, call(PMPI_Win_f2c(*w))); }
#define FREE(name) PUBLIC void name(MPI_Fint *w, MPI_Fint *e) { window_free(w, e); }

/* Memory comes from the caller (create) or from the MPI (allocate). base is an address or a
 * descriptor; unit points to an integer of either size. */
#define CREATE(name, native) \
	NATIVE void native(void *base, MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e); \
	PUBLIC void name(void *base, MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e) \
	{ MPI_Fint rc = MPI_SUCCESS; behind_depth++; native(base, size, unit, i, c, w, &rc); made(e, rc, c, i, w); }
#define ALLOCATE(name, native) \
	NATIVE void native(MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, void *base, MPI_Fint *w, MPI_Fint *e); \
	PUBLIC void name(MPI_Aint *size, void *unit, MPI_Fint *i, MPI_Fint *c, void *base, MPI_Fint *w, MPI_Fint *e) \
	{ MPI_Fint rc = MPI_SUCCESS; behind_depth++; native(size, unit, i, c, base, w, &rc); made(e, rc, c, i, w); }
#define DYNAMIC(name, native) \
	NATIVE void native(MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e); \
	PUBLIC void name(MPI_Fint *i, MPI_Fint *c, MPI_Fint *w, MPI_Fint *e) \
	{ MPI_Fint rc = MPI_SUCCESS; behind_depth++; native(i, c, w, &rc); made(e, rc, c, i, w); }

#if defined(OPEN_MPI)

#define SPELLINGS(MACRO, lower, upper, f08) \
	MACRO(lower) MACRO(lower##_) MACRO(lower##__) MACRO(upper) MACRO(f08)
#define SPELLINGS_MADE(MACRO, lower, upper, f08) \
	MACRO(lower, p##lower) MACRO(lower##_, p##lower##_) MACRO(lower##__, p##lower##__) \
	MACRO(upper, P##upper) MACRO(f08, p##lower##_)

SPELLINGS(LOCK, mpi_win_lock, MPI_WIN_LOCK, ompi_win_lock_f)
SPELLINGS(UNLOCK, mpi_win_unlock, MPI_WIN_UNLOCK, ompi_win_unlock_f)
SPELLINGS(LOCK_ALL, mpi_win_lock_all, MPI_WIN_LOCK_ALL, ompi_win_lock_all_f)
SPELLINGS(UNLOCK_ALL, mpi_win_unlock_all, MPI_WIN_UNLOCK_ALL, ompi_win_unlock_all_f)
SPELLINGS(FREE, mpi_win_free, MPI_WIN_FREE, ompi_win_free_f)
SPELLINGS_MADE(CREATE, mpi_win_create, MPI_WIN_CREATE, ompi_win_create_f)
SPELLINGS_MADE(DYNAMIC, mpi_win_create_dynamic, MPI_WIN_CREATE_DYNAMIC, ompi_win_create_dynamic_f)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate, MPI_WIN_ALLOCATE, ompi_win_allocate_f)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate_cptr, MPI_WIN_ALLOCATE_CPTR, ompi_win_allocate_cptr_f)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate_shared, MPI_WIN_ALLOCATE_SHARED, ompi_win_allocate_shared_f)
SPELLINGS_MADE(ALLOCATE, mpi_win_allocate_shared_cptr, MPI_WIN_ALLOCATE_SHARED_CPTR, ompi_win_allocate_shared_cptr_f)

#elif defined(MPICH_VERSION)

LOCK(mpi_win_lock_f08_)
UNLOCK(mpi_win_unlock_f08_)
LOCK_ALL(mpi_win_lock_all_f08_)
UNLOCK_ALL(mpi_win_unlock_all_f08_)
FREE(mpi_win_free_f08_)
FLUSH(mpi_win_flush_f08_, MPI_Win_flush)
FLUSH(mpi_win_flush_local_f08_, MPI_Win_flush_local)
FLUSH_ALL(mpi_win_flush_all_f08_, MPI_Win_flush_all)
FLUSH_ALL(mpi_win_flush_local_all_f08_, MPI_Win_flush_local_all)
CREATE(mpi_win_create_f08ts_, pmpir_win_create_f08ts_)
CREATE(mpi_win_create_f08ts_large_, pmpir_win_create_f08ts_large_)
DYNAMIC(mpi_win_create_dynamic_f08_, pmpir_win_create_dynamic_f08_)
ALLOCATE(mpi_win_allocate_f08_, pmpir_win_allocate_f08_)
ALLOCATE(mpi_win_allocate_f08_large_, pmpir_win_allocate_f08_large_)
ALLOCATE(mpi_win_allocate_shared_f08_, pmpir_win_allocate_shared_f08_)
ALLOCATE(mpi_win_allocate_shared_f08_large_, pmpir_win_allocate_shared_f08_large_)

#endif
