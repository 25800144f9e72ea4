/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time line of a table: PAWL_TRACE=FILE.
 *
 * Each rank keeps its last acquires in a ring of fixed size (PAWL_TRACE_MIB); an event costs a few
 * stores besides the clock. When the table is freed, rank 0 gets the records of all ranks and adds
 * them to the file (trace_file.c). Clocks of hosts are compared when the table is created and when
 * it is freed; between the two the offset changes in proportion to the time.
 *
 * The file has a limit (PAWL_TRACE_FILE_MIB), so a rank does not send more of its last records than
 * the file has room for if all ranks send as many bytes, or all that they have. PAWL_TRACE_RANKS,
 * PAWL_TRACE_LOCKS and PAWL_TRACE_TIME choose what is kept.
 *
 * A table that is never freed is not in the file, because its ranks do not meet any more.
 */
#include "observe/trace.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/error.h"
#include "observe/job.h"
#include "observe/observers.h"
#include "rma/shared_clock.h"

enum { MIB = 1 << 20, MIB_MOST = 65536, TAG = 2, CHUNK = 1 << 16, SPANS = 32 };

/* Ranks or locks, as in "0-3,8". None: all. */
struct spans {
	int n;
	uint64_t first[SPANS], last[SPANS];
};

struct trace {
	const struct observe_table *of;
	char path[OBSERVE_SETTING];
	struct trace_record *ring;
	uint64_t size;
	_Atomic(uint64_t) next; /* number of records so far */
	uint64_t limit;         /* bytes of the file */
	bool is_off;            /* this rank keeps nothing */
	struct spans locks;
	uint64_t from_ns, to_ns; /* acquires that end in between */
	struct rma_shared_clock clock;
	uint64_t opened_ns;
};

/* ---------------------------------------------------------------------- events */

static bool has(const struct spans *s, uint64_t number)
{
	for (int i = 0; i < s->n; i++)
		if (number >= s->first[i] && number <= s->last[i])
			return true;
	return s->n == 0;
}

static void keep(struct trace *t, const struct observe_record *r)
{
	uint64_t next;

	if (t->is_off || r->acquired_ns < t->from_ns || r->acquired_ns > t->to_ns ||
	    !has(&t->locks, r->lock))
		return;
	if (t->of->clients->threaded) {
		next = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
	} else {
		next = atomic_load_explicit(&t->next, memory_order_relaxed);
		atomic_store_explicit(&t->next, next + 1, memory_order_relaxed);
	}
	t->ring[next % t->size] = (struct trace_record){
	    .begin_ns = r->begin_ns,
	    .acquired_ns = r->acquired_ns,
	    .release_ns = r->release_ns,
	    .released_ns = r->released_ns,
	    .lock = r->lock,
	    .first = r->first,
	    .last = r->last,
	    .site = r->site,
	    .release_site = r->release_site,
	    .rank = t->of->rma->rank,
	    .from = r->from,
	    .slot = r->slot,
	    .mode = r->mode,
	    .code = r->released_ns ? PAWL_SUCCESS : r->code,
	    .waited = r->waited,
	};
}

static void acquired(void *state, const struct observe_record *r)
{
	if (r->code != PAWL_SUCCESS)
		keep(state, r);
}

static void released(void *state, const struct observe_record *r)
{
	keep(state, r);
}

/* ------------------------------------------------------------------- gathering */

/* By the clock of rank 0, as it was compared at both ends. */
static uint64_t shared_ns(const struct trace *t, const struct rma_shared_clock *end, uint64_t now,
			  uint64_t ns)
{
	double part = now > t->opened_ns && ns > t->opened_ns
			  ? (double)(ns - t->opened_ns) / (double)(now - t->opened_ns)
			  : 0;

	if (ns == 0)
		return 0;
	return ns + (uint64_t)(t->clock.offset_ns +
			       (int64_t)(part * (double)(end->offset_ns - t->clock.offset_ns)));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the error of the times. */
static uint64_t convert(struct trace *t, uint64_t n)
{
	struct rma_shared_clock end;
	uint64_t now;

	rma_compare_clocks(t->of->comm, &end);
	now = rma_now_ns();
	for (uint64_t i = 0; i < n; i++) {
		struct trace_record *r = &t->ring[i];

		r->begin_ns = shared_ns(t, &end, now, r->begin_ns);
		r->acquired_ns = shared_ns(t, &end, now, r->acquired_ns);
		r->release_ns = shared_ns(t, &end, now, r->release_ns);
		r->released_ns = shared_ns(t, &end, now, r->released_ns);
	}
	return larger(t->clock.error_ns, end.error_ns);
}

static void add_site(struct site *s, int *n, const void *address)
{
	for (int i = 0; i < *n; i++)
		if (s[i].address == address)
			return;
	if (!address || *n == TALLY_SITES)
		return;
	s[*n].address = address;
	sites_locate(&s[(*n)++]);
}

/* The call sites in the ring, at most TALLY_SITES, as text. */
static int64_t find_sites(const struct trace *t, uint64_t records, struct trace_site *to)
{
	struct site *s = calloc(TALLY_SITES, sizeof *s);
	char(*text)[SITE_TEXT] = calloc(TALLY_SITES, sizeof *text);
	int n = 0;

	for (uint64_t i = 0; i < records && s && text; i++) {
		add_site(s, &n, t->ring[i].site);
		add_site(s, &n, t->ring[i].release_site);
	}
	if (n > 0)
		sites_resolve(s, n, text);
	for (int i = 0; i < n; i++) {
		to[i].address = s[i].address;
		to[i].rank = t->of->rma->rank;
		memcpy(to[i].text, text[i], SITE_TEXT);
	}
	free(s);
	free(text);
	return n;
}

/* Each slot that has a record is a thread of the file. */
static int32_t number_threads(const struct trace *t, uint64_t n)
{
	static _Atomic(int32_t) used = 1; /* 0 stands for the process */
	int32_t slots = 0;

	for (uint64_t i = 0; i < n; i++)
		slots = t->ring[i].slot < slots ? slots : t->ring[i].slot + 1;
	return atomic_fetch_add(&used, slots);
}

static struct trace_rank self(const struct trace *t, uint64_t n)
{
	struct trace_rank r = {.world = job_rank(t->of->comm),
			       .number = job_process(t->of->comm),
			       .thread = number_threads(t, n),
			       .records = (int64_t)n};

	r.lost = (int64_t)(atomic_load(&t->next) - n);
	gethostname(r.host, sizeof r.host - 1);
	return r;
}

/* The last records, of so many bytes at most, and none before the first that does not fit; they
 * move to the beginning of the ring. Returns their number; *bytes: those they take. */
static uint64_t keep_last(struct trace *t, uint64_t n, uint64_t most, size_t site, int64_t *bytes)
{
	const bool ranges = t->of->setup->protocol->kind.capabilities & PAWL_CAP_RANGES;
	const uint64_t next = atomic_load(&t->next), end = n < t->size ? n : next % t->size;
	uint64_t kept = 0;

	*bytes = 0;
	while (kept < n) {
		const struct trace_record *r = &t->ring[(end + t->size - 1 - kept) % t->size];
		uint64_t more = trace_file_bytes(r, ranges, site);

		if (more > most - (uint64_t)*bytes)
			break;
		*bytes += (int64_t)more;
		kept++;
	}
	if (kept == n)
		return n;
	if (kept <= end) {
		memmove(t->ring, t->ring + end - kept, kept * sizeof *t->ring);
	} else {
		uint64_t older = kept - end;

		memmove(t->ring + end, t->ring + t->size - older, older * sizeof *t->ring);
	}
	return kept;
}

static int ascending(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The share of each rank: as many bytes for all that have more, so that the sum is the limit. */
static uint64_t share_of(int64_t *bytes, int ranks, uint64_t limit)
{
	uint64_t left = limit;

	qsort(bytes, (size_t)ranks, sizeof *bytes, ascending);
	for (int i = 0; i < ranks; i++) {
		uint64_t share = left / (uint64_t)(ranks - i);

		if ((uint64_t)bytes[i] > share)
			return share;
		left -= (uint64_t)bytes[i];
	}
	return limit;
}

static size_t longest(const struct trace_site *site, int64_t n)
{
	size_t most = 0;

	for (int64_t i = 0; i < n; i++) {
		size_t len = strlen(site[i].text);

		most = len > most ? len : most;
	}
	return most;
}

static void send(const struct trace *t, const void *from, size_t n, size_t size)
{
	for (size_t done = 0; done < n; done += CHUNK) {
		size_t now = n - done < CHUNK ? n - done : CHUNK;

		PMPI_Send((const char *)from + done * size, (int)(now * size), MPI_BYTE, 0, TAG,
			  t->of->comm);
	}
}

static void receive(const struct trace *t, int rank, void *to, size_t n, size_t size)
{
	for (size_t done = 0; done < n; done += CHUNK) {
		size_t now = n - done < CHUNK ? n - done : CHUNK;

		PMPI_Recv((char *)to + done * size, (int)(now * size), MPI_BYTE, rank, TAG,
			  t->of->comm, MPI_STATUS_IGNORE);
	}
}

/* Rank 0. Without memory the other ranks' records are not asked for, so say first whether there is
 * enough. */
static bool prepare(const struct trace *t, struct trace_all *all, const int64_t *sites)
{
	size_t n = 0, m = 0;
	int well = 1;

	if (t->of->rma->rank == 0) {
		for (int r = 0; r < all->ranks; r++) {
			n += (size_t)all->rank[r].records;
			m += (size_t)sites[r];
		}
		all->record = malloc((n ? n : 1) * sizeof *all->record);
		all->site = malloc((m ? m : 1) * sizeof *all->site);
		well = all->record && all->site;
	}
	PMPI_Bcast(&well, 1, MPI_INT, 0, t->of->comm);
	return well;
}

static void collect(const struct trace *t, struct trace_all *all, const struct trace_site *mine,
		    const int64_t *sites)
{
	int rank = t->of->rma->rank;

	if (rank > 0) {
		send(t, t->ring, (size_t)all->rank[rank].records, sizeof *t->ring);
		send(t, mine, (size_t)sites[rank], sizeof *mine);
		return;
	}
	for (int r = 0; r < all->ranks; r++) {
		size_t n = (size_t)all->rank[r].records, m = (size_t)sites[r];

		if (r == 0) {
			memcpy(all->record, t->ring, n * sizeof *t->ring);
			memcpy(all->site, mine, m * sizeof *mine);
		} else {
			receive(t, r, all->record + all->n, n, sizeof *t->ring);
			receive(t, r, all->site + all->sites, m, sizeof *mine);
		}
		all->n += n;
		all->sites += m;
	}
}

static void report(void *state)
{
	struct trace *t = state;
	uint64_t next = atomic_load(&t->next), n = next < t->size ? next : t->size;
	struct trace_all all = {
	    .about = t->of->about,
	    .number = t->of->number,
	    .limit = t->limit,
	    .ranges = t->of->setup->protocol->kind.capabilities & PAWL_CAP_RANGES,
	    .ranks = t->of->setup->topo->nranks,
	};
	struct trace_site *mine = calloc(TALLY_SITES, sizeof *mine);
	int64_t *sites = calloc((size_t)all.ranks, sizeof *sites), found = 0, bytes;
	struct trace_rank me;
	size_t site;
	int well;

	all.rank = calloc((size_t)all.ranks, sizeof *all.rank);
	well = mine && sites && all.rank;
	PMPI_Allreduce(MPI_IN_PLACE, &well, 1, MPI_INT, MPI_MIN, t->of->comm);
	if (well) {
		found = find_sites(t, n, mine);
		site = longest(mine, found);
		keep_last(t, n, t->limit, site, &bytes);
		PMPI_Allgather(&bytes, 1, MPI_INT64_T, sites, 1, MPI_INT64_T, t->of->comm);
		n = keep_last(t, n, share_of(sites, all.ranks, t->limit), site, &bytes);
		me = self(t, n);
		me.clock_error_ns = convert(t, n);
		PMPI_Allgather(&me, sizeof me, MPI_BYTE, all.rank, sizeof me, MPI_BYTE,
			       t->of->comm);
		PMPI_Allgather(&found, 1, MPI_INT64_T, sites, 1, MPI_INT64_T, t->of->comm);
		well = prepare(t, &all, sites);
		if (well)
			collect(t, &all, mine, sites);
	}
	if (t->of->rma->rank == 0 && (!well || !trace_file_add(t->path, &all)))
		fprintf(stderr,
			"pawl: PAWL_TRACE: the time line of table %llu cannot be written to"
			" %s\n",
			(unsigned long long)t->of->number, t->path);
	free(all.record);
	free(all.site);
	free(all.rank);
	free(mine);
	free(sites);
}

/* --------------------------------------------------------------- open and close */

static void close_trace(void *state)
{
	struct trace *t = state;

	free(t->ring);
	free(t);
}

/* A list of numbers and spans. */
static bool read_spans(const char *text, struct spans *s)
{
	const char *at = text;

	for (s->n = 0; *at; s->n++) {
		char *end;

		if (s->n == SPANS || *at < '0' || *at > '9')
			return false;
		s->first[s->n] = s->last[s->n] = strtoull(at, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			s->last[s->n] = strtoull(end + 1, &end, 10);
		if (s->last[s->n] < s->first[s->n] || (*end && (*end != ',' || !end[1])))
			return false;
		at = end + (*end == ',');
	}
	return true;
}

static int get_spans(MPI_Comm comm, const char *name, struct spans *s)
{
	char text[OBSERVE_SETTING];
	int rc = observe_text(comm, name, text);

	if (rc == PAWL_SUCCESS && !read_spans(text, s))
		return error_set(PAWL_ERR_OPTION,
				 "%s: \"%.80s\" is no list of up to %d numbers and spans, as in"
				 " 0-3,8",
				 name, text, (int)SPANS);
	return rc;
}

/* Times since the table was created: "10-20", "500ms-2s". */
static int get_time(struct trace *t)
{
	char text[OBSERVE_SETTING], first[OBSERVE_SETTING];
	int rc = observe_text(t->of->comm, "PAWL_TRACE_TIME", text);
	size_t len = strcspn(text, "-");
	double from = 0, to = 0;

	t->to_ns = UINT64_MAX;
	if (rc != PAWL_SUCCESS || !text[0])
		return rc;
	snprintf(first, sizeof first, "%.*s", (int)len, text);
	if (text[len] != '-' || !duration_parse(first, 1e9, &from) ||
	    !duration_parse(text + len + 1, 1e9, &to) || !(from < to && to < 1e18))
		return error_set(PAWL_ERR_OPTION,
				 "PAWL_TRACE_TIME: \"%.80s\" is no span of seconds since the table"
				 " was created, as in 10-20 or 500ms-2s",
				 text);
	t->from_ns = t->opened_ns + (uint64_t)from;
	t->to_ns = t->opened_ns + (uint64_t)to;
	return PAWL_SUCCESS;
}

/* What is kept, and how much. */
static int get_choice(struct trace *t)
{
	uint64_t mib = 240; /* less than 256 million bytes */
	struct spans ranks = {.n = 0};
	int rc = observe_number(t->of->comm, "PAWL_TRACE_FILE_MIB", 1, MIB_MOST * 16, &mib);

	t->limit = mib * MIB;
	if (rc == PAWL_SUCCESS)
		rc = get_spans(t->of->comm, "PAWL_TRACE_RANKS", &ranks);
	if (rc == PAWL_SUCCESS)
		rc = get_spans(t->of->comm, "PAWL_TRACE_LOCKS", &t->locks);
	if (rc == PAWL_SUCCESS)
		rc = get_time(t);
	if (rc == PAWL_SUCCESS)
		t->is_off = !has(&ranks, (uint64_t)job_rank(t->of->comm));
	return rc;
}

static const struct observer calls = {
    .acquired = acquired,
    .released = released,
    .report = report,
    .close = close_trace,
};

int observe_open_trace(const struct observe *o, const struct observer **observer, void **state)
{
	const struct observe_table *of = &o->table;
	char path[OBSERVE_SETTING];
	struct trace *t;
	uint64_t mib = 16, bytes;
	int well, rc = observe_setting(of->comm, "PAWL_TRACE", path);

	if (rc != PAWL_SUCCESS || !path[0])
		return rc;
	if (strcmp(path, "1") == 0)
		return error_set(PAWL_ERR_OPTION,
				 "PAWL_TRACE names a file, as in PAWL_TRACE=locks.json (a file"
				 " whose name is a word for on or off: ./yes)");
	rc = observe_number(of->comm, "PAWL_TRACE_MIB", 1, MIB_MOST, &mib);
	if (rc != PAWL_SUCCESS)
		return rc;
	bytes = mib * MIB;
	t = calloc(1, sizeof *t);
	if (t)
		t->ring = malloc(bytes);
	well = t && t->ring;
	PMPI_Allreduce(MPI_IN_PLACE, &well, 1, MPI_INT, MPI_MIN, of->comm);
	if (!well) {
		if (t)
			close_trace(t);
		return error_set(PAWL_ERR_NOMEM, "PAWL_TRACE: no memory for a ring of %llu bytes",
				 (unsigned long long)bytes);
	}
	t->of = of;
	t->size = bytes / sizeof *t->ring;
	memcpy(t->path, path, sizeof path);
	t->opened_ns = rma_now_ns();
	rc = get_choice(t);
	if (rc != PAWL_SUCCESS) {
		close_trace(t);
		return rc;
	}
	rc = of->rma->rank == 0 ? trace_claim(t->path) : PAWL_SUCCESS;
	PMPI_Bcast(&rc, 1, MPI_INT, 0, of->comm);
	if (rc != PAWL_SUCCESS) {
		close_trace(t);
		return of->rma->rank == 0
			   ? rc
			   : error_set(rc, "PAWL_TRACE: rank 0 cannot write the file");
	}
	rma_compare_clocks(of->comm, &t->clock);
	*observer = &calls;
	*state = t;
	return PAWL_SUCCESS;
}
