/* SPDX-License-Identifier: BSD-3-Clause */
/* Time lines that are compressed as they are written. */
#ifndef OBSERVE_TRACE_GZIP_H
#define OBSERVE_TRACE_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_gzip;

/* Whether the name of the file asks for it. */
bool trace_gzip_named(const char *path);
/* Whether gzip can be started. */
bool trace_gzip_is_there(void);

/* Begin an empty file with this text, and the end. The text is in the file as it is, from this byte
 * on. */
enum { TRACE_GZIP_TEXT = 15 };
bool trace_gzip_begin(int fd, const char *text);

/* Write text in place of the end. NULL: the file has none, or gzip cannot be started; before: bytes
 * of text so far. The other call puts the end back and closes the file. False: the text is not in
 * the file, which is as it was before. */
FILE *trace_gzip_open(int fd, uint64_t *before, struct trace_gzip **gzip);
bool trace_gzip_close(FILE *f, struct trace_gzip *g);

#endif
