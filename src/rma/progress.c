/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that drives the transport while the application computes (option progress=thread).
 *
 * If the target's MPI calls perform operations, a home that computes for a second delays all
 * clients of its locks. This thread drives the MPI for them.
 *
 * An MPI gives no event when an operation arrives, so the thread polls, and sleeps between two
 * polls. How long it sleeps depends on when it last saw an operation. Operations of other ranks
 * change words of this rank's segment, so the thread keeps a sum of the words: of the first
 * SUM_BYTES only, to keep a poll short; locks behind them are not watched. An origin that has just
 * been served will soon return, because it releases the lock that it has acquired. So the thread
 * sleeps for an eighth of the time since the last change, and at most NAP_MAX_NS, which is the
 * longest delay of a first operation. If polls are so expensive that this would take more than a
 * hundredth of a core, it sleeps longer; it measures what a poll takes. While words change, it
 * sleeps for NAP_MIN_NS, which keeps it to a fraction of a core. Sleeping is better than yielding
 * here: on a busy core a thread that sleeps gets its turn earlier than one that yields again and
 * again.
 *
 * The thread changes no word of the segment and orders nothing: the sum may be of any mixture of
 * old and new words.
 */
#include "rma/progress.h"

#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { NAP_SHARE = 8, NAP_MIN_NS = 20000, NAP_MAX_NS = 2000000, SLACK_NS = 1000 };
/* Naps may be as long as this many polls, so that polls that see nothing take 0.8 % of a core. */
enum { LOOKS_PER_CORE = 125, LOOKS_AVERAGED = 8 };
enum { SUM_BYTES = 16384 };

struct rma_progress {
	struct rma_client client; /* for this thread alone */
	uint64_t words;           /* of the segment, that the sum covers */
	pthread_t thread;
	pthread_mutex_t mutex; /* of client and words: rma_progress_pause() */
	_Atomic(bool) stop;
};

/* Each word is weighted by its position, so that a value that moves to another word shows. */
static uint64_t sum_of_words(const struct rma_progress *p)
{
	const struct rma *r = p->client.rma;
	_Atomic(int64_t) *word = (_Atomic(int64_t) *)(void *)r->map[r->rank];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < p->words; i++)
		sum += (2 * i + 1) * (uint64_t)atomic_load_explicit(&word[i], memory_order_relaxed);
	return sum;
}

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nap(uint64_t idle_ns, uint64_t look_ns)
{
	uint64_t ns = idle_ns / NAP_SHARE, most = LOOKS_PER_CORE * look_ns;

	most = most > NAP_MAX_NS ? most : NAP_MAX_NS;
	ns = ns < NAP_MIN_NS ? NAP_MIN_NS : ns > most ? most : ns;
	nanosleep(&(struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}, NULL);
}

static void *drive(void *arg)
{
	struct rma_progress *p = arg;
	uint64_t changed = rma_now_ns(), sum = 0, looks_ns = 0, used = thread_ns();

	/* Make naps precise. */
	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	while (!atomic_load_explicit(&p->stop, memory_order_acquire)) {
		uint64_t before = sum, used_before = used;

		pthread_mutex_lock(&p->mutex);
		p->client.rma->transport->progress(&p->client);
		sum = sum_of_words(p);
		pthread_mutex_unlock(&p->mutex);
		if (sum != before)
			changed = rma_now_ns();
		nap(rma_now_ns() - changed, looks_ns / LOOKS_AVERAGED);
		used = thread_ns();
		looks_ns += used - used_before - looks_ns / LOOKS_AVERAGED;
	}
	return NULL;
}

static void take(struct rma_progress *p, struct rma *r, uint64_t bytes)
{
	p->client = (struct rma_client){.rma = r};
	p->words = (bytes < SUM_BYTES ? bytes : SUM_BYTES) / sizeof(int64_t);
}

struct rma_progress *rma_progress_start(struct rma *r, uint64_t bytes)
{
	struct rma_progress *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	pthread_mutex_init(&p->mutex, NULL);
	take(p, r, bytes);
	if (thread_start(&p->thread, drive, p))
		return p;
	pthread_mutex_destroy(&p->mutex);
	free(p);
	return NULL;
}

void rma_progress_pause(struct rma_progress *p)
{
	if (p)
		pthread_mutex_lock(&p->mutex);
}

void rma_progress_go_on(struct rma_progress *p, uint64_t bytes)
{
	if (!p)
		return;
	take(p, p->client.rma, bytes);
	pthread_mutex_unlock(&p->mutex);
}

void rma_progress_stop(struct rma_progress *p)
{
	if (!p)
		return;
	atomic_store_explicit(&p->stop, true, memory_order_release);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}
