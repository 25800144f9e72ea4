/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose the file of PAWL_TRACE is. Tables of one job may have no rank in common, so no rank can
 * begin the file for all of them. Rank 0 of each table looks at the file when the table is created:
 *
 *   written since this process started, and   this job has begun it: the table will be added
 *   no other job's name is in it
 *   else, and no process uses it              of a job that has ended: begun anew
 *   else                                      of a job that runs: this process writes another file,
 *                                             and says so
 *
 * A process that has looked uses the file until it ends: it keeps a lock on a byte of it. The name
 * of the job is that of the launcher (job.c). Where it is not known, two jobs that start at the
 * same time and write the same file are not told apart.
 *
 * Processes that were spawned started after the file of their job was begun. They write another
 * file.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "observe/file_lock.h"
#include "observe/job.h"
#include "observe/trace.h"
#include "observe/trace_gzip.h"

enum owner { MINE, NOBODY, ANOTHER_JOB, NO_TIME_LINE };

/* The name of the job that has begun the file, whose text begins at this byte; "": not known.
 * False: it is no time line. */
static bool read_name(int fd, off_t start, char name[JOB_NAME])
{
	static const char begin[] = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [",
			  before[] = "\"job\": \"";
	char text[TRACE_BEGIN] = "";
	const char *at, *end;

	name[0] = '\0';
	if (lseek(fd, 0, SEEK_END) <= 0)
		return true;
	if (pread(fd, text, sizeof text - 1, start) <= 0)
		return false;
	at = strstr(text, before);
	end = at ? strchr(at + sizeof before - 1, '"') : NULL;
	if (end)
		snprintf(name, JOB_NAME, "%.*s", (int)(end - at - (int)sizeof before + 1),
			 at + sizeof before - 1);
	return strncmp(text, begin, sizeof begin - 1) == 0;
}

/* No character needs an escape in JSON. */
static void my_name(char name[JOB_NAME])
{
	job_name(name);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c == '"' || *c == '\\')
			*c = '_';
}

static bool is_regular(int fd)
{
	struct stat s;

	return fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

static enum owner owner_of(int fd, const char *path, const char *mine)
{
	char name[JOB_NAME];

	if (!is_regular(fd))
		return NOBODY;
	if (!read_name(fd, trace_gzip_named(path) ? TRACE_GZIP_TEXT : 0, name))
		return NO_TIME_LINE;
	if (lseek(fd, 0, SEEK_END) > 0 && job_may_have_written(fd) &&
	    (!name[0] || !mine[0] || strcmp(name, mine) == 0))
		return MINE;
	return file_lock(fd, FILE_LOCK_USES, F_WRLCK, false) ? NOBODY : ANOTHER_JOB;
}

/* Keep the lock as long as this process runs, of the last file. */
static void keep_open(int fd)
{
	static int kept = -1;

	file_lock(fd, FILE_LOCK_USES, F_RDLCK, false);
	if (kept >= 0)
		close(kept);
	kept = fd;
}

static enum owner claim(const char *path, bool *well)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	enum owner owner;
	char mine[JOB_NAME];

	*well = fd >= 0;
	if (fd < 0)
		return NOBODY;
	my_name(mine);
	file_lock(fd, FILE_LOCK_WRITES, F_WRLCK, true);
	owner = owner_of(fd, path, mine);
	if (owner == NOBODY)
		*well = (!is_regular(fd) || ftruncate(fd, 0) == 0) && lseek(fd, 0, SEEK_SET) <= 0 &&
			trace_file_begin(fd, path, mine);
	file_lock(fd, FILE_LOCK_WRITES, F_UNLCK, true);
	if (*well && owner <= NOBODY)
		keep_open(fd);
	else
		close(fd);
	return owner;
}

/* A file of this process alone. */
static bool set_apart(char path[OBSERVE_SETTING], const char *why)
{
	const size_t len = strlen(path), stem = len - (trace_gzip_named(path) ? 3 : 0);
	char host[64] = "", more[96], old[OBSERVE_SETTING];
	size_t n;

	gethostname(host, sizeof host - 1);
	n = (size_t)snprintf(more, sizeof more, ".%s.%d", host, (int)getpid());
	if (len + n >= OBSERVE_SETTING)
		return false;
	memcpy(old, path, len + 1);
	memcpy(path + stem, more, n);
	memcpy(path + stem + n, old + stem, len - stem + 1);
	fprintf(stderr, "pawl: PAWL_TRACE: %s %s; this process (rank %d) writes %s\n", old, why,
		job_rank(MPI_COMM_SELF), path);
	return true;
}

static int find_file(char path[OBSERVE_SETTING])
{
	static char apart[2][OBSERVE_SETTING]; /* from and to, of the last such file */
	bool well = true, spawned = job_is_spawned();
	enum owner owner = ANOTHER_JOB;

	if (strcmp(apart[0], path) == 0) {
		memcpy(path, apart[1], OBSERVE_SETTING);
		return PAWL_SUCCESS;
	}
	if (trace_gzip_named(path) && !trace_gzip_is_there())
		return error_set(
		    PAWL_ERR_OPTION,
		    "PAWL_TRACE: %.200s would be compressed by gzip, which PATH does not"
		    " have; name a file without .gz",
		    path);
	if (!spawned)
		owner = claim(path, &well);
	if (owner == ANOTHER_JOB) {
		memcpy(apart[0], path, OBSERVE_SETTING);
		well = set_apart(path, spawned ? "is that of the processes that spawned this one"
					       : "is in use by another job");
		if (well)
			owner = claim(path, &well);
		memcpy(well ? apart[1] : apart[0], well ? path : "", well ? OBSERVE_SETTING : 1);
	}
	if (owner == NO_TIME_LINE)
		return error_set(PAWL_ERR_OPTION,
				 "PAWL_TRACE: %s exists, and is no time line of Pawl", path);
	if (!well)
		return error_set(PAWL_ERR_OPTION, "PAWL_TRACE: %s cannot be written", path);
	return PAWL_SUCCESS;
}

int trace_claim(char path[OBSERVE_SETTING])
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&one_at_a_time);
	rc = find_file(path);
	pthread_mutex_unlock(&one_at_a_time);
	return rc;
}
