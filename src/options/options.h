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
enum option_events { EVENTS_NO, EVENTS_YES };
enum option_names { NAMES_NO, NAMES_YES };
enum option_wait { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_PARK };

/* A table's name, and a variable's name with it. */
enum { OPTIONS_NAME_BYTES = 64, OPTIONS_VARIABLE_BYTES = 96 };

struct options {
	enum lock_home home;
	int64_t max_held;
	bool held_given; /* max_held is no default */
	enum option_threads threads;
	enum option_owner owner;
	enum option_wait wait;
	enum option_progress progress;
	enum option_transport transport;
	enum option_names names;
	enum option_events events;
	int64_t connections; /* 0: chosen by descriptors */
	int64_t spin_us;     /* -1: chosen by ranks and cores */
	double watchdog_s;
	char *topology, *topology_file, *groups; /* NULL: not given */
	char name[OPTIONS_NAME_BYTES];           /* of the table; "": none */
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
/* The name that info key pawl_name gives a table, or "". PAWL_ERR_OPTION if it is no name. */
int options_name(MPI_Info info, char name[OPTIONS_NAME_BYTES]);
/* code, with a message about what, if it is no name of a table. */
int options_check_name(const char *name, int code, const char *what);
/* The kind of a table of this name for which the program asked for this one. Where it asked for
 * none (NULL or "auto"), and the environment has PAWL_KIND_NAME or PAWL_KIND, it is that one;
 * variable is then the variable, else "". */
const char *options_kind(const char *asked, const char *name,
			 char variable[OPTIONS_VARIABLE_BYTES]);
/* Report, once in a process, PAWL_KIND_NAME for a table whose kind the program names. */
void options_warn_kind(FILE *out, const char *asked, const char *name);
/* Report the variables for a table of whose name this process has created none. */
void options_warn_unused(FILE *out);
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
