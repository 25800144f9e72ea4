/* SPDX-License-Identifier: BSD-3-Clause */
/* What engine.cpp needs of network.cpp: to build the network that was chosen. */
#ifndef SIM_NETWORK_BUILD_HPP
#define SIM_NETWORK_BUILD_HPP

#include <simgrid/s4u.hpp>

/* The first host, or nullptr if there is none. Throws if a file is wrong. */
simgrid::s4u::Host *network_build(simgrid::s4u::Engine &engine);

#endif
