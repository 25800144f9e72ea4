/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of a session, which gives no notice of its end. Exit status 77: this MPI has no sessions.
 * (MPICH 4.0 crashes in a second session.)
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_SESSIONS = 77 };

#if MPI_VERSION >= 4
enum { WINDOWS = 3 };

/* Each process adds 1 to a word of rank 0. */
static void use_window(MPI_Comm comm)
{
	int64_t *mine, word;
	int size;
	MPI_Win win;

	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, comm, &mine, &win);
	*mine = 0;
	MPI_Barrier(comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Get(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
	word++;
	MPI_Put(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
	MPI_Win_unlock(0, win);
	MPI_Barrier(comm);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
	MPI_Win_unlock(0, win);
	if (word != size) {
		fprintf(stderr, "the word is %lld, and not %d\n", (long long)word, size);
		exit(EXIT_FAILURE);
	}
	MPI_Win_free(&win);
}

int main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "pawl.session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
				   &comm);
	MPI_Group_free(&group);
	for (int i = 0; i < WINDOWS; i++)
		use_window(comm);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	puts("ended");
	return EXIT_SUCCESS;
}
#else
int main(void)
{
	return NO_SESSIONS;
}
#endif
