/* SPDX-License-Identifier: BSD-3-Clause */
/* What engine.cpp needs of network.cpp: to build the network that was chosen. */
#ifndef SIM_NETWORK_BUILD_HPP
#define SIM_NETWORK_BUILD_HPP

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

/* The zone that contains all others. SimGrid 4 creates it with the engine, and a host outside it
 * has no CPU model; before SimGrid 4, the program creates it. */
simgrid::s4u::NetZone *network_root(const simgrid::s4u::Engine &engine);

/* The first host, or nullptr if there is none. Throws if a file is wrong. */
simgrid::s4u::Host *network_build(simgrid::s4u::Engine &engine);

#endif
