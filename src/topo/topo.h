/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as a tree of levels: section 2 of the RMA-RW paper ("Notation"),
 * with levels numbered as there, 1 = the whole machine to N = the innermost.
 *
 * A topology is made by discovery (topo_discover), or from a string
 * (topo_parse); either way the result is a plain description that is equal on
 * all ranks, and everything else here is a pure function of it. This header uses neither MPI
 * nor hwloc, so the simulator and the tests do without them.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stdint.h>
#include <stddef.h>

enum { TOPO_MAX_LEVELS = 12 };

/* What an element of a level is, outermost first. */
enum topo_kind {
	TOPO_MACHINE,
	TOPO_GROUP, /* of nodes: a rack, a switch; there may be several such levels */
	TOPO_NODE,  /* ranks that share memory */
	TOPO_PACKAGE,
	TOPO_NUMA,
	TOPO_CACHE,
	TOPO_GANG, /* ranks that fit on the cores of an oversubscribed element at a time */
};

struct topo_level {
	enum topo_kind kind;
	char name[24];    /* "machine", "rack", "node", "package", "numa", "l3", "gang" */
	int count;        /* N_i, the number of elements */
	int max_children; /* most children of one element: elements of level i+1, or ranks if
			     innermost */
	int min_size;     /* ranks in the smallest element */
	int *element;     /* [nranks] e(p,i), 0-based */
	int *child; /* [nranks] index of e(p,i+1) among the children of e(p,i); innermost: index of
		       p */
	int *first; /* [count+1] where an element's ranks start in members */
	int *members; /* [nranks] ranks by element, ascending within each */
};

struct topo {
	int nranks;
	int nlevels;                              /* N >= 1 */
	struct topo_level level[TOPO_MAX_LEVELS]; /* level i of the paper is level[i - 1] */
	int nnodes;                               /* nodes, also where level "node" was dropped */
	int asked_nodes; /* those of the string, if there was one; more, if some have no rank */
	int *node;       /* [nranks] node of a rank, 0-based */
	int *order;      /* [nranks] ranks sorted by their place in the tree */
	char *text;      /* for messages: "machine 1 > node 2 > package 4" */
};

/* One rank's place, outermost level first, before collapsing: the input of
 * topo_build(). id[] need only be equal for ranks of one element and different
 * for others with the same parent. -1: this rank is not bound inside the
 * parent, so the level collapses (with all levels below it). */
struct topo_path {
	int id[TOPO_MAX_LEVELS];
};

/*
 * Build the tree. kinds/names[nlevels] describe the columns of paths, the
 * machine column not included. Levels in which some rank is unbound are
 * dropped; levels whose elements all have one child, or which repeat their
 * parent's division, are dropped; level 1 (the machine) always stays. Where a
 * node repeats a group, the node stays. The node column must be present, and
 * bound in all ranks; names are of at most 23 characters.
 * Elements are numbered by their lowest rank at every level, and so are the
 * children of an element; the values of the ids have no other meaning.
 * Returns NULL and a message in err if the input is inconsistent.
 */
struct topo *topo_build(int nranks, int nlevels, const enum topo_kind *kinds,
			const char *const *names, const struct topo_path *paths, char *err,
			size_t errlen);

/*
 * From a synthetic string: hwloc's syntax with "rack", "switch", "group" and
 * "node" levels in front: "rack:2 node:2 package:2 numa:1 l3:2 core:4 pu:1".
 * Ranks fill the leaves in order, as a block placement would ("core" and "pu"
 * only say how many ranks fit into an element; ranks beyond the last leaf wrap
 * around; without both, a leaf takes as many consecutive ranks as it must).
 * Without "node" the string is one node. "cyclic" or "placement=cyclic" in front
 * ("cyclic rack:2 node:2") deals the ranks out by node instead. "gang:4" is four
 * gangs in each element around, as with every other level.
 */
struct topo *topo_parse(const char *synthetic, int nranks, char *err, size_t errlen);

/* Where the ranks of a node outnumber its cores, split each innermost element
 * there into gangs of (cores of the node / innermost elements of the node)
 * ranks, so that a lock stays for a while among ranks that run at the same time.
 * Where that would be gangs of one rank, there are none. A tree that has gangs
 * already is copied. cores: usable cores of each node [nnodes]. Levels are
 * re-derived; t itself stays as it is. */
struct topo *topo_add_gangs(const struct topo *t, const int *cores, char *err, size_t errlen);

void topo_free(struct topo *t);

/* e(p,i): the element of rank p at level i (1 .. N), 0-based. */
static inline int topo_element(const struct topo *t, int p, int i)
{
	return t->level[i - 1].element[p];
}

/* Which child of e(p,i) rank p belongs to: an index below max_children. */
static inline int topo_child(const struct topo *t, int p, int i)
{
	return t->level[i - 1].child[p];
}

static inline int topo_size(const struct topo *t, int i, int j)
{
	return t->level[i - 1].first[j + 1] - t->level[i - 1].first[j];
}

/* tail_rank[i,j]: the rank that keeps the words of element j of level i for a
 * lock. Locks are dealt out over the ranks of the element, so that no rank
 * keeps them all; the words are the (lock / size)-th there. */
static inline int topo_tail_rank(const struct topo *t, int i, int j, uint64_t lock)
{
	const struct topo_level *l = &t->level[i - 1];
	int size = l->first[j + 1] - l->first[j];

	return l->members[l->first[j] + (int)(lock % (uint64_t)size)];
}

static inline uint64_t topo_tail_index(const struct topo *t, int i, int j, uint64_t lock)
{
	return lock / (uint64_t)topo_size(t, i, j);
}

#endif
