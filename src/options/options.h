/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of a table: MPI_Info keys and environment variables. */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lock/lock.h"

enum option_threads { THREADS_AUTO, THREADS_SINGLE, THREADS_MULTIPLE };
enum option_owner { OWNER_THREAD, OWNER_PROCESS };
enum option_progress { PROGRESS_LAZY, PROGRESS_FAR, PROGRESS_EAGER, PROGRESS_THREAD };
enum option_transport { TRANSPORT_AUTO, TRANSPORT_MPI, TRANSPORT_UCX };
enum option_wait { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_PARK };

struct options {
	enum lock_home home;
	int64_t max_held;
	enum option_threads threads;
	enum option_owner owner;
	enum option_wait wait;
	enum option_progress progress;
	enum option_transport transport;
	int64_t spin_us; /* -1: chosen by ranks and cores */
	double watchdog_s;
	char *topology, *topology_file, *groups; /* NULL: not given */
	const struct lock_protocol *protocol;    /* the kind that own belongs to */
	_Alignas(int64_t) unsigned char own[LOCK_OPTION_BYTES];
};

/* Whether this build has the transport over UCX. */
bool options_have_ucx(void);

/* The steps of options_read(), for programs without MPI: set the defaults, set any number of
 * options (what: the source, for messages), read the environment, and check the values against each
 * other. All set the thread's error message. */
int options_default(struct options *o, const struct lock_protocol *p);
int options_set(struct options *o, const struct lock_protocol *p, const char *name,
		const char *value, const char *what);
int options_environment(struct options *o, const struct lock_protocol *p);
/* The kind of a table for which the program asked for this one (NULL or "auto": none): PAWL_KIND,
 * if the environment has it, where it asked for none. */
const char *options_kind(const char *asked);
/* Report what has no effect on a table of this kind, and what was probably meant: once in a process
 * each variable PAWL_* that is no option, and each that is an option of other kinds; and keys of
 * the info that are options without the prefix of Pawl. p NULL: of no kind. */
void options_warn(FILE *out, const struct lock_protocol *p, MPI_Info info);
int options_check(const struct options *o);
/* The value of a number, or the index of a choice; otherwise, if the kind has no such option. */
int64_t options_number(const struct options *o, const char *name, int64_t otherwise);
/* The values by level, indexed by enum topo_type; NULL: the kind has no such option. */
const int64_t *options_levels(const struct options *o, const char *name);

/* Read the options of a kind: defaults, then info, then the environment. Sets the thread's error
 * message. Call options_free() in any case. */
int options_read(struct options *o, const struct lock_protocol *p, MPI_Info info);
void options_free(struct options *o);

#endif
