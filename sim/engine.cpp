/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine on SimGrid; see engine.h.
 *
 * Events wait in a heap of their own, ordered by time and then by number: SimGrid's timers break
 * ties in no defined order, and its clock is a double, in which equal spans differ by when they
 * start. One timer of SimGrid's kernel at a time advances the clock to the next event. Its callback
 * continues with further events as long as they wake no actor. So SimGrid's scheduler is entered
 * once for each wake-up, not for each event.
 *
 * An actor whose body has ended stays for the next one, because to create an actor costs more than
 * to run a small world.
 */
#include "sim/engine.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <malloc.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/network/build.hpp"
#include "sim/simgrid.hpp"

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;

struct engine_actor {
	sg4::ActorPtr actor;
	void (*body)(void *arg);
	void *arg;
	bool blocked;
};

namespace
{
struct event {
	sim_time when;
	uint64_t number;
	void (*call)(void *arg);
	void *arg;
	bool operator<(const event &e) const
	{
		return when != e.when ? when > e.when : number > e.number;
	}
};

sg4::Host *machine;
std::vector<event> events; /* a heap, the next event in front */
std::vector<engine_actor *> actors, unemployed;
sim_time now;
uint64_t number;
double origin; /* SimGrid's time at time 0 of this engine */
bool armed, in_events, ending;
unsigned woken;                   /* actors woken by the events of one timer */
unsigned runnable;                /* actors that are awake but do not run yet */
engine_actor *current, *listener; /* listener: the actor that awaits silence */

constexpr double PER_SECOND = 1e-12;
constexpr unsigned STACK_KIB = 64;

void run_events();

void arm()
{
	if (armed || (events.empty() && !listener))
		return;
	armed = true;
	double date = events.empty() ? 0 : origin + (double)events.front().when * PER_SECOND;
	Timer::set(std::max(date, sg4::Engine::get_clock()), run_events);
}

/* The timer's callback, in SimGrid's own context. */
void run_events()
{
	armed = false;
	in_events = true;
	woken = 0;
	while (!woken && !events.empty()) {
		event e = events.front();
		std::pop_heap(events.begin(), events.end());
		events.pop_back();
		now = e.when;
		e.call(e.arg);
	}
	if (!woken && listener) {
		engine_actor *who = listener;
		listener = nullptr;
		engine_wake(who);
	}
	in_events = false;
}

/* Let other actors run; arms the timer, so that the clock advances. */
void stop(engine_actor *self)
{
	self->blocked = true;
	arm();
	sg4::this_actor::suspend();
	runnable--;
	current = self;
}

void work(engine_actor *self)
{
	runnable--;
	current = self;
	while (!ending) {
		self->body(self->arg);
		unemployed.push_back(self);
		if (!ending)
			stop(self);
	}
}
} // namespace

sim_time engine_now(void)
{
	return now;
}

void engine_at(sim_time when, void (*call)(void *arg), void *arg)
{
	events.push_back({std::max(when, now), number++, call, arg});
	std::push_heap(events.begin(), events.end());
}

void engine_block(void)
{
	stop(current);
}

void engine_wake(struct engine_actor *actor)
{
	if (!actor->blocked)
		return;
	actor->blocked = false;
	woken++;
	runnable++;
	/* Other actors may run before this returns to the caller. */
	engine_actor *caller = current;
	actor->actor->resume();
	current = caller;
}

static void wake_later(void *arg)
{
	engine_wake(static_cast<engine_actor *>(arg));
}

void engine_sleep(sim_time span)
{
	if (!runnable && (events.empty() || events.front().when > now + span)) {
		/* Nothing happens before: continue without a switch of contexts. */
		now += span;
		return;
	}
	engine_at(now + span, wake_later, current);
	stop(current);
}

void engine_await_silence(void)
{
	listener = current;
	stop(current);
}

void engine_restart(void)
{
	events.clear();
	now = number = 0;
	origin = sg4::Engine::get_clock();
}

static void start(void *arg)
{
	auto *a = static_cast<engine_actor *>(arg);

	if (a->actor) {
		engine_wake(a);
		return;
	}
	woken++;
	runnable++;
	a->actor = simgrid_add_actor("rank", machine, [a] { work(a); });
}

struct engine_actor *engine_spawn(void (*body)(void *arg), void *arg)
{
	engine_actor *a;

	if (unemployed.empty()) {
		a = new engine_actor{};
		actors.push_back(a);
	} else {
		a = unemployed.back();
		unemployed.pop_back();
	}
	a->body = body;
	a->arg = arg;
	engine_at(now, start, a);
	return a;
}

/* At the end: let the actors that have stayed end. */
static void dismiss(void *)
{
	ending = true;
	for (engine_actor *a : unemployed)
		engine_wake(a);
}

struct first {
	void (*body)(void *arg);
	void *arg;
};

static void begin(void *arg)
{
	auto *f = static_cast<first *>(arg);

	f->body(f->arg);
	engine_at(now, dismiss, nullptr);
}

int engine_run(void (*body)(void *arg), void *arg)
{
	const char *argv[] = {"pawl", "--log=root.threshold:warning", nullptr};
	int argc = 2;
	sg4::Engine engine(&argc, const_cast<char **>(argv));
	first f = {body, arg};
	bool all;

	sg4::Engine::set_config("network/model:CM02");
	sg4::Engine::set_config("contexts/nthreads:1");
	sg4::Engine::set_config("contexts/stack-size:" + std::to_string(STACK_KIB));
	/* A page behind each stack would be a mapping of its own, of which a process has 65,530. A
	 * stack is allocated zeroed, and what malloc() has had from the kernel before it zeroes by
	 * hand, which would touch all pages of all stacks. */
	sg4::Engine::set_config("contexts/guard-size:0");
	mallopt(M_TOP_PAD, 0);
	sg4::Engine::set_config("surf/precision:1e-12");
	try {
		machine = network_build(engine);
	} catch (const std::exception &e) {
		fprintf(stderr, "the network: %s\n", e.what());
		return 2;
	}
	if (!machine) {
		auto *zone = simgrid_root(engine);
		machine = simgrid_add_host(zone, "machine");
		zone->seal();
	}

	engine_spawn(begin, &f);
	arm();
	engine.run();
	all = unemployed.size() == actors.size();
	for (engine_actor *a : actors)
		delete a;
	actors.clear();
	unemployed.clear();
	return all ? 0 : 1;
}
