/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog: option watchdog. Each rank publishes what its clients hold and await (board.h). A
 * client that has waited for longer than the option says reads the boards of all ranks, once and
 * whenever its wait has doubled, and reports on stderr the lock, its holders, and the deadlock if
 * the waits form a cycle. Ranks that wait need not do anything: they let the MPI progress as they
 * wait, and that is all that one-sided gets need. A rank that computes for long may not answer; the
 * report says how many did not.
 *
 * The last client of a cycle starts to wait when all others wait already. When it has waited for
 * the time of the option it finds the whole cycle, unless a rank did not answer in time.
 *
 * PAWL_WATCHDOG_WORDS=1 adds the word that the client looks at, for work on the library itself.
 */
#include "observe/watchdog/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "observe/observers.h"
#include "observe/tallies.h"
#include "observe/watchdog/board.h"
#include "observe/watchdog/board_file.h"

enum { REPORT = 4096, HOLDERS = 4 };

struct watch {
	struct board *board;
	const struct observe *of;
};

/* ---------------------------------------------------------------------- events */

static void begin(void *state, const struct observe_record *r)
{
	struct watch *w = state;

	board_set(w->board, r, WAITS_AWAITS, r->begin_ns);
}

static void acquired(void *state, const struct observe_record *r)
{
	struct watch *w = state;

	board_set(w->board, r, r->code == PAWL_SUCCESS ? WAITS_HOLDS : WAITS_NOTHING,
		  r->acquired_ns);
}

static void released(void *state, const struct observe_record *r)
{
	struct watch *w = state;

	board_set(w->board, r, WAITS_NOTHING, 0);
}

/* --------------------------------------------------------------------- reports */

struct text {
	char at[REPORT];
	size_t used;
};

static void add(struct text *t, const char *more)
{
	int n = snprintf(t->at + t->used, sizeof t->at - t->used, "%s", more);

	t->used = t->used + (size_t)n < sizeof t->at ? t->used + (size_t)n : sizeof t->at - 1;
}

static void add_seconds(struct text *t, const char *before, uint64_t since_ns)
{
	char more[64];
	uint64_t now = rma_now_ns();

	snprintf(more, sizeof more, "%s%.1f s", before,
		 now > since_ns ? (double)(now - since_ns) * 1e-9 : 0.0);
	add(t, more);
}

/* A holder whose process has ended. */
static void add_end(struct text *t, const struct waits_entry *h)
{
	if (!board_file_has_ended(h->process))
		return;
	add(t, ", whose process has ended");
	if (h->table->recovers) {
		add(t, "; the lock recovers (option lease)");
		return;
	}
	add(t, "; kind ");
	add(t, h->table->kind);
	add(t, " does not recover");
}

/* The holders that the client waits for. */
static void add_holders(struct text *t, const struct waits *w, const struct waits_entry *mine)
{
	char more[128];
	int told = 0, all = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct waits_entry *h = &w->entry[i];

		if (h->state != WAITS_HOLDS || !waits_is_blocked(w, mine, h) || all++ >= HOLDERS)
			continue;
		add(t, told++ ? ", " : "; held ");
		add(t, waits_mode(h->mode));
		add(t, " by ");
		waits_name_process(h->process, more, sizeof more);
		add(t, more);
		add_seconds(t, " for ", h->since_ns);
		add_end(t, h);
	}
	snprintf(more, sizeof more, " and by %d more", all - told);
	if (all > told)
		add(t, more);
}

/* Whether the cycle is still there: an entry that was seen half-written, or that has changed since,
 * is not. */
static bool is_still_there(const struct waits *w, const size_t *path, size_t n)
{
	struct waits again = {.n = 0};
	struct board_silent silent = {.n = 0};
	bool all = board_read_all(&again, &silent) && waits_contain(&again, w, path, n);

	waits_free(&again);
	return all;
}

static void add_cycle(struct text *t, const struct waits *w, size_t mine)
{
	size_t path[2 * WAITS_CYCLE], n = waits_find_cycle(w, mine, false, path);
	char more[REPORT];

	if (n == 0)
		n = waits_find_cycle(w, mine, true, path);
	if (n == 0 || !is_still_there(w, path, n))
		return;
	add(t, "\npawl: ");
	add(t, waits_title(w, path, n));
	add(t, ": ");
	waits_tell_cycle(w, path, n, more, sizeof more);
	add(t, more);
}

/* The entry of the acquire that waits; w->n: there is none. */
static size_t find_mine(const struct waits *w, const struct watch *watch,
			const struct rma_client *c)
{
	const struct observe_record *r = observe_awaiting(watch->of, c);
	const struct board *b = watch->board;
	size_t i = 0;

	while (i < w->n && (!r || w->entry[i].state != WAITS_AWAITS ||
			    w->entry[i].process->id != b->process[c->rma->rank].id ||
			    w->entry[i].table->id != b->table.id || w->entry[i].slot != r->slot))
		i++;
	return r ? i : w->n;
}

/* Which ranks did not answer, because they compute or have ended. */
static void add_silent(struct text *t, const struct board_silent *silent)
{
	char more[128];

	if (silent->n == 0)
		return;
	add(t, "; ");
	waits_name_process(silent->first, more, sizeof more);
	add(t, more);
	if (silent->n > 1) {
		snprintf(more, sizeof more, " and %d more", silent->n - 1);
		add(t, more);
	}
	add(t, " did not answer");
}

/* The line of the program. addr2line takes long where there is much debug information, so a thread
 * asks once for the line at which it waits. */
static void add_place(struct text *t, const struct watch *watch, const struct rma_client *c)
{
	static _Thread_local const void *last;
	static _Thread_local char text[1][SITE_TEXT];
	const struct observe_record *r = observe_awaiting(watch->of, c);
	struct site site = {.address = r ? r->site : NULL};

	if (!site.address)
		return;
	if (site.address != last) {
		sites_locate(&site);
		sites_resolve(&site, 1, text);
		last = site.address;
	}
	add(t, ", called by ");
	add(t, text[0]);
}

static void report(void *arg, const struct rma_client *c, uint64_t waited_ns, const char *what)
{
	const struct watch *watch = arg;
	const struct board *b = watch->board;
	const struct waits_process *self = &b->process[c->rma->rank];
	struct waits w = {.n = 0};
	struct text t = {.used = 0};
	char more[256];
	struct board_silent silent = {.n = 0};
	size_t mine;

	snprintf(more, sizeof more,
		 "pawl: rank %d of MPI_COMM_WORLD on host %s has waited %.1f s at %s %llu",
		 self->rank, self->host, (double)waited_ns * 1e-9,
		 b->table.ranges ? "space" : "lock", (unsigned long long)c->lock);
	add(&t, more);
	snprintf(more, sizeof more, " of table %llu (%s) for %s",
		 (unsigned long long)b->table.number, b->table.about, what);
	add(&t, more);
	add_place(&t, watch, c);
	board_lock();
	if (board_read_all(&w, &silent)) {
		mine = find_mine(&w, watch, c);
		if (mine < w.n) {
			add_holders(&t, &w, &w.entry[mine]);
			add_silent(&t, &silent);
			add_cycle(&t, &w, mine);
		}
	}
	board_unlock();
	waits_free(&w);
	add(&t, "\n");
	/* In one piece: other ranks write here, too. */
	fwrite(t.at, 1, t.used, stderr);
}

/* ------------------------------------------------------------------ open and close */

uint64_t watch_bytes(int max_held)
{
	return board_bytes(max_held);
}

/* Other threads that wait may read this table's boards. */
static void before_move(void *state)
{
	(void)state;
	board_lock();
}

static void after_move(void *state)
{
	struct watch *w = state;

	board_move(w->board);
	board_unlock();
}

static void close_watch(void *state)
{
	struct watch *w = state;

	w->of->table.rma->waiting.report = NULL;
	board_close(w->board);
	free(w);
}

static const struct observer calls = {
    .begin = begin,
    .acquired = acquired,
    .released = released,
    .close = close_watch,
    .before_move = before_move,
    .after_move = after_move,
};

int observe_open_watch(const struct observe *o, const struct observer **observer, void **state)
{
	struct rma_waiting *waiting = &o->table.rma->waiting;
	char words[OBSERVE_SETTING];
	struct watch *w;
	struct board *b;
	int rc;

	if (!(waiting->watchdog > 0))
		return PAWL_SUCCESS;
	rc = observe_setting(o->table.comm, "PAWL_WATCHDOG_WORDS", words);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (words[0] && strcmp(words, "1") != 0)
		return error_set(PAWL_ERR_OPTION, "PAWL_WATCHDOG_WORDS: \"%.80s\"; accepted: 0, 1",
				 words);
	w = calloc(1, sizeof *w);
	b = board_open(&o->table, w != NULL);
	if (!b) {
		free(w);
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	}
	*w = (struct watch){.of = o, .board = b};
	waiting->words = words[0];
	waiting->report_arg = w;
	waiting->report = report;
	*observer = &calls;
	*state = w;
	return PAWL_SUCCESS;
}
