/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job of a given size needs: memory, connections, and which kinds it may use. The figures
 * come from the library's own layouts and limits, for a machine whose nodes are alike, except that
 * the last one may have fewer ranks. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/sparse.h"
#include "info.h"
#include "lock/kinds.h"
#include "options/options.h"
#include "rma/ucx/ucx.h"
#include "table/setup.h"

static void show_bytes(FILE *out, const char *before, double bytes, const char *after)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
	int i = 0;

	for (; bytes >= 10000 && i < 5; i++)
		bytes /= 1000;
	fprintf(out, "%s%.0f %s%s", before, bytes, units[i], after);
}

/* Arrays by rank, of which a process uses the entries of its node. */
static void show_memory(FILE *out, const struct topo *t, int per_node)
{
	size_t map = sparse_most((size_t)t->nranks, sizeof(char *), (size_t)per_node);

	fprintf(out, "topology   %s\n", t->text);
	show_bytes(out, "  memory of the first table of a communicator: ", (double)t->bytes,
		   " a host, shared by its ranks\n");
	show_bytes(out, "  memory of each table: at most ", (double)map,
		   " a process, for the segments of its node\n");
}

/* As ucx_width(), for nodes of per_node ranks. 0: to all, also if there is no memory. */
static int connections_of(const struct topo *t, int per_node, long connections)
{
	int *first = calloc((size_t)t->nnodes + 1, sizeof *first), width;

	if (!first)
		return 0;
	for (int i = 1; i <= t->nnodes; i++)
		first[i] = i * per_node < t->nranks ? i * per_node : t->nranks;
	width = ucx_width(first, t->nnodes, connections);
	free(first);
	return width;
}

static void show_connections(FILE *out, const struct topo *t, int per_node)
{
	double far = t->nranks - per_node, all = UCX_OWN_DESCRIPTORS + UCX_PEER_DESCRIPTORS * far,
	       contacts = (double)t->nranks * (UCX_ADDRESS_BYTES + 2 * sizeof(int)) +
			  (double)t->nnodes * (UCX_HOST_BYTES + sizeof(int));
	struct rlimit limit;
	int width;

	show_bytes(out, "UCX, TCP   addresses of ranks: ", contacts,
		   " a host, shared by the tables of a communicator\n");
	fprintf(out,
		"  descriptors of a process and communicator: %d, and %d for each rank of another"
		" node in use; %.0f if all are\n",
		UCX_OWN_DESCRIPTORS, UCX_PEER_DESCRIPTORS, far > 0 ? all : 0);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY)
		return;
	width = connections_of(t, per_node, (long)(limit.rlim_max / UCX_SHARE));
	fprintf(out, "  the limit here is %llu (ulimit -Hn): ", (unsigned long long)limit.rlim_max);
	if (width)
		fprintf(out,
			"a process connects to %d ranks of each other node, %.0f descriptors, and"
			" these carry the requests for the others\n",
			width,
			UCX_OWN_DESCRIPTORS +
			    (double)UCX_PEER_DESCRIPTORS * width * (t->nnodes - 1));
	else
		fprintf(out, "a process may connect to all ranks\n");
}

/* The layout of a table of n locks; false: it is refused. */
static bool lay_out(const struct lock_protocol *p, const struct topo *t, uint64_t n, bool multiple,
		    struct lock_setup *s)
{
	struct options o;
	bool ok = options_default(&o, p) == PAWL_SUCCESS;

	memset(s, 0, sizeof *s);
	if (ok && multiple)
		o.threads = THREADS_MULTIPLE;
	if (ok) {
		setup_begin(s, setup_protocol(p, t), t, &o, n);
		ok = setup_layout(s) == PAWL_SUCCESS;
	}
	options_free(&o);
	return ok;
}

static void show_kind(FILE *out, const struct lock_protocol *p, const struct topo *t, uint64_t n)
{
	struct lock_setup s;
	uint64_t words = 0, bytes = 0, last = 0;

	fprintf(out, "%-10s", p->kind.name);
	for (int multiple = 0; multiple <= 1; multiple++) {
		bool ok = lay_out(p, t, n, multiple, &s);

		if (ok && !multiple) {
			words = s.protocol->scratch_words ? s.protocol->scratch_words(&s) : 0;
			bytes = lock_segment_bytes(&s, 0);
			last = lock_segment_bytes(&s, t->nranks - 1);
			fprintf(out, " %14llu %13llu %9d", (unsigned long long)bytes,
				(unsigned long long)(words * sizeof(int64_t)), s.max_held);
		} else if (ok) {
			fprintf(out, " %9d", s.max_held);
		}
		if (!ok)
			fprintf(out, " %s: %s", multiple ? " threads=multiple" : "refused",
				pawl_error_message());
		setup_free(&s);
		if (!ok)
			break;
	}
	if (last != bytes)
		fprintf(out, "  (%llu bytes a rank on the last node)", (unsigned long long)last);
	fprintf(out, "\n");
}

int info_show_size(FILE *out, int ranks, int per_node, uint64_t locks, char *err, size_t errlen)
{
	const struct lock_protocol *p;
	char text[64];
	struct topo *t;

	snprintf(text, sizeof text, "node:%d core:%d", (ranks - 1) / per_node + 1, per_node);
	t = topo_parse(text, ranks, err, errlen);
	if (!t)
		return -1;
	show_memory(out, t, per_node < ranks ? per_node : ranks);
	show_connections(out, t, per_node < ranks ? per_node : ranks);
	fprintf(out,
		"\n%llu locks, default options, transport=mpi\n"
		"kind         bytes a rank a slot in use  max_held  with threads=multiple\n",
		(unsigned long long)locks);
	for (int i = 0; (p = kinds_get(i)); i++)
		show_kind(out, p, t, locks);
	topo_free(t);
	return 0;
}
