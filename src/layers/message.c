/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the layers to the user, on stderr. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/loaded.h"
#include "base/mpi_family.h"
#include "layers/layers.h"

enum { REASONS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the variables below */
static uint64_t printed[REASONS];                        /* hashes */
static int n_printed;

void pawl_private_layer(void)
{
}

void message_once(MPI_Comm comm, const char *what, const char *why)
{
	uint64_t h = hash_text(HASH_BEGIN, why);
	int rank;
	bool is_new = true;

	PMPI_Comm_rank(comm, &rank);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_printed; i++)
		is_new = is_new && printed[i] != h;
	if (is_new && n_printed < REASONS)
		printed[n_printed++] = h;
	pthread_mutex_unlock(&lock);
	if (rank == 0 && is_new)
		fprintf(stderr, "pawl: %s: %s\n", what, why);
}

void message_check_mpi(void)
{
	char why[256];

	if (!mpi_family_differs(why, sizeof why))
		return;
	if (message_may_be_first())
		fprintf(stderr, "pawl: this %s %s\n", layer_library, why);
	exit(EXIT_FAILURE);
}

bool message_may_be_first(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *rank = getenv(names[i]);

		if (rank)
			return strcmp(rank, "0") == 0;
	}
	return true;
}
