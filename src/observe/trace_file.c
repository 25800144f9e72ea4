/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of PAWL_TRACE, in Chrome's JSON trace format, which ui.perfetto.dev and chrome://tracing
 * read. A process of the file is a process of the job; a thread of it is a slot of a table, whose
 * acquires follow each other. A wait and a hold are slices ("X"); so is a try that found the
 * lock busy. A hand-over is an arrow from the hold that ended last before to the next one that
 * waited ("s" and "f"); viewers bind both ends to the slices that enclose them.
 *
 * The file is valid after each table: the next one replaces the end. trace_gzip.c has the form of a
 * file that is compressed.
 */
#include "observe/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "observe/file_lock.h"
#include "observe/trace_gzip.h"
#include "observe/watchdog/waits.h"

static const char tail[] = "\n]}\n";

enum { HANDS_MOST = 64 }; /* earlier holds to look at for a hand-over */

bool trace_file_begin(int fd, const char *path, const char *job)
{
	char text[TRACE_BEGIN];
	int n = snprintf(text, sizeof text,
			 "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
			 "{\"ph\": \"M\", \"name\": \"pawl\", \"pid\": 0, \"tid\": 0, \"ts\": 0,"
			 " \"args\": {\"version\": 1, \"job\": \"%s\"}}%s",
			 job, trace_gzip_named(path) ? "" : tail);

	if (n >= TRACE_BEGIN)
		return false;
	return trace_gzip_named(path) ? trace_gzip_begin(fd, text)
				      : write(fd, text, (size_t)n) == n;
}

bool trace_file_create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool well = fd >= 0 && trace_file_begin(fd, path, "");

	if (fd >= 0 && close(fd) != 0)
		well = false;
	return well;
}

/* A file to which a table is added. */
struct output {
	FILE *f;
	uint64_t before; /* bytes of text before the table */
	struct trace_gzip *gzip;
};

/* Open at the place of the tail. */
static bool open_end(const char *path, struct output *o)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	*o = (struct output){.f = NULL};
	if (fd < 0)
		return false;
	/* until the file is closed: several tables may end at a time */
	file_lock(fd, FILE_LOCK_WRITES, F_WRLCK, true);
	if (lseek(fd, 0, SEEK_END) == 0)
		trace_file_begin(fd, path, "");
	o->f =
	    trace_gzip_named(path) ? trace_gzip_open(fd, &o->before, &o->gzip) : fdopen(fd, "r+");
	if (!o->f) {
		close(fd);
		return false;
	}
	if (!o->gzip) {
		fseek(o->f, -(long)strlen(tail), SEEK_END);
		o->before = (uint64_t)ftell(o->f);
	}
	return true;
}

static bool close_end(struct output *o)
{
	bool well;

	if (o->gzip)
		return trace_gzip_close(o->f, o->gzip);
	fputs(tail, o->f);
	well = !ferror(o->f);
	if (fclose(o->f) != 0)
		well = false;
	return well;
}

static double us(uint64_t ns)
{
	return (double)ns * 1e-3;
}

static int thread_of(const struct trace_all *t, const struct trace_record *r)
{
	return t->rank[r->rank].thread + r->slot;
}

/* The part that all events have; the caller goes on with other members. */
static void put_event(FILE *f, const struct trace_all *t, const struct trace_record *r,
		      const char *phase, const char *category, uint64_t ns)
{
	fprintf(f, ",\n{\"ph\": \"%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f",
		phase, category, t->rank[r->rank].number, thread_of(t, r), us(ns));
}

static int by_rank_and_address(const void *a, const void *b)
{
	const struct trace_site *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* The sites are sorted. */
static void put_site(FILE *f, const struct trace_all *t, const struct trace_record *r,
		     const char *name, const void *address)
{
	const struct trace_site wanted = {.rank = r->rank, .address = address}, *found;

	if (t->sites == 0)
		return;
	found = bsearch(&wanted, t->site, t->sites, sizeof wanted, by_rank_and_address);
	if (!found)
		return;
	fprintf(f, ", \"%s\": ", name);
	json_put_text(f, found->text);
}

/* Viewers give each name a colour. */
static void put_arguments(FILE *f, const struct trace_all *t, const struct trace_record *r,
			  const char *before)
{
	fprintf(f,
		", \"name\": \"%s%s %llu\", \"args\": {\"table\": %llu, \"lock\": %llu,"
		" \"mode\": \"%s\"",
		before, t->ranges ? "space" : "lock", (unsigned long long)r->lock,
		(unsigned long long)t->number, (unsigned long long)r->lock, waits_mode(r->mode));
	if (t->ranges)
		fprintf(f, ", \"first\": %lld, \"last\": %lld", (long long)r->first,
			(long long)r->last);
}

static void put_slice(FILE *f, const struct trace_all *t, const struct trace_record *r, bool hold)
{
	uint64_t from = hold ? r->acquired_ns : r->begin_ns;
	uint64_t to = hold ? r->released_ns : r->acquired_ns;
	bool tries = !hold && r->code == PAWL_ERR_BUSY;

	put_event(f, t, r, "X", hold ? "hold" : tries ? "try" : "wait", from);
	fprintf(f, ", \"dur\": %.3f", us(to > from ? to - from : 0));
	put_arguments(f, t, r, hold ? "" : tries ? "try " : "await ");
	put_site(f, t, r, "site", r->site);
	if (hold)
		put_site(f, t, r, "release_site", r->release_site);
	if (r->unfinished)
		fprintf(f, ", \"result\": \"unfinished\"");
	else if (r->code != PAWL_SUCCESS)
		fprintf(f, ", \"result\": \"%s\"", pawl_strerror(r->code));
	fputs("}}", f);
}

static uint64_t clock_error(const struct trace_all *t, int a, int b)
{
	return strcmp(t->rank[a].host, t->rank[b].host) == 0
		   ? 0
		   : t->rank[a].clock_error_ns + t->rank[b].clock_error_ns;
}

/* The hold from which a client that waited got the lock: the one of the rank that the protocol
 * names, else the one that was released last. NULL: it is not known. */
static const struct trace_record *giver(const struct trace_all *t, size_t i)
{
	const struct trace_record *r = &t->record[i], *best = NULL;

	for (size_t back = 1; back <= i && back <= HANDS_MOST; back++) {
		const struct trace_record *g = &t->record[i - back];
		uint64_t error;

		if (g->lock != r->lock)
			break;
		error = clock_error(t, g->rank, r->rank);
		if (g->code != PAWL_SUCCESS || g->unfinished ||
		    g->release_ns > r->acquired_ns + error)
			continue;
		if (r->from >= 0 ? g->rank != r->from : g->released_ns + error <= r->begin_ns)
			continue;
		if (!best || g->release_ns > best->release_ns)
			best = g;
	}
	return best;
}

static void put_hand_over(FILE *f, const struct trace_all *t, size_t i)
{
	const struct trace_record *g = giver(t, i), *r = &t->record[i];
	unsigned long long arrow = t->first_arrow + i;
	uint64_t sent;

	/* By clocks that differ, the release may seem to come after the acquire, and even the hold
	 * after it; then no arrow is possible. */
	if (!g || g->acquired_ns > r->acquired_ns)
		return;
	sent = g->release_ns < r->acquired_ns ? g->release_ns : r->acquired_ns;
	put_event(f, t, g, "s", "hand-over", sent);
	fprintf(f, ", \"id\": %llu, \"name\": \"hand-over\"}", arrow);
	put_event(f, t, r, "f", "hand-over", r->acquired_ns);
	fprintf(f, ", \"id\": %llu, \"name\": \"hand-over\", \"bp\": \"e\"}", arrow);
}

/* Slots are used in the order of their indices. */
static void name_slots(FILE *f, const struct trace_all *t, const struct trace_record *r)
{
	struct trace_rank *k = &t->rank[r->rank];
	char text[300];

	for (; k->named <= r->slot; k->named++) {
		fprintf(f,
			",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %d,"
			" \"ts\": 0, \"args\": {\"name\": ",
			k->number, k->thread + k->named);
		snprintf(text, sizeof text, "table %llu (%s), slot %d",
			 (unsigned long long)t->number, t->about, k->named);
		json_put_text(f, text);
		fputs("}}", f);
	}
}

/* Names of the ranks, and of the slots that were used. */
static void put_names(FILE *f, const struct trace_all *t)
{
	char text[300];

	for (int r = 0; r < t->ranks; r++) {
		const struct trace_rank *k = &t->rank[r];

		fprintf(f,
			",\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": 0,"
			" \"ts\": 0, \"args\": {\"name\": ",
			k->number);
		snprintf(text, sizeof text, "rank %d%s on %s", k->world,
			 k->number == k->world ? "" : " (spawned)", k->host);
		json_put_text(f, text);
		fprintf(f,
			"}},\n{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %d,"
			" \"tid\": 0, \"ts\": 0, \"args\": {\"sort_index\": %d}}",
			k->number, k->number);
		if (k->lost)
			fprintf(f,
				",\n{\"ph\": \"M\", \"name\": \"pawl_lost\", \"pid\": %d,"
				" \"tid\": 0, \"ts\": 0, \"args\": {\"table\": %llu,"
				" \"acquires\": %lld}}",
				k->number, (unsigned long long)t->number, (long long)k->lost);
	}
	fprintf(f,
		",\n{\"ph\": \"M\", \"name\": \"pawl_table\", \"pid\": %d, \"tid\": 0, \"ts\": 0,"
		" \"args\": {\"table\": %llu, \"about\": ",
		t->rank[0].number, (unsigned long long)t->number);
	json_put_text(f, t->about);
	fputs("}}", f);
	for (size_t i = 0; i < t->n; i++)
		name_slots(f, t, &t->record[i]);
}

/* Why the run ended, at the end of the time line. */
static void put_failure(FILE *f, const struct trace_all *t)
{
	fprintf(f,
		",\n{\"ph\": \"i\", \"s\": \"g\", \"cat\": \"failure\", \"pid\": %d, \"tid\": 0,"
		" \"ts\": %.3f, \"args\": {\"table\": %llu}, \"name\": ",
		t->rank[0].number, us(t->failure_ns), (unsigned long long)t->number);
	json_put_text(f, t->failure);
	fputc('}', f);
}

/* ------------------------------------------------------------------------- size */

/* Longer than the events without their sites, by numbers of any size. */
enum { SLICE_BYTES = 300, RANGE_BYTES = 64, ARROW_BYTES = 160 };

uint64_t trace_file_bytes(const struct trace_record *r, bool ranges, size_t site)
{
	const uint64_t slice = SLICE_BYTES + 2 * site + (ranges ? RANGE_BYTES : 0);
	const bool well = r->code == PAWL_SUCCESS;

	return (r->waited || !well ? slice : 0) + (well ? slice : 0) +
	       (r->waited && well ? 2 * ARROW_BYTES : 0);
}

static int by_time(const void *a, const void *b)
{
	const struct trace_record *x = a, *y = b;

	return (x->acquired_ns > y->acquired_ns) - (x->acquired_ns < y->acquired_ns);
}

static size_t longest_site(const struct trace_all *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->sites; i++) {
		size_t len = strlen(t->site[i].text);

		longest = len > longest ? len : longest;
	}
	return longest;
}

/* Leave out the first records, so that the file gets this many bytes at most. */
static void leave_out(struct trace_all *t, uint64_t room)
{
	const size_t site = longest_site(t);
	uint64_t bytes = 0;
	size_t first = 0;

	for (size_t i = 0; i < t->n; i++)
		bytes += trace_file_bytes(&t->record[i], t->ranges, site);
	if (bytes <= room)
		return;
	qsort(t->record, t->n, sizeof *t->record, by_time);
	for (; first < t->n && bytes > room; first++) {
		bytes -= trace_file_bytes(&t->record[first], t->ranges, site);
		t->rank[t->record[first].rank].lost++;
	}
	t->n -= first;
	memmove(t->record, t->record + first, t->n * sizeof *t->record);
}

/* ------------------------------------------------------------------------ table */

static int by_lock_and_time(const void *a, const void *b)
{
	const struct trace_record *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->acquired_ns > y->acquired_ns) - (x->acquired_ns < y->acquired_ns);
}

bool trace_file_add(const char *path, struct trace_all *t)
{
	struct output o;

	if (!open_end(path, &o))
		return false;
	/* A record takes more than a byte, so no arrow of another table has these numbers. */
	t->first_arrow = o.before;
	if (t->limit)
		leave_out(t, t->limit > o.before ? t->limit - o.before : 0);
	if (t->sites)
		qsort(t->site, t->sites, sizeof *t->site, by_rank_and_address);
	qsort(t->record, t->n, sizeof *t->record, by_lock_and_time);
	put_names(o.f, t);
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->record[i];

		if (r->waited || r->code != PAWL_SUCCESS)
			put_slice(o.f, t, r, false);
		if (r->code == PAWL_SUCCESS)
			put_slice(o.f, t, r, true);
		if (r->waited && r->code == PAWL_SUCCESS)
			put_hand_over(o.f, t, i);
	}
	if (t->failure)
		put_failure(o.f, t);
	return close_end(&o);
}
