/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lock protocol uses, and what it has to provide.
 *
 * A protocol file includes this header (and those of the protocols that it is built from), issues
 * the operations of rma.h, and names the words that it waits for. It contains no MPI call, no
 * waiting loop, and no allocation in acquire or release. The rest of the library sees one
 * descriptor of it, struct lock_protocol.
 */
#ifndef LOCK_LOCK_H
#define LOCK_LOCK_H

#include "lock/fault.h"
#include "lock/home.h"
#include "lock/layout.h"
#include "lock/life.h"
#include "lock/memory.h"
#include "lock/option.h"
#include "lock/protocol.h"
#include "lock/slot.h"
#include "lock/setup.h"

#endif
