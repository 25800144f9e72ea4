/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boards: every rank of a table with a watchdog publishes what its clients hold and await, in a
 * region of its segment that the other ranks read by one-sided operations.
 *
 * An entry is a cache line for each of the first slots of a rank:
 *   word 0   version and state; the version grows with every change
 *   word 1   lock
 *   word 2   mode
 *   word 3   time since when, by the rank's clock
 *   word 4   the thread; bit 0: any thread of the process may release it
 *   word 5,6 units of a range
 * Before the entries there is one line: the number of entries that were ever used, and what to add
 * to the rank's clock to get rank 0's.
 *
 * The owner alone writes. A reader may see a mixture of an old and a new entry. It reads a second
 * time before it relies on what it saw, and compares all words.
 */
#ifndef OBSERVE_BOARD_H
#define OBSERVE_BOARD_H

#include "observe/observe.h"
#include "observe/watchdog/waits.h"

enum { BOARD_LINE = 64, BOARD_WORDS = BOARD_LINE / 8, BOARD_ENTRIES = 64 };

enum board_word {
	BOARD_STATE,
	BOARD_LOCK,
	BOARD_MODE,
	BOARD_SINCE,
	BOARD_THREAD,
	BOARD_FIRST,
	BOARD_LAST
};
/* of the line before the entries */
enum board_head { BOARD_USED, BOARD_OFFSET };

/* The words of one rank. */
struct board_words {
	_Atomic(int64_t) head[BOARD_WORDS];
	_Atomic(int64_t) entry[BOARD_ENTRIES][BOARD_WORDS];
};

struct board_file;

struct board {
	struct board *next; /* in the list of this process */
	const struct observe_table *of;
	struct waits_table table;
	struct waits_process *process; /* [ranks] */
	uint64_t at;                   /* offset of the region in every segment */
	int entries;                   /* for each rank */
	int64_t offset_ns;             /* from this rank's clock to rank 0's */
	struct board_words *mine;
	struct board_file *file; /* the same words, for pawl-stuck; NULL: there is no such file */
	struct rma_client reader;
};

/* Processes that did not answer. */
struct board_silent {
	int n;
	const struct waits_process *first;
};

/* Bytes of the region, to be reserved in the segments. */
uint64_t board_bytes(int max_held);

/* Collective. NULL: a rank has no memory, or its well is false. */
struct board *board_open(const struct observe_table *t, bool well);
void board_close(struct board *b);
/* The table's segments are others now; the caller has board_lock(). */
void board_move(struct board *b);

/* Publish a state of a slot. */
void board_set(struct board *b, const struct observe_record *r, enum waits_state state,
	       uint64_t since_ns);

/* Read the boards of all ranks of all tables of this process, except of ranks that do not answer in
 * time, which are added to *silent. One thread at a time: between board_lock() and
 * board_unlock(), in which no board is opened or closed. False: no memory. */
void board_lock(void);
void board_unlock(void);
bool board_read_all(struct waits *w, struct board_silent *silent);

/* Add the entries of one rank's words. */
bool board_decode(struct waits *w, const struct board_words *words, int entries,
		  const struct waits_process *process, const struct waits_table *table,
		  int64_t clock_offset_ns);

#endif
