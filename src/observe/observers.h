/* SPDX-License-Identifier: BSD-3-Clause */
/* The observers that exist. */
#ifndef OBSERVE_OBSERVERS_H
#define OBSERVE_OBSERVERS_H

#include "observe/observe.h"

/* How an observer begins: *calls and *state are set if it observes the table. Collective; *calls is
 * set on all ranks or on none. PAWL_ERR_*, with a message: the same on all ranks. */
typedef int observer_open(const struct observe *o, const struct observer **calls, void **state);

/* watch.c: option watchdog; stats.c: PAWL_STATS; trace.c: PAWL_TRACE; inject.c: PAWL_INJECT;
 * probes.c: PAWL_PROBES */
observer_open observe_open_watch, observe_open_stats, observe_open_trace, observe_open_inject,
    observe_open_probes;

#endif
