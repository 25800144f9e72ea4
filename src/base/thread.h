/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the library. They block all signals, which are for the application's threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Start one. False: there is no memory for it, or there are too many. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

#endif
