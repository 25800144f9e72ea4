/* SPDX-License-Identifier: BSD-3-Clause */
/* See board.h. */
#include "observe/watchdog/board.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "observe/job.h"
#include "observe/watchdog/board_file.h"
#include "rma/shared_clock.h"

/* How long to wait for the answer of one rank, and of all ranks. A waiter does not look at its lock
 * meanwhile. */
enum { ANSWER_NS = 20000000, ANSWERS_NS = 100000000 };
/* Operations between two flushes. */
enum { GETS = 32 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct board *boards;

/* ---------------------------------------------------------------------- writing */

static void store(_Atomic(int64_t) *word, uint64_t value)
{
	atomic_store_explicit(word, (int64_t)value, memory_order_relaxed);
}

enum { ANY_THREAD = 1 };

static uint64_t thread_of(const struct client_set *set)
{
	static _Thread_local uint64_t mine __attribute__((tls_model("initial-exec")));

	return (uint64_t)(uintptr_t)&mine | (set->threaded && set->by_process ? ANY_THREAD : 0);
}

static void set_words(struct board_words *w, const struct observe_record *r, uint64_t thread,
		      enum waits_state state, uint64_t since_ns)
{
	_Atomic(int64_t) *e = w->entry[r->slot];
	uint64_t version =
	    (uint64_t)atomic_load_explicit(&e[BOARD_STATE], memory_order_relaxed) >> 2;

	if (r->slot >= atomic_load_explicit(&w->head[BOARD_USED], memory_order_relaxed))
		store(&w->head[BOARD_USED], (uint64_t)r->slot + 1);
	store(&e[BOARD_STATE], (version + 1) << 2 | WAITS_NOTHING);
	store(&e[BOARD_LOCK], r->lock);
	store(&e[BOARD_MODE], (uint64_t)r->mode);
	store(&e[BOARD_SINCE], since_ns);
	store(&e[BOARD_THREAD], thread);
	store(&e[BOARD_FIRST], (uint64_t)r->first);
	store(&e[BOARD_LAST], (uint64_t)r->last);
	/* Orders the words of the entry before its state, for readers that map it. */
	atomic_store_explicit(&e[BOARD_STATE], (int64_t)((version + 2) << 2 | state),
			      memory_order_release);
}

void board_set(struct board *b, const struct observe_record *r, enum waits_state state,
	       uint64_t since_ns)
{
	uint64_t thread = thread_of(b->of->clients);

	if (r->slot >= b->entries)
		return;
	set_words(b->mine, r, thread, state, since_ns);
	if (!b->file)
		return;
	if (state == WAITS_AWAITS)
		board_file_rename(b->file, b->table.about);
	set_words(board_file_words(b->file), r, thread, state, since_ns);
}

/* ---------------------------------------------------------------------- reading */

bool board_decode(struct waits *w, const struct board_words *words, int entries,
		  const struct waits_process *process, const struct waits_table *table,
		  int64_t clock_offset_ns)
{
	int64_t used = words->head[BOARD_USED];

	for (int i = 0; i < entries && i < used; i++) {
		const _Atomic(int64_t) *e = words->entry[i];
		struct waits_entry x = {
		    .process = process,
		    .table = table,
		    .slot = i,
		    .version = (uint64_t)e[BOARD_STATE],
		    .state = (enum waits_state)(e[BOARD_STATE] & 3),
		    .lock = (uint64_t)e[BOARD_LOCK],
		    .mode = (int)e[BOARD_MODE],
		    .since_ns = (uint64_t)(e[BOARD_SINCE] + clock_offset_ns),
		    .thread = (uint64_t)e[BOARD_THREAD] & ~(uint64_t)ANY_THREAD,
		    .any_thread = e[BOARD_THREAD] & ANY_THREAD,
		    .first = e[BOARD_FIRST],
		    .last = e[BOARD_LAST],
		};

		if (x.state != WAITS_NOTHING && !waits_add(w, &x))
			return false;
	}
	return true;
}

/* By get, where the rank's answer does not depend on what it does. */
static void get_words(struct board *b, int rank, uint64_t from, int64_t *to, unsigned words)
{
	struct rma_client *c = &b->reader;

	for (unsigned i = 0; i < words; i++) {
		struct rma_word w = rma_word(c->rma, RMA_NET, rank, from + i * sizeof *to);

		to[i] = 0; /* the rank may have died */
		rma_get(c, w, &to[i]);
		if (i % GETS == GETS - 1 || i + 1 == words)
			rma_flush(c, w); /* orders the gets before the looks at their results */
	}
}

static bool fetch(struct board *b, int rank, uint64_t from, void *to, unsigned words,
		  uint64_t until_ns)
{
	const struct rma *r = b->of->rma;

	if (r->map[rank]) {
		const _Atomic(int64_t) *mapped = (const void *)(r->map[rank] + from);

		for (unsigned i = 0; i < words; i++)
			((int64_t *)to)[i] = atomic_load_explicit(&mapped[i], memory_order_acquire);
		return true;
	}
	if (r->transport->look)
		return r->transport->look(&b->reader, rank, from, to, words, until_ns);
	get_words(b, rank, from, to, words);
	return true;
}

static bool read_rank(struct board *b, int rank, struct board_words *words, uint64_t until_ns)
{
	int64_t used;

	if (!fetch(b, rank, b->at, words->head, BOARD_WORDS, until_ns))
		return false;
	used = words->head[BOARD_USED];
	if (used < 0 || used > b->entries)
		used = 0;
	words->head[BOARD_USED] = used;
	return used == 0 || fetch(b, rank, b->at + BOARD_LINE, words->entry,
				  (unsigned)used * BOARD_WORDS, until_ns);
}

static void add_silent(struct board_silent *silent, const struct waits_process *p)
{
	if (silent->n++ == 0)
		silent->first = p;
}

static bool read_table(struct board *b, struct waits *w, struct board_silent *silent,
		       uint64_t end_ns)
{
	struct board_words words;
	int ranks = b->of->setup->topo->nranks;

	for (int rank = 0; rank < ranks; rank++) {
		uint64_t until = rma_now_ns() + ANSWER_NS;

		if (!read_rank(b, rank, &words, until < end_ns ? until : end_ns))
			add_silent(silent, &b->process[rank]);
		else if (!board_decode(w, &words, b->entries, &b->process[rank], &b->table,
				       words.head[BOARD_OFFSET] - b->offset_ns))
			return false;
	}
	return true;
}

bool board_read_all(struct waits *w, struct board_silent *silent)
{
	uint64_t end_ns = rma_now_ns() + ANSWERS_NS;

	for (struct board *b = boards; b; b = b->next)
		if (!read_table(b, w, silent, end_ns))
			return false;
	return true;
}

void board_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void board_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* --------------------------------------------------------------- open and close */

static uint64_t process_id(const char *host)
{
	uint64_t id = hash_add(hash_text(HASH_BEGIN, host), (uint64_t)getpid());

	return id ? id : 1;
}

static struct waits_process me(const struct observe_table *t)
{
	struct waits_process p = {.rank = job_rank(t->comm), .pid = (int32_t)getpid()};

	p.space = board_file_space();
	p.started = board_file_process(p.pid, BOARD_FILE_STARTED);
	gethostname(p.host, sizeof p.host - 1);
	p.id = process_id(p.host);
	return p;
}

uint64_t board_bytes(int max_held)
{
	return BOARD_LINE * (1 + (uint64_t)(max_held < BOARD_ENTRIES ? max_held : BOARD_ENTRIES));
}

void board_move(struct board *b)
{
	const struct observe_table *t = b->of;

	b->at = t->board;
	b->reader = (struct rma_client){.rma = t->rma};
	b->mine = (struct board_words *)(void *)(t->rma->map[t->rma->rank] + b->at);
	store(&b->mine->head[BOARD_OFFSET], (uint64_t)b->offset_ns);
}

struct board *board_open(const struct observe_table *t, bool well)
{
	struct rma_shared_clock clock;
	struct board *b = calloc(1, sizeof *b);
	struct waits_process self = me(t);
	int ranks = t->setup->topo->nranks, all = 0;

	if (b)
		b->process = calloc((size_t)ranks, sizeof *b->process);
	all = well && b && b->process;
	PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, t->comm);
	if (!all) {
		if (b)
			free(b->process);
		free(b);
		return NULL;
	}
	b->of = t;
	b->entries = t->setup->max_held < BOARD_ENTRIES ? t->setup->max_held : BOARD_ENTRIES;
	rma_compare_clocks(t->comm, &clock);
	b->offset_ns = clock.offset_ns;
	board_move(b);
	b->table.about = t->about;
	b->table.kind = t->setup->protocol->kind.name;
	b->table.ranges = t->setup->protocol->kind.capabilities & PAWL_CAP_RANGES;
	b->table.recovers = lock_lease_us(t->setup) > 0;
	b->table.number = t->number;
	PMPI_Allgather(&self, sizeof self, MPI_BYTE, b->process, sizeof self, MPI_BYTE, t->comm);
	b->table.id = hash_add(b->process[0].id, t->number);
	b->file = board_file_open(&self, &b->table);
	board_lock();
	b->next = boards;
	boards = b;
	board_unlock();
	return b;
}

void board_close(struct board *b)
{
	board_lock();
	for (struct board **p = &boards; *p; p = &(*p)->next)
		if (*p == b) {
			*p = b->next;
			break;
		}
	board_unlock();
	board_file_close(b->file);
	free(b->process);
	free(b);
}
