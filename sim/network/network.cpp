/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks by SimGrid: its cluster zones, or a platform file; see network.h. What is read of a
 * cluster's text: text.c.
 *
 * Only the routes come from SimGrid. Messages are not activities of its network model, which would
 * take a hundred times as long, and would model shared bandwidth, which messages of eight bytes do
 * not need. Routing is SimGrid's: shortest paths in a dragonfly, D-mod-k in a fat tree, so a pair
 * of nodes has one route. The nodes are the hosts in the order of their names, with numbers in
 * names compared as numbers.
 */
#include "sim/network/network.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/network/build.hpp"
#include "sim/network/text.h"
#include "sim/simgrid.hpp"

namespace sg4 = simgrid::s4u;

namespace
{
struct route {
	std::vector<int> link;
	std::vector<sim_time> latency;
	struct network_route face;
};

network_plan plan;
std::vector<unsigned> numbers[NETWORK_PARTS]; /* in the plan's text, part by part */
std::vector<sg4::Host *> hosts;
std::map<const sg4::Link *, int> link_number;
std::vector<std::unique_ptr<route>> routes; /* [from * nodes + to] */

constexpr double PER_SECOND = 1e12;

sg4::Host *make_node(sg4::NetZone *zone, unsigned long id)
{
	sg4::Host *host = simgrid_add_host(zone, "node-" + std::to_string(id));

	host->seal();
	return host;
}

void build_zone(sg4::Engine &engine)
{
	double latency = (double)plan.link / PER_SECOND;
	sg4::NetZone *root = simgrid_root(engine);

	if (plan.shape == NETWORK_DRAGONFLY)
		simgrid_add_dragonfly(root, "network", numbers, latency, make_node)->seal();
	else
		simgrid_add_fat_tree(root, "network", numbers, latency, make_node)->seal();
	root->seal();
}

/* Throws if a host of the file cannot be reached. */
void check_routes()
{
	for (const sg4::Host *h : hosts) {
		std::vector<sg4::Link *> links;
		double latency = 0;

		if (h == hosts.front())
			continue;
		hosts.front()->route_to(h, links, &latency);
		if (links.empty())
			throw std::runtime_error("no route from " + hosts.front()->get_name() +
						 " to " + h->get_name());
	}
}

std::unique_ptr<route> find_route(int from, int to)
{
	auto found = std::make_unique<route>();
	std::vector<sg4::Link *> links;
	double latency = 0;

	hosts[(size_t)from]->route_to(hosts[(size_t)to], links, &latency);
	found->face.all = 0;
	for (const sg4::Link *l : links) {
		auto at = link_number.find(l);
		sim_time t = (sim_time)(l->get_latency() * PER_SECOND + 0.5);

		found->link.push_back(at->second);
		found->latency.push_back(t);
		found->face.all += t;
	}
	found->face.links = (int)found->link.size();
	found->face.link = found->link.data();
	found->face.latency = found->latency.data();
	return found;
}
} // namespace

bool network_choose(const network_plan *p, char *err, size_t errlen)
{
	plan = *p;
	if (plan.shape == NETWORK_DRAGONFLY || plan.shape == NETWORK_FAT_TREE) {
		network_numbers read;

		if (!network_read(&plan, &read, err, errlen))
			return false;
		for (int i = 0; i < NETWORK_PARTS; i++)
			numbers[i].assign(read.number[i], read.number[i] + read.count[i]);
	}
	if (plan.shape == NETWORK_FILE) {
		FILE *in = fopen(plan.text, "r");

		if (!in) {
			snprintf(err, errlen, "cannot read %s", plan.text);
			return false;
		}
		fclose(in);
	}
	return true;
}

sg4::Host *network_build(sg4::Engine &engine)
{
	if (plan.shape == NETWORK_NONE)
		return nullptr;
	if (plan.shape == NETWORK_FILE)
		engine.load_platform(plan.text);
	else
		build_zone(engine);
	hosts = engine.get_all_hosts();
	std::sort(hosts.begin(), hosts.end(), [](const sg4::Host *a, const sg4::Host *b) {
		return strverscmp(a->get_cname(), b->get_cname()) < 0;
	});
	if (plan.shape == NETWORK_FILE)
		check_routes();
	for (const sg4::Link *l : engine.get_all_links())
		link_number.emplace(l, (int)link_number.size());
	routes.resize(hosts.size() * hosts.size());
	return hosts.empty() ? nullptr : hosts.front();
}

int network_nodes(void)
{
	return (int)hosts.size();
}

int network_links(void)
{
	return (int)link_number.size();
}

const struct network_route *network_find(int from, int to)
{
	auto &r = routes[(size_t)from * hosts.size() + (size_t)to];

	if (!r)
		r = find_route(from, to);
	return &r->face;
}
