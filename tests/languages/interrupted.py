# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions at any instruction of package pawl leave nothing held and nothing requested; waits end
soon after a signal, and keep their place if its handler does not raise. Started by tests/python.sh.
"""

import contextlib
import dis
import faulthandler
import gc
import os
import random
import signal
import sys
import threading
import time

import mpi4py

FUNNELED = "funneled" in sys.argv  # calls of the MPI come from one thread
if FUNNELED and hasattr(mpi4py, "rc"):
    mpi4py.rc.thread_level = "funneled"
elif FUNNELED:
    os.environ["PAWL_THREADS"] = "single"

from mpi4py import MPI
from ranks import comm, end, expect, rank, result

import pawl
from pawl import sync

signal.alarm(0)
faulthandler.dump_traceback_later(120, exit=True)  # the watchdog

PACKAGE = os.path.dirname(pawl.__file__)
HOLD = 0.0005  # of the client in the way; less than a wait takes until it returns to Python
SOON = 0.1  # seconds from a signal to its exception


class Interrupt(BaseException):
    """What the handlers raise."""


def acquire(take, give, always=False):
    def use():
        taken = always
        try:
            taken = take()
        finally:
            if taken:
                give()

    return use


def enter(what):
    def use():
        with what():
            pass

    use.releases = True
    return use


def uses(table, ranges):
    """Each use of the package that acquires: lock 1, or units 10 to 19 of space 0."""

    def tested():
        request = table.iacquire(1)
        while not request.test():
            time.sleep(HOLD / 10)
        held.release()

    held = table.lock(1)  # release() is one call of the library
    kept = pawl.MPILock(None)
    kept._table, kept._kept = table, table._kept(1)
    found = {
        "lock": enter(lambda: table.lock(1)),
        "lock, kept by the program": enter(lambda: held),
        "lock.acquire": acquire(held.acquire, held.release),
        "locks": enter(lambda: table.locks([3, 1, 2])),
        "request": enter(lambda: table.iacquire(1)),
        "request.test": tested,
        "acquire": acquire(lambda: table.acquire(1), lambda: table.release(1)),
        "acquire_many": acquire(
            lambda: table.acquire_many([2, 1]), lambda: table.release_many([1, 2])
        ),
        "MPILock": acquire(lambda: kept.lock() or True, kept.unlock, always=True),
    }
    if table.info()["capabilities"] & pawl.CAP_TIMED:
        timed = acquire(lambda: table.acquire(1, timeout=20), lambda: table.release(1))
        found["acquire, timed"] = timed
        found["lock, timed"] = enter(lambda: table.lock(1, timeout=20))
    if table.info()["capabilities"] & pawl.CAP_INTENT:
        found["part"] = enter(lambda: table.part(1, 2))
        found["part of a whole that is free"] = enter(lambda: table.part(2, 1))
    if table.info()["capabilities"] & pawl.CAP_OPTIMISTIC:
        found["read"] = lambda: table.read(1, lambda: None)
    units = ranges.range(0, 10, 19)
    spaces = {
        "range": enter(lambda: ranges.range(0, 10, 19)),
        "range.acquire": acquire(units.acquire, units.release),
    }
    if ranges.info()["capabilities"] & pawl.CAP_TIMED:
        spaces["range, timed"] = enter(lambda: ranges.range(0, 10, 19, timeout=20))
    return found, spaces


@contextlib.contextmanager
def permit(table, number, timeout=None):
    """Of a semaphore that has one."""
    if not table.semaphore_acquire(number, timeout):
        raise pawl.Error(pawl.Code.TIMEOUT, "no permit")
    try:
        yield
    finally:
        table.semaphore_release(number, most=1)


class Events:
    """A semaphore with one permit, number 3 of a table, and objects of pawl.sync, over comm."""

    def __init__(self, comm, kind):
        self.table = pawl.Table(comm, kind, 4, events=True)
        self.mutex = sync.Mutex(recursive=True, comm=comm)
        self.condition = sync.Condition(self.mutex)
        self.semaphore = sync.Semaphore(1, comm=comm)
        if comm.rank == 0:
            self.table.semaphore_init(3, 1)
        comm.Barrier()

    def free(self):
        for what in self.condition, self.mutex, self.semaphore, self.table:
            what.free()

    def notified(self):
        with self.table.lock(1):
            try:
                self.table.wait(1, timeout=HOLD)
            finally:
                expect(self.table.lock(1)._is_owned(), "the lock after a wait")

    def twice(self):
        with self.mutex, self.mutex:
            pass

    def uses(self):
        """Those that threads share, and those of the process."""
        table, mutex, condition, semaphore = self.table, self.mutex, self.condition, self.semaphore

        def give():
            table.semaphore_release(3, most=1)

        return {
            "semaphore_acquire": acquire(lambda: table.semaphore_acquire(3), give),
            "semaphore_acquire, timed": acquire(
                lambda: table.semaphore_acquire(3, timeout=20), give
            ),
            "wait": self.notified,
        }, {
            "Mutex": enter(lambda: mutex),
            "Mutex, twice": self.twice,
            "Mutex.acquire": acquire(mutex.acquire, mutex.release),
            "Mutex.acquire, a try": acquire(lambda: mutex.acquire(False), mutex.release),
            "Condition": enter(lambda: condition),
            "Condition.acquire": acquire(condition.acquire, condition.release),
            "Semaphore": enter(lambda: semaphore),
            "Semaphore.acquire": acquire(semaphore.acquire, semaphore.release),
        }

    @contextlib.contextmanager
    def all(self, timeout=None):
        """All of it, with as many permits as there were."""
        if self.mutex.count():
            raise pawl.Error(pawl.Code.HELD, "the mutex is held")
        until = time.monotonic() + (timeout or 0)
        for what in self.mutex, self.semaphore:
            while not what.acquire(False):
                if time.monotonic() > until:
                    raise pawl.Error(pawl.Code.TIMEOUT, f"{what} is not free")
                time.sleep(HOLD / 10)
            what.release()
        with permit(self.table, 3, timeout), self.table.lock(1, timeout=timeout):
            yield


class Points:
    """Raises before the n-th instruction of the package, but for those after which CPython delivers
    no exception, and which no `try` can enclose: the return of a value."""

    RELEASES = ("release", "release_many", "semaphore_release", "unlock")
    RETURNS = ("RETURN_VALUE", "RETURN_CONST")

    def __init__(self, n):
        self.left = n
        self.raised = ""

    def __enter__(self):
        sys.settrace(self.call)
        return self

    def __exit__(self, kind, *_):
        sys.settrace(None)
        return kind is Interrupt

    def call(self, frame, event, arg):
        if os.path.dirname(frame.f_code.co_filename) != PACKAGE:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self.instruction

    def instruction(self, frame, event, arg):
        code = frame.f_code
        if event != "opcode" or self.raised:
            return self.instruction
        name = dis.opname[code.co_code[frame.f_lasti]]
        first = name in ("RESUME", "NOP") and code.co_name in self.RELEASES
        if name not in self.RETURNS and not first:
            self.left -= 1
            if self.left < 0:
                self.raised = f"{code.co_name}, line {frame.f_lineno}, {name}"
                raise Interrupt
        return self.instruction


def hold_for_a_while(what):
    """Another client that has it, and releases it soon."""
    ready = threading.Event()

    def hold():
        with what():
            ready.set()
            time.sleep(HOLD)

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    return thread


def is_free(wanted):
    """Whether no client has it, this thread included."""
    try:
        with wanted(timeout=10):
            return True
    except pawl.Error as e:
        print(f"# {e}")
        return False


def at_every_instruction(name, use, wanted, others=(False, True)):
    """wanted(): all that the use may leave behind."""
    for contended in others:
        n = 0
        while True:
            holder = hold_for_a_while(wanted) if contended else None
            with Points(n) as points:
                use()
            if holder:
                holder.join()
            if not is_free(wanted):
                expect(False, f"{name}: free after an exception in {points.raised}")
                return
            if not points.raised:
                break
            n += 1
        expect(n > 5, f"{name}: {n} instructions")


def instructions(kind):
    mine = MPI.COMM_SELF
    with pawl.Table(mine, kind, 4) as table, pawl.Table(mine, "citron", 1) as ranges:
        locks, spaces = uses(table, ranges)
        for name, use in locks.items() if rank == 0 else ():
            at_every_instruction(name, use, lambda **more: table.locks([1, 2, 3], **more))
        for name, use in spaces.items() if rank == 0 else ():
            at_every_instruction(name, use, lambda **more: ranges.range(0, 0, 99, **more))
    events = Events(mine, kind)
    shared, own = events.uses()
    for name, use in shared.items() if rank == 0 else ():
        at_every_instruction(name, use, events.all)
    for name, use in own.items() if rank == 0 else ():
        at_every_instruction(name, use, events.all, (False,))
    events.free()
    result(f"{kind}: an exception at any instruction leaves nothing held or requested")


def raises(number, frame):
    raise Interrupt


def interrupted(use):
    """Seconds until the use is left, by a signal that comes meanwhile."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    begin = time.monotonic()
    try:
        use()
        expect(False, "an interrupt")
    except Interrupt:
        pass
    return time.monotonic() - begin - 0.05


def end_soon(waits, late):
    """Rank 1 has seen waits go on for late seconds at most."""
    late = comm.bcast(late, root=1)
    expect(late < SOON, f"a wait goes on for {late:.3f} seconds after a signal")
    result(f"{waits} end soon after a signal" + " # timed" * (late >= SOON))


def waits(kind, of_ranges="citron"):
    """Rank 0 has the lock while rank 1 waits and is interrupted, twice; then both get it."""
    late = 0
    with pawl.Table(comm, kind, 4) as table, pawl.Table(comm, of_ranges, 1) as ranges:
        locks, spaces = uses(table, ranges)
        for use in (*locks.values(), *spaces.values()):
            if rank == 0:
                with table.lock(1), ranges.range(0, 10, 19):
                    comm.Barrier()
                    comm.Barrier()
            else:
                comm.Barrier()
                late = max(late, interrupted(use), interrupted(use))
                comm.Barrier()
            with table.lock(1), ranges.range(0, 10, 19):
                pass
            comm.Barrier()
    result(f"{kind}, {of_ranges}: waits that a signal ends leave nothing behind")
    end_soon(f"{kind}: waits", late)


def waits_of_events(kind):
    """The same of what Events has; and a wait for a notification, which has the lock again."""
    late = 0
    events = Events(comm, kind)
    shared, own = events.uses()

    def wait():
        with events.table.lock(1):
            events.table.wait(1)

    del shared["wait"], own["Mutex.acquire, a try"]
    for use in (wait, *shared.values(), *own.values()):
        if rank == 0:
            with events.mutex, events.semaphore, permit(events.table, 3):
                comm.Barrier()
                comm.Barrier()
        else:
            comm.Barrier()
            late = max(late, interrupted(use), interrupted(use))
            comm.Barrier()
        with events.all(20):
            pass
        comm.Barrier()
    events.free()
    result(f"{kind}: waits for events that a signal ends leave nothing behind")
    end_soon(f"{kind}: waits for events", late)


def storm(kind):
    """Signals at any time while two ranks contend."""
    rng = random.Random(rank)
    events = Events(comm, kind)
    own = events.uses()[1]
    with pawl.Table(comm, kind, 4) as table, pawl.Table(comm, "citron", 1) as ranges:
        locks, spaces = uses(table, ranges)
        # The others have a moment in which this program does not know yet what it has.
        every = [
            use
            for use in (*locks.values(), *spaces.values(), *own.values())
            if hasattr(use, "releases")
        ]
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 2e-3))
                while True:
                    rng.choice(every)()
            except Interrupt:
                pass
            mine = table.lock(1)._is_owned() or table.lock(2)._is_owned() or events.mutex.locked()
            expect(not mine, "a lock is held after a signal")
        comm.Barrier()
        with events.all(20):
            pass
        comm.Barrier()
        with table.locks([0, 1, 2, 3], timeout=20), ranges.range(0, 0, timeout=20):
            pass
        comm.Barrier()
    events.free()
    result(f"{kind}: signals at any time leave nothing behind")


def keeps_its_place(what):
    """A client whose handler returns is not overtaken by one that came later."""

    def holding():
        return table.lock(0) if what == "lock" else permit(table, 1)

    def acquire():
        with holding():
            times.append(time.monotonic())
            time.sleep(0.01)

    times = []
    with pawl.Table(comm, "d-mcs", 2, events=True) as table:
        later = threading.Thread(target=acquire)
        if rank == 0:
            table.semaphore_init(1, 1)
            with holding():
                comm.Barrier()
                time.sleep(0.2)  # rank 1 is in the queue
                later.start()
                time.sleep(0.2)
            later.join()
        else:
            ticks = []
            signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
            comm.Barrier()
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            acquire()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, raises)
            expect(len(ticks) >= 4, f"the handler ran {len(ticks)} times during the wait")
        first = comm.bcast(times[0], root=1)
        expect(rank == 1 or first < times[0], "a later client was first")
    result(f"d-mcs, a {what}: a handler that returns leaves the wait in its place")


def keyboard():
    """Ctrl-C during a wait, whose handler is Python's own."""
    with pawl.Table(comm, "auto", 1) as table:
        if rank == 0:
            with table.lock(0):
                comm.Barrier()
                comm.Barrier()
        else:
            comm.Barrier()
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                with table.lock(0):
                    expect(False, "KeyboardInterrupt")
            except KeyboardInterrupt:
                pass
            comm.Barrier()
        comm.Barrier()
        expect(table.acquire(0, timeout=20), "the lock is free")
        table.release(0)
    result("Ctrl-C during a wait")


def dropped():
    """A request that is dropped is cancelled, and so is one in a cycle."""
    with pawl.Table(comm, "d-mcs", 2) as table:
        table.iacquire(rank)
        request = table.iacquire(1 - rank)
        del request
        cycle = [table.iacquire(rank)]
        cycle.append(cycle)
        del cycle
        gc.collect()
        comm.Barrier()
        expect(table.acquire(rank, timeout=20), "the lock is free")
        table.release(rank)
    result("a request that is dropped is cancelled")


def main():
    signal.signal(signal.SIGALRM, raises)
    if FUNNELED:
        waits("alock", "ss")
        waits("mgl")
        return end()
    more = ["auto", "declock", "shiftlock"] if os.environ.get("TEST_LONG") == "1" else []
    for kind in ["mgl", *more]:
        instructions(kind)
        waits(kind)
        waits_of_events(kind)
        storm(kind)
    waits("alock", "ss")  # without deadlines
    keeps_its_place("lock")
    keeps_its_place("permit")
    keyboard()
    dropped()
    return end()


if __name__ == "__main__":
    sys.exit(main())
