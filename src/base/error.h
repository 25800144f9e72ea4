/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling thread's last error. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

enum { ERROR_LENGTH = 512 };

/* Set the thread's error message and return the code. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a constant message, without formatting: for codes that are normal results, such as
 * PAWL_ERR_BUSY. */
int error_note(int code, const char *sentence);

#endif
