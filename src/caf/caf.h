/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpawl-caf: Pawl's locks under LOCK, UNLOCK and CRITICAL of Fortran programs that were compiled
 * by gfortran -fcoarray=lib. It stands before OpenCoarrays (libcaf_mpi), whose entry points are
 * described in gfortran's manual ("Coarray Programming", "Function ABI Documentation").
 *
 *   calls.c   the entry points, and those behind this layer
 *   caf.c     what locking and unlocking means
 *   tokens.c  from the token of a coarray to its locks
 *   teams.c   from an image of the current team to a process
 *
 * The compiler registers each coarray of locks, and a lock for each CRITICAL construct, by
 * _gfortran_caf_register; all images of the current team do so in the same order. The layer lets
 * the runtime register it, too, and takes as many Pawl locks at each image. The runtime's lock
 * variables then keep the value 0.
 */
#ifndef CAF_CAF_H
#define CAF_CAF_H

#include <stddef.h>

#include "layers/layers.h"

/* What is registered (caf_register_t of libcaf.h). */
enum { CAF_LOCK_STATIC = 2, CAF_LOCK_ALLOC = 3, CAF_CRITICAL = 4 };
/* What is deregistered (caf_deregister_t): the coarray, or only its memory. */
enum { CAF_DEREGISTER = 0 };

/* Values for STAT= (ISO_FORTRAN_ENV of gfortran). The value of STAT_UNLOCKED there is 0, which is
 * that of success, so the layer has another one for it: that of OpenCoarrays. */
enum {
	STAT_LOCKED = 1,
	STAT_LOCKED_OTHER_IMAGE = 2,
	STAT_NOT_LOCKED = 99,
	STAT_FAILED_IMAGE = 6001
};

/* A coarray of locks. */
struct coarray {
	void *token;
	bool pawl;     /* else the runtime's locks serve */
	bool critical; /* the lock of a CRITICAL construct */
	struct layer_locks locks;
	/* Whether this image has locked one. A hint, because threads of an image may lock. */
	atomic_bool touched;
	/* Processes of the images of a team, while that is the current one; see teams.c. */
	unsigned team;
	int *processes, images;
};

/* STAT= and ERRMSG= of a statement. */
struct outcome {
	int *stat;
	char *message;
	size_t message_len;
};

/* calls.c ----------------------------------------------------------------- */

/* The communicator of the current team. False: the runtime does not say. */
bool calls_comm(MPI_Comm *comm);
/* Complete this image's operations on coarrays. */
void calls_sync_memory(void);
/* Print the text, and ERROR STOP. Does not return. */
void calls_error_stop(const char *text);

/* caf.c ------------------------------------------------------------------- */

void caf_register(void *token, size_t count, bool critical);
void caf_deregister(struct coarray *c);
/* image: of the current team, 0 for this one. acquired: of ACQUIRED_LOCK=, or NULL. */
void caf_lock(struct coarray *c, size_t index, int image, int *acquired, struct outcome o);
void caf_unlock(struct coarray *c, size_t index, int image, struct outcome o);

/* tokens.c ---------------------------------------------------------------- */

struct coarray *tokens_find(void *token);
/* NULL: out of memory. */
struct coarray *tokens_add(void *token);
void tokens_remove(struct coarray *c);

/* teams.c ----------------------------------------------------------------- */

/* The current team is another one. */
void teams_change(void);
/* The process of an image in the communicator of c's locks, or -1. */
int teams_process(struct coarray *c, int image);

#endif
