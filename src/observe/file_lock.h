/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks on single bytes of a file, which also processes of other hosts respect. */
#ifndef OBSERVE_FILE_LOCK_H
#define OBSERVE_FILE_LOCK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* What the bytes of a file stand for; no data need be there. */
enum file_lock {
	FILE_LOCK_WRITES, /* exclusive: a process adds to the file */
	FILE_LOCK_USES    /* shared: the job that began the file runs */
};

/* Until the open file is closed. False: another process has it, and the call does not wait. Where
 * the file system has no locks, each is free. */
static inline bool file_lock(int fd, enum file_lock byte, short type, bool waits)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	int rc;

	do
		rc = fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	while (rc != 0 && errno == EINTR);
	return rc == 0 || (errno != EAGAIN && errno != EACCES);
}

#endif
