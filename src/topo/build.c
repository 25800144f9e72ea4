/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the paths of ranks to the tree of levels: which ranks share an element, which levels divide
 * the ranks further, and the indices that the layouts of locks use.
 *
 * Each level is first a division of the ranks: division[p] is the element of rank p. A division
 * refines the one above it. So if two of them have equally many elements they are the same
 * division, and pruning needs only the counts.
 *
 * At every level, elements are numbered by their lowest rank, and so are the children of an
 * element. So the result depends on which ranks are together, not on the values of the ids. The
 * cost is O(levels * P).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topo.h"

struct division {
	enum topo_type type;
	const char *name;
	int count;
	int *element; /* [nranks] */
};

struct topo *topo_no_memory(int nranks, char *err, size_t errlen)
{
	snprintf(err, errlen, "topology: no memory for %d ranks", nranks);
	errno = ENOMEM;
	return NULL;
}

/* A topology is one block of memory: the struct, its integers, its text. */
struct block {
	struct topo t;
	int pool[];
};

/* Renumber the classes in element[] as 0, 1, ... by their lowest rank. */
static void number_by_lowest(int nranks, int count, int *element, int *map)
{
	int next = 0;

	for (int c = 0; c < count; c++)
		map[c] = -1;
	for (int p = 0; p < nranks; p++) {
		if (map[element[p]] < 0)
			map[element[p]] = next++;
		element[p] = map[element[p]];
	}
}

/* A hash table of the elements of a division: 1 + the number of an element, or 0. lowest[e] is the
 * lowest rank of element e, whose key stands for the element. */
struct elements {
	uint32_t *slot, mask;
	int *lowest;
};

static uint32_t slots_for(int nranks)
{
	uint32_t slots = 2;

	while (slots < 2 * (uint32_t)nranks)
		slots *= 2;
	return slots;
}

static uint32_t hash_key(int parent, int id)
{
	uint64_t h = (uint64_t)(uint32_t)parent << 32 | (uint32_t)id;

	return (uint32_t)((h * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Split the parent's elements by column col of the paths. Ranks come in ascending order, so
 * elements are numbered by their lowest rank. */
static int refine(int nranks, const int *parent, const struct topo_path *paths, int col,
		  int *element, const struct elements *e)
{
	int count = 0;

	memset(e->slot, 0, ((size_t)e->mask + 1) * sizeof(*e->slot));
	for (int p = 0; p < nranks; p++) {
		int id = paths[p].id[col];
		uint32_t at;

		if (p > 0 && parent[p] == parent[p - 1] && id == paths[p - 1].id[col]) {
			element[p] = element[p - 1];
			continue;
		}
		for (at = hash_key(parent[p], id) & e->mask; e->slot[at]; at = (at + 1) & e->mask) {
			int low = e->lowest[e->slot[at] - 1];

			if (parent[low] == parent[p] && paths[low].id[col] == id)
				break;
		}
		if (!e->slot[at]) {
			e->lowest[count] = p;
			e->slot[at] = (uint32_t)++count;
		}
		element[p] = (int)e->slot[at] - 1;
	}
	return count;
}

/* Drop, in place, divisions that repeat the one above, and divisions into single ranks; returns how
 * many are left. Of two equal divisions the outer one stays, except that a node replaces a group:
 * locks rely on the ranks of a node sharing memory. */
static int prune(int nranks, int n, struct division *d)
{
	int kept = 1;

	for (int i = 1; i < n; i++) {
		if (d[i].count == nranks)
			break;
		if (d[i].count > d[kept - 1].count)
			d[kept++] = d[i];
		else if (d[i].type == TOPO_NODE && kept > 1)
			d[kept - 1] = d[i];
	}
	return kept;
}

static int *take(int **pool, int n)
{
	int *mine = *pool;

	*pool += n;
	return mine;
}

/* Fill members and first by counting sort; first ends up as the start of each element. */
static void fill_members(const struct topo *t, struct topo_level *l)
{
	for (int p = 0; p < t->nranks; p++)
		l->first[l->element[p] + 1]++;
	for (int j = 0; j < l->count; j++)
		l->first[j + 1] += l->first[j];
	for (int p = 0; p < t->nranks; p++)
		l->members[l->first[l->element[p]]++] = p;
	memmove(l->first + 1, l->first, (size_t)l->count * sizeof(int));
	l->first[0] = 0;
	l->min_size = t->nranks;
	for (int j = 0; j < l->count; j++) {
		if (l->first[j + 1] - l->first[j] < l->min_size)
			l->min_size = l->first[j + 1] - l->first[j];
	}
}

/* inner is the next level, or NULL if l is the innermost: its children are the ranks. index[nranks]
 * and nchildren[nranks] are scratch. */
static void fill_children(const struct topo *t, struct topo_level *l,
			  const struct topo_level *inner, int *index, int *nchildren)
{
	for (int p = 0; p < t->nranks; p++)
		index[p] = -1;
	memset(nchildren, 0, (size_t)t->nranks * sizeof(int));
	for (int p = 0; p < t->nranks; p++) {
		int child = inner ? inner->element[p] : p;

		if (index[child] < 0)
			index[child] = nchildren[l->element[p]]++;
		l->child[p] = index[child];
	}
	for (int j = 0; j < l->count; j++) {
		if (nchildren[j] > l->max_children)
			l->max_children = nchildren[j];
	}
}

/* Sort ranks by (element of level 1, of level 2, ..., rank): a radix sort that starts at the
 * innermost level. from and start are scratch. */
static void fill_order(struct topo *t, int *from, int *start)
{
	for (int p = 0; p < t->nranks; p++)
		t->order[p] = p;
	for (int i = t->nlevels - 1; i > 0; i--) {
		const struct topo_level *l = &t->level[i];

		memcpy(from, t->order, (size_t)t->nranks * sizeof(int));
		memcpy(start, l->first, (size_t)l->count * sizeof(int));
		for (int k = 0; k < t->nranks; k++)
			t->order[start[l->element[from[k]]]++] = from[k];
	}
}

/* next [nnodes] is scratch. */
static void fill_places(struct topo *t, int *next)
{
	memset(next, 0, (size_t)t->nnodes * sizeof(int));
	for (int p = 0; p < t->nranks; p++)
		t->place[p] = next[t->node[p]]++;
}

static void fill_text(struct topo *t, size_t room)
{
	size_t at = 0;

	for (int i = 0; i < t->nlevels && at < room; i++) {
		int n = snprintf(t->text + at, room - at, "%s%s %d", i ? " > " : "",
				 t->level[i].name, t->level[i].count);
		if (n > 0)
			at += (size_t)n;
	}
}

static struct topo *allocate(int nranks, int n, const struct division *d, size_t *text_room)
{
	size_t ints = (size_t)(3 * n + 3) * (size_t)nranks, bytes;
	struct block *b;
	struct topo *t;
	int *pool;

	for (int i = 0; i < n; i++)
		ints += (size_t)d[i].count + 1;
	*text_room = (size_t)n * (sizeof(t->level[0].name) + 16);
	bytes = sizeof(*b) + ints * sizeof(int) + *text_room;
	b = calloc(1, bytes);
	if (!b)
		return NULL;
	t = &b->t;
	t->at = b;
	t->bytes = bytes;
	pool = b->pool;
	t->nranks = nranks;
	t->nlevels = n;
	t->node = take(&pool, nranks);
	t->place = take(&pool, nranks);
	t->order = take(&pool, nranks);
	for (int i = 0; i < n; i++) {
		t->level[i].element = take(&pool, nranks);
		t->level[i].child = take(&pool, nranks);
		t->level[i].members = take(&pool, nranks);
		t->level[i].first = take(&pool, d[i].count + 1);
	}
	t->text = (char *)pool;
	return t;
}

/* Build the topology of divisions d[0 .. n-1], outermost first; prunes d. */
static struct topo *assemble(int nranks, int n, struct division *d, int nnodes, const int *node,
			     char *err, size_t errlen)
{
	size_t each = (size_t)nranks * sizeof(int), text_room;
	struct topo *t = NULL;
	int *scratch = malloc(2 * each);

	n = prune(nranks, n, d);
	if (n > TOPO_MAX_LEVELS) {
		snprintf(err, errlen, "topology: %d levels, at most %d fit", n, TOPO_MAX_LEVELS);
		free(scratch);
		return NULL;
	}
	if (scratch)
		t = allocate(nranks, n, d, &text_room);
	if (!t) {
		free(scratch);
		return topo_no_memory(nranks, err, errlen);
	}
	t->nnodes = nnodes;
	memcpy(t->node, node, each);
	for (int i = 0; i < n; i++) {
		t->level[i].type = d[i].type;
		t->level[i].count = d[i].count;
		snprintf(t->level[i].name, sizeof(t->level[i].name), "%s", d[i].name);
		memcpy(t->level[i].element, d[i].element, each);
		fill_members(t, &t->level[i]);
	}
	for (int i = 0; i < n; i++)
		fill_children(t, &t->level[i], i + 1 < n ? &t->level[i + 1] : NULL, scratch,
			      scratch + nranks);
	fill_order(t, scratch, scratch + nranks);
	fill_places(t, scratch);
	fill_text(t, text_room);
	free(scratch);
	return t;
}

/* ------------------------------------------------------------------------- copies */

void topo_pack(const struct topo *t, void *to)
{
	memcpy(to, t->at, t->bytes);
}

static int *moved(const struct topo *t, int *from, const void *to)
{
	return (int *)(void *)((char *)(uintptr_t)to + ((char *)from - (char *)t->at));
}

void topo_view(struct topo *t, const void *packed)
{
	const struct topo *from = packed;

	*t = *from;
	t->node = moved(from, from->node, packed);
	t->place = moved(from, from->place, packed);
	t->order = moved(from, from->order, packed);
	t->text = (char *)moved(from, (int *)(void *)from->text, packed);
	for (int i = 0; i < t->nlevels; i++) {
		struct topo_level *l = &t->level[i];

		l->element = moved(from, l->element, packed);
		l->child = moved(from, l->child, packed);
		l->members = moved(from, l->members, packed);
		l->first = moved(from, l->first, packed);
	}
	t->at = packed;
}

/* The column of the nodes; -1 and a message if the columns are inconsistent. */
static int check_columns(int nlevels, const enum topo_type *types, const char *const *names,
			 char *err, size_t errlen)
{
	int node = -1;

	if (nlevels < 1 || nlevels >= TOPO_MAX_LEVELS) {
		snprintf(err, errlen, "topology: %d levels below the machine, accepted are 1 to %d",
			 nlevels, TOPO_MAX_LEVELS - 1);
		return -1;
	}
	for (int i = 0; i < nlevels; i++) {
		const char *why = NULL;

		if (!names[i] || !names[i][0] ||
		    strlen(names[i]) >= sizeof(((struct topo_level *)0)->name))
			why = "a name is missing or has more than 23 characters";
		else if (types[i] == TOPO_MACHINE)
			why = "the machine is no column, it is always there";
		else if (types[i] == TOPO_NODE && node >= 0)
			why = "there are two node levels";
		else if (types[i] == TOPO_GROUP && node >= 0)
			why = "a group of nodes is below the nodes";
		else if (types[i] != TOPO_GROUP && types[i] != TOPO_NODE && node < 0)
			why = "only groups of nodes can be above the nodes";
		if (why) {
			snprintf(err, errlen, "topology: level %d (\"%s\"): %s", i + 1,
				 names[i] ? names[i] : "", why);
			return -1;
		}
		if (types[i] == TOPO_NODE)
			node = i;
	}
	if (node < 0)
		snprintf(err, errlen, "topology: there is no node level");
	return node;
}

/* How many columns stay: from the first column with an unbound rank on, all are dropped. culprit: a
 * rank that is unbound there. */
static int bound_columns(int nranks, int nlevels, const struct topo_path *paths, int *culprit)
{
	for (int p = 0; p < nranks; p++) {
		for (int i = 0; i < nlevels; i++) {
			if (paths[p].id[i] < 0) {
				nlevels = i;
				*culprit = p;
			}
		}
	}
	return nlevels;
}

struct topo *topo_build(int nranks, int nlevels, const enum topo_type *types,
			const char *const *names, const struct topo_path *paths, char *err,
			size_t errlen)
{
	struct division d[TOPO_MAX_LEVELS];
	struct topo *t = NULL;
	struct elements e;
	int *ints;
	int node, culprit = -1;

	if (nranks < 1) {
		snprintf(err, errlen, "topology: %d ranks, there must be at least 1", nranks);
		return NULL;
	}
	node = check_columns(nlevels, types, names, err, errlen);
	if (node < 0)
		return NULL;
	nlevels = bound_columns(nranks, nlevels, paths, &culprit);
	if (nlevels <= node) {
		snprintf(err, errlen, "topology: rank %d has no place at level \"%s\"", culprit,
			 names[nlevels]);
		return NULL;
	}
	e.mask = slots_for(nranks) - 1;
	e.slot = malloc(((size_t)e.mask + 1) * sizeof(*e.slot));
	ints = calloc((size_t)(nlevels + 2) * (size_t)nranks, sizeof(*ints));
	if (!e.slot || !ints) {
		topo_no_memory(nranks, err, errlen);
		goto out;
	}
	e.lowest = ints + (size_t)(nlevels + 1) * (size_t)nranks;
	d[0] = (struct division){TOPO_MACHINE, "machine", 1, ints};
	for (int i = 0; i < nlevels; i++) {
		int *element = d[i].element + nranks;

		d[i + 1] = (struct division){types[i], names[i], 0, element};
		d[i + 1].count = refine(nranks, d[i].element, paths, i, element, &e);
	}
	t = assemble(nranks, nlevels + 1, d, d[node + 1].count, d[node + 1].element, err, errlen);
out:
	free(e.slot);
	free(ints);
	return t;
}

/* How many ranks of one innermost element run at a time, for each node; 0 if the node needs no
 * gangs: its ranks have a core each, or an element would get only one core. ranks and parts are
 * scratch. */
static void gang_sizes(const struct topo *t, const int *cores, int *size, int *ranks, int *parts)
{
	const struct topo_level *l = &t->level[t->nlevels - 1];

	for (int n = 0; n < t->nnodes; n++)
		ranks[n] = parts[n] = size[n] = 0;
	for (int p = 0; p < t->nranks; p++)
		ranks[t->node[p]]++;
	for (int j = 0; j < l->count; j++)
		parts[t->node[l->members[l->first[j]]]]++;
	for (int n = 0; n < t->nnodes; n++) {
		if (parts[n] > 0 && ranks[n] > cores[n] && cores[n] / parts[n] >= 2)
			size[n] = cores[n] / parts[n];
	}
}

/* Split the members of every innermost element into gangs. */
static int split_gangs(const struct topo *t, const int *size, int *gang)
{
	const struct topo_level *l = &t->level[t->nlevels - 1];
	int count = 0;

	for (int j = 0; j < l->count; j++) {
		int limit = size[t->node[l->members[l->first[j]]]];

		for (int k = l->first[j]; k < l->first[j + 1]; k++) {
			int nth = k - l->first[j];

			if (nth == 0 || (limit > 0 && nth % limit == 0))
				count++;
			gang[l->members[k]] = count - 1;
		}
	}
	return count;
}

int topo_wants_gangs(const struct topo *t, const int *cores)
{
	int wants = 0, last = -1, ranks = 0;

	/* In the order of the tree, the ranks of a node are together. */
	for (int k = 0; k < t->nranks; k++) {
		int n = t->node[t->order[k]];

		ranks = n == last ? ranks + 1 : 1;
		last = n;
		wants = wants || ranks > cores[n];
	}
	return wants;
}

struct topo *topo_add_gangs(const struct topo *t, const int *cores, char *err, size_t errlen)
{
	struct division d[TOPO_MAX_LEVELS + 1];
	size_t ranks = (size_t)t->nranks;
	int n = t->nlevels;
	int *gang, *size;
	struct topo *with;

	for (int i = 0; i < t->nnodes; i++) {
		if (cores[i] < 1) {
			snprintf(err, errlen, "topology: node %d has %d cores", i, cores[i]);
			return NULL;
		}
	}
	gang = malloc(4 * ranks * sizeof(int));
	if (!gang) {
		return topo_no_memory(t->nranks, err, errlen);
	}
	size = gang + ranks;
	for (int i = 0; i < n; i++)
		d[i] = (struct division){t->level[i].type, t->level[i].name, t->level[i].count,
					 t->level[i].element};
	/* A tree that has gangs gets no more. */
	if (t->level[n - 1].type != TOPO_GANG) {
		int count;

		gang_sizes(t, cores, size, size + ranks, size + 2 * ranks);
		count = split_gangs(t, size, gang);
		number_by_lowest(t->nranks, count, gang, size);
		d[n++] = (struct division){TOPO_GANG, "gang", count, gang};
	}
	with = assemble(t->nranks, n, d, t->nnodes, t->node, err, errlen);
	free(gang);
	return with;
}

void topo_free(struct topo *t)
{
	free(t); /* one block of memory, see struct block */
}
