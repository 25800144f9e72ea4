/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology from a synthetic string: levels with counts, as hwloc writes them, preceded by groups
 * of nodes and nodes. The real machine has no influence, so a laptop, a test or the simulator can
 * have the tree of a whole cluster.
 *
 *   string := [placement] level...      level := name ":" count ["(" ... ")"]
 *
 * The string gives a list of levels, the list gives every rank a leaf, the number of a leaf is its
 * path in mixed radix, and topo_build() does the rest.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/topo.h"

/* Where a level may stand: tiers in this order, each at most once; groups may repeat. */
enum tier {
	TIER_MACHINE,
	TIER_GROUP,
	TIER_NODE,
	TIER_PACKAGE,
	TIER_NUMA,
	TIER_L3,
	TIER_L2,
	TIER_GANG,
	TIER_CORE,
	TIER_PU,
};

static const struct word {
	const char *spelt, *name;
	enum tier tier;
	enum topo_type type; /* unused for core and pu, which are not levels */
} words[] = {
    {"machine", "machine", TIER_MACHINE, TOPO_MACHINE},
    {"rack", "rack", TIER_GROUP, TOPO_GROUP},
    {"switch", "switch", TIER_GROUP, TOPO_GROUP},
    {"group", "group", TIER_GROUP, TOPO_GROUP},
    {"node", "node", TIER_NODE, TOPO_NODE},
    {"package", "package", TIER_PACKAGE, TOPO_PACKAGE},
    {"pack", "package", TIER_PACKAGE, TOPO_PACKAGE},
    {"socket", "package", TIER_PACKAGE, TOPO_PACKAGE},
    {"numa", "numa", TIER_NUMA, TOPO_NUMA},
    {"numanode", "numa", TIER_NUMA, TOPO_NUMA},
    {"l3", "l3", TIER_L3, TOPO_CACHE},
    {"l3cache", "l3", TIER_L3, TOPO_CACHE},
    {"l2", "l2", TIER_L2, TOPO_CACHE},
    {"l2cache", "l2", TIER_L2, TOPO_CACHE},
    {"gang", "gang", TIER_GANG, TOPO_GANG},
    {"core", "core", TIER_CORE, TOPO_GANG},
    {"pu", "pu", TIER_PU, TOPO_GANG},
};

#define NAMES "machine, rack, switch, group, node, package, numa, l3, l2, gang, core, pu"
#define ORDER \
	"machine, then rack, switch and group, then node, package, numa, l3, l2, gang, core, pu"

enum { MAX_TOKENS = 24, SHOWN = 120 };

struct plan {
	const char *string; /* for messages */
	char *err;
	size_t errlen;
	int cyclic;
	int n; /* levels below the machine, including core and pu */
	struct {
		const struct word *word;
		int count;
	} level[MAX_TOKENS];
};

/* Every message says what is wrong, with which text, and what is accepted. */
static int refuse(struct plan *s, const char *what, const char *at, size_t len,
		  const char *accepted)
{
	snprintf(s->err, s->errlen, "topology: %s \"%.*s\" in \"%.*s\"; %s", what,
		 (int)(len < SHOWN ? len : SHOWN), at, SHOWN, s->string, accepted);
	return -1;
}

static int is_word(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(at, word, len) == 0;
}

static const char *skip_space(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Skip "cyclic", "block", "placement=cyclic" or "placement=block" at `at`, if there is one. */
static const char *parse_placement(struct plan *s, const char *at)
{
	static const char key[] = "placement=";
	const char *value = at;
	size_t len;

	if (strncasecmp(at, key, sizeof(key) - 1) == 0)
		value += sizeof(key) - 1;
	len = strcspn(value, " \t\n\r\v\f");
	s->cyclic = is_word(value, len, "cyclic");
	if (s->cyclic || is_word(value, len, "block"))
		return value + len;
	if (value == at)
		return at;
	refuse(s, "unknown placement", value, len, "accepted are block and cyclic");
	return NULL;
}

/* Each tier may occur once and in order; groups may repeat. */
static int check_order(struct plan *s, const struct word *w, const char *at, size_t len)
{
	const struct word *before = s->n > 0 ? s->level[s->n - 1].word : NULL;

	if (s->n == MAX_TOKENS)
		return refuse(s, "too many levels at", at, len, "at most 24 are accepted");
	if (!before || w->tier > before->tier || (w->tier == TIER_GROUP && w->tier == before->tier))
		return 0;
	return refuse(s, w->tier == before->tier ? "repeated level" : "level out of order", at, len,
		      "the order is " ORDER);
}

static const struct word *find_word(const char *at, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(at, len, words[i].spelt))
			return &words[i];
	}
	return NULL;
}

/* The count after the colon at `at`, which must end at stop; 0 if it is invalid. */
static int parse_count(const char *at, const char *stop)
{
	char *end;
	long count;

	/* strtol would also accept blanks and signs. */
	if (*at != ':' || !isdigit((unsigned char)at[1]))
		return 0;
	errno = 0;
	count = strtol(at + 1, &end, 10);
	return end == stop && errno == 0 && count <= INT_MAX ? (int)count : 0;
}

/* Parse one "name:count(...)"; returns what follows it, or NULL. */
static const char *parse_level(struct plan *s, const char *at)
{
	size_t len = strcspn(at, ": \t\n\r\v\f("), whole = strcspn(at, " \t\n\r\v\f(");
	const struct word *w = find_word(at, len);
	const char *end = at + whole;
	int count;

	if (!w) {
		refuse(s, "unknown level", at, len ? len : whole, "accepted are " NAMES);
		return NULL;
	}
	if (check_order(s, w, at, len) != 0)
		return NULL;
	count = parse_count(at + len, end);
	if (count < 1) {
		refuse(s, "bad count of level", at, whole,
		       "accepted is NAME:N with a positive number N");
		return NULL;
	}
	if (w->tier == TIER_MACHINE && count != 1) {
		refuse(s, "bad count of level", at, whole, "there is one machine");
		return NULL;
	}
	/* hwloc's attributes (indexes, sizes of memories) are ignored. */
	if (*end == '(') {
		end = strchr(end, ')');
		if (!end) {
			refuse(s, "unclosed parenthesis at", at, strlen(at), "add the \")\"");
			return NULL;
		}
		end++;
	}
	if (*end && !isspace((unsigned char)*end)) {
		refuse(s, "no space after level", at, (size_t)(end - at),
		       "separate levels by spaces");
		return NULL;
	}
	s->level[s->n].word = w;
	s->level[s->n++].count = count;
	return end;
}

/* The machine is part of every topology, so it is not kept. */
static void drop_machine(struct plan *s)
{
	if (s->n > 0 && s->level[0].word->tier == TIER_MACHINE)
		memmove(&s->level[0], &s->level[1], (size_t)--s->n * sizeof(s->level[0]));
}

/* A string without "node" is one node, outermost. */
static int add_node(struct plan *s)
{
	const char *group;

	for (int i = 0; i < s->n; i++) {
		if (s->level[i].word->tier == TIER_NODE)
			return 0;
	}
	if (s->n > 0 && s->level[0].word->tier == TIER_GROUP) {
		group = s->level[0].word->name;
		return refuse(s, "no level \"node\" below", group, strlen(group),
			      "rack, switch and group are groups of nodes, so add node:N");
	}
	/* There are no groups, so the levels are far fewer than MAX_TOKENS. */
	memmove(&s->level[1], &s->level[0], (size_t)s->n * sizeof(s->level[0]));
	s->level[0].word = find_word("node", 4);
	s->level[0].count = 1;
	s->n++;
	return 0;
}

static int parse_string(struct plan *s)
{
	const char *at = parse_placement(s, skip_space(s->string));
	long long leaves = 1;

	if (!at)
		return -1;
	at = skip_space(at);
	if (!*at)
		return refuse(s, "no level in", s->string, strlen(s->string),
			      "accepted are levels NAME:N with the names " NAMES);
	for (; *at; at = skip_space(at)) {
		at = parse_level(s, at);
		if (!at)
			return -1;
	}
	drop_machine(s);
	if (add_node(s) != 0)
		return -1;
	for (int i = 0; i < s->n; i++) {
		const char *name = s->level[i].word->name;

		leaves *= s->level[i].count;
		if (leaves > INT_MAX)
			return refuse(s, "too many leaves at level", name, strlen(name),
				      "at most 2147483647 are accepted");
	}
	return 0;
}

/* The leaf of the k-th of n ranks. If cores were given, a leaf takes one rank, and ranks beyond the
 * last leaf start again at the first. Otherwise a leaf takes as many consecutive ranks as
 * needed. */
static long long deal(long long k, long long n, long long leaves, int cores_given)
{
	if (n <= leaves || cores_given)
		return k % leaves;
	return k * leaves / n;
}

/* The number of nodes of the string, and of leaves of a node. */
static void count_leaves(const struct plan *s, long long *nodes, long long *per_node)
{
	*nodes = *per_node = 1;
	for (int i = 0; i < s->n; i++) {
		if (s->level[i].word->tier <= TIER_NODE)
			*nodes *= s->level[i].count;
		else
			*per_node *= s->level[i].count;
	}
}

/* The path of a leaf: the digits of its number, in the radix of the counts. */
static void leaf_path(const struct plan *s, long long leaf, struct topo_path *path)
{
	for (int i = s->n - 1; i >= 0; i--) {
		if (s->level[i].word->tier < TIER_CORE)
			path->id[i] = (int)(leaf % s->level[i].count);
		leaf /= s->level[i].count;
	}
}

static void place_ranks(const struct plan *s, int nranks, struct topo_path *paths)
{
	int cores_given = s->level[s->n - 1].word->tier >= TIER_CORE;
	long long nodes, per_node, leaf;

	count_leaves(s, &nodes, &per_node);
	for (int p = 0; p < nranks; p++) {
		if (s->cyclic) {
			long long node = p % nodes;
			long long here = nranks / nodes + (node < nranks % nodes);

			leaf = node * per_node + deal(p / nodes, here, per_node, cores_given);
		} else {
			leaf = deal(p, nranks, nodes * per_node, cores_given);
		}
		leaf_path(s, leaf, &paths[p]);
	}
}

struct topo *topo_parse(const char *synthetic, int nranks, char *err, size_t errlen)
{
	struct plan s = {.string = synthetic, .err = err, .errlen = errlen};
	enum topo_type types[MAX_TOKENS];
	const char *names[MAX_TOKENS];
	struct topo_path *paths;
	struct topo *t;
	int n = 0;

	if (!synthetic || nranks < 1) {
		snprintf(err, errlen, "topology: %s",
			 synthetic ? "fewer ranks than 1" : "no string");
		return NULL;
	}
	if (parse_string(&s) != 0)
		return NULL;
	/* core and pu are innermost; they only say how many ranks fit. */
	for (; n < s.n && s.level[n].word->tier < TIER_CORE; n++) {
		types[n] = s.level[n].word->type;
		names[n] = s.level[n].word->name;
	}
	if (n >= TOPO_MAX_LEVELS) {
		snprintf(err, errlen, "topology: %d levels in \"%.*s\"; at most %d are accepted", n,
			 SHOWN, synthetic, TOPO_MAX_LEVELS - 1);
		return NULL;
	}
	paths = calloc((size_t)nranks, sizeof(*paths));
	if (!paths)
		return topo_no_memory(nranks, err, errlen);
	place_ranks(&s, nranks, paths);
	t = topo_build(nranks, n, types, names, paths, err, errlen);
	free(paths);
	if (t) {
		long long nodes, per_node;

		count_leaves(&s, &nodes, &per_node);
		t->asked_nodes = (int)nodes;
	}
	return t;
}
