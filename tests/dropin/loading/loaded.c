/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests/loading.sh: a program whose windows are in turns() (here, in loaded.F90, or in a
 * library that it opens), and such a library. Each process adds to two words of rank 0 that are
 * always each other's negation. Right after each creation of a window the processes add up a
 * number: a message that a layer sends in some of them only would meet it.
 *
 *   loaded                      turns() of this program
 *   loaded local|global FILE    of a library, opened after MPI_Init
 *   loaded close FILE           the same, closed before MPI_Finalize
 *   loaded spawn [COMMAND]      over a communicator with two spawned processes (of COMMAND)
 *
 * LOADED_LATE=RANK: that rank of MPI_COMM_WORLD creates its window a second after the others call.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int turns(MPI_Fint comm);
int whole(void);

#ifdef TURNS
enum { TURNS_EACH = 50 };

/* 0: all is right. */
int turns(MPI_Fint fortran)
{
	MPI_Comm comm = MPI_Comm_f2c(fortran);
	long *base, sum = 1, value[2], bad = 0;
	int rank, size;
	MPI_Win win;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &base, &win);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, comm);
	bad += sum != size;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	base[0] = base[1] = 0;
	MPI_Win_unlock(rank, win);
	MPI_Barrier(comm);
	for (int i = 0; i < TURNS_EACH; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(value, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
		MPI_Win_flush(0, win);
		bad += value[0] != -value[1];
		value[0]++;
		value[1]--;
		MPI_Put(&value[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		MPI_Put(&value[1], 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(comm);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(value, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
	bad += rank == 0 && base[0] != TURNS_EACH * size;
	MPI_Win_unlock(0, win);
	bad += value[0] != TURNS_EACH * size || value[1] != -value[0];
	MPI_Win_free(&win);
	return bad != 0;
}
#endif

static void be_late(void)
{
	const char *late = getenv("LOADED_LATE");
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (late && rank == atoi(late))
		sleep(1);
}

/* For a script that opens this as a library. */
int whole(void)
{
	int bad;

	MPI_Init(NULL, NULL);
	be_late();
	bad = turns(MPI_Comm_c2f(MPI_COMM_WORLD));
	puts(bad ? "WRONG" : "right");
	fflush(stdout);
	MPI_Finalize();
	return bad;
}

static void fail(const char *what)
{
	fprintf(stderr, "loaded: %s\n", what);
	exit(EXIT_FAILURE);
}

static int turns_in(const char *how, const char *file)
{
	void *library =
	    dlopen(file, RTLD_NOW | (strcmp(how, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
	void *symbol = library ? dlsym(library, "turns") : NULL;
	int (*call)(MPI_Fint), bad;

	if (!symbol)
		fail(dlerror());
	memcpy(&call, &symbol, sizeof call);
	bad = call(MPI_Comm_c2f(MPI_COMM_WORLD));
	if (strcmp(how, "close") == 0)
		dlclose(library);
	return bad;
}

static int turns_with_spawned(MPI_Comm parent, char *command)
{
	MPI_Comm inter = parent, both;
	int bad;

	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(command, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
			       MPI_ERRCODES_IGNORE);
	MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &both);
	bad = turns(MPI_Comm_c2f(both));
	MPI_Comm_free(&both);
	MPI_Comm_disconnect(&inter);
	return bad;
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int bad;

	alarm(60);
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	be_late();
	if (parent != MPI_COMM_NULL || (argc > 1 && strcmp(argv[1], "spawn") == 0))
		bad = turns_with_spawned(parent, argv[argc > 2 ? 2 : 0]);
	else if (argc > 2)
		bad = turns_in(argv[1], argv[2]);
	else
		bad = turns(MPI_Comm_c2f(MPI_COMM_WORLD));
	puts(bad ? "WRONG" : "right");
	fflush(stdout);
	/* MPICH's MPI_Finalize hangs now and then over several hosts. */
	if (getenv("TEST_EXIT")) {
		MPI_Barrier(MPI_COMM_WORLD);
		_exit(bad);
	}
	MPI_Finalize();
	return bad;
}
