/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as a tree of levels: Section 2 ("Notation") of the RMA-RW paper. Levels are numbered
 * as there, from 1, the whole machine, to N, the innermost.
 *
 * A topology is discovered (topo_discover) or made from a string (topo_parse). Either way the
 * result is a description that is equal on all ranks, and all functions here depend on it only.
 * This header needs neither MPI nor hwloc, so the simulator and tests can use it.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stdint.h>
#include <stddef.h>

enum { TOPO_MAX_LEVELS = 12 };

/* The type of a level's elements, outermost first. */
enum topo_type {
	TOPO_MACHINE,
	TOPO_GROUP, /* group of nodes: a rack or a switch; several such levels may be nested */
	TOPO_NODE,  /* the ranks in it share memory */
	TOPO_PACKAGE,
	TOPO_NUMA,
	TOPO_CACHE,
	TOPO_GANG, /* as many ranks as the cores of an oversubscribed element can run at a time */
};

struct topo_level {
	enum topo_type type;
	char name[24];    /* "machine", "rack", "node", "package", "numa", "l3", "gang" */
	int count;        /* N_i, the number of elements */
	int max_children; /* most children of one element: elements of level i+1, or ranks if
			     innermost */
	int min_size;     /* number of ranks in the smallest element */
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
	int nnodes;      /* number of nodes, even if level "node" was dropped */
	int asked_nodes; /* nodes of the string, if any; more than nnodes if some have no rank */
	int *node;       /* [nranks] node of each rank, 0-based */
	int *place;      /* [nranks] index of each rank among those of its node */
	int *order;      /* [nranks] ranks sorted by their place in the tree */
	char *text;      /* for messages: "machine 1 > node 2 > package 4" */
	const void *at;  /* the block of memory that has all of it, this struct first, ... */
	size_t bytes;    /* ... and its size */
};

/* The place of a rank, outermost level first: the input of topo_build(). Of id[i] only equality
 * matters, among ranks with the same parent: equal ids are one element. -1: the rank is not bound
 * within the parent, so this level and all levels below it are dropped. */
struct topo_path {
	int id[TOPO_MAX_LEVELS];
};

/*
 * Build the tree. types and names [nlevels] describe the columns of paths, without the machine.
 * Dropped are: a level in which some rank is unbound, and all levels below it; a level that divides
 * the ranks like the level above; a level whose elements are single ranks. Level 1 (the machine)
 * always stays. If a node level divides like the group above it, the node stays instead. There must
 * be a node column in which all ranks are bound. Names have at most 23 characters. At every level,
 * elements are numbered by their lowest rank, and so are the children of an element. Returns NULL
 * and a message in err if the input is inconsistent, or, with errno ENOMEM, if memory runs out.
 */
struct topo *topo_build(int nranks, int nlevels, const enum topo_type *types,
			const char *const *names, const struct topo_path *paths, char *err,
			size_t errlen);

/*
 * Build the tree of a synthetic string: hwloc's syntax, preceded by levels "rack", "switch",
 * "group" and "node", as in "rack:2 node:2 package:2 numa:1 l3:2 core:4 pu:1". Without "node" the
 * string is one node. "gang:4" means four gangs in each enclosing element, as with any other level.
 *
 * Ranks fill the leaves in order, as in block placement. "core" and "pu" only say how many ranks
 * fit into an element: ranks beyond the last leaf start again at the first. Without both, a leaf
 * takes as many consecutive ranks as needed. With "cyclic" or "placement=cyclic" in front, as in
 * "cyclic rack:2 node:2", consecutive ranks go to different nodes instead.
 */
struct topo *topo_parse(const char *synthetic, int nranks, char *err, size_t errlen);

/* If the ranks of a node outnumber its cores, split each of its innermost elements into gangs of
 * (cores of the node / innermost elements of the node) ranks, so that a lock stays for a while
 * among ranks that run at the same time. There are no gangs of one rank. A tree that has gangs is
 * copied as it is. cores [nnodes]: usable cores of each node. t does not change. */
struct topo *topo_add_gangs(const struct topo *t, const int *cores, char *err, size_t errlen);

/* Whether the ranks of some node outnumber its cores. Without gangs to add, no copy is needed. */
int topo_wants_gangs(const struct topo *t, const int *cores);

/* Copy t, t->bytes, to memory that processes share, perhaps at different addresses. */
void topo_pack(const struct topo *t, void *to);
/* The topology in such a copy, which has to outlive *t. */
void topo_view(struct topo *t, const void *packed);

/* Returns NULL, with a message in err and errno ENOMEM. */
struct topo *topo_no_memory(int nranks, char *err, size_t errlen);

void topo_free(struct topo *t);

/* e(p,i): the element of rank p at level i (1 .. N), 0-based. */
static inline int topo_element(const struct topo *t, int p, int i)
{
	return t->level[i - 1].element[p];
}

/* The index of the child of e(p,i) that has rank p; less than max_children. */
static inline int topo_child(const struct topo *t, int p, int i)
{
	return t->level[i - 1].child[p];
}

static inline int topo_size(const struct topo *t, int i, int j)
{
	return t->level[i - 1].first[j + 1] - t->level[i - 1].first[j];
}

#endif
