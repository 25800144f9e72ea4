# SPDX-License-Identifier: BSD-3-Clause
"""Package pawl: exclusion by `with`, modes, tries, times, ranges, parts, failures, threads that run
meanwhile, and pshmem's interface. Started by tests/python.sh.

    test_pawl.py           the tests, in TAP
    test_pawl.py broken    no lock is taken: has to fail
"""

import array
import asyncio
import contextlib
import ctypes
import os
import selectors
import signal
import sys
import threading
import time

signal.alarm(170)  # the watchdog: mpirun names the signal

from mpi4py import MPI  # noqa: E402

from ranks import comm, end, expect, rank, result  # noqa: E402

import pawl  # noqa: E402
from pawl import _header, _library, _scope  # noqa: E402

TURNS = 300
ranks = comm.size


class Words:
    """A word that all ranks of the host share, changed by loads and stores."""

    def __init__(self):
        self.win = MPI.Win.Allocate_shared(64 if rank == 0 else 0, 8, comm=comm)
        memory = self.win.Shared_query(0)[0]
        self.word = memoryview(memory).cast("B").cast("q")
        comm.Barrier()
        self.calls = 0

    def increment(self, locked=True):
        old = self.word[0]
        if not locked:  # all ranks read before one writes
            comm.Barrier()
        self.calls += 1
        if self.calls % 16 == 0:
            os.sched_yield()
        self.word[0] = old + 1

    def comes_to(self, value):
        comm.Barrier()
        expect(self.word[0] == value, f"{self.word[0]} increments of {value}")
        comm.Barrier()
        if rank == 0:
            self.word[0] = 0
        comm.Barrier()


def fails(call, code, word):
    try:
        call()
        expect(False, f"a failure: {word}")
    except pawl.Error as e:
        expect(e.code == code, f"the code {code!r}, not {e.code!r}")
        expect(word in str(e), f"{word} in: {e}")


def mistaken(call, sentence):
    try:
        call()
        expect(False, f"a TypeError: {sentence}")
    except TypeError as e:
        expect(sentence in str(e), f"{sentence} in: {e}")


def exclusion(words, kind, shared, locked=True):
    with pawl.Table(comm, kind, 4) as table:
        for turn in range(TURNS):
            if shared and turn % 3 == 0:
                with table.lock(1, shared=True):
                    pass
            with table.lock(1) if locked else contextlib.nullcontext():
                words.increment(locked)
        words.comes_to(TURNS * ranks)
    result(f"{kind}: with")


def tries(kind, capabilities):
    table = pawl.Table(comm, kind, 1)
    timed = capabilities & pawl.CAP_TIMED
    if not capabilities & pawl.CAP_TRY:
        table.free()
        return
    if rank == 0:
        table.acquire(0)
    comm.Barrier()
    if rank != 0:
        expect(not table.acquire(0, timeout=0), "a try finds it held")
        expect(not table.lock(0).acquire(blocking=False), "and so does a lock")
        fails(table.lock(0, timeout=0).__enter__, pawl.Code.BUSY, "")
        if timed:
            begin = time.monotonic()
            expect(not table.acquire(0, timeout=0.01), "the time is over")
            expect(time.monotonic() - begin >= 0.01, "and not before")
            try:
                with table.lock(0, timeout=0.01):
                    expect(False, "that it is held")
            except TimeoutError as e:
                expect(e.code == pawl.Code.TIMEOUT, "the code of the time")
    comm.Barrier()
    if rank == 0:
        table.release(0)
    comm.Barrier()
    if timed:
        with table.lock(0, timeout=20):
            pass
    comm.Barrier()
    table.free()
    result(f"{kind}: tries, and times")


def ranges(words, kind):
    with pawl.Table(comm, kind, 2) as table:
        for _ in range(TURNS):
            with table.range(1, 10 - rank, 19 + rank):
                words.increment()
        words.comes_to(TURNS * ranks)
        if rank == 0:
            with table.range(0, 0, 9):
                comm.Barrier()
                comm.Barrier()
        else:
            comm.Barrier()
            expect(not table.range(0, 9, 9).acquire(blocking=False), "a range in the way")
            expect(not table.range(0, 5).acquire(blocking=False), "a range without end")
            comm.Barrier()
        comm.Barrier()
    result(f"{kind}: ranges")


def many(words):
    sequences = [list, lambda values: array.array("q", values)]
    try:
        import numpy

        sequences += [numpy.array, lambda values: numpy.array(values, dtype=numpy.uint32)]
    except ImportError:
        pass
    with pawl.Table(comm, "d-mcs", 10) as table:
        for turn in range(TURNS):
            wanted = [7, 3, 9 - turn % 2]
            with table.locks(sequences[turn % len(sequences)](wanted)):
                words.increment()
        words.comes_to(TURNS * ranks)
        if rank == 0:
            table.acquire(3)
        comm.Barrier()
        if rank != 0:
            expect(not table.acquire_many([2, 3], timeout=0), "a try finds one held")
            expect(not table.acquire_many([2, 3], timeout=0.01), "so does one with a time")
            fails(table.locks([2, 3], timeout=0).__enter__, pawl.Code.BUSY, "")
        comm.Barrier()
        if rank == 0:
            table.release(3)
        comm.Barrier()
        fails(lambda: table.acquire_many([4, 5, 4]), pawl.Code.ARG, "lock 4 is both")
        expect(table.acquire_many([2, 3], [pawl.Mode.EXCLUSIVE] * 2), "with modes")
        table.release_many([3, 2])
        try:
            table.acquire_many([2, 3], [pawl.Mode.EXCLUSIVE])
            expect(False, "one mode for two locks")
        except ValueError:
            pass
    result("several locks by one call")


async def increment_soon(request, words):
    async with request:
        words.increment()


def requests(words):
    with pawl.Table(comm, "d-mcs", 10) as table:
        for turn in range(TURNS):
            request = table.iacquire(1)
            if turn % 5 == 3:
                with selectors.DefaultSelector() as ready:
                    ready.register(request, selectors.EVENT_READ)
                    ready.select()
                expect(request.test(), "a request whose descriptor is readable has ended")
                words.increment()
                table.release(1)
            elif turn % 5 == 4:
                asyncio.run(increment_soon(request, words))
            elif turn % 5 == 0:
                while not request.test():
                    time.sleep(1e-4)
                words.increment()
                table.release(1)
            elif turn % 5 == 1:
                with request:
                    words.increment()
            else:
                request.cancel()
                with table.lock(1):
                    words.increment()
        words.comes_to(TURNS * ranks)
        request = table.iacquire(2 + rank, shared=False)
        fails(lambda: table.release(2 + rank), pawl.Code.NOT_HELD, "")
        fails(lambda: table.iacquire(2 + rank), pawl.Code.HELD, "")
        request.wait()
        expect(request.test(), "a request that has ended is done")
        fails(request.fileno, pawl.Code.ARG, "ended")
        if hasattr(MPI, "Request"):
            fails(request.mpi, pawl.Code.ARG, "ended")
            for _ in range(TURNS):
                request = table.iacquire(1)
                which = MPI.Request.Waitany([MPI.REQUEST_NULL, request.mpi()])
                expect(which == 1 and request.test(), "the MPI's request")
                words.increment()
                table.release(1)
            words.comes_to(TURNS * ranks)
        table.release(2 + rank)
        fails(lambda: table.iacquire(10), pawl.Code.RANGE, "lock 10")
    result("requests")


def reads(words):
    """Two words that change together, read without the lock."""
    with pawl.Table(comm, "declock", 2) as table:
        for turn in range(TURNS):
            if turn % 4 == 0:
                with table.lock(1):
                    words.word[1] += 1
                    os.sched_yield()
                    words.word[2] += 1
            first, second = table.read(1, lambda: (words.word[1], words.word[2]))
            expect(first == second, f"a read that is valid has {first} and {second}")
        comm.Barrier()
        changes = (TURNS + 3) // 4 * ranks
        expect(table.read(1, lambda: words.word[2]) == changes, "all changes are read")
        try:
            table.read(1, lambda: words.word[10**6])
            expect(False, "an exception of copy()")
        except IndexError:
            pass
        with table.lock(0, shared=True):
            fails(lambda: table.read(0, int), pawl.Code.HELD, "lock 0")
        comm.Barrier()
    with pawl.Table(comm, "d-mcs", 1) as table:
        fails(lambda: table.read(0, int), pawl.Code.UNSUPPORTED, "d-mcs")
    result("reads without the lock")


def parts(words):
    with pawl.Table(comm, "mgl", 10) as table:
        for turn in range(TURNS):
            if turn % 10 == rank:
                with table.lock(0):
                    words.increment()
            else:
                with table.part(0, 1):
                    words.increment()
        words.comes_to(TURNS * ranks)
        with table.lock(0, mode=pawl.Mode.INTENT_SHARED):
            pass
    result("mgl: a whole and a part")


def failures():
    code = pawl.Code
    fails(lambda: pawl.Table(comm, "no-such-lock"), code.KIND, "no-such-lock")
    fails(lambda: pawl.Table(comm, "rma-mcs", max_held="none"), code.OPTION, "max_held")
    fails(lambda: pawl.Table(comm, topology=2000 * "x"), code.OPTION, "pawl_topology")
    info = MPI.Info.Create()
    info.Set("pawl_max_held", "3")
    table = pawl.Table(comm, "rma-mcs", 10, info=info, distribution="cyclic")
    info.Free()
    shown = table.info()
    expect(shown["max_held"] == 3 and shown["n"] == 10 and shown["kind"] == "rma-mcs", str(shown))
    expect(shown["transport"] == "node", shown["transport"])
    expect(table.home(1) == 1 % ranks, "distribution=cyclic")
    fails(lambda: table.acquire(10), code.RANGE, "10")
    fails(lambda: table.named("a"), code.UNSUPPORTED, "names=yes")
    with pawl.Table(comm, n=2, names=True, name="few") as named:
        same = [comm.allreduce(named.named("b") == i, MPI.LAND) for i in range(2)]
        expect(any(same), "a name has one number on all ranks")
        expect(named.named("b") != named.named("é") and named.info()["name"] == "few", "two names")
        fails(lambda: named.named("c"), code.TOO_MANY, 'all 2 locks of "few" have other names')
    table.set_name("orders")
    expect(table.info()["name"] == "orders", "the name")
    fails(lambda: table.acquire(10), code.RANGE, '10 of "orders"')
    fails(lambda: table.acquire(-1), code.RANGE, "lock -1 is not in 0 to 9")
    fails(lambda: table.acquire(2**64 + 5), code.RANGE, "to 9")
    fails(lambda: table.locks([0, 2**64 + 5]), code.RANGE, "to 9")
    fails(lambda: table.range(0, 2**63), code.RANGE, "first")
    fails(lambda: table.acquire(1, timeout=-1), code.ARG, "seconds: -1")
    mistaken(lambda: table.acquire(1.5), "lock: 1.5 is not an integer")
    mistaken(lambda: table.lock("1"), "lock: '1' is not an integer")
    mistaken(lambda: table.locks([1.0, 2.0]), "lock: 1.0 is not an integer")
    mistaken(lambda: table.acquire(1, mode="shared"), "mode: 'shared'")
    mistaken(lambda: table.acquire(1, timeout="soon"), "timeout: 'soon'")
    mistaken(lambda: pawl.Table(comm, 10), "kind: 10 is not the name of a kind")
    mistaken(lambda: pawl.Table(3), "comm: 3 is not a communicator")
    expect(len(table) == 10 and table, "len(), and true before it is freed")
    expect(str(table) == f'<pawl.Table "orders": rma-mcs, 10 locks, {ranks} ranks>', repr(table))
    fails(lambda: table.acquire(1, mode=77), code.ARG, "77")
    fails(table.range(0, 1, 2).__enter__, code.UNSUPPORTED, "ranges")
    fails(lambda: table.release(1), code.NOT_HELD, "1")
    table.acquire(rank)
    fails(lambda: table.acquire(rank), code.HELD, "held")
    fails(table.free, code.HELD, "release")
    table.release(rank)
    table.reset_stats()
    with table.lock(rank):
        pass
    stats = table.stats()
    expect(stats["acquires"] == 1 and len(stats["atomics"]) == 2, str(stats))
    fails(lambda: table.percentile(pawl.Time.HOLD, 50), code.UNSUPPORTED, "PAWL_STATS")
    os.environ["PAWL_STATS"] = "/dev/null"
    timed = pawl.Table(comm, "d-mcs", 10)
    with timed.lock(rank):
        time.sleep(0.02)
    expect(timed.percentile(pawl.Time.HOLD, 100) > 0.019, "the longest hold")
    expect(timed.percentile(pawl.Time.ACQUIRE, 50) > 0, "the time of an acquire")
    timed.free()
    del os.environ["PAWL_STATS"]
    table.free()
    table.free()
    expect(not table and "freed" in str(table), f"freed: {table}")
    fails(lambda: table.acquire(0), code.ARG, "null")
    homed = pawl.Table(comm, "d-mcs", 10, home=lambda lock: (ranks - 1) * (lock > 4))
    expect(homed.home(4) == 0 and homed.home(5) == ranks - 1, "homes")
    homed.rehome(lambda lock: ranks - 1 - homed.home(lock))
    expect(homed.home(4) == ranks - 1 and homed.home(5) == 0, "other homes")
    fails(lambda: homed.rehome(lambda lock: ranks), code.ARG, "not in the communicator")
    homed.free()
    try:
        pawl.Table(comm, "d-mcs", 10, home=lambda lock: 1 // 0)
        expect(False, "an exception of home")
    except (ZeroDivisionError, pawl.Error):  # one rank of a node calls it
        pass
    result("failures: codes and sentences; info, homes, stats")


def changes(words):
    """Readers become writers, and the reverse."""
    done = 0
    with pawl.Table(comm, "mgl", 2) as table:
        for _ in range(TURNS):
            with table.lock(0, shared=True) as lock:
                before = words.word[0]
                try:
                    lock.upgrade(timeout=0.01)
                except pawl.Timeout as e:
                    expect(e.code in (pawl.Code.BUSY, pawl.Code.TIMEOUT), str(e))
                    continue
                expect(words.word[0] == before, "a writer was in")
                words.increment()
                done += 1
                lock.downgrade()
                expect(words.word[0] == before + 1, "a writer was in after the change")
        done = sum(comm.allgather(done))
        expect(done > 0, "changes")
        words.comes_to(done)
        with table.lock(1) as lock:
            fails(lock.upgrade, pawl.Code.NOT_HELD, "PAWL_SHARED")
    with pawl.Table(comm, "d-mcs", 1) as table, table.lock(0) as lock:
        fails(lock.downgrade, pawl.Code.UNSUPPORTED, "d-mcs")
    result("readers that become writers, and the reverse")


def lives():
    """Rank 0 forgets lock 0; the next holder is told so, and repairs."""
    first = 0
    with pawl.Table(comm, "shiftlock", 2, lease="100ms") as table:
        lock = table.lock(0)
        if rank == 0:
            lock.acquire()
            first = lock.token()
            lib = _library.lib()
            expect(lib.pawl_lock_abandon(table._handle, ctypes.c_uint64(0)) == 0, "abandon")
        first = comm.bcast(first)
        if rank == ranks - 1:
            with lock:
                expect(not lock.is_consistent and lock.token() > first, "told")
            with lock:
                expect(not lock.is_consistent, "told again")
                lock.consistent()
                expect(lock.is_consistent, "repaired")
            fails(lock.consistent, pawl.Code.NOT_HELD, "lock 0")
            lock = table.lock(1)
            lock.acquire()
        table.shrink_to(comm)
        with table.lock(1) as lock:
            expect(lock.token() > first, "a larger number in the new table")
        mistaken(lambda: table.shrink_to(7), "survivors: 7 is not a communicator of mpi4py")
    with pawl.Table(comm, "citron", 1, lease="1s") as table, table.range(0, rank, rank) as units:
        expect(units.is_consistent and units.token() > 0, "a range")
        fails(units.consistent, pawl.Code.RANGE, "all units")
    with pawl.Table(comm, "d-mcs", 1) as table, table.lock(0) as lock:
        expect(lock.is_consistent, "without a lease")
        fails(lock.token, pawl.Code.UNSUPPORTED, "lease")
    result("holders are told of a recovery, and have numbers")


def threads():
    """While a thread waits for a lock, another one of its process runs."""
    ticks = [0]
    over = threading.Event()

    def tick():
        while not over.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    with pawl.Table(comm, "rma-mcs", 1) as table:
        if rank == 0:
            table.acquire(0)
        comm.Barrier()
        if rank == 0:
            time.sleep(0.3)
            table.release(0)
        else:
            thread = threading.Thread(target=tick)
            thread.start()
            with table.lock(0):
                seen = ticks[0]
            over.set()
            thread.join()
            expect(seen >= 10, f"{seen} ticks during a wait of 0.3 seconds")
        comm.Barrier()
    result("other threads run during a wait")


def condition():
    """A lock of a table under threading.Condition, between threads."""
    with pawl.Table(comm, "d-mcs", ranks) as table:
        condition = threading.Condition(table.lock(rank))
        ready = []

        def work():
            with condition:
                ready.append(1)
                condition.notify()

        with condition:
            thread = threading.Thread(target=work)
            thread.start()
            expect(condition.wait_for(lambda: ready, timeout=20), "the thread notifies")
        thread.join()
    result("threading.Condition")


def pshmem(words):
    with pawl.MPILock(comm, root=ranks - 1) as lock:
        expect(lock.comm is comm, "its communicator")
        for _ in range(TURNS):
            lock.lock()
            lock.lock()
            words.increment()
            lock.unlock()
            lock.unlock()
        words.comes_to(TURNS * ranks)
    alone = pawl.MPILock(None)
    alone.lock()
    alone.unlock()
    alone.close()
    result("MPILock")


def main():
    words = Words()
    if "broken" in sys.argv[1:]:
        exclusion(words, "d-mcs", False, locked=False)
    elif "sizes" in sys.argv[1:]:
        for name, type_ in (("pawl_private_scope", _scope.Scope),
                            ("pawl_read", _header.ReadData), ("pawl_stats", _header.Stats),
                            ("pawl_kind", _header.Kind), ("pawl_table_info", _header.TableInfo)):
            print(name, ctypes.sizeof(type_))
        return 0
    else:
        expect(pawl.version() == pawl.__version__, pawl.version())
        expect(os.path.exists(pawl.library()) or "/" not in pawl.library(), pawl.library())
        result("the library and its version")
        for kind, capabilities in pawl.kinds().items():
            if capabilities & pawl.CAP_RANGES:
                ranges(words, kind)
            else:
                exclusion(words, kind, capabilities & pawl.CAP_SHARED)
                tries(kind, capabilities)
        many(words)
        requests(words)
        reads(words)
        parts(words)
        changes(words)
        lives()
        failures()
        threads()
        condition()
        pshmem(words)
    words.word.release()
    words.win.Free()
    late = pawl.Table(comm, "d-mcs", 2)
    request = late.iacquire(rank % 2)
    MPI.Finalize()
    del request
    late.free()
    return end()


if __name__ == "__main__":
    sys.exit(main())
