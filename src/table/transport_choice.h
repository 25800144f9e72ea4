/* SPDX-License-Identifier: BSD-3-Clause */
/* Choose the transport between nodes, by option transport. */
#ifndef TABLE_TRANSPORT_CHOICE_H
#define TABLE_TRANSPORT_CHOICE_H

#include "options/options.h"
#include "rma/memory/segments.h"

/* On one host the MPI's windows are in memory, whereas UCX would use the loopback. */
static inline enum rma_network transport_choose(const struct options *o, bool one_host)
{
	if (o->transport == TRANSPORT_AUTO)
		return one_host || !options_have_ucx() ? RMA_BY_MPI : RMA_BY_EITHER;
	return o->transport == TRANSPORT_UCX ? RMA_BY_UCX : RMA_BY_MPI;
}

#endif
