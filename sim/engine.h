/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the simulator: actors, and events in virtual time.
 *
 * Time is an integral number of picoseconds. Events at the same time happen in the order in which
 * they were created. So a world runs in the same way on every machine, whatever ran in this engine
 * before. SimGrid provides the actors' contexts and drives the clock; only engine.cpp and
 * network.cpp know it.
 *
 * One actor or event callback runs at a time. A process has one engine, and runs it once.
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

struct engine_actor;

/* Run body in the first actor, and return when all actors have ended: 0. 1: an actor is blocked for
 * ever, which is an error of the caller. 2: a network was chosen (network.h) and could not be
 * built; stderr has the reason. */
int engine_run(void (*body)(void *arg), void *arg);

/* Start another actor, or one whose body has ended, at the current time. */
struct engine_actor *engine_spawn(void (*body)(void *arg), void *arg);

sim_time engine_now(void);
/* Call back at this time, outside of any actor. */
void engine_at(sim_time when, void (*call)(void *arg), void *arg);

/* Block until engine_wake() is called for this actor. */
void engine_block(void);
/* From an event or from another actor. Does nothing if the actor is not blocked. */
void engine_wake(struct engine_actor *actor);
void engine_sleep(sim_time span);

/* Block until no event is left and every other actor is blocked. */
void engine_await_silence(void);
/* Drop the events that are left and start again at time 0. The caller is the actor that has
 * returned from engine_await_silence(), or the last one that runs. */
void engine_restart(void);

#ifdef __cplusplus
}
#endif
#endif
