/* SPDX-License-Identifier: BSD-3-Clause */
/* What SimGrid 3 and 4 call by different names: the root zone, hosts, actors, cluster zones. */
#ifndef SIM_SIMGRID_HPP
#define SIM_SIMGRID_HPP

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <string>
#include <utility>
#include <vector>

constexpr double SIMGRID_SPEED = 1e9, SIMGRID_BANDWIDTH = 1e10; /* neither is used */

/* What makes the host of a cluster zone's node, by its number. */
typedef simgrid::s4u::Host *simgrid_make_node(simgrid::s4u::NetZone *zone, unsigned long id);

#if SIMGRID_VERSION >= 40000

/* SimGrid 4 makes the root zone with the engine, and a host outside it has no CPU model. */
inline simgrid::s4u::NetZone *simgrid_root(const simgrid::s4u::Engine &engine)
{
	return engine.get_netzone_root();
}

inline simgrid::s4u::Host *simgrid_add_host(simgrid::s4u::NetZone *zone, const std::string &name)
{
	return zone->add_host(name, SIMGRID_SPEED);
}

template <class F>
simgrid::s4u::ActorPtr simgrid_add_actor(const char *name, simgrid::s4u::Host *host, F body)
{
#if SIMGRID_VERSION >= 40100
	return host->add_actor(name, body);
#else
	return simgrid::s4u::Engine::get_instance()->add_actor(name, host, body);
#endif
}

inline simgrid::s4u::NetZone *simgrid_with_nodes(simgrid::s4u::NetZone *zone,
						 simgrid_make_node *make)
{
	return zone->set_host_cb([make](simgrid::s4u::NetZone *z,
					const std::vector<unsigned long> &,
					unsigned long id) { return make(z, id); });
}

/* n: the parts of SimGrid's description of a dragonfly. */
inline simgrid::s4u::NetZone *simgrid_add_dragonfly(simgrid::s4u::NetZone *root, const char *name,
						    const std::vector<unsigned> *n, double latency,
						    simgrid_make_node *make)
{
	return simgrid_with_nodes(
	    root->add_netzone_dragonfly(name, {n[0][0], n[0][1]}, {n[1][0], n[1][1]},
					{n[2][0], n[2][1]}, n[3][0], SIMGRID_BANDWIDTH, latency,
					simgrid::s4u::Link::SharingPolicy::SHARED),
	    make);
}

/* n: the parts of SimGrid's description of a fat tree. */
inline simgrid::s4u::NetZone *simgrid_add_fat_tree(simgrid::s4u::NetZone *root, const char *name,
						   const std::vector<unsigned> *n, double latency,
						   simgrid_make_node *make)
{
	return simgrid_with_nodes(
	    root->add_netzone_fatTree(name, n[0][0], n[1], n[2], n[3], SIMGRID_BANDWIDTH, latency,
				      simgrid::s4u::Link::SharingPolicy::SHARED),
	    make);
}

#else

inline simgrid::s4u::NetZone *simgrid_root(const simgrid::s4u::Engine &)
{
	return simgrid::s4u::create_full_zone("world");
}

inline simgrid::s4u::Host *simgrid_add_host(simgrid::s4u::NetZone *zone, const std::string &name)
{
	return zone->create_host(name, SIMGRID_SPEED);
}

template <class F>
simgrid::s4u::ActorPtr simgrid_add_actor(const char *name, simgrid::s4u::Host *host, F body)
{
	return simgrid::s4u::Actor::create(name, host, body);
}

inline simgrid::s4u::ClusterCallbacks simgrid_with_nodes(simgrid_make_node *make)
{
	return simgrid::s4u::ClusterCallbacks([make](simgrid::s4u::NetZone *zone,
						     const std::vector<unsigned long> &,
						     unsigned long id) {
		return std::pair<simgrid::kernel::routing::NetPoint *,
				 simgrid::kernel::routing::NetPoint *>(
		    make(zone, id)->get_netpoint(), nullptr);
	});
}

inline simgrid::s4u::NetZone *simgrid_add_dragonfly(simgrid::s4u::NetZone *root, const char *name,
						    const std::vector<unsigned> *n, double latency,
						    simgrid_make_node *make)
{
	return simgrid::s4u::create_dragonfly_zone(
	    name, root, {{n[0][0], n[0][1]}, {n[1][0], n[1][1]}, {n[2][0], n[2][1]}, n[3][0]},
	    simgrid_with_nodes(make), SIMGRID_BANDWIDTH, latency,
	    simgrid::s4u::Link::SharingPolicy::SHARED);
}

inline simgrid::s4u::NetZone *simgrid_add_fat_tree(simgrid::s4u::NetZone *root, const char *name,
						   const std::vector<unsigned> *n, double latency,
						   simgrid_make_node *make)
{
	return simgrid::s4u::create_fatTree_zone(
	    name, root, {n[0][0], n[1], n[2], n[3]}, simgrid_with_nodes(make), SIMGRID_BANDWIDTH,
	    latency, simgrid::s4u::Link::SharingPolicy::SHARED);
}

#endif

#endif
