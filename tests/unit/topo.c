/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of levels without a machine: the results of topo_build(), topo_parse() and
 * topo_add_gangs() for given paths and strings, compared with values
 * worked out by hand. Prints TAP; any failed check fails the program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "topo/topo.h"
#include "tests/tap.h"

static char err[512];

static void is_int(long long got, long long wanted, const char *what)
{
	if (!ok(got == wanted, "%s", what))
		printf("# got %lld, wanted %lld\n", got, wanted);
}

static void is_text(const struct topo *t, const char *wanted, const char *what)
{
	if (!ok(t && strcmp(t->text, wanted) == 0, "%s", what))
		printf("# got \"%s\" (%s), wanted \"%s\"\n", t ? t->text : "none", err, wanted);
}

static void is_ints(const int *got, const int *wanted, int n, const char *what)
{
	int same = 1;

	for (int i = 0; got && i < n; i++)
		same = same && got[i] == wanted[i];
	if (ok(got && same, "%s", what))
		return;
	for (int i = 0; got && i < n; i++)
		printf("# [%d] got %d, wanted %d\n", i, got[i], wanted[i]);
}

#define IS_INTS(got, what, ...)                  \
	is_ints(got, (const int[]){__VA_ARGS__}, \
		(int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), what)

/* The members of an element are the ranks that name it, in order; sizes and
 * counts agree; children are numbered densely; inner levels refine outer ones. */
static int consistent(const struct topo *t)
{
	int good = t != NULL && t->nlevels >= 1 && t->level[0].count == 1;

	for (int i = 1; good && i <= t->nlevels; i++) {
		const struct topo_level *l = &t->level[i - 1];
		int smallest = t->nranks, most = 0, seen = -1;

		good = l->first[0] == 0 && l->first[l->count] == t->nranks;
		for (int j = 0; good && j < l->count; j++) {
			good = topo_size(t, i, j) > 0;
			if (topo_size(t, i, j) < smallest)
				smallest = topo_size(t, i, j);
			for (int k = l->first[j]; good && k < l->first[j + 1]; k++)
				good = topo_element(t, l->members[k], i) == j &&
				       (k == l->first[j] || l->members[k - 1] < l->members[k]);
		}
		for (int p = 0; good && p < t->nranks; p++) {
			int j = topo_element(t, p, i), c = topo_child(t, p, i);
			int low = l->members[l->first[j]];

			/* Numbered by lowest rank: a new number is the next one. */
			good = j <= seen + 1 && c >= 0 && c < l->max_children;
			seen = j > seen ? j : seen;
			most = c + 1 > most ? c + 1 : most;
			if (i > 1)
				good = good &&
				       topo_element(t, low, i - 1) == topo_element(t, p, i - 1);
			if (i == t->nlevels)
				good = good && l->members[l->first[j] + c] == p;
		}
		good = good && smallest == l->min_size && most == l->max_children;
	}
	return good;
}

/* Paths from columns of ids, rank by rank. */
static struct topo *build(int nranks, int nlevels, const enum topo_type *types,
			  const char *const *names, const int *ids)
{
	static struct topo_path paths[64];

	for (int p = 0; p < nranks; p++) {
		for (int i = 0; i < nlevels; i++)
			paths[p].id[i] = ids[p * nlevels + i];
	}
	err[0] = '\0';
	return topo_build(nranks, nlevels, types, names, paths, err, sizeof(err));
}

static struct topo *parse(const char *synthetic, int nranks)
{
	err[0] = '\0';
	return topo_parse(synthetic, nranks, err, sizeof(err));
}

static void parses_to(const char *synthetic, int nranks, const char *text)
{
	struct topo *t = parse(synthetic, nranks);

	is_text(t, text, synthetic);
	ok(consistent(t), "... and is consistent");
	topo_free(t);
}

static void test_functions(void)
{
	struct topo *t = parse("rack:2 node:2 package:2 core:2", 16);

	is_text(t, "machine 1 > rack 2 > node 4 > package 8", "four levels");
	if (!ok(consistent(t), "four levels are consistent"))
		return;
	is_int(t->nnodes, 4, "four nodes");
	is_int(topo_element(t, 11, 1), 0, "e(11,1)");
	is_int(topo_element(t, 11, 2), 1, "e(11,2)");
	is_int(topo_element(t, 11, 3), 2, "e(11,3)");
	is_int(topo_element(t, 11, 4), 5, "e(11,4)");
	is_int(topo_child(t, 11, 1), 1, "rank 11 is in rack 1 of the machine");
	is_int(topo_child(t, 11, 2), 0, "... in node 0 of that rack");
	is_int(topo_child(t, 11, 3), 1, "... in package 1 of that node");
	is_int(topo_child(t, 11, 4), 1, "... and rank 1 of that package");
	is_int(topo_size(t, 2, 1), 8, "size of rack 1");
	is_int(topo_size(t, 4, 7), 2, "size of package 7");
	is_int(t->level[3].max_children, 2, "most ranks of a package");
	topo_free(t);
}

static const enum topo_type inner_types[] = {TOPO_NODE, TOPO_PACKAGE, TOPO_NUMA};
static const char *const inner_names[] = {"node", "package", "numa"};
static const enum topo_type group_types[] = {TOPO_GROUP, TOPO_NODE, TOPO_PACKAGE};
static const char *const group_names[] = {"switch", "node", "package"};

static void test_drops(void)
{
	struct topo *t;

	parses_to("node:2 package:1 numa:2 l3:1 l2:2 core:2", 16,
		  "machine 1 > node 2 > numa 4 > l2 8");
	parses_to("package:4 numa:1 core:2", 8, "machine 1 > package 4");
	parses_to("rack:1 node:4 core:2", 8, "machine 1 > node 4");
	parses_to("rack:4 node:1 core:2", 8, "machine 1 > node 4");
	parses_to("machine:1", 3, "machine 1");
	parses_to("rack:2 node:2 package:2", 1, "machine 1");

	t = parse("rack:2 node:2 core:1", 4);
	is_text(t, "machine 1 > rack 2", "nodes of one rank are no level");
	is_int(t ? t->nnodes : 0, 4, "... but are still known");
	IS_INTS(t ? t->node : NULL, "... rank by rank", 0, 1, 2, 3);
	topo_free(t);

	t = build(4, 3, inner_types, inner_names,
		  (const int[]){7, 0, 0, 7, 0, 0, 7, 0, 0, 7, 0, 0});
	is_text(t, "machine 1", "all in one element throughout");
	topo_free(t);
}

static void test_unbound(void)
{
	struct topo *t;

	t = build(
	    8, 3, inner_types, inner_names,
	    (const int[]){0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, -1, 1, 1, 0, 1, 1, 1});
	is_text(t, "machine 1 > node 2 > package 4", "a rank in no numa node: no numa level");
	topo_free(t);

	t = build(
	    8, 3, inner_types, inner_names,
	    (const int[]){0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1});
	is_text(t, "machine 1 > node 2", "a rank in no package: no level below nodes");
	IS_INTS(t ? t->node : NULL, "nodes as given", 0, 0, 0, 0, 1, 1, 1, 1);
	topo_free(t);

	t = build(2, 3, inner_types, inner_names, (const int[]){0, 0, 0, -1, 0, 0});
	ok(!t && strstr(err, "rank 1") && strstr(err, "node"), "a rank in no node is an error");
	topo_free(t);
}

/* Ids are labels: large, sparse, repeated under other parents, out of order. */
static void test_labels(void)
{
	struct topo *t = build(8, 3, group_types, group_names,
			       (const int[]){900, 5, 1, 900, 5, 0, 900, 5, 1, 900, 5, 0,
					     3,   5, 1, 3,   5, 1, 3,   2, 0, 3,   2, 0});

	is_text(t, "machine 1 > switch 2 > node 3 > package 4", "labels");
	if (!ok(consistent(t), "labels are consistent"))
		return;
	IS_INTS(t->level[1].element, "switches by lowest rank", 0, 0, 0, 0, 1, 1, 1, 1);
	IS_INTS(t->node, "nodes: the same id under two switches is two", 0, 0, 0, 0, 1, 1, 2, 2);
	IS_INTS(t->level[3].element, "packages by lowest rank", 0, 1, 0, 1, 2, 2, 3, 3);
	IS_INTS(t->level[3].members, "members of packages", 0, 2, 1, 3, 4, 5, 6, 7);
	IS_INTS(t->order, "order", 0, 2, 1, 3, 4, 5, 6, 7);
	IS_INTS(t->level[2].child, "packages within nodes", 0, 1, 0, 1, 0, 0, 0, 0);
	topo_free(t);
}

static void test_uneven(void)
{
	struct topo *t =
	    build(7, 3, group_types, group_names,
		  (const int[]){0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 1, 1, 0, 1, 1, 0, 1, 2, 0});

	is_text(t, "machine 1 > switch 2 > node 3 > package 5", "uneven elements");
	if (!ok(consistent(t), "uneven elements are consistent"))
		return;
	IS_INTS(t->level[3].first, "packages of 1, 2, 1, 2, 1 ranks", 0, 1, 3, 4, 6, 7);
	is_int(t->level[1].max_children, 2, "most nodes of a switch");
	is_int(t->level[2].max_children, 3, "most packages of a node");
	is_int(t->level[3].max_children, 2, "most ranks of a package");
	is_int(t->level[2].min_size, 1, "smallest node");
	is_int(t->level[1].min_size, 3, "smallest switch");
	topo_free(t);
}

static void test_placement(void)
{
	struct topo *t = parse("cyclic rack:2 node:2 core:2", 8);

	is_text(t, "machine 1 > rack 2 > node 4", "cyclic");
	ok(consistent(t), "cyclic is consistent");
	IS_INTS(t ? t->node : NULL, "ranks go round the nodes", 0, 1, 2, 3, 0, 1, 2, 3);
	IS_INTS(t ? t->level[1].element : NULL, "and the racks", 0, 0, 1, 1, 0, 0, 1, 1);
	IS_INTS(t ? t->order : NULL, "the order is by rack and node", 0, 4, 1, 5, 2, 6, 3, 7);
	IS_INTS(t ? t->level[2].child : NULL, "each node has two", 0, 0, 0, 0, 1, 1, 1, 1);
	if (t) {
		is_int(topo_child(t, 6, 1), 1, "rank 6 is in rack 1");
		is_int(topo_child(t, 6, 2), 0, "... in its node 0");
	}
	topo_free(t);

	t = parse("placement=cyclic node:2 package:2", 7);
	IS_INTS(t ? t->node : NULL, "cyclic over two nodes", 0, 1, 0, 1, 0, 1, 0);
	IS_INTS(t ? t->level[2].element : NULL, "in a node, blocks of ranks", 0, 1, 0, 1, 2, 3, 2);
	topo_free(t);

	t = parse("node:2", 5);
	IS_INTS(t ? t->node : NULL, "without cores a node takes what it must", 0, 0, 0, 1, 1);
	topo_free(t);

	t = parse("placement=block node:2 core:2", 6);
	IS_INTS(t ? t->node : NULL, "beyond the last core, again the first", 0, 0, 1, 1, 0, 0);
	topo_free(t);

	t = parse("node:4 core:4", 6);
	is_text(t, "machine 1 > node 2", "nodes without ranks are not there");
	IS_INTS(t ? t->node : NULL, "the first node fills first", 0, 0, 0, 0, 1, 1);
	topo_free(t);
}

static void test_spelling(void)
{
	parses_to("  Package:2\tNUMANode:1(memory=1 GB indexes=0,1) L3Cache:2 L2:1 Core:2 PU:1 ", 8,
		  "machine 1 > package 2 > l3 4");
	parses_to("machine:1 switch:2 group:2 node:2 socket:2 core:2", 32,
		  "machine 1 > switch 2 > group 4 > node 8 > package 16");
	parses_to("node:2 gang:2 core:4", 16, "machine 1 > node 2 > gang 4");
	parses_to("CYCLIC node:2 core:2(indexes=0,1)", 4, "machine 1 > node 2");
	parses_to("node:2 core:2 pu:2", 8, "machine 1 > node 2");
}

static struct topo *add_gangs(const struct topo *t, const int *cores)
{
	err[0] = '\0';
	return topo_add_gangs(t, cores, err, sizeof(err));
}

static void gangs_of(const char *synthetic, int nranks, const int *cores, const char *text)
{
	struct topo *t = parse(synthetic, nranks), *g = t ? add_gangs(t, cores) : NULL;

	is_text(g, text, synthetic);
	ok(consistent(g), "... with gangs is consistent");
	topo_free(t);
	topo_free(g);
}

static void test_gangs(void)
{
	struct topo *t, *g;

	gangs_of("node:1", 8, (const int[]){2}, "machine 1 > gang 4");
	gangs_of("node:1", 7, (const int[]){3}, "machine 1 > gang 3");
	gangs_of("node:1", 8, (const int[]){8}, "machine 1");
	gangs_of("node:1", 8, (const int[]){1}, "machine 1");
	gangs_of("package:2", 8, (const int[]){2}, "machine 1 > package 2");
	gangs_of("package:2", 8, (const int[]){4}, "machine 1 > package 2 > gang 4");
	gangs_of("node:2 gang:2", 16, (const int[]){2, 2}, "machine 1 > node 2 > gang 4");
	gangs_of("node:4 core:1", 4, (const int[]){1, 1, 1, 1}, "machine 1");

	t = parse("cyclic node:2", 8);
	g = t ? add_gangs(t, (const int[]){2, 4}) : NULL;
	is_text(g, "machine 1 > node 2 > gang 3", "only the crowded node is split");
	IS_INTS(g ? g->level[2].element : NULL, "ranks 0, 2 and 4, 6; the other node whole", 0, 1,
		0, 1, 2, 1, 2, 1);
	IS_INTS(g ? g->order : NULL, "order with gangs", 0, 2, 4, 6, 1, 3, 5, 7);
	IS_INTS(g ? g->level[1].child : NULL, "gangs within nodes", 0, 0, 0, 0, 1, 0, 1, 0);
	if (g) {
		is_int(g->level[2].type, TOPO_GANG, "the innermost level is of gangs");
		is_int(g->level[2].max_children, 4, "most ranks of a gang");
		is_int(g->nnodes, 2, "two nodes as before");
	}
	topo_free(g);

	g = t ? add_gangs(t, (const int[]){2, 0}) : NULL;
	ok(!g && strstr(err, "node 1") && strstr(err, "0 cores"), "a node without cores");
	topo_free(g);
	topo_free(t);
}

/* The message must have each of the given words; the last argument is NULL. */
static void refuses(const char *synthetic, ...)
{
	struct topo *t = parse(synthetic, 8);
	int good = t == NULL && strncmp(err, "topology: ", 10) == 0;
	const char *word;
	char what[128];
	va_list words;

	va_start(words, synthetic);
	while ((word = va_arg(words, const char *)) != NULL)
		good = good && strstr(err, word) != NULL;
	va_end(words);
	snprintf(what, sizeof(what), "refused: \"%.80s\"", synthetic);
	if (!ok(good, "%s", what))
		printf("# message: %s\n", err);
	topo_free(t);
}

static void test_refusals(void)
{
	char tiny[8];

	refuses("nodes:2", "unknown level \"nodes\"", "rack", "package", "gang", "pu", NULL);
	refuses("node:2 die:2 core:2", "unknown level \"die\"", "node:2 die:2", NULL);
	refuses("node:0", "count", "node:0", "positive", NULL);
	refuses("node:-2", "count", "node:-2", "positive", NULL);
	refuses("node:+2", "count", NULL);
	refuses("node: 2", "count", NULL);
	refuses("node:2x", "count", "node:2x", NULL);
	refuses("node", "count", "NAME:N", NULL);
	refuses("node:99999999999999999999", "count", NULL);
	refuses("rack:100000 node:100000", "too many leaves", "node", NULL);
	refuses("core:2 package:2", "out of order \"package\"", "the order is", NULL);
	refuses("node:2 rack:2", "out of order \"rack\"", "the order is", NULL);
	refuses("core:2 gang:2", "out of order \"gang\"", NULL);
	refuses("node:2 machine:1", "out of order \"machine\"", NULL);
	refuses("package:2 socket:2", "repeated level \"socket\"", NULL);
	refuses("machine:2 node:2", "one machine", NULL);
	refuses("rack:2 core:2", "node", "rack", "node:N", NULL);
	refuses("", "no level", "NAME:N", NULL);
	refuses("cyclic", "no level", NULL);
	refuses("placement=random node:2", "placement", "random", "block and cyclic", NULL);
	refuses("node:2 cyclic", "unknown level \"cyclic\"", NULL);
	refuses("core:2(indexes=0,1", "unclosed", NULL);
	refuses("node:2)core:2", "count", NULL);
	refuses("node:2(a)core:2", "no space", NULL);
	refuses("node:2,core:2", "count", NULL);
	refuses(":2", "unknown level", NULL);
	refuses("rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 "
		"node:2",
		"12 levels", "at most 11", NULL);
	refuses("rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 "
		"rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 rack:1 "
		"rack:1 rack:1 rack:1 node:2",
		"too many levels", NULL);

	ok(!parse(NULL, 8) && strstr(err, "no string"), "refused: no string");
	ok(!parse("node:2", 0) && strstr(err, "ranks"), "refused: no ranks");
	ok(!topo_parse("nodes:2", 8, tiny, sizeof(tiny)) && strcmp(tiny, "topolog") == 0,
	   "a short buffer is not overrun");
}

static void test_bad_columns(void)
{
	static const enum topo_type two_nodes[] = {TOPO_NODE, TOPO_NODE};
	static const enum topo_type group_below[] = {TOPO_NODE, TOPO_GROUP};
	static const enum topo_type package_above[] = {TOPO_PACKAGE, TOPO_NODE};
	static const enum topo_type machine[] = {TOPO_MACHINE, TOPO_NODE};
	static const enum topo_type no_node[] = {TOPO_GROUP, TOPO_GROUP};
	static const char *const names[] = {"first", "second"};
	static const char *const long_names[] = {"node", "a name of 24 characters!"};
	const int ids[4] = {0};

	ok(!build(2, 2, two_nodes, names, ids) && strstr(err, "second") && strstr(err, "two node"),
	   "two node levels");
	ok(!build(2, 2, group_below, names, ids) && strstr(err, "second") && strstr(err, "below"),
	   "a group below the nodes");
	ok(!build(2, 2, package_above, names, ids) && strstr(err, "first") && strstr(err, "above"),
	   "a package above the nodes");
	ok(!build(2, 2, machine, names, ids) && strstr(err, "machine"), "a machine column");
	ok(!build(2, 2, no_node, names, ids) && strstr(err, "no node"), "no node column");
	ok(!build(2, 2, inner_types, long_names, ids) && strstr(err, "name"), "a long name");
	ok(!build(2, 0, inner_types, names, ids) && strstr(err, "0 levels"), "no columns");
	ok(!build(0, 1, inner_types, names, ids) && strstr(err, "0 ranks"), "no ranks");
}

static void test_large(void)
{
	struct topo *t, *g;
	clock_t start = clock();
	int cores[512];

	t = parse("cyclic switch:4 rack:8 node:16 package:2 numa:2 l3:2 core:4", 16384);
	is_text(t, "machine 1 > switch 4 > rack 32 > node 512 > package 1024 > numa 2048 > l3 4096",
		"16384 ranks");
	ok(consistent(t), "16384 ranks are consistent");
	is_int(t ? topo_element(t, 16383, 4) : -1, 511, "the last rank is on the last node");
	for (int i = 0; i < 512; i++)
		cores[i] = 16;
	g = t ? add_gangs(t, cores) : NULL;
	is_text(g,
		"machine 1 > switch 4 > rack 32 > node 512 > package 1024 > numa 2048 > l3 4096 > "
		"gang 8192",
		"16384 ranks in gangs of two");
	ok(consistent(g), "8192 gangs are consistent");
	topo_free(g);

	topo_free(t);

	/* A limit that valgrind meets, and no quadratic algorithm. */
	ok((double)(clock() - start) / CLOCKS_PER_SEC < 20.0, "in time");
}

int main(void)
{
	test_functions();
	test_drops();
	test_unbound();
	test_labels();
	test_uneven();
	test_placement();
	test_spelling();
	test_gangs();
	test_refusals();
	test_bad_columns();
	test_large();
	return tap_plan();
}
