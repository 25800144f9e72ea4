/* SPDX-License-Identifier: BSD-3-Clause */
/* See job.h. */
#include "observe/job.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "observe/watchdog/board_file.h"

enum { ANCESTORS = 8, COMMAND = 4096 };

static bool is_initialized(void)
{
	int initialized;

	PMPI_Initialized(&initialized); /* false with sessions only */
	return initialized;
}

int job_rank(MPI_Comm comm)
{
	int rank;

	PMPI_Comm_rank(is_initialized() ? MPI_COMM_WORLD : comm, &rank);
	return rank;
}

bool job_is_spawned(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	if (is_initialized())
		PMPI_Comm_get_parent(&parent);
	return parent != MPI_COMM_NULL;
}

int32_t job_process(MPI_Comm comm)
{
	char host[64] = "";

	if (!job_is_spawned())
		return job_rank(comm);
	gethostname(host, sizeof host - 1);
	return JOB_SPAWNED |
	       (int32_t)(hash_add(hash_text(HASH_BEGIN, host), (uint64_t)getpid()) % JOB_SPAWNED);
}

uint64_t job_next_table(MPI_Comm comm)
{
	static _Atomic(uint64_t) created;

	return (uint64_t)job_process(comm) * JOB_TABLES + atomic_fetch_add(&created, 1) + 1;
}

/* -------------------------------------------------------------------------- names */

static size_t read_command(int pid, char text[COMMAND])
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(text, 1, COMMAND - 1, f);
	fclose(f);
	text[n] = '\0';
	return n;
}

/* Hydra (MPICH, Intel MPI) gives each of its proxies, which start the ranks of a host, the port of
 * the one mpiexec of the job. */
static bool find_port_of_hydra(char name[JOB_NAME])
{
	static const char *const options[] = {"--control-port", "--upstream-port"};
	int pid = getppid();
	char text[COMMAND];

	for (int i = 0; i < ANCESTORS && pid > 1; i++) {
		const char *end = text + read_command(pid, text);

		for (const char *word = text; word < end; word += strlen(word) + 1)
			for (int k = 0; k < 2; k++) {
				const char *value = word + strlen(word) + 1;

				if (strcmp(word, options[k]) != 0 || value >= end)
					continue;
				snprintf(name, JOB_NAME, "hydra:%s", value);
				return true;
			}
		pid = (int)board_file_process(pid, BOARD_FILE_PARENT);
	}
	return false;
}

void job_name(char name[JOB_NAME])
{
	/* Those of a launcher come before those of the batch job in which it runs. */
	static const char *const variables[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
						"PALS_APID", "FLUX_JOB_ID"};
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");

	name[0] = '\0';
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = getenv(variables[i]);

		if (value && value[0]) {
			snprintf(name, JOB_NAME, "%s", value);
			return;
		}
	}
	if (!find_port_of_hydra(name) && job && step)
		snprintf(name, JOB_NAME, "slurm:%.60s.%.60s", job, step);
}

/* ------------------------------------------------------------------------- files */

static int64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* By the clock of files. */
static int64_t started_ns(void)
{
	static _Atomic(int64_t) started;
	int64_t ticks, boot_ns;

	if (atomic_load(&started))
		return started;
	ticks = (int64_t)board_file_process((int)getpid(), BOARD_FILE_STARTED);
	boot_ns = ticks * (1000000000 / sysconf(_SC_CLK_TCK));
	atomic_store(&started,
		     ns_of(CLOCK_REALTIME) - (ticks ? ns_of(CLOCK_BOOTTIME) - boot_ns : 0));
	return started;
}

bool job_may_have_written(int fd)
{
	struct stat s;

	return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
	       (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec >= started_ns();
}
