/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A board as a file, for pawl-stuck: a program that is not part of the job reads it, without the
 * help of the process. A file for each process and table, in a folder of the user in /dev/shm.
 */
#ifndef OBSERVE_BOARD_FILE_H
#define OBSERVE_BOARD_FILE_H

#include "observe/watchdog/board.h"

struct board_file_contents {
	char magic[8];
	struct waits_process process;
	uint64_t table_id;
	uint64_t table_number;
	int32_t ranges, recovers;
	char kind[32];
	char about[192];
	struct board_words words;
};

/* NULL: it cannot be created; the job goes on without it. */
struct board_file *board_file_open(const struct waits_process *p, const struct waits_table *t);
void board_file_close(struct board_file *f);
struct board_words *board_file_words(struct board_file *f);
/* The table may have another name by now. */
void board_file_rename(struct board_file *f, const char *about);

/* The folder of a user. False: it does not exist or belongs to another user; create makes it. */
bool board_file_folder(char *path, size_t len, unsigned user, bool create);
/* A field of /proc/PID/stat, from 4 (the parent) on; 0: there is no such process. */
enum { BOARD_FILE_PARENT = 4, BOARD_FILE_STARTED = 22 };
uint64_t board_file_process(int pid, int field);
/* The PID namespace of this process; 0: not known. */
uint64_t board_file_space(void);
/* Whether a process of this host has ended. False also if that is not known: it is on another host,
 * or its number means another process here. */
bool board_file_has_ended(const struct waits_process *p);
/* Read a file of that folder. False: it is none, or one of another PID namespace. */
bool board_file_read(const char *path, struct board_file_contents *c);

#endif
