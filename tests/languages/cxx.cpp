/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl.hpp: mutexes as the standard library wants them, exclusion by its guards, exceptions, and
 * destructors after MPI_Finalize and during exceptions. Started by tests/cxx.sh.
 *
 *   cxx             the tests, in TAP
 *   cxx late        a table and a lock outlive MPI_Finalize; ends with 0
 *   cxx exception   an exception leaves the scope of a table on all ranks; ends with 0
 *   cxx broken      acquires no lock for a time: has to fail
 */
#include <pawl.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "tests/tap.h"

using namespace std::chrono_literals;

namespace
{

int rank, ranks;
bool good = true;

void hung(int)
{
	static const char text[] = "not ok - the watchdog: 60 seconds are over\n";

	if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
		_exit(4);
	_exit(3);
}

void expect(bool condition, const char *what)
{
	if (!condition)
		std::printf("# rank %d: not so: %s\n", rank, what);
	good = good && condition;
}
#define EXPECT(condition) expect(condition, #condition)

void result(const std::string &name)
{
	int mine = good ? 1 : 0, all = 0;

	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	tap_silent = rank != 0;
	ok(all != 0, "%s", name.c_str());
	good = true;
}

/* Expect a failure with a code, and a message with a word. */
template <class F> void throws(F f, int code, const char *word)
{
	try {
		f();
		expect(false, word);
	} catch (const pawl::error &e) {
		EXPECT(e.code() == code);
		EXPECT(std::strcmp(e.phrase(), pawl_strerror(code)) == 0);
		EXPECT(std::strstr(e.what(), word) != nullptr);
		if (std::strstr(e.what(), word) == nullptr)
			std::printf("# it says: %s\n", e.what());
	}
}

/* A few words that all ranks of the host share, changed by loads and stores. */
class words
{
      public:
	words()
	{
		int unit;
		MPI_Aint bytes = rank == 0 ? 64 * MPI_Aint(sizeof(long)) : 0, size;

		MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base_,
					&win_);
		MPI_Win_shared_query(win_, 0, &size, &unit, &base_);
		MPI_Win_lock_all(0, win_);
		if (rank == 0)
			std::memset(base_, 0, 64 * sizeof(long));
		MPI_Win_sync(win_);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	~words()
	{
		MPI_Win_unlock_all(win_);
		MPI_Win_free(&win_);
	}
	words(const words &) = delete;
	words &operator=(const words &) = delete;

	volatile long &operator[](int i)
	{
		return static_cast<volatile long *>(base_)[i];
	}

	/* An increment by a load and a store, which loses one if another rank is in: all ranks
	 * are, where they have no lock. */
	void increment(int i, bool locked = true)
	{
		const long old = (*this)[i];

		if (!locked)
			MPI_Barrier(MPI_COMM_WORLD);
		else if (++increments_ % 16 == 0)
			sched_yield();
		(*this)[i] = old + 1;
	}

	/* On all ranks: whether the word has this value; sets it to 0. */
	void is(int i, long value)
	{
		MPI_Barrier(MPI_COMM_WORLD);
		EXPECT((*this)[i] == value);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			(*this)[i] = 0;
		MPI_Barrier(MPI_COMM_WORLD);
	}

      private:
	MPI_Win win_ = MPI_WIN_NULL;
	void *base_ = nullptr;
	unsigned increments_ = 0;
};

/* The requirements of the standard that a compiler can check. */
template <class M, class = void> struct timed_lockable : std::false_type {
};
template <class M>
struct timed_lockable<
    M, std::void_t<decltype(std::declval<M &>().lock()),
		   std::enable_if_t<std::is_same_v<decltype(std::declval<M &>().try_lock()), bool>>,
		   decltype(bool(std::declval<M &>().try_lock_for(1ms))),
		   decltype(bool(
		       std::declval<M &>().try_lock_until(std::chrono::system_clock::now()))),
		   decltype(std::declval<M &>().unlock())>> : std::true_type {
};
template <class M, class = void> struct shared_timed_lockable : std::false_type {
};
template <class M>
struct shared_timed_lockable<
    M, std::void_t<decltype(std::declval<M &>().lock_shared()),
		   decltype(bool(std::declval<M &>().try_lock_shared())),
		   decltype(bool(std::declval<M &>().try_lock_shared_for(1ms))),
		   decltype(bool(std::declval<M &>().try_lock_shared_until(
		       std::chrono::steady_clock::now()))),
		   decltype(std::declval<M &>().unlock_shared())>> : std::true_type {
};
static_assert(timed_lockable<pawl::mutex>::value);
static_assert(!shared_timed_lockable<pawl::mutex>::value);
static_assert(timed_lockable<pawl::shared_mutex>::value);
static_assert(shared_timed_lockable<pawl::shared_mutex>::value);
static_assert(timed_lockable<pawl::range_mutex>::value);
static_assert(shared_timed_lockable<pawl::range_mutex>::value);
static_assert(noexcept(std::declval<pawl::mutex &>().unlock()));
static_assert(std::is_copy_constructible_v<pawl::shared_mutex>);
static_assert(!std::is_copy_constructible_v<pawl::table>);
static_assert(std::is_nothrow_move_constructible_v<pawl::table>);
static_assert(!std::is_copy_constructible_v<pawl::held_lock>);
static_assert(std::is_nothrow_move_assignable_v<pawl::held_lock>);

constexpr int turns = 500;

void exclusion(const pawl_kind *kind, bool broken)
{
	words w;
	pawl::table table(MPI_COMM_WORLD, kind->name, 4);

	for (int i = 0; i < turns; i++) {
		pawl::mutex mutex = table[1];
		const std::lock_guard guard(mutex);
		w.increment(0);
	}
	w.is(0, long(turns) * ranks);
	for (int i = 0; i < turns; i++) {
		auto held = broken ? pawl::held_lock() : table.lock(1);
		w.increment(0, !broken);
	}
	w.is(0, long(turns) * ranks);
	result(std::string(kind->name) + ": lock_guard, and a holder");
	if (broken || !table.can(PAWL_CAP_TRY))
		return;
	for (int i = 0; i < turns / 5; i++) {
		/* In different orders: std::scoped_lock avoids a deadlock. */
		pawl::mutex a = table[unsigned(rank) % 2], b = table[1 - unsigned(rank) % 2],
			    c = table[3];
		const std::scoped_lock guard(a, b, c);
		w.increment(0);
	}
	w.is(0, long(turns / 5) * ranks);
	result(std::string(kind->name) + ": scoped_lock of three");
}

/* Several locks by one call, and requests. */
void many_and_requests()
{
	const unsigned me = unsigned(rank) % 2;
	pawl::table table(MPI_COMM_WORLD, "d-mcs", 8);
	words w;
	int held = 0;

	for (int i = 0; i < turns / 5; i++) {
		const auto guard = table.lock_many({me, 1 - me, 3});

		EXPECT(bool(guard));
		w.increment(0);
	}
	w.is(0, long(turns / 5) * ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		const auto guard = table.lock(1);

		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		EXPECT(!table.try_lock_many({0, 1}));
		EXPECT(!table.try_lock_many_for({0, 1}, 1ms));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	throws([&] { (void)table.lock_many({2, 2}); }, PAWL_ERR_ARG, "lock 2 is both");
	{
		const auto own = table.lock_many({4 + unsigned(rank)}, {pawl::mode::exclusive});

		EXPECT(bool(own));
	}
	result("several locks by one call");
	for (int i = 0; i < turns / 5; i++) {
		pawl::request first = table.request(1);
		pawl::held_lock lock = first.test();

		if (!lock && i % 6 == 1)
			lock = first.wait();
		if (!lock && i % 6 == 3) {
			pollfd ready = {first.fd(), POLLIN, 0};

			EXPECT(poll(&ready, 1, -1) == 1);
			lock = first.test();
			EXPECT(bool(lock));
		}
		if (!lock && i % 6 == 5) {
			MPI_Request mpi = first.mpi();

			MPI_Wait(&mpi, MPI_STATUS_IGNORE);
			lock = first.test();
			EXPECT(bool(lock));
		}
		while (!lock)
			lock = first.test();
		w.increment(1);
		held += !first.test();
		lock.release();
		first = table.request(2);
		if (i % 3 == 0)
			first.cancel(); /* else the destructor does */
	}
	w.is(1, long(turns / 5) * ranks);
	EXPECT(held == turns / 5);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(rank != 0 || bool(table.try_lock(2)));
	result("requests");
}

void readers(const pawl_kind *kind)
{
	words w;
	pawl::table table(MPI_COMM_WORLD, kind->name, 4);

	for (int i = 0; i < turns; i++) {
		pawl::shared_mutex mutex = table[2];
		if (i % 4 == rank % 4) {
			const std::unique_lock writer(mutex);
			w.increment(0);
			w.increment(1);
		} else {
			const std::shared_lock reader(mutex);
			EXPECT(w[0] == w[1]);
		}
		if (i % 5 == 0) {
			auto held = table.lock(2, pawl::mode::shared);
			EXPECT(w[0] == w[1]);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(w[0] == w[1] && w[0] == long(turns / 4) * ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	result(std::string(kind->name) + ": shared_lock, unique_lock");
}

/* Rank 0 holds it; the others try, and wait until a deadline. */
void tries(const pawl_kind *kind)
{
	pawl::table table(MPI_COMM_WORLD, kind->name, 2);
	pawl::shared_mutex mutex = table[0];
	std::unique_lock own(mutex, std::defer_lock);
	const bool timed = table.can(PAWL_CAP_TIMED), tried = table.can(PAWL_CAP_TRY);
	const bool shared = table.can(PAWL_CAP_SHARED);

	if (rank == 0)
		own.lock();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank != 0 && tried) {
		EXPECT(!std::unique_lock(mutex, std::try_to_lock));
		EXPECT(!table.try_lock(0));
		if (shared)
			EXPECT(!std::shared_lock(mutex, std::try_to_lock));
	}
	if (rank != 0 && timed) {
		const auto begin = std::chrono::steady_clock::now();

		EXPECT(!std::unique_lock(mutex, 20ms));
		EXPECT(std::chrono::steady_clock::now() - begin >= 20ms);
		EXPECT(!table.try_lock_for(0, 5ms));
		EXPECT(!mutex.try_lock_until(std::chrono::system_clock::now() + 5ms));
		EXPECT(!mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
		EXPECT(!mutex.try_lock_for(-1s));
		if (shared) {
			EXPECT(!std::shared_lock(mutex, 5ms));
			EXPECT(!mutex.try_lock_shared_until(std::chrono::steady_clock::now()));
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		own.unlock();
	MPI_Barrier(MPI_COMM_WORLD);
	for (int turn = 0; turn < ranks; turn++) {
		if (turn == rank && tried)
			EXPECT(bool(std::unique_lock(mutex, std::try_to_lock)));
		if (turn == rank && timed)
			EXPECT(bool(table.try_lock_for(0, 10s)));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (timed && shared) {
		EXPECT(bool(std::shared_lock(mutex, 20s)));
		EXPECT(bool(table.try_lock_for(0, 20s, pawl::mode::shared)));
	}
	result(std::string(kind->name) + ": tries, and times");
}

void ranges(const pawl_kind *kind)
{
	words w;
	pawl::table table(MPI_COMM_WORLD, kind->name, 2);

	for (int i = 0; i < turns; i++) {
		/* The ranks' ranges overlap in units 10 to 19. */
		pawl::range_mutex units = table.range(1, 10 - rank, 19 + rank);
		const std::lock_guard guard(units);
		w.increment(0);
	}
	w.is(0, long(turns) * ranks);
	for (int i = 0; i < turns; i++) {
		auto held = table.lock_range(1, 5, 5 + rank);
		w.increment(0);
	}
	w.is(0, long(turns) * ranks);
	if (rank == 0) {
		auto held = table.lock_range(0, 0, 9);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		EXPECT(!table.try_lock_range(0, 9, 9));
		if (table.can(PAWL_CAP_TIMED)) {
			EXPECT(!table.try_lock_range_for(0, 0, 0, 5ms));
			EXPECT(!table.range(0, 3, 4).try_lock_for(1ms));
		}
		pawl::range_mutex units = table.range(0, 3, 4);
		EXPECT(!units.try_lock());
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int turn = 0; turn < ranks; turn++) {
		if (turn == rank)
			EXPECT(bool(table.try_lock_range(0, 0, 9)));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (table.can(PAWL_CAP_SHARED)) {
		pawl::range_mutex units = table.range(0, 0, 1);
		const std::shared_lock reader(units);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	result(std::string(kind->name) + ": ranges");
}

int handled;
void handle(int code, const char *sentence)
{
	handled += code == PAWL_ERR_NOT_HELD && sentence[0] != '\0';
}

/* Each rank waits for its turn, by the condition of lock 0; counter 1 has whose turn it is. */
void events()
{
	pawl::table table(MPI_COMM_WORLD, 3, {{"events", "yes"}});
	auto turn = table.condition(0);
	auto semaphore = table.semaphore(2);

	{
		auto held = table.lock(0);

		turn.wait([&] { return table.fetch_add(1, 0) == rank; });
		table.fetch_add(1, 1);
		turn.notify_all();
	}
	if (rank == 0)
		semaphore.init(1);
	MPI_Barrier(MPI_COMM_WORLD);
	{
		auto held = table.lock(0); // and no rank notifies any more

		EXPECT(!turn.wait_for(0s) && !turn.wait_for(1ms, [] { return false; }));
		EXPECT(turn.wait_for(0s, [] { return true; }));
	}
	semaphore.acquire();
	EXPECT(!semaphore.try_acquire() && !semaphore.try_acquire_for(1ms));
	semaphore.release();
	MPI_Barrier(MPI_COMM_WORLD);
	throws([&] { semaphore.release(1, 1); }, PAWL_ERR_RANGE, "more than 1 permits");
	throws([&] { turn.notify_one(); }, PAWL_ERR_NOT_HELD, "lock 0");
}

void failures()
{
	throws([] { pawl::table t(MPI_COMM_WORLD, "no-such-lock", 1); }, PAWL_ERR_KIND,
	       "no-such-lock");
	throws(
	    [] {
		    pawl::table t(MPI_COMM_WORLD, "rma-mcs", 1, {{"max_held", "none"}});
	    },
	    PAWL_ERR_OPTION, "max_held");
	result("creation that fails throws the sentence");

	pawl::table table(MPI_COMM_WORLD, "rma-mcs", 10, {{"max_held", "3"}});
	EXPECT(table.info().max_held == 3);
	EXPECT(table.info().n == 10);
	throws([&] { auto held = table.lock(10); }, PAWL_ERR_RANGE, "10");
	throws([&] { auto held = table.lock(1, pawl::mode::intent); }, PAWL_ERR_UNSUPPORTED,
	       "PAWL_INTENT");
	throws([&] { auto held = table.lock_range(0, 1, 2); }, PAWL_ERR_UNSUPPORTED, "ranges");
	if (rank == 0) {
		auto held = table.lock(3);
		throws([&] { table[3].lock(); }, PAWL_ERR_HELD, "3");
		pawl::held_lock other(std::move(held));
		EXPECT(!held && other);
		held = std::move(other);
		EXPECT(held && !other);
		held.release();
		EXPECT(!held);
		held.release();
		held = table.lock(4);
		pawl_lock_release(table.get(), 4);
		throws([&] { held.release(); }, PAWL_ERR_NOT_HELD, "4");
		EXPECT(bool(held)); /* a call that fails has changed nothing */
		const auto old = pawl::release_failed.exchange(&handle);
		held = pawl::held_lock();
		EXPECT(handled == 1);
		table[5].unlock();
		EXPECT(handled == 2);
		pawl::release_failed = old;
	}
	result("calls that fail throw the sentence; unlock() tells the handler");

	auto held = table.lock(unsigned(rank) + 5);
	throws([&] { table.free(); }, PAWL_ERR_HELD, "release before");
	EXPECT(bool(table));
	held.release();
	table.reset_stats();
	{
		auto again = table.lock(unsigned(rank) + 5);
	}
	EXPECT(table.stats().acquires == 1);
	throws([&] { table.percentile(PAWL_TIME_HOLD, 50); }, PAWL_ERR_UNSUPPORTED, "PAWL_STATS");
	setenv("PAWL_STATS", "/dev/null", 1);
	{
		pawl::table timed(MPI_COMM_WORLD, "d-mcs", 10);

		EXPECT(timed.percentile(PAWL_TIME_HOLD, 100) == 0);
		{
			auto slow = timed.lock(unsigned(rank));

			usleep(20000);
		}
		EXPECT(timed.percentile(PAWL_TIME_HOLD, 100) >= 0.019);
		EXPECT(timed.percentile(PAWL_TIME_ACQUIRE, 50) > 0);
		throws([&] { timed.percentile(3, 50); }, PAWL_ERR_ARG, "3");
	}
	unsetenv("PAWL_STATS");
	pawl::table moved = std::move(table);
	EXPECT(!table && moved);
	moved.free();
	EXPECT(!moved);
	moved.free();
	moved = pawl::table::homed(MPI_COMM_WORLD, "d-mcs", 100,
				   [](std::uint64_t lock) { return lock < 50 ? 0 : ranks - 1; });
	EXPECT(moved.home(49) == 0 && moved.home(50) == ranks - 1);
	moved.rehome([&](std::uint64_t lock) { return ranks - 1 - moved.home(lock); });
	EXPECT(moved.home(49) == ranks - 1 && moved.home(50) == 0);
	throws([&] { moved.rehome([](std::uint64_t) { return ranks; }); }, PAWL_ERR_ARG, "lock ");
	moved.rehome([](std::uint64_t lock) { return lock < 50 ? 0 : ranks - 1; });
	bool thrown = false;
	try {
		moved = pawl::table::homed(MPI_COMM_WORLD, "d-mcs", 2, [](std::uint64_t) -> int {
			throw std::out_of_range("of home()");
		});
		EXPECT(false);
	} catch (const std::out_of_range &) {
		thrown = true;
	} catch (const pawl::error &e) { /* on ranks that did not call it */
		thrown = e.code() == PAWL_ERR_ARG;
	}
	EXPECT(thrown && moved.home(49) == 0);
	moved.set_name("orders");
	EXPECT(std::string(moved.info().name) == "orders");
	pawl_table *plain = moved.release();
	moved = pawl::table(plain);
	EXPECT(bool(moved));
	moved = pawl::table(MPI_COMM_WORLD);
	EXPECT(std::string(moved.info().kind->name) == "adaptive" && moved.info().n == 1);
	moved = pawl::table(MPI_COMM_WORLD, 7, {{"patience", "100"}});
	EXPECT(std::string(moved.info().kind->name) == "adaptive" && moved.info().n == 7);
	moved = pawl::table(MPI_COMM_WORLD, 2, {{"names", "yes"}});
	EXPECT(moved.named("a") < 2 && moved.named("b") == 1 - moved.named("a"));
	throws([&] { moved.named("c"); }, PAWL_ERR_TOO_MANY, "have other names");
	events();
	for (const std::string &value : {std::string(MPI_MAX_INFO_VAL, 'x'), std::string()})
		throws(
		    [&] {
			    moved = pawl::table(MPI_COMM_WORLD, 2, {{"topology", value}});
		    },
		    PAWL_ERR_OPTION, "pawl_topology");
	throws(
	    [] {
		    pawl::table(MPI_COMM_WORLD, 2, {{std::string(MPI_MAX_INFO_KEY, 'x'), "1"}});
	    },
	    PAWL_ERR_OPTION, "MPI allows fewer than");
	result("tables: free, move, stats, homes, the default kind");
}

void parts()
{
	words w;
	pawl::table table(MPI_COMM_WORLD, "mgl", 10);

	for (int i = 0; i < turns; i++) {
		if (i % 10 == rank) {
			auto whole = table.lock(0);
			w.increment(0);
		} else {
			auto part = table.lock_part(0, 1);
			w.increment(0);
		}
	}
	w.is(0, long(turns) * ranks);
	result("mgl: a whole and a part");

	pawl::shared_mutex mutex = table[5];
	long changed = 0, all = 0;
	for (int i = 0; i < turns; i++) {
		std::shared_lock reader(mutex);
		const long before = w[1];
		try {
			std::unique_lock writer = pawl::upgrade(std::move(reader));
			EXPECT(w[1] == before);
			w.increment(1);
			changed++;
			reader = pawl::downgrade(std::move(writer));
			EXPECT(w[1] == before + 1);
		} catch (const pawl::error &e) {
			EXPECT(e.code() == PAWL_ERR_BUSY && reader.owns_lock());
		}
		reader = {};
		auto held = table.lock(6, pawl::mode::shared);
		if (held.try_upgrade_for(1ms))
			held.downgrade();
	}
	MPI_Allreduce(&changed, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	EXPECT(all > 0);
	w.is(1, all);
	{
		auto held = table.lock(7 + unsigned(rank % 2), pawl::mode::intent);
		throws([&] { held.upgrade(); }, PAWL_ERR_NOT_HELD, "not with PAWL_SHARED");
	}
	pawl::table plain(MPI_COMM_WORLD, "rma-rw", 1);
	{
		auto held = plain.lock(0, pawl::mode::shared);
		throws([&] { held.upgrade(); }, PAWL_ERR_UNSUPPORTED, "PAWL_CAP_UPGRADE");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	result("mgl: readers that become writers, and the reverse");
}

/* Two words that change together, read without the lock. */
void reads()
{
	words w;
	pawl::table table(MPI_COMM_WORLD, "declock", 2), other(MPI_COMM_WORLD, "d-mcs", 1);
	bool caught = false;
	long last = 0;

	for (int i = 0; i < turns; i++) {
		if (i % 4 == 0) {
			auto held = table.lock(1);
			w.increment(0);
			w.increment(1);
		}
		const auto pair = table.read(1, [&] { return std::pair<long, long>(w[0], w[1]); });
		EXPECT(pair.first == pair.second);
		table.read(1, [&] { last = w[1]; });
		EXPECT(last >= pair.second);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(table.read(1, [&] { return long(w[1]); }) == long((turns + 3) / 4) * ranks);
	try {
		table.read(1, [] { throw std::out_of_range("of copy()"); });
	} catch (const std::out_of_range &) {
		caught = true;
	}
	EXPECT(caught);
	EXPECT(table.can(PAWL_CAP_OPTIMISTIC) && !other.can(PAWL_CAP_OPTIMISTIC));
	throws([&] { other.read(0, [] {}); }, PAWL_ERR_UNSUPPORTED, "d-mcs");
	{
		auto held = table.lock(0, pawl::mode::shared);
		throws([&] { table.read(0, [] {}); }, PAWL_ERR_HELD, "lock 0");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	result("reads without the lock");
}

/* Rank 0 forgets lock 0; the next holder is told so, and repairs. */
void lives()
{
	pawl::table table(MPI_COMM_WORLD, "shiftlock", 2, {{"lease", "100ms"}});
	pawl::table spaces(MPI_COMM_WORLD, "citron", 1, {{"lease", "1s"}});
	pawl::table plain(MPI_COMM_WORLD, "d-mcs", 1);
	std::int64_t first = 0;

	if (rank == 0) {
		EXPECT(pawl_lock_acquire(table.get(), 0, PAWL_EXCLUSIVE) == PAWL_SUCCESS);
		EXPECT(pawl_lock_token(table.get(), 0, &first) == PAWL_SUCCESS);
		EXPECT(pawl_lock_abandon(table.get(), 0) == PAWL_SUCCESS);
		auto held = spaces.lock_range(0, 3, 5);
		EXPECT(held.is_consistent() && held.token() > 0);
		throws([&] { held.consistent(); }, PAWL_ERR_RANGE, "all units");
	}
	MPI_Bcast(&first, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	if (rank == ranks - 1) {
		pawl::shared_mutex mutex = table[0];
		std::unique_lock held(mutex, std::defer_lock);
		{
			auto told = table.lock(0);
			EXPECT(!told.is_consistent() && told.token() > first);
		}
		held.lock();
		EXPECT(!held.mutex()->is_consistent());
		held.mutex()->consistent();
		EXPECT(held.mutex()->is_consistent() && held.mutex()->token() > first);
	}
	{
		auto held = plain.lock(0);
		EXPECT(held.is_consistent());
		throws([&] { held.token(); }, PAWL_ERR_UNSUPPORTED, "lease");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	result("holders are told of a recovery, and have numbers");
	/* The last rank keeps lock 1 and is left alone. */
	MPI_Comm left;
	const bool last = rank == ranks - 1;

	MPI_Comm_split(MPI_COMM_WORLD, last ? 1 : 0, 0, &left);
	if (last)
		EXPECT(pawl_lock_acquire(table.get(), 1, PAWL_EXCLUSIVE) == PAWL_SUCCESS);
	MPI_Barrier(MPI_COMM_WORLD);
	table.shrink_to(left);
	EXPECT(table.info().ranks == (last ? 1 : ranks - 1));
	{
		auto held = table.lock(1);
		EXPECT(held.token() > first);
	}
	throws([&] { table.shrink_to(MPI_COMM_NULL); }, PAWL_ERR_ARG, "MPI_COMM_NULL");
	table.free();
	MPI_Comm_free(&left);
	result("the ranks that are left go on");
}

void tests(bool broken)
{
	const pawl_kind *kind;

	for (int i = 0; (kind = pawl_kind_get(i)) != nullptr; i++) {
		if (kind->capabilities & PAWL_CAP_RANGES) {
			ranges(kind);
			continue;
		}
		exclusion(kind, broken);
		if (broken)
			break;
		if (kind->capabilities & PAWL_CAP_SHARED)
			readers(kind);
		tries(kind);
	}
	if (broken)
		return;
	parts();
	reads();
	lives();
	many_and_requests();
	failures();
}

/* Their destructors run after main(). */
pawl::table late_table;
pawl::held_lock late_lock;

int late()
{
	late_table = pawl::table(MPI_COMM_WORLD, "rma-mcs", 8);
	late_lock = late_table.lock(unsigned(rank));
	pawl::table local(MPI_COMM_WORLD, "rma-rw", 8);
	pawl::shared_mutex mutex = local[unsigned(rank)];
	const std::shared_lock reader(mutex);
	MPI_Finalize();
	return 0;
}

int exception()
{
	bool caught = false;

	try {
		pawl::table table(MPI_COMM_WORLD, "rma-mcs", 8);
		auto held = table.lock(99);
	} catch (const pawl::error &e) {
		caught = e.code() == PAWL_ERR_RANGE;
	}
	MPI_Finalize();
	return caught ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string what = argc > 1 ? argv[1] : "";
	int level = 0;

	std::signal(SIGALRM, hung);
	alarm(170);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (what == "late")
		return late();
	if (what == "exception")
		return exception();
	tests(what == "broken");
	const int status = tap_plan();
	MPI_Finalize();
	return status;
}
