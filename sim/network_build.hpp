/* SPDX-License-Identifier: BSD-3-Clause */
/* What engine.cpp needs of network.cpp: to build the network that was chosen. */
#ifndef SIM_NETWORK_BUILD_HPP
#define SIM_NETWORK_BUILD_HPP

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

/* The zone that all others are in. SimGrid 4 makes it with the engine, and a host outside it has
 * no CPU model; before, the program makes it. */
simgrid::s4u::NetZone *network_root(const simgrid::s4u::Engine &engine);

/* The first host, or nullptr if there is none. What is wrong with a file is thrown. */
simgrid::s4u::Host *network_build(simgrid::s4u::Engine &engine);

#endif
