/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that the layout of a table reports, for each kind of lock: a failed allocation, wherever
 * it is; options that do not go together; and words that are wrong while no client holds or awaits
 * a lock. And the words that elements of a level have: that they have places of their own, also
 * where elements differ in size, and that a rank keeps those of its own node only. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl.h>

#include "base/error.h"
#include "lock/kinds.h"
#include "options/option_spec.h"
#include "table/setup.h"
#include "baselines/server/range_queue.h"
#include "tests/tap.h"
#include "tests/wrap.h"

enum { LOCKS = 5, SMALL_UNITS = 4096 };

static void check(bool good, const char *kind, const char *what, const char *detail)
{
	ok(good, "%s: %s%s%s", kind, what, good ? "" : " # ", good ? "" : detail);
}

/* ------------------------------------------------------------ memory that is short */

/* Linked with --wrap: allocations that succeed before one fails; -1: all do. */
static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

MAY_FAIL(void *, malloc, NULL, (size_t size), (size))
MAY_FAIL(void *, calloc, NULL, (size_t n, size_t size), (n, size))

/* --------------------------------------------------------------------- layouts */

static struct topo *topo;
static struct options options;
static struct lock_setup setup;

/* "NAME=VALUE,NAME=VALUE" that the kind takes. The space and the topology are to be freed. */
static int lay_out(const struct lock_protocol *p, const char *topology, int ranks, uint64_t n,
		   const char *values)
{
	char err[ERROR_LENGTH], *copy = strdup(values), *rest = copy, *name;
	int rc = PAWL_SUCCESS;

	topo = topo_parse(topology, ranks, err, sizeof err);
	options_default(&options, p);
	while (topo && copy && rc == PAWL_SUCCESS && (name = strsep(&rest, " "))) {
		char *value = strchr(name, '=');

		if (!value)
			continue;
		*value++ = '\0';
		rc = options_set(&options, p, name, value, "the test");
	}
	free(copy);
	memset(&setup, 0, sizeof setup);
	if (!topo || rc != PAWL_SUCCESS)
		return topo ? rc : PAWL_ERR_TOPOLOGY;
	setup_begin(&setup, setup_protocol(p, topo), topo, &options, n);
	return setup_layout(&setup);
}

static void clean_up(void)
{
	setup_free(&setup);
	options_free(&options);
	topo_free(topo);
}

/* With a tree of units that is small enough to be checked completely. */
static const char *small(const struct lock_protocol *p)
{
	static char text[40];

	snprintf(text, sizeof text, "%s=%d", "units", SMALL_UNITS);
	return option_spec_find(p, "units_most") ? text : "";
}

/* Let each allocation fail once, until none is left. */
static void short_of_memory(const struct lock_protocol *p)
{
	char bad[200] = "";
	int rc = PAWL_ERR_NOMEM, n = 0;

	for (; rc == PAWL_ERR_NOMEM && !bad[0] && n < 100; n++) {
		topo = topo_parse("rack:2 node:2 core:2", 8, bad, sizeof bad);
		options_default(&options, p);
		setup_begin(&setup, p, topo, &options, LOCKS);
		left = n;
		rc = setup_layout(&setup);
		left = -1;
		if (rc == PAWL_ERR_NOMEM && !strstr(pawl_error_message(), "memory"))
			snprintf(bad, sizeof bad, "%.150s", pawl_error_message());
		clean_up();
	}
	check(!bad[0] && rc == PAWL_SUCCESS, p->kind.name, "a failed allocation is reported", bad);
	printf("# %d allocations\n", n - 1);
}

/* The same for the queue of ranges of a server. */
static void queue_short_of_memory(const struct range_store *store, const char *name)
{
	struct range_queue *q = NULL;
	int n = 0;

	for (; !q && n < 100; n++) {
		left = n;
		q = range_queue_create(store, 2, 10);
		left = -1;
	}
	check(q && n > 3, name, "a queue that lacks memory is not there", "");
	range_queue_free(q);
}

/* ---------------------------------------------------------------------- idle words */

static int64_t *words; /* of all ranks, and as many of one more rank, which are zero */

/* A word may hold the place of others; the last values lie behind all words. */
static int64_t *word(void *arg, int rank, uint64_t offset)
{
	(void)arg;
	if (offset >= setup.bytes)
		return words + (uint64_t)topo->nranks * (setup.bytes / 8);
	return words + ((uint64_t)rank * setup.bytes + offset) / 8;
}

static bool all_idle(char *err, size_t errlen)
{
	struct lock_memory m = {.word = word};

	for (uint64_t l = 0; l < LOCKS; l++)
		if (!setup.protocol->check->idle(&setup, l, &m, err, errlen))
			return false;
	return true;
}

/* Whether some value in the word is reported, with a message. */
static bool is_reported(int64_t *w, char *bad, size_t len)
{
	static const int64_t values[] = {1, -1, 2, INT64_C(1) << 20, INT64_C(1) << 40, INT64_MIN};
	bool reported = false;

	for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
		char err[ERROR_LENGTH] = "";

		*w = values[v];
		if (!all_idle(err, sizeof err)) {
			reported = true;
			if (!err[0])
				snprintf(bad, len, "no sentence for a word");
		}
	}
	*w = 0;
	return reported;
}

/* Words that are zero are idle; any other value is either allowed or reported. */
static void idle_words(const struct lock_protocol *p, const char *topology)
{
	char bad[ERROR_LENGTH] = "", err[ERROR_LENGTH] = "", what[100];
	uint64_t reported = 0, all;

	if (lay_out(p, topology, 8, LOCKS, small(p)) != PAWL_SUCCESS) {
		check(false, p->kind.name, topology, pawl_error_message());
		clean_up();
		return;
	}
	all = setup.bytes / 8 * (uint64_t)topo->nranks;
	words = calloc(all + setup.bytes / 8, sizeof *words);
	snprintf(what, sizeof what, "words that are not idle are reported (%s)", topology);
	if (words && all_idle(err, sizeof err)) {
		/* The words up to the end of the header belong to the transport. */
		for (uint64_t i = 0; i < all; i++)
			reported += i % (setup.bytes / 8) >= RMA_HEADER_BYTES / 8 &&
				    is_reported(&words[i], bad, sizeof bad);
		check(!bad[0] && reported >= LOCKS, p->kind.name, what, bad);
	} else {
		check(false, p->kind.name, "words that are zero are idle", err);
	}
	printf("# %llu of %llu words\n", (unsigned long long)reported, (unsigned long long)all);
	free(words);
	clean_up();
}

/* ------------------------------------------------------------------ areas of elements */

static const char *const uneven[] = {
    "node:2 core:2",           "rack:2 node:2 core:2",
    "cyclic node:3 core:4",    "rack:2 node:2 package:2 core:2",
    "node:3 package:2 core:4", "node:9 core:1",
};
static const int uneven_ranks[] = {3, 7, 10, 13, 17, 10};

/* The rank that keeps an element's words of a lock, and how many it keeps before them. */
static void places(void)
{
	static const struct {
		const char *topology;
		int ranks, level, element;
		uint64_t lock;
		int rank;
		uint64_t index;
	} at[] = {
	    /* Rack 1 is ranks 8 to 15: lock 10 is its rank 10 mod 8, there the lock 10 / 8. */
	    {"rack:2 node:2 package:2 core:2", 16, 2, 1, 10, 10, 1},
	    {"rack:2 node:2 package:2 core:2", 16, 4, 5, 10, 10, 5},
	    {"rack:2 node:2 package:2 core:2", 16, 1, 0, UINT64_C(10000000003), 3, 625000000},
	    {"rack:2 node:2 core:2", 7, 3, 1, 5, 3, 2},
	    {"rack:2 node:2 core:2", 7, 3, 3, 5, 6, 5},
	    {"rack:2 node:2 core:2", 7, 2, 1, 5, 6, 1},
	    {"cyclic rack:2 node:2 core:2", 8, 2, 1, 2, 6, 0},
	    {"cyclic node:512 core:32", 16384, 2, 3, 63, 3 + 512 * 31, 1},
	};

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
		char err[ERROR_LENGTH], what[100];
		struct lock_area a;
		uint64_t offset = 0;
		int rank = -1;

		topo = topo_parse(at[i].topology, at[i].ranks, err, sizeof err);
		memset(&setup, 0, sizeof setup);
		setup.topo = topo;
		if (topo) {
			lock_reserve_at_level(&setup, &a, at[i].level, UINT64_C(1) << 40, 8);
			offset = lock_area_place(&setup, &a, at[i].element, at[i].lock, &rank);
		}
		snprintf(what, sizeof what, "is at rank %d, index %llu", rank,
			 (unsigned long long)offset / 8);
		check(rank == at[i].rank && offset == at[i].index * 8, at[i].topology, what, "");
		topo_free(topo);
	}
}

/* Take the bytes from `at` on; false: they are taken, or outside the segment. */
static bool take(unsigned char *taken, int rank, uint64_t at, uint64_t bytes)
{
	if (at < setup.area[0].base || at + bytes > lock_segment_bytes(&setup, rank))
		return false;
	for (uint64_t i = at; i < at + bytes; i++)
		if (taken[(uint64_t)rank * setup.bytes + i]++)
			return false;
	return true;
}

static bool take_area(unsigned char *taken, const struct lock_area *a)
{
	bool good = true;
	int elements = 0, rank;

	for (int r = 0; r < topo->nranks; r++)
		elements = a->element[r] >= elements ? a->element[r] + 1 : elements;
	for (int j = 0; j < elements; j++)
		for (uint64_t i = 0; good && i < a->n; i++) {
			uint64_t at = lock_area_place(&setup, a, j, i, &rank);

			good = a->element[rank] == j && take(taken, rank, at, a->bytes);
		}
	return good;
}

/* What idle() and age() of a lock look at: each word by the same lock only, and inside. */
static struct looks {
	uint64_t *lock; /* [ranks][setup.bytes / 8], 1 + that lock */
	uint64_t now;
	bool good;
} looks;

static int64_t *look_at(void *arg, int rank, uint64_t offset)
{
	uint64_t at = ((uint64_t)rank * setup.bytes + offset) / 8;

	(void)arg;
	if (offset + 8 > lock_segment_bytes(&setup, rank) ||
	    (looks.lock[at] && looks.lock[at] != looks.now)) {
		looks.good = false;
		return words;
	}
	looks.lock[at] = looks.now;
	return &words[at];
}

static bool look_at_all(void)
{
	const struct lock_check_calls *calls = setup.protocol->check;
	struct lock_memory m = {.word = look_at};
	uint64_t all = (uint64_t)topo->nranks * setup.bytes / 8;
	char err[ERROR_LENGTH];

	words = calloc(all, sizeof *words);
	looks = (struct looks){.lock = calloc(all, sizeof *looks.lock)};
	looks.good = words && looks.lock;
	for (looks.now = 1; looks.good && calls && looks.now <= LOCKS; looks.now++) {
		if (calls->idle)
			calls->idle(&setup, looks.now - 1, &m, err, sizeof err);
		if (calls->age)
			calls->age(&setup, looks.now - 1, &m);
	}
	free(words);
	free(looks.lock);
	return looks.good;
}

static void areas(const struct lock_protocol *p, const char *topology, int ranks,
		  const char *values)
{
	char what[120];
	unsigned char *taken = NULL;
	bool good = lay_out(p, topology, ranks, LOCKS, values) == PAWL_SUCCESS;

	if (good)
		taken = calloc((uint64_t)ranks, setup.bytes);
	good = taken != NULL;
	for (int i = 0; good && i < setup.areas; i++)
		good = take_area(taken, &setup.area[i]);
	good = good && (setup.areas == 0 || look_at_all());
	snprintf(what, sizeof what, "each element has words of its own (%s, %d ranks)%s%s",
		 topology, ranks, values[0] ? ", " : "", values);
	if (!good || setup.areas)
		check(good, p->kind.name, what, pawl_error_message());
	free(taken);
	clean_up();
}

/* Bytes a rank for a million locks on nodes of 128 ranks, if there is one more rank on a node of
 * its own: there, and elsewhere. most: for a lock and node. */
static void small_node(const char *kind, uint64_t most)
{
	const uint64_t n = 1000000;
	uint64_t large, alone, even = 0;
	bool good = lay_out(kinds_find(kind), "node:2 core:128", 256, n, "") == PAWL_SUCCESS;

	if (good)
		even = lock_segment_bytes(&setup, 0);
	clean_up();
	good = lay_out(kinds_find(kind), "node:2 core:128", 129, n, "") == PAWL_SUCCESS && good;
	large = good ? lock_segment_bytes(&setup, 0) : 0;
	alone = good ? lock_segment_bytes(&setup, 128) : 0;
	printf("# %s, %llu locks: %llu bytes a rank on 2 nodes of 128, and with one rank on a node"
	       " of its own %llu, and %llu there\n",
	       kind, (unsigned long long)n, (unsigned long long)even, (unsigned long long)large,
	       (unsigned long long)alone);
	good = good && large <= even + 80 * n / 128 && alone <= even + most * n + 64 * n / 128;
	check(good, kind, "a node of one rank makes others reserve no more", pawl_error_message());
	clean_up();
}

/* --------------------------------------------------------------- what does not fit */

struct limit {
	const char *kind, *values;
	int ranks;
	uint64_t n;
	int code;
	const char *word; /* of the message */
};

static void limits_on(const char *nodes, const struct limit cases[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *topology =
		    cases[i].ranks == 64 ? "rack:2 node:2 package:2 numa:2 core:4" : nodes;
		int rc = lay_out(kinds_find(cases[i].kind), topology, cases[i].ranks, cases[i].n,
				 cases[i].values);
		char detail[ERROR_LENGTH + 100];

		snprintf(detail, sizeof detail, "%s: %s", pawl_strerror(rc), pawl_error_message());
		check(rc == cases[i].code && (!rc || strstr(pawl_error_message(), cases[i].word)),
		      cases[i].kind, cases[i].values, detail);
		clean_up();
	}
}

static void limits(void)
{
	static const struct limit on_one_node[] = {
	    {"adaptive", "threads=multiple", 524287, 1, PAWL_SUCCESS, ""},
	    {"adaptive", "threads=multiple max_held=16", 32768, 1, PAWL_ERR_OPTION,
	     "accepted here: 1 to 15"},
	    {"adaptive", "", (1 << 19) - 1, 1, PAWL_SUCCESS, ""},
	    {"adaptive", "", 1 << 19, 1, PAWL_ERR_OPTION, "at most 524287 clients"},
	};
	static const struct limit on_nodes[] = {
	    {"citron", "units=4096 units_most=64", 4, 1, PAWL_ERR_OPTION, "less than units"},
	    {"citron", "units=64 units_most=4096", 4, 1, PAWL_SUCCESS, ""},
	    {"citron", "units=64 max_held=65535", 1 << 16, 1, PAWL_ERR_OPTION, "max_held"},
	    {"drtm", "lease=0", 4, 1, PAWL_ERR_OPTION, "option lease"},
	    {"drtm", "lease=1", 4, 1, PAWL_SUCCESS, ""},
	    {"dslr", "max_held=65535", 4, 1, PAWL_ERR_UNSUPPORTED, "max_held"},
	    {"ss", "max_held=65535", 4, 1, PAWL_ERR_UNSUPPORTED, "max_held"},
	    {"dslr", "", 8192, 1, PAWL_ERR_UNSUPPORTED, "8192 ranks"},
	    {"ss", "", 8192, 1, PAWL_ERR_UNSUPPORTED, "8192 ranks"},
	    {"ss", "max_held=16", 511, 1, PAWL_SUCCESS, ""},
	    {"ss", "max_held=16", 512, 1, PAWL_ERR_UNSUPPORTED, "accepted here: 1 to 15"},
	    {"ss", "", 8191, 1, PAWL_SUCCESS, ""},
	    {"ss", "segments=16777216", 1, 1 << 20, PAWL_ERR_UNSUPPORTED, "option segments"},
	    {"farlock", "max_held=65535", 2, 1, PAWL_ERR_UNSUPPORTED, "max_held"},
	    {"farlock", "max_held=65535", 1, 1, PAWL_SUCCESS, ""},
	    {"declock", "max_held=65535", 2, 1, PAWL_ERR_UNSUPPORTED, "max_held"},
	    {"declock", "max_held=65535", 1, 1, PAWL_SUCCESS, ""},
	    {"declock", "max_held=16", 4095, 1, PAWL_SUCCESS, ""},
	    {"declock", "max_held=16", 4096, 1, PAWL_ERR_UNSUPPORTED, "accepted here: 1 to 15"},
	    {"declock", "", 65535, 1, PAWL_SUCCESS, ""},
	    {"declock", "", 65536, 1, PAWL_ERR_UNSUPPORTED, "65536 ranks"},
	    {"shiftlock", "threads=multiple", 32767, 1, PAWL_SUCCESS, ""},
	    {"adaptive", "threads=multiple", 2 * 8191, 1, PAWL_SUCCESS, ""},
	    {"adaptive", "threads=multiple max_held=16", 2 * 512, 1, PAWL_ERR_OPTION,
	     "accepted here: 1 to 15, or option threads"},
	    {"adaptive", "", 2 * 8192, 1, PAWL_ERR_OPTION, "at most 8191 clients of a node"},
	    {"lld", "max_held=65535", 1 << 20, 1, PAWL_ERR_UNSUPPORTED, "max_held"},
	    {"mpi-win-lock", "", 1, 1 << 20, PAWL_ERR_UNSUPPORTED, "a window for each lock"},
	    {"shiftlock", "t_w=1048576", 4, 1, PAWL_ERR_OPTION, "option t_w"},
	    {"shiftlock", "", (1 << 15) - 1, 1, PAWL_SUCCESS, ""},
	    {"shiftlock", "", 1 << 15, 1, PAWL_ERR_OPTION, "at most 32767 clients"},
	    {"mgl", "threads=multiple", (1 << 20) - 1, 1, PAWL_SUCCESS, ""},
	    {"mgl", "", 1 << 20, 1, PAWL_ERR_OPTION, "at most 1048575 clients"},
	    {"d-mcs", "threads=multiple", 1 << 20, 1, PAWL_SUCCESS, ""},
	    {"alock", "threads=multiple", 1 << 20, 1, PAWL_SUCCESS, ""},
	    {"rma-mcs", "threads=multiple", 1 << 20, 1, PAWL_SUCCESS, ""},
	    {"rma-rw", "threads=multiple", 1 << 20, 1, PAWL_SUCCESS, ""},
	    {"citron", "threads=multiple units=64", (1 << 19) - 1, 1, PAWL_SUCCESS, ""},
	    {"citron", "units=64", 1 << 19, 1, PAWL_ERR_OPTION, "fewer than 524288"},
	    {"citron", "units=1099511627776", 1, (UINT64_C(1) << 40) - 1, PAWL_ERR_NOMEM, ""},
	    {"citron", "units=1099511627776", 1, UINT64_C(1) << 36, PAWL_ERR_NOMEM, ""},
	    {"ss", "segments=8191", 1, (UINT64_C(1) << 40) - 1, PAWL_ERR_UNSUPPORTED,
	     "option segments"},
	    {"rma-mcs", "t_l=1048575", 64, 1, PAWL_ERR_OPTION, "options t_l and t_w"},
	    {"rma-rw", "t_l=1048575", 8, 1, PAWL_SUCCESS, ""},
	    {"rma-rw", "t_l=1048575", 64, 1, PAWL_ERR_OPTION, "options t_l and t_w"},
	};

	limits_on("node:1", on_one_node, sizeof on_one_node / sizeof on_one_node[0]);
	limits_on("node:2", on_nodes, sizeof on_nodes / sizeof on_nodes[0]);
}

/* ------------------------------------------------------------------------ homes */

/* Also for locks with numbers beyond 32 bits. */
static void homes(const char *distribution)
{
	static const uint64_t locks[] = {0, 1, UINT64_C(1) << 32, (UINT64_C(1) << 40) - 2};
	uint64_t n = (UINT64_C(1) << 40) - 1, block = (n + 2) / 3;
	bool good;

	good = lay_out(kinds_find("d-mcs"), "node:1", 3, n, distribution) == PAWL_SUCCESS;
	for (size_t i = 0; good && i < sizeof locks / sizeof locks[0]; i++) {
		uint64_t index, wanted = locks[i] % 3;
		int rank;

		lock_home(&setup, locks[i], &rank, &index);
		if (strstr(distribution, "cyclic"))
			good = rank == (int)wanted && index == locks[i] / 3;
		else
			good = rank == (int)(locks[i] / block) && index == locks[i] % block;
	}
	check(good, distribution, "homes of locks beyond 32 bits", pawl_error_message());
	clean_up();
}

int main(void)
{
	const struct lock_protocol *p;

	for (int i = 0; (p = kinds_get(i)); i++) {
		short_of_memory(p);
		if (p->check && p->check->idle) {
			idle_words(p, "rack:2 node:2 core:2");
			idle_words(p, "core:8");
		}
		for (size_t k = 0; k < sizeof uneven / sizeof uneven[0]; k++)
			areas(p, uneven[k], uneven_ranks[k], small(p));
		for (size_t k = 0; k < sizeof uneven / sizeof uneven[0]; k++)
			if (option_spec_find(p, "t_dc"))
				areas(p, uneven[k], uneven_ranks[k], "t_dc=3");
	}
	places();
	small_node("adaptive", 80);
	small_node("rma-mcs", 8);
	small_node("rma-rw", 40);
	small_node("mgl", 24);
	queue_short_of_memory(&range_list, "list");
	queue_short_of_memory(&range_btree, "B-tree");
	limits();
	homes("distribution=block");
	homes("distribution=cyclic");
	return tap_plan();
}
