/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How nodes tell each other of a death (rma/ucx/deaths.h), step by step in one process, for all
 * numbers of nodes up to 1,100 and some larger ones: all nodes know after so many steps as the
 * number of nodes has binary digits, by three messages a node; and all living nodes know in the end
 * whichever nodes have died. Prints TAP.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "rma/ucx/deaths.h"
#include "tests/tap.h"

enum { ALL_UP_TO = 1100, WORLDS = 3000, WORLD_MOST = 64 };

/* A node is done with a step within this time: an observer waits for 200 ms, and the thread of a
 * rank looks for the answer to a new connection each 20 ms. */
#define FIRST_S 0.22
#define STEP_S 0.04

struct flood {
	int nodes, known, messages, steps;
	bool *dead, *knows;
	int *queue; /* in the order in which they learn */
};

static void learn(struct flood *f, int node)
{
	if (f->knows[node] || f->dead[node])
		return;
	f->knows[node] = true;
	f->queue[f->known++] = node;
}

static void spread(struct flood *f)
{
	for (int at = 0, end; at < f->known; f->steps++)
		for (end = f->known; at < end; at++)
			for (int way = 0; way < DEATHS_WAYS; way++) {
				f->messages++;
				learn(f, deaths_next(f->queue[at], f->nodes, way));
			}
	f->steps--; /* the last nodes to know tell nobody new */
}

static struct flood begin(int nodes)
{
	struct flood f = {.nodes = nodes,
			  .dead = calloc((size_t)nodes, sizeof *f.dead),
			  .knows = calloc((size_t)nodes, sizeof *f.knows),
			  .queue = calloc((size_t)nodes, sizeof *f.queue)};

	if (!f.dead || !f.knows || !f.queue)
		abort();
	return f;
}

static void end(struct flood *f)
{
	free(f->dead);
	free(f->knows);
	free(f->queue);
}

static int digits(int nodes)
{
	int n = 0;

	for (; nodes; nodes >>= 1)
		n++;
	return n;
}

static bool is_quick(int nodes, int source, int *steps)
{
	struct flood f = begin(nodes);
	bool good;

	learn(&f, source);
	spread(&f);
	good = f.known == nodes && f.steps <= digits(nodes) && f.messages <= 3 * nodes;
	*steps = f.steps > *steps ? f.steps : *steps;
	end(&f);
	return good;
}

static void no_node_dies(void)
{
	static const int large[] = {1563, 6250, 7813, 65536, 100000};
	bool good = true;
	int steps = 0, most = 0;

	for (int nodes = 1; nodes <= ALL_UP_TO; nodes++)
		for (int source = 0; source < nodes; source += 1 + nodes / 16)
			good = good && is_quick(nodes, source, &most);
	for (int i = 0; i < (int)(sizeof large / sizeof large[0]); i++)
		good = good && is_quick(large[i], large[i] / 3, &most);
	ok(good, "all nodes know after as many steps as their number has digits");
	for (int source = 0; source < 1024; source++)
		is_quick(1024, source, &steps);
	ok(FIRST_S + steps * STEP_S < 2, "1024 nodes of one rank: %d steps, %.2f s", steps,
	   FIRST_S + steps * STEP_S);
}

/* The living node before a dead one sees its death, by the rings of ucx/watch.c. */
static void see(struct flood *f)
{
	for (int i = 0; i < f->nodes; i++)
		if (f->dead[(i + 1) % f->nodes])
			learn(f, i);
}

static void nodes_die(void)
{
	uint64_t x = 41;
	bool good = true;

	for (int w = 0; w < WORLDS; w++) {
		struct flood f = begin(2 + w % (WORLD_MOST - 1));
		int living = 0, of = 1 + w % 7;

		for (int i = 0; i < f.nodes; i++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			f.dead[i] = (x >> 33) % 8 < (unsigned)of;
		}
		f.dead[w % f.nodes] = true;
		for (int i = 0; i < f.nodes; i++)
			living += !f.dead[i];
		see(&f);
		spread(&f);
		good = good && f.known == living;
		end(&f);
	}
	ok(good, "all living nodes know, whichever nodes have died");
}

int main(void)
{
	no_node_dies();
	nodes_die();
	return tap_plan();
}
