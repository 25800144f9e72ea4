/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes, and each thread's last error message. */
#include "base/error.h"

#include <pawl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char buffer[ERROR_LENGTH];
static _Thread_local const char *last = "";

int error_set(int code, const char *format, ...)
{
	char text[ERROR_LENGTH]; /* the arguments may have the last message */
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	memcpy(buffer, text, sizeof text);
	last = buffer;
	return code;
}

int error_note(int code, const char *sentence)
{
	last = sentence;
	return code;
}

const char *pawl_error_message(void)
{
	return last;
}

const char *pawl_strerror(int code)
{
	switch (code) {
	case PAWL_SUCCESS:
		return "success";
	case PAWL_ERR_ARG:
		return "invalid argument";
	case PAWL_ERR_KIND:
		return "no such kind of lock";
	case PAWL_ERR_OPTION:
		return "unknown option or bad option value";
	case PAWL_ERR_UNSUPPORTED:
		return "not supported by this kind of lock";
	case PAWL_ERR_THREAD:
		return "MPI thread level too low";
	case PAWL_ERR_WINDOW:
		return "no usable MPI window";
	case PAWL_ERR_TOPOLOGY:
		return "topology does not fit the job";
	case PAWL_ERR_MPI:
		return "MPI call failed";
	case PAWL_ERR_NOMEM:
		return "out of memory";
	case PAWL_ERR_RANGE:
		return "no such lock, space or units";
	case PAWL_ERR_TOO_MANY:
		return "too many locks held at a time";
	case PAWL_ERR_HELD:
		return "lock is held";
	case PAWL_ERR_NOT_HELD:
		return "lock is not held";
	case PAWL_ERR_BUSY:
		return "lock is busy";
	case PAWL_ERR_TIMEOUT:
		return "timed out";
	case PAWL_ERR_LEASE_LOST:
		return "lease lost";
	case PAWL_ERR_PEER:
		return "a rank died, or its connection is lost";
	case PAWL_ERR_CONNECT:
		return "a rank cannot be reached";
	case PAWL_RECOVERED:
		return "acquired after a recovery";
	default:
		return "unknown error code";
	}
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *pawl_version(void)
{
	return TEXT(PAWL_VERSION_MAJOR) "." TEXT(PAWL_VERSION_MINOR) "." TEXT(PAWL_VERSION_PATCH);
}
