/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a million ranks cost: the tree of levels that each host keeps, and the arrays by rank of
 * which a process uses few entries. Prints TAP, and the figures.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/sparse.h"
#include "topo/topo.h"
#include "tests/tap.h"

enum { RANKS = 1000000, PER_NODE = 128, NODES = (RANKS + PER_NODE - 1) / PER_NODE };

/* 0.3 s where nothing else runs, and page faults are fast. The checks of a sanitizer take more time
 * than the work. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { LIMIT_S = 10 };
#else
enum { LIMIT_S = 2 };
#endif

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all = 0, pages = 0;

	if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* The work of the leader of a host, from the places of all ranks on. */
static void tree(bool cyclic)
{
	static const enum topo_type types[] = {TOPO_GROUP, TOPO_NODE, TOPO_PACKAGE, TOPO_NUMA,
					       TOPO_CACHE};
	static const char *const names[] = {"switch", "node", "package", "numa", "l3"};
	struct topo_path *paths = calloc(RANKS, sizeof *paths);
	int *cores = malloc(NODES * sizeof *cores);
	double begin = seconds(), took;
	struct topo *t = NULL, view;
	char err[200] = "";
	void *packed = NULL;
	bool same;

	for (int p = 0; paths && p < RANKS; p++) {
		int node = cyclic ? p % NODES : p / PER_NODE;
		int in = cyclic ? p / NODES : p % PER_NODE;

		paths[p] = (struct topo_path){{node / 32, node, in / 64, in / 16, in / 8}};
	}
	if (paths)
		t = topo_build(RANKS, 5, types, names, paths, err, sizeof err);
	for (int i = 0; cores && i < NODES; i++)
		cores[i] = PER_NODE;
	same = t && cores && !topo_wants_gangs(t, cores);
	if (t)
		packed = malloc(t->bytes);
	if (packed) {
		topo_pack(t, packed);
		took = seconds() - begin;
		topo_view(&view, packed);
		same = same && view.nranks == RANKS && view.nnodes == NODES &&
		       strcmp(view.text, t->text) == 0;
		for (int p = 0; same && p < RANKS; p++)
			same = view.node[p] == t->node[p] && view.place[p] == t->place[p] &&
			       view.order[p] == t->order[p] &&
			       topo_element(&view, p, 6) == topo_element(t, p, 6);
		printf("# %s: %zu bytes, %.1f a rank, for a host; %.2f s of CPU\n", t->text,
		       t->bytes, (double)t->bytes / RANKS, took);
		ok(t->bytes <= 128L * RANKS, "%s: at most 128 bytes a rank and host",
		   cyclic ? "cyclic" : "blocks");
		ok(took < LIMIT_S, "%s: less than %d s of CPU%s", cyclic ? "cyclic" : "blocks",
		   LIMIT_S, took < LIMIT_S ? "" : " # timed");
	}
	ok(same, "%s: the copy that a host shares is the same tree%s%s",
	   cyclic ? "cyclic" : "blocks", err[0] ? " # " : "", err);
	free(packed);
	topo_free(t);
	free(cores);
	free(paths);
}

/* What the kernel takes for a page that is only read: nothing, or a page where it has no page of
 * zeros; and a sanitizer's marks beside it. The kernel's count is up to 64 pages late. */
static long read_page(void)
{
	enum { PAGES = 2048 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long before = resident(), took = -1;
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return took;
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		(void)*(volatile char *)(p + i * page);
	took = (resident() - before) / PAGES;
	munmap(p, PAGES * page);
	return took;
}

/* The segments that a rank maps: those of its node, of which each look at another one reads NULL.
 */
static void entries(bool cyclic, long each_read)
{
	const char *name = cyclic ? "cyclic" : "blocks";
	const long page = sysconf(_SC_PAGESIZE), pages = RANKS * (long)sizeof(char *) / page + 1;
	long before = resident(), written, read;
	char **map = sparse_array(RANKS, sizeof *map);
	static char segment;
	int found = 0;

	for (int i = 0; map && i < PER_NODE; i++)
		map[cyclic ? i * NODES : i] = &segment;
	written = resident() - before;
	for (int p = 0; map && p < RANKS; p++)
		found += map[p] != NULL;
	read = resident() - before - written;
	printf("# %s: %ld bytes for the segments of %d of %d ranks, and %ld for looks at all; the"
	       " kernel takes %ld for a page that is read\n",
	       name, written, PER_NODE, RANKS, read, each_read);
	ok(found == PER_NODE && written <= RANKS, "%s: at most 1 byte a rank and process", name);
	ok(each_read >= 0 && written + read <= RANKS + pages * each_read,
	   "%s: looks take no more than the kernel does", name);
	sparse_free(map, RANKS, sizeof *map);
}

int main(void)
{
	const long each_read = read_page();

	entries(false, each_read);
	entries(true, each_read);
	tree(false);
	tree(true);
	return tap_plan();
}
