/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room for shared windows.
 *
 * An MPI puts them into files of a file system in memory, and does not report that this is too
 * small: Open MPI 4 fails on one rank and leaves the others waiting; MPICH returns success, and the
 * first access to a page for which there is no room kills the process (SIGBUS). So Pawl checks
 * first: it compares what all ranks of a host want with what the file system and the host's memory
 * have free, and all ranks get the result.
 *
 * The kernel allocates pages of such a file when they are first touched. So the file system still
 * shows as free what large, sparsely touched segments may need later. Every rank adds up the
 * untouched part of its own segments, and this sum counts as taken. Not counted are the untouched
 * segments of ranks outside comm, of tables that are created at the same time over other
 * communicators, and of other programs.
 */
#include "rma/memory/shm.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rma/memory/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before: EINVAL */
#endif

/* The MPI's own memory in the window, and its rounding, for each rank. */
enum { OVERHEAD_BYTES = 16384 };

/* ------------------------------------------------------------ untouched memory */

struct area {
	void *base;
	size_t bytes;
	struct area *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct area *areas;

void shm_count_untouched(void *base, size_t bytes)
{
	struct area *p = malloc(sizeof *p);

	/* Without memory, the area is not counted. */
	if (!p)
		return;
	pthread_mutex_lock(&mutex);
	*p = (struct area){base, bytes, areas};
	areas = p;
	pthread_mutex_unlock(&mutex);
}

void shm_uncount(const void *base)
{
	pthread_mutex_lock(&mutex);
	for (struct area **at = &areas; *at; at = &(*at)->next)
		if ((*at)->base == base) {
			struct area *p = *at;

			*at = p->next;
			free(p);
			break;
		}
	pthread_mutex_unlock(&mutex);
}

/* The bytes of whole pages that are not in memory. */
static uint64_t untouched(const struct area *p)
{
	enum { PAGES = 65536 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), step = PAGES * page;
	unsigned char *there = malloc(PAGES);
	uint64_t bytes = 0;

	for (size_t at = 0; at < p->bytes && there; at += step) {
		size_t len = p->bytes - at < step ? p->bytes - at : step;

		if (mincore((char *)p->base + at, len, there) != 0)
			continue;
		for (size_t i = 0; i < (len + page - 1) / page; i++)
			bytes += there[i] & 1 ? 0 : page;
	}
	free(there);
	return bytes;
}

uint64_t shm_untouched(void)
{
	uint64_t bytes = 0;

	pthread_mutex_lock(&mutex);
	for (const struct area *p = areas; p; p = p->next)
		bytes += untouched(p);
	pthread_mutex_unlock(&mutex);
	return bytes;
}

/* Populates it first: a file system that is full then says so, and sends no SIGBUS. */
bool shm_zero(char *from, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = (uintptr_t)from % page;

	if (bytes == 0)
		return true;
	if (madvise(from - before, before + bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)
		return false;
	memset(from, 0, bytes);
	return true;
}

/* --------------------------------------------------------------------- places */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char folder[4096];

/* /dev/shm, else /tmp; or the folder that the user has set for Open MPI's component for shared
 * windows. (MPI_T has the setting, too, but MPI_T_init_thread() changes the result of
 * MPI_Query_thread().) */
static void find_folder(void)
{
	static const char memory[] = "/dev/shm";
	const char *chosen = NULL;

#ifdef OPEN_MPI
	chosen = getenv("OMPI_MCA_osc_sm_backing_directory");
#endif
	if (!chosen || chosen[0] != '/')
		chosen = access(memory, W_OK) == 0 ? memory : "/tmp";
	snprintf(folder, sizeof folder, "%s", chosen);
}

/* The file system or the host's memory, whichever has less. */
static void look(struct shm_shortage *s)
{
	struct statvfs v;
	uint64_t free_there = UINT64_MAX, memory = memory_available("");

	pthread_once(&once, find_folder);
	if (statvfs(folder, &v) == 0)
		free_there = (uint64_t)v.f_bavail * v.f_frsize;
	s->free = free_there < memory ? free_there : memory;
	snprintf(s->place, sizeof s->place, "%.100s", free_there < memory ? folder : "its memory");
	gethostname(s->host, sizeof s->host - 1);
}

/* --------------------------------------------------------------------- check */

/* Ranks in containers of their own may have different folders, and the MPI would wait for ever for
 * them to open a file that they do not see. */
void shm_folder(uint64_t id[2])
{
	struct stat is = {.st_dev = 0};

	pthread_once(&once, find_folder);
	stat(folder, &is);
	id[0] = (uint64_t)is.st_dev;
	id[1] = (uint64_t)is.st_ino;
}

/* What the ranks of a host want, and where. */
struct wish {
	uint64_t bytes, untouched, folder[2], apart;
};

static uint64_t whole_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page + OVERHEAD_BYTES;
}

/* An MPI_User_function. */
static void add_wishes(void *in, void *inout, int *n, MPI_Datatype *type)
{
	const struct wish *a = in;
	struct wish *b = inout;

	(void)n, (void)type; /* one wish, as so many integers */
	b->bytes += a->bytes;
	b->untouched += a->untouched;
	b->apart |= a->apart || a->folder[0] != b->folder[0] || a->folder[1] != b->folder[1];
}

static bool falls_short(const struct wish *all, struct shm_shortage *s)
{
	*s = (struct shm_shortage){.wanted = all->bytes};
	look(s);
	if (all->apart) {
		s->apart = true;
		snprintf(s->place, sizeof s->place, "%.100s", folder);
		return true;
	}
	s->untouched = all->untouched < s->free ? all->untouched : s->free;
	s->free -= s->untouched;
	return s->wanted > s->free;
}

bool shm_has_room(uint64_t bytes, int ranks, uint64_t untouched, bool apart,
		  struct shm_shortage *shortage)
{
	const struct wish all = {
	    .bytes = whole_pages(bytes) * (uint64_t)ranks, .untouched = untouched, .apart = apart};

	return !falls_short(&all, shortage);
}

bool shm_falls_short(MPI_Comm host_comm, uint64_t bytes, struct shm_shortage *shortage)
{
	enum { WORDS = sizeof(struct wish) / sizeof(uint64_t) };
	struct wish mine = {.bytes = whole_pages(bytes), .untouched = shm_untouched()}, all;
	MPI_Datatype wish = MPI_DATATYPE_NULL;
	MPI_Op sum = MPI_OP_NULL;
	int rank;

	shm_folder(mine.folder);
	all = mine;
	/* As one element, because the MPI may pass several elements to the operation in parts. */
	PMPI_Type_contiguous(WORDS, MPI_UINT64_T, &wish);
	PMPI_Type_commit(&wish);
	PMPI_Op_create(add_wishes, 1, &sum);
	PMPI_Reduce(&mine, &all, 1, wish, sum, 0, host_comm);
	PMPI_Op_free(&sum);
	PMPI_Type_free(&wish);
	PMPI_Comm_rank(host_comm, &rank);
	return rank == 0 && falls_short(&all, shortage);
}

bool shm_check(MPI_Comm comm, MPI_Comm host_comm, uint64_t bytes, struct shm_shortage *shortage)
{
	int rank, size, first;

	*shortage = (struct shm_shortage){.wanted = 0};
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	if (!shm_falls_short(host_comm, bytes, shortage))
		rank = size;
	PMPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, comm);
	if (first == size)
		return true;
	PMPI_Bcast(shortage, sizeof *shortage, MPI_BYTE, first, comm);
	return false;
}

void shm_tell(const struct shm_shortage *s, const char *what, char *text, size_t len)
{
	char untouched[96] = "";

	if (s->apart) {
		snprintf(text, len,
			 "the ranks of host %s do not share %s, which shared memory needs: start"
			 " one container a host, or containers with one IPC namespace"
			 " (docker run --ipc)",
			 s->host, s->place);
		return;
	}
	if (s->untouched)
		snprintf(untouched, sizeof untouched,
			 ", besides %llu that other tables may still take",
			 (unsigned long long)s->untouched);
	snprintf(text, len,
		 "%s takes %llu bytes of shared memory on host %s, and %s has %llu bytes free%s%s",
		 what, (unsigned long long)s->wanted, s->host, s->place,
		 (unsigned long long)s->free, untouched,
		 s->place[0] == '/' ? " (containers: docker run --shm-size)" : "");
}
