/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Add up the statistics of all ranks and print them, in the columns of "perf lock contention".
 *
 * The ranks form a binomial tree: each adds what its children send to its own and sends the sum to
 * its parent, so no rank needs more memory than for two ranks. Call sites travel as module and
 * offset; rank 0 finds function and line, in the modules as they are on its host.
 */
#include "observe/stats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "lock/lock.h"
#include "observe/file_lock.h"
#include "observe/job.h"

enum { TAG = 1 };

struct sums {
	struct tallies tallies;
	struct histogram waits, holds;
};

static void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] += from->count[i];
}

/* What this rank has. */
static void copy_own(struct stats *s, const struct stats_part *part, struct sums *sums)
{
	tallies_clear(&sums->tallies);
	pthread_mutex_lock(&s->mutex);
	tallies_merge(&sums->tallies, &s->tallies, part->first, part->n, part->extra,
		      part->everything);
	sums->waits = s->waits;
	sums->holds = s->holds;
	pthread_mutex_unlock(&s->mutex);
}

/* The sums of all ranks, at rank 0. */
static void add_up(MPI_Comm comm, struct sums *sums, struct sums *room)
{
	int rank, ranks;

	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &ranks);
	for (int bit = 1; bit < ranks; bit <<= 1) {
		if (rank & bit) {
			PMPI_Send(sums, (int)sizeof *sums, MPI_BYTE, rank - bit, TAG, comm);
			return;
		}
		if (rank + bit >= ranks)
			continue;
		PMPI_Recv(room, (int)sizeof *room, MPI_BYTE, rank + bit, TAG, comm,
			  MPI_STATUS_IGNORE);
		tallies_merge(&sums->tallies, &room->tallies, 0, 0, 0, true);
		histogram_merge(&sums->waits, &room->waits);
		histogram_merge(&sums->holds, &room->holds);
	}
}

/* ----------------------------------------------------------------------- rows */

/* A lock, or a call site, over all its tallies. */
struct row {
	uint64_t lock;
	int site;
	struct tally tally;
};

static int by_key(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

/* The longest total wait first, then the most acquires. */
static int by_wait(const void *x, const void *y)
{
	const struct tally *a = &((const struct row *)x)->tally;
	const struct tally *b = &((const struct row *)y)->tally;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return a->acquires > b->acquires ? -1 : a->acquires < b->acquires;
}

/* Add up rows with the same key, and sort them. Returns how many are left. */
static int combine(struct row *rows, int n)
{
	int kept = 0;

	qsort(rows, (size_t)n, sizeof *rows, by_key);
	for (int i = 0; i < n; i++) {
		if (kept > 0 && by_key(&rows[kept - 1], &rows[i]) == 0)
			tally_add(&rows[kept - 1].tally, &rows[i].tally);
		else
			rows[kept++] = rows[i];
	}
	qsort(rows, (size_t)kept, sizeof *rows, by_wait);
	return kept;
}

static int rows_of_locks(const struct tallies *t, struct row *rows)
{
	int n = 0;

	for (int i = 0; i < TALLIES; i++)
		if (t->entry[i].site >= 0)
			rows[n++] = (struct row){t->entry[i].lock, 0, t->entry[i].tally};
	return combine(rows, n);
}

/* The first site with the same text: a line that is compiled several times is one site. */
static int first_like(char (*text)[SITE_TEXT], int64_t site)
{
	int i = 0;

	while (strcmp(text[i], text[site]) != 0)
		i++;
	return i;
}

static int rows_of_sites(const struct tallies *t, char (*text)[SITE_TEXT], struct row *rows)
{
	int n = 0;

	for (int i = 0; i < TALLIES; i++)
		if (t->entry[i].site >= 0)
			rows[n++] =
			    (struct row){0, first_like(text, t->entry[i].site), t->entry[i].tally};
	for (int i = 0; i < t->n_sites; i++)
		if (t->sites[i].rest.acquires)
			rows[n++] = (struct row){0, first_like(text, i), t->sites[i].rest};
	return combine(rows, n);
}

/* ------------------------------------------------------------------- printing */

struct page {
	FILE *out;
	struct stats *s;
	const struct stats_part *part;
	const char *title;
	struct sums *sums;
	struct row *rows;
	char (*sites)[SITE_TEXT];
};

/* "12.3 us" */
static const char *duration(uint64_t ns, char *text, size_t len)
{
	if (ns < 1000)
		snprintf(text, len, "%u ns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(text, len, "%.2f us", (double)ns * 1e-3);
	else if (ns < 1000000000)
		snprintf(text, len, "%.2f ms", (double)ns * 1e-6);
	else
		snprintf(text, len, "%.2f s", (double)ns * 1e-9);
	return text;
}

static uint64_t mean(uint64_t sum, uint64_t n)
{
	return n ? sum / n : 0;
}

static void print_tally(FILE *out, const struct tally *t)
{
	char total[24], average[24], wait[24], hold[24], rank[16] = "-";

	if (t->hold_most_ns)
		snprintf(rank, sizeof rank, "%lld", (long long)t->hold_rank);
	fprintf(out, " %10llu %10llu %12s %12s %12s %12s %6s", (unsigned long long)t->acquires,
		(unsigned long long)t->contended, duration(t->wait_ns, total, sizeof total),
		duration(mean(t->wait_ns, t->contended), average, sizeof average),
		duration(t->wait_most_ns, wait, sizeof wait),
		duration(t->hold_most_ns, hold, sizeof hold), rank);
}

static const char columns[] =
    "   acquires  contended   total wait     avg wait     max wait     max hold   rank";

static int home_of(const struct page *p, uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(p->s->observe->table.setup, lock, &rank, &index);
	return rank;
}

static void name_lock(const struct page *p, uint64_t lock, char *text, size_t len)
{
	if (p->part->title && lock == p->part->extra)
		snprintf(text, len, "window");
	else if (p->part->title)
		snprintf(text, len, "target %llu", (unsigned long long)(lock - p->part->first));
	else
		snprintf(text, len, "%llu", (unsigned long long)lock);
}

static int shown_of(const struct page *p, int n)
{
	return n < p->s->rows ? n : p->s->rows;
}

static void print_locks(struct page *p)
{
	int n = rows_of_locks(&p->sums->tallies, p->rows), shown = shown_of(p, n);

	fprintf(p->out, "pawl: %s: %d of %d locks, by total wait\n", p->title, shown, n);
	fprintf(p->out, "pawl: %14s %6s%s %s %10s\n", "lock", "home", columns,
		"  complex  package     node  network        ?", "far ops");
	for (int i = 0; i < shown; i++) {
		const struct row *r = &p->rows[i];
		char name[40];

		name_lock(p, r->lock, name, sizeof name);
		fprintf(p->out, "pawl: %14s %6d", name, home_of(p, r->lock));
		print_tally(p->out, &r->tally);
		for (int k = 0; k < OBSERVE_LEVELS; k++)
			fprintf(p->out, " %8llu", (unsigned long long)r->tally.handed[k]);
		fprintf(p->out, " %10llu\n", (unsigned long long)r->tally.far);
	}
}

static void print_sites(struct page *p)
{
	int n = rows_of_sites(&p->sums->tallies, p->sites, p->rows), shown = shown_of(p, n);

	fprintf(p->out, "pawl: %s: %d of %d call sites, by total wait\n", p->title, shown, n);
	fprintf(p->out, "pawl:%s   call site\n", columns);
	for (int i = 0; i < shown; i++) {
		fprintf(p->out, "pawl:");
		print_tally(p->out, &p->rows[i].tally);
		fprintf(p->out, "   %s\n", p->sites[p->rows[i].site]);
	}
}

static void print_histogram(struct page *p, const char *what, const struct histogram *h)
{
	static const double percents[] = {50, 90, 99, 99.9, 100};
	char text[24];

	fprintf(p->out, "pawl: %s: %s:", p->title, what);
	for (int i = 0; i < 5; i++)
		fprintf(p->out, "%s %g %% %s", i ? "," : "", percents[i],
			duration(histogram_percentile(h, percents[i]), text, sizeof text));
	fprintf(p->out, "\n");
}

/* ----------------------------------------------------------------------- JSON */

static void put_tally(FILE *out, const struct tally *t)
{
	static const char *const levels[OBSERVE_LEVELS] = {"complex", "package", "node", "network",
							   "unknown"};

	fprintf(out,
		"\"acquires\":%llu,\"contended\":%llu,\"wait_ns\":%llu,\"max_wait_ns\":%llu,"
		"\"max_wait_rank\":%lld,\"hold_ns\":%llu,\"max_hold_ns\":%llu,"
		"\"max_hold_rank\":%lld,\"far\":%llu,\"handovers\":{",
		(unsigned long long)t->acquires, (unsigned long long)t->contended,
		(unsigned long long)t->wait_ns, (unsigned long long)t->wait_most_ns,
		(long long)t->wait_rank, (unsigned long long)t->hold_ns,
		(unsigned long long)t->hold_most_ns, (long long)t->hold_rank,
		(unsigned long long)t->far);
	for (int k = 0; k < OBSERVE_LEVELS; k++)
		fprintf(out, "%s\"%s\":%llu", k ? "," : "", levels[k],
			(unsigned long long)t->handed[k]);
	fprintf(out, "}}");
}

static void put_histogram(FILE *out, const char *name, const struct histogram *h)
{
	fprintf(out, ",\"%s\":{\"50\":%llu,\"90\":%llu,\"99\":%llu,\"99.9\":%llu,\"100\":%llu}",
		name, (unsigned long long)histogram_percentile(h, 50),
		(unsigned long long)histogram_percentile(h, 90),
		(unsigned long long)histogram_percentile(h, 99),
		(unsigned long long)histogram_percentile(h, 99.9),
		(unsigned long long)histogram_percentile(h, 100));
}

static void print_json(struct page *p)
{
	int n = rows_of_locks(&p->sums->tallies, p->rows);

	fprintf(p->out, "{\"table\":");
	json_put_text(p->out, p->title);
	fprintf(p->out, ",\"locks\":[");
	for (int i = 0; i < shown_of(p, n); i++) {
		char name[40];

		name_lock(p, p->rows[i].lock, name, sizeof name);
		fprintf(p->out, "%s{\"lock\":", i ? "," : "");
		json_put_text(p->out, name);
		fprintf(p->out, ",\"home\":%d,", home_of(p, p->rows[i].lock));
		put_tally(p->out, &p->rows[i].tally);
	}
	n = rows_of_sites(&p->sums->tallies, p->sites, p->rows);
	fprintf(p->out, "],\"sites\":[");
	for (int i = 0; i < shown_of(p, n); i++) {
		fprintf(p->out, "%s{\"site\":", i ? "," : "");
		json_put_text(p->out, p->sites[p->rows[i].site]);
		fprintf(p->out, ",");
		put_tally(p->out, &p->rows[i].tally);
	}
	fprintf(p->out, "]");
	if (p->part->everything) {
		put_histogram(p->out, "acquire_ns", &p->sums->waits);
		put_histogram(p->out, "hold_ns", &p->sums->holds);
	}
	fprintf(p->out, "}\n");
}

/* ------------------------------------------------------------------------ all */

/* Terminals, pipes and /dev/null have nothing to empty. */
static bool is_regular(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* With its first table, rank 0 of MPI_COMM_WORLD empties the file, which all ranks then append to:
 * several print on a signal. */
void stats_begin_file(const struct stats *s)
{
	int fd;

	if (!s->file[0] || s->observe->table.rma->rank > 0 || !is_regular(s->file))
		return;
	fd = open(s->file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	file_lock(fd, FILE_LOCK_WRITES, F_WRLCK, true);
	if (!job_may_have_written(fd) && ftruncate(fd, 0) != 0)
		fprintf(stderr, "pawl: PAWL_STATS: %s cannot be begun anew\n", s->file);
	close(fd);
}

static FILE *open_output(const struct stats *s)
{
	FILE *out = s->file[0] ? fopen(s->file, "a") : NULL;

	if (out)
		/* until it is closed: other ranks may print */
		file_lock(fileno(out), FILE_LOCK_WRITES, F_WRLCK, true);
	else if (s->file[0])
		fprintf(stderr, "pawl: PAWL_STATS: %s cannot be written\n", s->file);
	return out ? out : stderr;
}

static bool is_empty(const struct tallies *t)
{
	for (int i = 0; i < TALLIES; i++)
		if (t->entry[i].site >= 0)
			return false;
	return true;
}

static void print(struct stats *s, const struct stats_part *part, const char *title,
		  struct sums *sums)
{
	struct page p = {.s = s, .part = part, .title = title, .sums = sums};

	if (is_empty(&sums->tallies))
		return;
	p.rows = calloc(TALLIES + TALLY_SITES, sizeof *p.rows);
	p.sites = calloc(TALLY_SITES, sizeof *p.sites);
	if (p.rows && p.sites) {
		p.out = open_output(s);
		flockfile(p.out); /* other threads may report, too */
		sites_resolve(sums->tallies.sites, (int)sums->tallies.n_sites, p.sites);
		if (s->json) {
			print_json(&p);
		} else {
			print_locks(&p);
			print_sites(&p);
		}
		if (!s->json && part->everything) {
			print_histogram(&p, "time of an acquire", &sums->waits);
			print_histogram(&p, "time of a hold", &sums->holds);
		}
		funlockfile(p.out);
		if (p.out != stderr)
			fclose(p.out);
	}
	free(p.rows);
	free(p.sites);
}

void stats_print(struct stats *s, MPI_Comm comm, const struct stats_part *part)
{
	const struct observe_table *t = &s->observe->table;
	struct sums *sums = calloc(1, sizeof *sums), *room = calloc(1, sizeof *room);
	int ok = sums && room;
	char title[512];

	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
	if (ok) {
		copy_own(s, part, sums);
		add_up(comm, sums, room);
	}
	if (ok && t->rma->rank == 0) {
		if (part->title)
			snprintf(title, sizeof title, "%s, %d ranks", part->title,
				 t->setup->topo->nranks);
		else
			snprintf(title, sizeof title, "table (%s), %d ranks", t->about,
				 t->setup->topo->nranks);
		print(s, part, title, sums);
	}
	free(sums);
	free(room);
}

void stats_print_own(struct stats *s)
{
	const struct stats_part part = {.everything = true};
	const struct observe_table *t = &s->observe->table;
	struct sums *sums = calloc(1, sizeof *sums);
	char title[512];

	if (!sums)
		return;
	copy_own(s, &part, sums);
	snprintf(title, sizeof title, "table (%s), rank %d alone, so far", t->about, t->rma->rank);
	print(s, &part, title, sums);
	free(sums);
}
