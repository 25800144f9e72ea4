/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the simulator: actors, and events in virtual time.
 *
 * Time is a whole number of picoseconds, and events of one time happen in the
 * order in which they were made: so a world runs the same way whatever ran in
 * this engine before, on every machine. SimGrid provides the actors' contexts
 * and drives the clock (engine.cpp and network.cpp are the only files that know it).
 *
 * One actor or event callback runs at a time. A process has one engine, and runs
 * it once.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t sim_time; /* picoseconds */

#define SIM_NS ((sim_time)1000)
#define SIM_US ((sim_time)1000000)
#define SIM_MS ((sim_time)1000000000)
#define SIM_S ((sim_time)1000000000000)
#define SIM_NEVER UINT64_MAX

struct engine_actor;

/* Run body in the first actor, and return when all actors have ended. An actor
 * that is blocked for ever is an error of the caller's: 1, else 0. 2 if a network was chosen
 * (network.h) and could not be built, which is said on stderr. */
int engine_run(void (*body)(void *arg), void *arg);

/* Start another actor, or one that has ended its work before, at this time. */
struct engine_actor *engine_spawn(void (*body)(void *arg), void *arg);

sim_time engine_now(void);
/* Call back at that time, outside of any actor. */
void engine_at(sim_time when, void (*call)(void *arg), void *arg);

struct engine_actor *engine_self(void);
/* Stop until somebody calls engine_wake() for this actor. */
void engine_block(void);
/* From an event, or from another actor. The actor must be blocked. */
void engine_wake(struct engine_actor *actor);
void engine_sleep(sim_time span);

/* Block the caller until no event is left and every other actor is blocked. */
void engine_await_silence(void);
/* Forget the events that are left, and begin again at time 0: for the actor that
 * came back from engine_await_silence(), or the last one at work. */
void engine_restart(void);

#ifdef __cplusplus
}
#endif
#endif
