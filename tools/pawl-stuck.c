/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl-stuck shows what the processes of a job on this host await and hold. It reads the boards
 * that processes with option watchdog publish as files (src/observe/watchdog/board_file.h); it
 * needs neither the help of the processes nor the right to trace them.
 */
#include <ctype.h>
#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "observe/watchdog/board_file.h"

enum { FINE, NOTHING_FOUND, USAGE, DEADLOCK, NOT_KNOWN };
enum { MOST_PIDS = 256, CYCLE_TEXT = 8192 };

static void print_help(FILE *out)
{
	fputs("Usage: pawl-stuck [PID]...\n"
	      "Show what each process of a running job on this host awaits and holds, since when,\n"
	      "and whether the waits form a deadlock.\n"
	      "\n"
	      "PID: only these processes and those that they have started, as that of mpirun.\n"
	      "Default: all processes of this user; of all users for root. The job runs with\n"
	      "option watchdog (for instance PAWL_WATCHDOG=60 in its environment).\n"
	      "\n"
	      "  -h, --help  print this text\n"
	      "  --version   print the version\n"
	      "\n"
	      "Exit status: 0 the waits of these processes form no cycle; 1 there is no process\n"
	      "with a watchdog; 2 wrong arguments; 3 there is a deadlock, or a lock that is not\n"
	      "released because its holder has ended; 4 it cannot be known: there is a cycle,\n"
	      "unless other threads of these processes release their locks.\n",
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
	unsigned user;
	bool has_ended;
	struct found *next;
};

/* Those of the folder of a user, before those in `all`. */
static struct found *find_of_user(unsigned user, const int *wanted, int n, struct found *all)
{
	struct found *f = NULL;
	const struct dirent *e;
	char folder[64];
	DIR *d = NULL;

	if (board_file_folder(folder, sizeof folder, user, false))
		d = opendir(folder);

	while (d && (e = readdir(d))) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		f = f ? f : malloc(sizeof *f);
		if (!f || !board_file_read(path, &f->contents))
			continue;
		f->user = user;
		f->has_ended = board_file_has_ended(&f->contents.process);
		if (!f->has_ended && !is_wanted(f->contents.process.pid, wanted, n))
			continue;
		f->table = (struct waits_table){
		    .id = f->contents.table_id,
		    .number = f->contents.table_number,
		    .ranges = f->contents.ranges,
		    .recovers = f->contents.recovers,
		    .kind = f->contents.kind,
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

static bool has_running(const struct found *f, uint64_t table)
{
	while (f && (f->has_ended || f->table.id != table))
		f = f->next;
	return f != NULL;
}

/* Processes that have ended matter to those that share a table with them. */
static struct found *without_leftovers(struct found *all)
{
	struct found **p = &all;

	while (*p) {
		struct found *f = *p;

		if (!f->has_ended || has_running(all, f->table.id)) {
			p = &f->next;
			continue;
		}
		*p = f->next;
		free(f);
	}
	return all;
}

/* Root sees those of all users. */
static struct found *find(const int *wanted, int n)
{
	struct found *all = NULL;
	const struct dirent *e;
	unsigned user;
	DIR *d;

	if (geteuid() != 0)
		return without_leftovers(find_of_user(geteuid(), wanted, n, NULL));
	d = opendir("/dev/shm");
	while (d && (e = readdir(d)))
		if (sscanf(e->d_name, "pawl-%u", &user) == 1)
			all = find_of_user(user, wanted, n, all);
	if (d)
		closedir(d);
	return without_leftovers(all);
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

static const char *name_of_user(unsigned user)
{
	static char number[24];
	const struct passwd *p = getpwuid(user);

	snprintf(number, sizeof number, "%u", user);
	return p ? p->pw_name : number;
}

/* The file that a process is from. */
static const struct found *file_of(const struct found *f, const struct waits_process *p)
{
	while (&f->contents.process != p)
		f = f->next;
	return f;
}

static void print_process(const struct found *f, const struct waits_process *p)
{
	char text[512];

	f = file_of(f, p);
	waits_name_process(p, text, sizeof text);
	printf("%s, process %d", text, (int)p->pid);
	if (f->user != geteuid())
		printf(" of user %s", name_of_user(f->user));
	if (f->has_ended)
		printf(", which has ended; kind %s %s", f->table.kind,
		       f->table.recovers ? "recovers (option lease)" : "does not recover");
	printf(":\n");
}

static void print_entries(const struct waits *w, const struct found *f)
{
	const struct waits_process *last = NULL;
	uint64_t now = now_ns();
	char text[512];

	for (size_t i = 0; i < w->n; i++) {
		const struct waits_entry *e = &w->entry[i];

		if (!last || last->id != e->process->id)
			print_process(f, e->process);
		last = e->process;
		waits_name(e, text, sizeof text);
		printf("  %s %s %s for %.1f s\n", e->state == WAITS_HOLDS ? "holds" : "awaits",
		       text, waits_mode(e->mode),
		       now > e->since_ns ? (double)(now - e->since_ns) * 1e-9 : 0.0);
	}
}

/* Each cycle once: from the first of its entries in the list. */
static bool print_cycles(const struct waits *w, const struct waits *later, bool by_process)
{
	bool found = false;

	for (size_t i = 0; i < w->n; i++) {
		size_t path[2 * WAITS_CYCLE] = {0}, n = 0;
		char text[CYCLE_TEXT];
		bool first = true;

		if (w->entry[i].state == WAITS_AWAITS)
			n = waits_find_cycle(w, i, by_process, path);
		for (size_t j = 0; j < n; j += 2)
			first = first && path[j] >= i;
		if (n == 0 || path[0] != i || !first || !waits_contain(later, w, path, n))
			continue;
		waits_tell_cycle(w, path, n, text, sizeof text);
		printf("%s: %s\n", waits_title(w, path, n), text);
		found = true;
	}
	return found;
}

/* Whether a process that has ended holds what another one awaits, for ever. */
static bool is_abandoned(const struct waits *w, const struct found *f)
{
	for (size_t i = 0; i < w->n; i++)
		for (size_t h = 0; h < w->n; h++)
			if (w->entry[i].state == WAITS_AWAITS && w->entry[h].state == WAITS_HOLDS &&
			    !w->entry[h].table->recovers &&
			    waits_is_blocked(w, &w->entry[i], &w->entry[h]) &&
			    file_of(f, w->entry[h].process)->has_ended)
				return true;
	return false;
}

static int judge(const struct waits *w, const struct waits *later, const struct found *f)
{
	if (print_cycles(w, later, false) || is_abandoned(w, f))
		return DEADLOCK;
	return print_cycles(w, later, true) ? NOT_KNOWN : FINE;
}

/* A process of another user is not among those of the folder. */
static void explain_nothing(const int *wanted, int n)
{
	for (int i = 0; i < n; i++) {
		char path[64];
		struct stat s;

		snprintf(path, sizeof path, "/proc/%d", wanted[i]);
		if (stat(path, &s) != 0)
			fprintf(stderr, "pawl-stuck: there is no process %d\n", wanted[i]);
		else if (s.st_uid != geteuid() && geteuid() != 0)
			fprintf(stderr,
				"pawl-stuck: process %d is of user %s, who can look at it\n",
				wanted[i], name_of_user(s.st_uid));
	}
	fprintf(stderr,
		"pawl-stuck: there is no process with a watchdog%s; the job runs"
		" with PAWL_WATCHDOG=SECONDS\n",
		n                ? " among these"
		: geteuid() == 0 ? " on this host"
				 : " of this user on this host");
}

static int show(const int *wanted, int n)
{
	struct found *first = find(wanted, n), *second;
	struct waits w = {.n = 0}, later = {.n = 0};
	int status = FINE;

	if (!first) {
		explain_nothing(wanted, n);
		return NOTHING_FOUND;
	}
	usleep(1000); /* an entry may be half-written */
	second = find(wanted, n);
	if (!gather(&w, first) || !gather(&later, second)) {
		fprintf(stderr, "pawl-stuck: out of memory\n");
		status = NOTHING_FOUND;
	} else {
		if (w.n)
			qsort(w.entry, w.n, sizeof *w.entry, by_rank);
		else
			printf("no rank awaits or holds a lock\n");
		print_entries(&w, first);
		status = judge(&w, &later, first);
	}
	waits_free(&w);
	waits_free(&later);
	drop(first);
	drop(second);
	return status;
}

/* 0: it is none. */
static int read_pid(const char *text)
{
	char *end;
	long pid = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

	return pid > 0 && pid <= INT32_MAX && !*end ? (int)pid : 0;
}

int main(int argc, char **argv)
{
	int wanted[MOST_PIDS] = {0}, n = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			print_help(stdout);
			return FINE;
		}
		if (strcmp(argv[i], "--version") == 0) {
			printf("pawl-stuck %s\n", pawl_version());
			return FINE;
		}
		if (n == MOST_PIDS || !read_pid(argv[i])) {
			fprintf(stderr,
				"pawl-stuck: \"%s\" is no process number; accepted: process"
				" numbers, --help, --version\n",
				argv[i]);
			return USAGE;
		}
		wanted[n++] = read_pid(argv[i]);
	}
	return show(wanted, n);
}
