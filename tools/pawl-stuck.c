/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl-stuck shows what the processes of a job on this host await and hold. It reads the boards
 * that processes with option watchdog publish as files (src/observe/watchdog/board_file.h); it
 * needs neither the help of the processes nor the right to trace them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "observe/watchdog/board_file.h"

enum { FINE, NOTHING_FOUND, USAGE, DEADLOCK };
enum { MOST_PIDS = 256, CYCLE_TEXT = 8192 };

static void print_help(FILE *out)
{
	fputs("Usage: pawl-stuck [PID]...\n"
	      "Show what each process of a running job on this host awaits and holds, since when,\n"
	      "and whether the waits form a dead-lock.\n"
	      "\n"
	      "PID: only these processes and those that they have started, as that of mpirun.\n"
	      "Default: all processes of this user. The job runs with option watchdog (for\n"
	      "instance PAWL_WATCHDOG=60 in its environment).\n"
	      "\n"
	      "  -h, --help  print this text\n"
	      "  --version   print the version\n"
	      "\n"
	      "Exit status: 0 there is no dead-lock; 1 there is no process with a watchdog;\n"
	      "2 wrong arguments; 3 there is a dead-lock.\n",
	      out);
}

/* --------------------------------------------------------------------- processes */

static bool is_wanted(int pid, const int *wanted, int n)
{
	for (; pid > 0 && n > 0; pid = (int)board_file_process(pid, BOARD_FILE_PARENT))
		for (int i = 0; i < n; i++)
			if (pid == wanted[i])
				return true;
	return n == 0;
}

/* ------------------------------------------------------------------------ boards */

struct found {
	struct board_file_contents contents;
	struct waits_table table;
	struct found *next;
};

static struct found *find(const char *folder, const int *wanted, int n)
{
	struct found *all = NULL, *f = NULL;
	const struct dirent *e;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		f = f ? f : malloc(sizeof *f);
		if (!f || !board_file_read(path, &f->contents) ||
		    !is_wanted(f->contents.process.pid, wanted, n))
			continue;
		f->table = (struct waits_table){
		    .id = f->contents.table_id,
		    .number = f->contents.table_number,
		    .ranges = f->contents.ranges,
		    .about = f->contents.about,
		};
		f->next = all;
		all = f;
		f = NULL;
	}
	free(f);
	if (d)
		closedir(d);
	return all;
}

static void drop(struct found *f)
{
	while (f) {
		struct found *next = f->next;

		free(f);
		f = next;
	}
}

static bool gather(struct waits *w, const struct found *f)
{
	for (; f; f = f->next)
		if (!board_decode(w, &f->contents.words, BOARD_ENTRIES, &f->contents.process,
				  &f->table, 0))
			return false;
	return true;
}

/* ----------------------------------------------------------------------- the text */

static int by_rank(const void *a, const void *b)
{
	const struct waits_entry *x = a, *y = b;

	if (x->process->rank != y->process->rank)
		return x->process->rank < y->process->rank ? -1 : 1;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return (x->state > y->state) - (x->state < y->state);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print_entries(const struct waits *w)
{
	const struct waits_process *last = NULL;
	uint64_t now = now_ns();
	char text[512];

	for (size_t i = 0; i < w->n; i++) {
		const struct waits_entry *e = &w->entry[i];

		if (!last || last->id != e->process->id) {
			waits_name_process(e->process, text, sizeof text);
			printf("%s, process %d:\n", text, (int)e->process->pid);
		}
		last = e->process;
		waits_name(e, text, sizeof text);
		printf("  %s %s %s for %.1f s\n", e->state == WAITS_HOLDS ? "holds" : "awaits",
		       text, waits_mode(e->mode),
		       now > e->since_ns ? (double)(now - e->since_ns) * 1e-9 : 0.0);
	}
}

/* Each cycle once: from the first of its entries in the list. */
static bool print_cycles(const struct waits *w, const struct waits *later)
{
	bool found = false;

	for (size_t i = 0; i < w->n; i++) {
		size_t path[2 * WAITS_CYCLE] = {0}, n = 0;
		char text[CYCLE_TEXT];
		bool first = true;

		if (w->entry[i].state == WAITS_AWAITS)
			n = waits_find_cycle(w, i, path);
		for (size_t j = 0; j < n; j += 2)
			first = first && path[j] >= i;
		if (n == 0 || path[0] != i || !first || !waits_contain(later, w, path, n))
			continue;
		waits_tell_cycle(w, path, n, text, sizeof text);
		printf("dead-lock: %s\n", text);
		found = true;
	}
	return found;
}

static int show(const char *folder, const int *wanted, int n)
{
	struct found *first = find(folder, wanted, n), *second;
	struct waits w = {.n = 0}, later = {.n = 0};
	int status = FINE;

	if (!first) {
		fprintf(stderr,
			"pawl-stuck: there is no process with a watchdog%s; the job runs"
			" with PAWL_WATCHDOG=SECONDS\n",
			n ? " among these" : " of this user on this host");
		return NOTHING_FOUND;
	}
	usleep(1000); /* an entry may be half-written */
	second = find(folder, wanted, n);
	if (!gather(&w, first) || !gather(&later, second)) {
		fprintf(stderr, "pawl-stuck: out of memory\n");
		status = NOTHING_FOUND;
	} else {
		if (w.n)
			qsort(w.entry, w.n, sizeof *w.entry, by_rank);
		else
			printf("no rank awaits or holds a lock\n");
		print_entries(&w);
		if (print_cycles(&w, &later))
			status = DEADLOCK;
	}
	waits_free(&w);
	waits_free(&later);
	drop(first);
	drop(second);
	return status;
}

int main(int argc, char **argv)
{
	int wanted[MOST_PIDS], n = 0;
	char folder[64];

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			print_help(stdout);
			return FINE;
		}
		if (strcmp(argv[i], "--version") == 0) {
			printf("pawl-stuck %s\n", pawl_version());
			return FINE;
		}
		if (n == MOST_PIDS || atoi(argv[i]) <= 0) {
			fprintf(stderr,
				"pawl-stuck: \"%s\" is no process number; accepted: process"
				" numbers, --help, --version\n",
				argv[i]);
			return USAGE;
		}
		wanted[n++] = atoi(argv[i]);
	}
	if (!board_file_folder(folder, sizeof folder, false))
		folder[0] = '\0';
	return show(folder, wanted, n);
}
