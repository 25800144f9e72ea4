# SPDX-License-Identifier: BSD-3-Clause
"""pawl.sync: the names of mpi4py.util.sync. Prints TAP. Started by tests/python.sh.

    sync.py        the tests
    sync.py few    those of all ranks, with few objects: over hosts, which take long to create them
    sync.py time   the time of an acquire and release of a mutex that all ranks contend for, in
                   microseconds, beside that of mpi4py.util.sync
"""

import importlib
import os
import signal
import sys
import time

signal.alarm(170)  # the watchdog: mpirun names the signal

from mpi4py import MPI  # noqa: E402

import ranks  # noqa: E402
from ranks import comm as world, expect, result  # noqa: E402

from pawl import sync  # noqa: E402

few = sys.argv[1:] == ["few"]


def raises(error, call, *arguments):
    try:
        call(*arguments)
    except error as e:
        expect(type(e) is error and str(e), f"{e!r} has a sentence")
        return
    expect(False, f"{call} with {arguments} raises {error.__name__}")


def counters(comm):
    for typecode in "id" if few else "bBhHiIlLqQfd":
        counter = sync.Counter(3, 2, typecode=typecode, comm=comm, root=comm.size - 1)
        mine = [next(counter) for _ in range(4)]
        values = sorted(sum(comm.allgather(mine), []))
        expect(values == list(range(3, 3 + 8 * comm.size, 2)), f"{typecode}: {values}")
        expect(counter.next(0) == 3 + 8 * comm.size, f"{typecode}: next(0)")
        comm.Barrier()
        for _ in range(2):
            counter.free()
        raises(RuntimeError, counter.next)
    counter = sync.Counter(start=127, typecode="b")
    expect(next(counter) == 127 and next(counter) == -128, "a byte wraps around")
    expect(iter(counter) is counter, "a counter is an iterator")
    counter.free()
    result(f"Counter, {comm.size} ranks")


def mutexes(comm):
    values = sync.Counter(comm=comm)
    for recursive in False, True:
        mutex = sync.Mutex(recursive=recursive, comm=comm)
        raises(RuntimeError, mutex.release)
        for _ in range(5 if few else 30):
            with mutex:
                if recursive:
                    with mutex:
                        expect(mutex.count() == 2 and mutex.acquire(False), "twice")
                        mutex.release()
                else:
                    raises(RuntimeError, mutex.acquire)
                first = next(values)
                time.sleep(0)
                expect(next(values) == first + 1, "no other rank is in")
            expect(not mutex.locked() and mutex.count() == 0, "released")
        comm.Barrier()
        got = mutex.acquire(blocking=False)
        comm.Barrier()
        expect(comm.allgather(got).count(True) == 1 and mutex.locked() == got, "one has it")
        for _ in range(2):
            mutex.free()
        for call in mutex.acquire, mutex.release, mutex.locked, mutex.count:
            raises(RuntimeError, call)
    values.free()
    result(f"Mutex, {comm.size} ranks")


def conditions(comm):
    """Two conditions of one mutex: only ranks that wait for the right one are woken."""
    mutex = sync.Mutex(recursive=True, comm=comm)
    turn, end = sync.Condition(mutex), sync.Condition(mutex)
    now, done = sync.Counter(comm=comm), sync.Counter(comm=comm)
    raises(RuntimeError, turn.wait)
    raises(RuntimeError, turn.notify)
    with turn:
        turn.wait_for(lambda: now.next(0) == comm.rank)
        next(now)
        expect(turn.notify_all() < comm.size, "as many as wait")
        next(done)
        end.notify_all()
        with end:
            expect(end.wait_for(lambda: done.next(0) == comm.size), "the result of a predicate")
        expect(mutex.count() == 1, "acquired as often as before the wait")
        expect(turn.notify() == 0, "nobody waits for a turn")
    comm.Barrier()
    for freed in end, turn, mutex, now, done, turn:
        freed.free()
    for call in turn.acquire, turn.release, turn.wait, turn.notify, turn.notify_all:
        raises(RuntimeError, call)
    own = sync.Condition(comm=comm)
    own.acquire()
    for _ in range(2):
        own.free()
    result(f"Condition, {comm.size} ranks")


def semaphores(comm):
    permits = max(1, comm.size - 1)
    inside = sync.Counter(comm=comm)
    for bounded in False, True:
        semaphore = sync.Semaphore(permits, bounded=bounded, comm=comm)
        for _ in range(5 if few else 20):
            with semaphore:
                expect(next(inside) < permits, "permits")
                time.sleep(0)
                inside.next(-1)
        comm.Barrier()
        got = semaphore.acquire(blocking=False)
        comm.Barrier()
        expect(comm.allgather(got).count(True) == permits, "all permits, and no more")
        if got:
            semaphore.release()
        comm.Barrier()
        semaphore._bounded = True  # as mpi4py's own tests do
        raises(ValueError, semaphore.release)
        raises(ValueError, semaphore.release, 0)
        comm.Barrier()
        for _ in range(2):
            semaphore.free()
        raises(RuntimeError, semaphore.acquire)
        raises(RuntimeError, semaphore.release)
    inside.free()
    raises(ValueError, sync.Semaphore, -1)
    result(f"Semaphore, {comm.size} ranks")


def sequential(comm):
    order = sync.Counter(comm=comm)
    for i in range(3):
        with sync.Sequential(comm, tag=i):
            expect(next(order) == i * comm.size + comm.rank, "in the order of the ranks")
        comm.Barrier()
    order.free()
    result(f"Sequential, {comm.size} ranks")


def measure():
    modules = [sync]
    try:
        modules += [importlib.import_module("mpi4py.util.sync")]
    except ImportError:
        pass  # mpi4py before 4.1
    for module in modules:
        mutex = module.Mutex(comm=world)
        turns = 3000
        world.Barrier()
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(turns):
            mutex.acquire()
            mutex.release()
        spent = world.allreduce(time.process_time() - cpu, MPI.SUM) / world.size
        wall = world.allreduce(time.perf_counter() - begin, MPI.MAX)
        if world.rank == 0:
            print(f"{module.__name__}, {world.size} ranks: an acquire and release of each in "
                  f"{wall / turns * 1e6:.2f} us, {spent / turns * 1e6:.2f} us of CPU", flush=True)
        mutex.free()


status = 0
if sys.argv[1:] == ["time"]:
    measure()
else:
    for which in counters, mutexes, conditions, semaphores, sequential:
        if not few:
            which(MPI.COMM_SELF)
        which(world)
    status = ranks.end()
if few:  # MPICH over several hosts may hang in MPI_Finalize
    world.Barrier()
    time.sleep(0.2)
    os._exit(status)
sys.exit(status)
