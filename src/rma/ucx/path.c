/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an endpoint goes over. UCX 1.13 tells it to people only, one line for each lane
 * ("lane[0]:  2:tcp/eth0.0 md[2] -> ... am wireup"): the one for atomics if there is one,
 * else that for active messages, by which UCX has the target perform them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/parts.h"

static bool is_for(const char *line, const char *what)
{
	const char *uses = strstr(line, "->"), *at = uses ? strstr(uses, what) : NULL;

	return at && at[-1] == ' ' && strchr(" #\n", at[strlen(what)]);
}

static bool read_lane(const char *line, struct rma_ucx_path *path)
{
	const char *lane = strstr(line, "lane[");
	char *dot;

	if (!lane ||
	    sscanf(lane, "lane[%*d]: %*d:%31[^/]/%63s", path->transport, path->device) != 2)
		return false;
	dot = strrchr(path->device, '.');
	if (dot)
		*dot = '\0';
	return true;
}

static bool read_lanes(char *text, struct rma_ucx_path *path)
{
	bool found = false;
	char *line;

	for (char *rest = text; (line = strsep(&rest, "\n"));) {
		if (is_for(line, "amo"))
			return read_lane(line, path);
		if (!found && is_for(line, "am"))
			found = read_lane(line, path);
	}
	return found;
}

static char *describe(struct rma_ucx *u, int rank)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct ucx_peer *p;

	if (!f)
		return NULL;
	pthread_mutex_lock(&u->mutex);
	p = ucx_peer(u, rank);
	if (p)
		ucp_ep_print_info(p->ep, f);
	pthread_mutex_unlock(&u->mutex);
	fclose(f);
	return text;
}

bool rma_ucx_path(struct rma *r, int rank, struct rma_ucx_path *path)
{
	bool found;
	char *text;

	memset(path, 0, sizeof *path);
	snprintf(path->atomics, sizeof path->atomics, "%s", r->ucx->by_cpu ? "cpu" : "ucx");
	if (r->map[rank] && r->ucx->by_cpu) {
		snprintf(path->transport, sizeof path->transport, "memory");
		return true;
	}
	text = describe(r->ucx, rank);
	found = text && read_lanes(text, path);
	free(text);
	return found;
}
