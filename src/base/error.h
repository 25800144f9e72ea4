/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling thread's last error. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

enum { ERROR_LENGTH = 512 };

/* Remember the sentence and return the code. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a constant sentence, without formatting: for codes that are an
 * everyday answer, as PAWL_ERR_BUSY is. */
int error_note(int code, const char *sentence);

#endif
