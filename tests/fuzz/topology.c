/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies: of a string, and of columns of ids. The first byte says which, for how many ranks,
 * and whether gangs are added; a string has no byte 0 in it.
 *
 * Strings: the text of an accepted topology, turned into a string, gives
 * the same text; a refused one has a message. Columns: two ranks are in one
 * element of a level exactly if all their ids down to its column are equal. Both: every index of
 * the topology agrees with its definition in topo.h.
 */
#include "property.h"

#include <ctype.h>

#include "topo/topo.h"

enum { RANKS = 64, GANGS = 64, COLUMNS = 128, TEXT = 600 };

/* Check the definitions of struct topo_level for one level. */
static void check_level(const struct topo *t, int i)
{
	const struct topo_level *l = &t->level[i - 1];
	int smallest = t->nranks, most = 0, seen = -1;

	property(l->first[0] == 0 && l->first[l->count] == t->nranks, "members are all ranks");
	for (int j = 0; j < l->count; j++) {
		property(topo_size(t, i, j) > 0, "no element is empty");
		if (topo_size(t, i, j) < smallest)
			smallest = topo_size(t, i, j);
		for (int k = l->first[j]; k < l->first[j + 1]; k++)
			property(topo_element(t, l->members[k], i) == j &&
				     (k == l->first[j] || l->members[k - 1] < l->members[k]),
				 "members are those of the element, ascending");
	}
	for (int p = 0; p < t->nranks; p++) {
		int j = topo_element(t, p, i), c = topo_child(t, p, i);
		int low = l->members[l->first[j]];

		property(j <= seen + 1, "elements are numbered by their lowest ranks");
		seen = j > seen ? j : seen;
		property(c >= 0 && c < l->max_children, "a child's index is below max_children");
		most = c + 1 > most ? c + 1 : most;
		property(i == 1 || topo_element(t, low, i - 1) == topo_element(t, p, i - 1),
			 "a level refines the one above it");
		property(i < t->nlevels || l->members[l->first[j] + c] == p,
			 "the children of an innermost element are its ranks");
	}
	property(smallest == l->min_size && most == l->max_children, "least size, most children");
	property(i == 1 || l->count > t->level[i - 2].count, "a level divides the one above it");
	property(i == 1 || l->count < t->nranks, "a level has more in it than single ranks");
}

/* By place in the tree: level by level, then by rank. */
static bool comes_before(const struct topo *t, int p, int q)
{
	for (int i = 1; i <= t->nlevels; i++)
		if (topo_element(t, p, i) != topo_element(t, q, i))
			return topo_element(t, p, i) < topo_element(t, q, i);
	return p < q;
}

static void check_topology(const struct topo *t, int nranks)
{
	property(t->nranks == nranks && t->nlevels >= 1 && t->nlevels <= TOPO_MAX_LEVELS,
		 "ranks and levels");
	property(t->level[0].type == TOPO_MACHINE && t->level[0].count == 1, "one machine");
	property(t->nnodes >= 1 && t->nnodes <= nranks, "nodes");
	for (int i = 1; i <= t->nlevels; i++)
		check_level(t, i);
	for (int p = 0; p < nranks; p++)
		property(t->node[p] >= 0 && t->node[p] < t->nnodes, "a rank's node");
	for (int k = 1; k < nranks; k++)
		property(comes_before(t, t->order[k - 1], t->order[k]), "the order is by place");
}

static void check_gangs(const struct topo *t, const int *cores)
{
	char err[512] = "";
	struct topo *g = topo_add_gangs(t, cores, err, sizeof err);
	const struct topo_level *l;

	if (!g) {
		property(strstr(err, "topology: ") == err, "a refusal of gangs has a sentence");
		return;
	}
	check_topology(g, t->nranks);
	property(g->nnodes == t->nnodes, "gangs leave the nodes as they are");
	property(g->nlevels == t->nlevels || g->nlevels == t->nlevels + 1,
		 "one more level at most");
	l = &g->level[g->nlevels - 1];
	if (g->nlevels > t->nlevels) {
		property(l->type == TOPO_GANG, "the new level is of gangs");
		for (int j = 0; j < l->count; j++)
			property(
			    topo_size(g, g->nlevels, j) <=
				    cores[t->node[l->members[l->first[j]]]] ||
				topo_size(g, g->nlevels, j) ==
				    topo_size(t, t->nlevels,
					      topo_element(t, l->members[l->first[j]], t->nlevels)),
			    "a gang fits on the cores, or is a whole element");
	}
	topo_free(g);
}

/* -------------------------------------------------------------------------- strings */

/* "machine 1 > rack 2 > node 4" as "rack:2 node:2" for that many ranks. False if there is no such
 * string, because elements have different numbers of children. */
static bool string_of(const struct topo *t, char *string, size_t room, int *nranks)
{
	size_t used = 0;
	bool node = false, group = false;

	string[0] = '\0';
	for (int i = 1; i < t->nlevels; i++) {
		const struct topo_level *l = &t->level[i];

		if (l->count % t->level[i - 1].count)
			return false;
		node = node || l->type >= TOPO_NODE;
		group = group || l->type == TOPO_GROUP;
		used += (size_t)snprintf(string + used, room - used, "%s%s:%d", i > 1 ? " " : "",
					 l->name, l->count / t->level[i - 1].count);
	}
	/* Ranks in pairs, so that no level consists of single ranks. Nodes of single ranks are not
	 * a level, but a string with groups needs nodes. */
	*nranks = 2 * t->level[t->nlevels - 1].count;
	if (!node)
		snprintf(string + used, room - used, group ? " node:2" : "node:1");
	return true;
}

static void check_text(const struct topo *t)
{
	char string[TEXT], err[512] = "";
	struct topo *again;
	int nranks;

	if (!string_of(t, string, sizeof string, &nranks))
		return;
	again = topo_parse(string, nranks, err, sizeof err);
	if (!again) {
		fprintf(stderr, "\"%s\": %s\n", string, err);
		property(false, "a string of the text is accepted");
		return;
	}
	check_topology(again, nranks);
	if (strcmp(again->text, t->text) != 0)
		fprintf(stderr, "\"%s\" from \"%s\": \"%s\"\n", string, t->text, again->text);
	property(strcmp(again->text, t->text) == 0, "a string of the text gives the text");
	topo_free(again);
}

static bool equal(const struct topo *a, const struct topo *b)
{
	if (strcmp(a->text, b->text) != 0 || a->nnodes != b->nnodes ||
	    a->asked_nodes != b->asked_nodes)
		return false;
	for (int p = 0; p < a->nranks; p++)
		for (int i = 1; i <= a->nlevels; i++)
			if (topo_element(a, p, i) != topo_element(b, p, i))
				return false;
	return true;
}

/* Case and blanks around it have no meaning. */
static void check_spelling(const struct topo *t, const char *string)
{
	size_t len = strlen(string);
	char *other = calloc(len + 3, 1), err[512];
	struct topo *again;

	property(other, "there is memory");
	other[0] = '\t';
	for (size_t i = 0; i < len; i++)
		other[i + 1] = (char)toupper((unsigned char)string[i]);
	other[len + 1] = ' ';
	other[len + 2] = '\0';
	again = topo_parse(other, t->nranks, err, sizeof err);
	property(again && equal(t, again), "in capitals it is the same");
	topo_free(again);
	free(other);
}

static void check_string(const char *string, int nranks, bool gangs)
{
	char err[512] = "", brief[16];
	struct topo *t = topo_parse(string, nranks, err, sizeof err), *again;
	int cores[RANKS];

	/* A buffer that is too small is not exceeded. */
	memset(brief, 'x', sizeof brief);
	again = topo_parse(string, nranks, brief, 8);
	property(!t == !again && brief[8] == 'x', "the answer does not depend on the buffer");
	topo_free(again);
	if (!t) {
		property(strncmp(err, "topology: ", 10) == 0 && strlen(err) > 20,
			 "a refusal has a sentence");
		property(strstr(err, "accepted") || strstr(err, "the order is") ||
			     strstr(err, "there is one machine") ||
			     strstr(err, "separate levels") || strstr(err, "add "),
			 "the sentence says what is accepted");
		return;
	}
	check_topology(t, nranks);
	property(t->asked_nodes >= t->nnodes, "no more nodes than the string has");
	check_text(t);
	check_spelling(t, string);
	for (int n = 0; n < t->nnodes; n++)
		cores[n] = n % 5;
	if (gangs)
		check_gangs(t, cores);
	topo_free(t);
}

/* -------------------------------------------------------------------------- columns */

static bool bound(const struct topo_path *paths, int nranks, int column)
{
	for (int p = 0; p < nranks; p++)
		if (paths[p].id[column] < 0)
			return false;
	return true;
}

static bool together(const struct topo_path *a, const struct topo_path *b, int columns)
{
	for (int i = 0; i < columns; i++)
		if (a->id[i] != b->id[i])
			return false;
	return true;
}

/* The column of a level, by its name, which is its number. */
static int column_of(const struct topo_level *l)
{
	return l->type == TOPO_MACHINE ? 0 : atoi(l->name + 1) + 1;
}

static void check_columns(struct input *in, int nranks, bool gangs)
{
	static const char *const names[] = {"c0", "c1", "c2", "c3", "c4",  "c5",
					    "c6", "c7", "c8", "c9", "c10", "c11"};
	enum topo_type types[TOPO_MAX_LEVELS];
	struct topo_path paths[RANKS];
	int columns = 1 + next_byte(in) % TOPO_MAX_LEVELS, node = -1, nodes = 0, left = 0;
	int cores[RANKS];
	char err[512] = "";
	struct topo *t;

	for (int i = 0; i < columns; i++) {
		types[i] = (enum topo_type)(next_byte(in) % (TOPO_GANG + 1));
		if (types[i] == TOPO_NODE && nodes++ == 0)
			node = i;
	}
	for (int p = 0; p < nranks; p++) {
		uint8_t row = next_byte(in);

		for (int i = 0; i < columns; i++)
			paths[p].id[i] =
			    i == node ? row % 8 : (int)(next_byte(in) % 4) - (row == 255);
		cores[p] = row % 6;
	}
	t = topo_build(nranks, columns, types, names, paths, err, sizeof err);
	if (!t) {
		property(strncmp(err, "topology: ", 10) == 0, "a refusal has a sentence");
		return;
	}
	property(nodes == 1, "there is one column of nodes");
	check_topology(t, nranks);
	while (left < columns && bound(paths, nranks, left))
		left++;
	property(left > node, "all ranks have a node");
	for (int i = 1; i <= t->nlevels; i++)
		property(column_of(&t->level[i - 1]) <= left, "an unbound level collapses");
	for (int p = 0; p < nranks; p++)
		for (int q = 0; q < p; q++) {
			property((t->node[p] == t->node[q]) ==
				     together(&paths[p], &paths[q], node + 1),
				 "one node: all ids down to it are equal");
			for (int i = 1; i <= t->nlevels; i++)
				property(
				    (topo_element(t, p, i) == topo_element(t, q, i)) ==
					together(&paths[p], &paths[q], column_of(&t->level[i - 1])),
				    "one element: all ids down to it are equal");
		}
	if (gangs)
		check_gangs(t, cores);
	topo_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t how = next_byte(&in);
	int nranks = 1 + how % RANKS;
	char *string;

	if (how & COLUMNS) {
		check_columns(&in, nranks, how & GANGS);
		return 0;
	}
	string = text_of(in.data, in.size);
	check_string(string, nranks, how & GANGS);
	free(string);
	return 0;
}
