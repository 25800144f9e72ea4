/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of options. A protocol has a structure for the values of its options, and a table with a
 * line for each option: name, accepted values, default and meaning. Messages, keys of MPI_Info
 * (pawl_NAME), environment variables (PAWL_NAME), pawl-bench --list and the tables of the documents
 * are made from these lines.
 *
 * An option that several kinds have means the same and accepts the same in all of them: its line is
 * a macro here or in a header that they share. Defaults may differ.
 */
#ifndef LOCK_OPTION_H
#define LOCK_OPTION_H

#include <pawl.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_NUMBER,
	OPTION_NS,
	OPTION_US,
	OPTION_SECONDS,
	OPTION_CHOICE,
	OPTION_TEXT,
	OPTION_LEVELS
};

/* OPTION_NS and OPTION_US: a time in that unit, stored as a number; the text may have another unit.
 * The default is the part of is.preset before " ("; the part in parentheses is for people. */
struct option_spec {
	struct pawl_option is; /* values of a choice: words separated by " | " */
	enum option_type type;
	size_t offset;    /* of the value; of a kind's options: in lock_setup.options */
	int64_t min, max; /* of a number */
};

/* Room for the values of a kind's options. */
enum { LOCK_OPTION_BYTES = 128 };

#define OPTION_LINE(name, values, preset, summary, common, type, place, min, max) \
	{                                                                         \
		{name, values, preset, summary, common}, type, place, min, max    \
	}

/* Lines of a kind's table. The value is an int64_t; an int, the number of the word; an int64_t for
 * each type of level. LOCK_OPTIONS_END ends the table. */
#define LOCK_NUMBER(structure, field, name, min, max, preset, summary)         \
	OPTION_LINE(name, #min " .. " #max, preset, summary, 0, OPTION_NUMBER, \
		    offsetof(structure, field), min, max)
#define LOCK_TIME(type, structure, field, name, min, max, preset, summary)                        \
	OPTION_LINE(name, #min " .. " #max, preset, summary, 0, type, offsetof(structure, field), \
		    min, max)
#define LOCK_CHOICE(structure, field, name, words, preset, summary)                                \
	OPTION_LINE(name, words, preset, summary, 0, OPTION_CHOICE, offsetof(structure, field), 0, \
		    0)
#define LOCK_LEVELS(structure, field, name, min, max, preset, summary)                           \
	OPTION_LINE(name, "N | LEVEL:N[,LEVEL:N...], N = " #min " .. " #max, preset, summary, 0, \
		    OPTION_LEVELS, offsetof(structure, field), min, max)
#define LOCK_OPTIONS_END OPTION_LINE(NULL, NULL, NULL, NULL, 0, OPTION_NUMBER, 0, 0, 0)

/* Options that several kinds have. */
struct lock_backoff {
	int64_t min, max; /* nanoseconds */
};
#define LOCK_BACKOFF(structure, field)                                                         \
	LOCK_TIME(OPTION_NS, structure, field.min, "backoff_min", 1, 1000000000, "500",        \
		  "shortest pause between two attempts, in nanoseconds"),                      \
	    LOCK_TIME(OPTION_NS, structure, field.max, "backoff_max", 1, 1000000000, "100000", \
		      "longest pause between two attempts, in nanoseconds")
#define LOCK_LEASE(structure, field, preset)                                   \
	LOCK_TIME(OPTION_US, structure, field, "lease", 0, 3600000000, preset, \
		  "microseconds after which a silent holder is taken for dead; 0: never")
#define LOCK_RECOVERIES(structure, field, preset)                        \
	LOCK_NUMBER(structure, field, "recoveries", 1, 16777216, preset, \
		    "recoveries from failures for which each home has memory")
#define LOCK_READERS_TURN(structure, field)                         \
	LOCK_NUMBER(structure, field, "t_r", 1, 2147483647, "1024", \
		    "readers that a counter admits before a waiting writer closes it")
#define LOCK_TURN(structure, field, preset)                      \
	LOCK_NUMBER(structure, field, "t_w", 0, 1048576, preset, \
		    "writers in a row before waiting readers get a turn")
#define LOCK_LOCAL_BUDGET(structure, field, preset)                       \
	LOCK_NUMBER(structure, field, "local_budget", 1, 1048575, preset, \
		    "acquires in a row by the home's node while other nodes wait")
#define LOCK_REMOTE_BUDGET(structure, field, preset)                       \
	LOCK_NUMBER(structure, field, "remote_budget", 1, 1048575, preset, \
		    "acquires in a row by other nodes while the home's node waits")

#endif
