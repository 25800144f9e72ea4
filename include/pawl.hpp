/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl for C++17: tables that free themselves, and locks that are released at the end of a scope.
 * A header over pawl.h, which says what each call does and costs. Programs link libpawl only.
 *
 *     pawl::table table(MPI_COMM_WORLD, "rma-rw", 1000);
 *     {
 *         auto held = table.lock(7);                       // until the end of the scope
 *     }
 *     pawl::shared_mutex mutex = table[7];                 // for std::shared_lock
 *     std::shared_lock reader(mutex);
 *
 * Failures
 *   A call that fails throws pawl::error: what() is the text of pawl_error_message(), code() is
 *   PAWL_ERR_*. Try-acquires and timed acquires return false, or an empty holder, if the lock is
 *   held or the deadline has passed. unlock() and destructors do not throw: they report a failure
 *   to pawl::release_failed, which prints it to stderr by default. A program that must know of a
 *   lost lease or of a dead rank calls release() of the holder. PAWL_RECOVERED is not thrown: the
 *   lock is held, and is_consistent() of the holder or the mutex is false.
 *
 * The end of MPI
 *   Destructors may run after MPI_Finalize. They then do not release their locks; libpawl has freed
 *   the table, and names it on stderr, because the program should have freed it before.
 *   Creation of a table is collective, and so is its destructor. If an exception leaves the scope
 *   of a table, other ranks may not reach its destructor; the table is then not freed.
 */
#ifndef PAWL_HPP
#define PAWL_HPP

/* mpi.h without the C++ bindings of older MPIs, which need a library of their own. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <pawl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pawl
{

/* The modes of pawl.h. The intents are for kinds with PAWL_CAP_INTENT. */
enum class mode : int {
	exclusive = PAWL_EXCLUSIVE,
	shared = PAWL_SHARED,
	intent = PAWL_INTENT,
	intent_shared = PAWL_INTENT_SHARED,
	intent_ahead = PAWL_INTENT | PAWL_AHEAD,
	intent_shared_ahead = PAWL_INTENT_SHARED | PAWL_AHEAD
};

/* What a call throws: the message and the code of a failure. */
class error : public std::runtime_error
{
      public:
	/* The last failure of the calling thread. */
	explicit error(int code) : error(code, pawl_error_message())
	{
	}

	error(int code, const std::string &message) : std::runtime_error(message), code_(code)
	{
	}

	/* PAWL_ERR_*. */
	int code() const noexcept
	{
		return code_;
	}

	/* The phrase for the code: pawl_strerror(). */
	const char *phrase() const noexcept
	{
		return pawl_strerror(code_);
	}

      private:
	int code_;
};

namespace detail
{

[[noreturn]] inline void fail(int code)
{
	throw error(code);
}

inline void check(int code)
{
	if (code != PAWL_SUCCESS && code != PAWL_RECOVERED)
		fail(code);
}

/* Whether the lock was acquired; false also if the deadline has passed. */
inline bool acquired(int code)
{
	if (code == PAWL_SUCCESS || code == PAWL_RECOVERED)
		return true;
	if (code != PAWL_ERR_BUSY && code != PAWL_ERR_TIMEOUT)
		fail(code);
	return false;
}

inline bool mpi_has_ended() noexcept
{
	int ended = 0;

	MPI_Finalized(&ended);
	return ended != 0;
}

inline void print_failure(int code, const char *message) noexcept
{
	std::fprintf(stderr, "pawl: a destructor or unlock(): %s: %s\n", pawl_strerror(code),
		     message);
}

template <class Rep, class Period> double seconds(const std::chrono::duration<Rep, Period> &time)
{
	const double s = std::chrono::duration<double>(time).count();

	return s > 0 ? s : 0;
}

template <class Clock, class Duration>
double seconds_until(const std::chrono::time_point<Clock, Duration> &when)
{
	const auto now = Clock::now();

	return when > now ? seconds(when - now) : 0;
}

} // namespace detail

/* Called with the code and the message when unlock() or a destructor fails; not after
 * MPI_Finalize. */
inline std::atomic<void (*)(int code, const char *message)> release_failed{&detail::print_failure};

namespace detail
{

inline void released(int code) noexcept
{
	if (code != PAWL_SUCCESS && !mpi_has_ended())
		release_failed.load()(code, pawl_error_message());
}

struct one_lock {
	std::uint64_t lock;

	int release(pawl_table *table) const noexcept
	{
		return pawl_lock_release(table, lock);
	}

	bool is_consistent(pawl_table *table) const
	{
		int consistent = 0;

		check(pawl_lock_is_consistent(table, lock, &consistent));
		return consistent != 0;
	}

	void consistent(pawl_table *table) const
	{
		check(pawl_lock_consistent(table, lock));
	}

	std::int64_t token(pawl_table *table) const
	{
		std::int64_t token = 0;

		check(pawl_lock_token(table, lock, &token));
		return token;
	}

	void upgrade(pawl_table *table) const
	{
		check(pawl_lock_upgrade(table, lock));
	}

	bool try_upgrade_for(pawl_table *table, double seconds) const
	{
		return acquired(pawl_lock_timed_upgrade(table, lock, seconds));
	}

	void downgrade(pawl_table *table) const
	{
		check(pawl_lock_downgrade(table, lock));
	}
};

struct several_locks {
	std::vector<std::uint64_t> locks;

	int release(pawl_table *table) const noexcept
	{
		return pawl_lock_release_many(table, locks.size(), locks.data());
	}
};

struct whole_and_part {
	std::uint64_t whole, part;

	int release(pawl_table *table) const noexcept
	{
		return pawl_lock_release_part(table, whole, part);
	}
};

struct one_range {
	pawl_range range;

	int release(pawl_table *table) const noexcept
	{
		return pawl_range_release(table, &range);
	}

	bool is_consistent(pawl_table *table) const
	{
		int consistent = 0;

		check(pawl_range_is_consistent(table, &range, &consistent));
		return consistent != 0;
	}

	void consistent(pawl_table *table) const
	{
		check(pawl_range_consistent(table, &range));
	}

	std::int64_t token(pawl_table *table) const
	{
		std::int64_t token = 0;

		check(pawl_range_token(table, &range, &token));
		return token;
	}
};

} // namespace detail

/*
 * A holder: what was acquired, until release() or the end of its scope, in the thread that acquired
 * it. It is empty after a try that failed, after release(), and after it was moved from. The table
 * has to live longer.
 */
template <class What> class holder
{
      public:
	holder() noexcept = default;

	/* Takes ownership of what is held already. */
	holder(pawl_table *table, What what) noexcept : table_(table), what_(std::move(what))
	{
	}

	holder(holder &&other) noexcept
	    : table_(std::exchange(other.table_, nullptr)), what_(std::move(other.what_))
	{
	}

	holder &operator=(holder &&other) noexcept
	{
		if (this != &other) {
			drop();
			table_ = std::exchange(other.table_, nullptr);
			what_ = std::move(other.what_);
		}
		return *this;
	}

	holder(const holder &) = delete;
	holder &operator=(const holder &) = delete;

	~holder()
	{
		drop();
	}

	/* Whether it holds something. */
	explicit operator bool() const noexcept
	{
		return table_ != nullptr;
	}

	/* Release before the end of the scope; throws if that fails. Without effect if it is empty.
	 * After PAWL_ERR_LEASE_LOST, PAWL_ERR_PEER and PAWL_ERR_MPI it is empty, too. */
	void release()
	{
		pawl_table *table = std::exchange(table_, nullptr);

		if (table == nullptr)
			return;
		const int code = what_.release(table);
		if (code != PAWL_SUCCESS && code != PAWL_ERR_LEASE_LOST && code != PAWL_ERR_PEER &&
		    code != PAWL_ERR_MPI)
			table_ = table;
		detail::check(code);
	}

	/* Of one lock or range that is held: false if it was recovered from a holder that did not
	 * release it, until consistent(), which says that what it protects is repaired; and a
	 * number for writes to storage. pawl_lock_consistent(), pawl_lock_token(). */
	bool is_consistent() const
	{
		return what_.is_consistent(table_);
	}

	void consistent()
	{
		what_.consistent(table_);
	}

	std::int64_t token()
	{
		return what_.token(table_);
	}

	/* Of one lock: from shared to exclusive, and back; kinds with PAWL_CAP_UPGRADE. upgrade()
	 * throws PAWL_ERR_BUSY if another holder does the same and waits for this one;
	 * try_upgrade_for() returns false then, and when the time is over. In both cases the lock
	 * is held shared, as before. */
	void upgrade()
	{
		what_.upgrade(table_);
	}

	template <class Rep, class Period>
	bool try_upgrade_for(const std::chrono::duration<Rep, Period> &time)
	{
		return what_.try_upgrade_for(table_, detail::seconds(time));
	}

	void downgrade()
	{
		what_.downgrade(table_);
	}

      private:
	void drop() noexcept
	{
		if (table_ != nullptr)
			detail::released(what_.release(table_));
		table_ = nullptr;
	}

	pawl_table *table_ = nullptr;
	What what_{};
};

using held_lock = holder<detail::one_lock>;
using held_locks = holder<detail::several_locks>;
using held_part = holder<detail::whole_and_part>;
using held_range = holder<detail::one_range>;

/*
 * An acquire that goes on while its thread does something else: pawl_lock_iacquire(). Tested,
 * awaited or cancelled by the thread that made it; the destructor cancels it.
 */
class request
{
      public:
	/* Of no lock. */
	request() noexcept = default;

	request(pawl_table *table, std::uint64_t lock, mode m) : table_(table), lock_(lock)
	{
		detail::check(pawl_lock_iacquire(table, lock, static_cast<int>(m), &request_));
	}

	request(request &&other) noexcept
	    : table_(std::exchange(other.table_, nullptr)), lock_(other.lock_),
	      request_(std::exchange(other.request_, pawl_request{}))
	{
	}

	request &operator=(request &&other) noexcept
	{
		if (this != &other) {
			drop();
			table_ = std::exchange(other.table_, nullptr);
			lock_ = other.lock_;
			request_ = std::exchange(other.request_, pawl_request{});
		}
		return *this;
	}

	request(const request &) = delete;
	request &operator=(const request &) = delete;

	~request()
	{
		drop();
	}

	/* Look once, without waiting: the lock until the end of the scope, or an empty holder. */
	[[nodiscard]] held_lock test()
	{
		int done = 0;

		if (table_ == nullptr)
			return {};
		check(pawl_request_test(&request_, &done));
		return done != 0 ? taken() : held_lock();
	}

	/* Wait for the lock, and hold it until the end of the scope. Empty if it was taken before.
	 */
	[[nodiscard]] held_lock wait()
	{
		if (table_ == nullptr)
			return {};
		check(pawl_request_wait(&request_));
		return taken();
	}

	/* A descriptor that is readable when the request has ended; then call test(). Closed by
	 * the call that ends the request: pawl_request_fd(). */
	[[nodiscard]] int fd()
	{
		int descriptor = -1;

		detail::check(pawl_request_fd(&request_, &descriptor));
		return descriptor;
	}

	/* A request of the MPI that completes then: pawl_request_mpi(). */
	[[nodiscard]] MPI_Request mpi()
	{
		MPI_Request handle = MPI_REQUEST_NULL;

		detail::check(pawl_request_mpi(&request_, &handle));
		return handle;
	}

	/* End the request without the lock. */
	void cancel()
	{
		check(pawl_request_cancel(&request_));
		table_ = nullptr;
	}

      private:
	/* A call that fails has ended the request, but for one of another thread. */
	void check(int code)
	{
		if (code != PAWL_SUCCESS && code != PAWL_RECOVERED && code != PAWL_ERR_ARG)
			table_ = nullptr;
		detail::check(code);
	}

	held_lock taken() noexcept
	{
		return held_lock(std::exchange(table_, nullptr), {lock_});
	}

	void drop() noexcept
	{
		if (table_ != nullptr)
			detail::released(pawl_request_cancel(&request_));
		table_ = nullptr;
	}

	pawl_table *table_ = nullptr;
	std::uint64_t lock_ = 0;
	pawl_request request_{};
};

namespace detail
{

/* What Lockable and TimedLockable ask of a class M that has acquire(), try_acquire(),
 * timed_acquire() and release() of a mode, and calls of a holder: one() and handle(). */
template <class M> class exclusive_calls
{
      public:
	void lock()
	{
		self().acquire(PAWL_EXCLUSIVE);
	}

	bool try_lock()
	{
		return self().try_acquire(PAWL_EXCLUSIVE);
	}

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return self().timed_acquire(PAWL_EXCLUSIVE, seconds(time));
	}

	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &when)
	{
		return self().timed_acquire(PAWL_EXCLUSIVE, seconds_until(when));
	}

	/* Does not throw: see pawl::release_failed. */
	void unlock() noexcept
	{
		const int code = self().release();

		if (code != PAWL_SUCCESS)
			released(code);
	}

	/* While it is held: as of a holder. */
	bool is_consistent() const
	{
		return self().one().is_consistent(self().handle());
	}

	void consistent()
	{
		self().one().consistent(self().handle());
	}

	std::int64_t token()
	{
		return self().one().token(self().handle());
	}

      private:
	M &self() noexcept
	{
		return static_cast<M &>(*this);
	}

	const M &self() const noexcept
	{
		return static_cast<const M &>(*this);
	}
};

/* What SharedLockable and SharedTimedLockable ask. */
template <class M> class shared_calls
{
      public:
	void lock_shared()
	{
		self().acquire(PAWL_SHARED);
	}

	bool try_lock_shared()
	{
		return self().try_acquire(PAWL_SHARED);
	}

	template <class Rep, class Period>
	bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
	{
		return self().timed_acquire(PAWL_SHARED, seconds(time));
	}

	template <class Clock, class Duration>
	bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &when)
	{
		return self().timed_acquire(PAWL_SHARED, seconds_until(when));
	}

	/* Does not throw: see pawl::release_failed. */
	void unlock_shared() noexcept
	{
		self().unlock();
	}

      private:
	M &self() noexcept
	{
		return static_cast<M &>(*this);
	}
};

} // namespace detail

/*
 * A lock of a table with the interface of the standard library: Lockable and TimedLockable, for
 * std::lock_guard, std::unique_lock, std::scoped_lock, std::lock. It and its copies refer to one
 * lock of the table, which has to live longer. It acquires exclusively. std::scoped_lock of several
 * locks needs a kind with PAWL_CAP_TRY; calls with a time need PAWL_CAP_TIMED.
 */
class mutex : public detail::exclusive_calls<mutex>
{
      public:
	mutex(pawl_table *table, std::uint64_t lock) noexcept : table_(table), lock_(lock)
	{
	}

	/* Which lock of the table it is. */
	std::uint64_t index() const noexcept
	{
		return lock_;
	}

      protected:
	friend class detail::exclusive_calls<mutex>;

	detail::one_lock one() const noexcept
	{
		return {lock_};
	}

	pawl_table *handle() const noexcept
	{
		return table_;
	}

	void acquire(int mode)
	{
		detail::check(pawl_lock_acquire(table_, lock_, mode));
	}

	bool try_acquire(int mode)
	{
		return detail::acquired(pawl_lock_try_acquire(table_, lock_, mode));
	}

	bool timed_acquire(int mode, double seconds)
	{
		return detail::acquired(pawl_lock_timed_acquire(table_, lock_, mode, seconds));
	}

	int release() noexcept
	{
		return pawl_lock_release(table_, lock_);
	}

      private:
	pawl_table *table_;
	std::uint64_t lock_;
};

/* The same with readers: SharedLockable and SharedTimedLockable, for std::shared_lock. Kinds with
 * PAWL_CAP_SHARED; on others the calls for readers throw PAWL_ERR_UNSUPPORTED. */
class shared_mutex : public mutex, public detail::shared_calls<shared_mutex>
{
      public:
	using mutex::mutex;

	/* While it is held: as of a holder. */
	void upgrade()
	{
		one().upgrade(handle());
	}

	template <class Rep, class Period>
	bool try_upgrade_for(const std::chrono::duration<Rep, Period> &time)
	{
		return one().try_upgrade_for(handle(), detail::seconds(time));
	}

	void downgrade()
	{
		one().downgrade(handle());
	}

      private:
	friend class detail::shared_calls<shared_mutex>;
};

/* A std::shared_lock that is held becomes a std::unique_lock, and the reverse:
 * shared_mutex::upgrade(). If that throws, the reader keeps its lock. */
inline std::unique_lock<shared_mutex> upgrade(std::shared_lock<shared_mutex> &&reader)
{
	reader.mutex()->upgrade();
	return std::unique_lock<shared_mutex>(*reader.release(), std::adopt_lock);
}

inline std::shared_lock<shared_mutex> downgrade(std::unique_lock<shared_mutex> &&writer)
{
	writer.mutex()->downgrade();
	return std::shared_lock<shared_mutex>(*writer.release(), std::adopt_lock);
}

/*
 * The condition of a lock, of a table with option events: pawl_lock_wait(). As
 * std::condition_variable: this thread holds the lock exclusively, and a wait releases it
 * meanwhile.
 */
class condition
{
      public:
	condition(pawl_table *table, std::uint64_t lock) noexcept : table_(table), lock_(lock)
	{
	}

	void wait()
	{
		detail::check(pawl_lock_wait(table_, lock_));
	}

	/* Wait until ready() is true; it is called with the lock. */
	template <class Ready> void wait(Ready ready)
	{
		while (!ready())
			wait();
	}

	/* False: there was no notification for so long. */
	template <class Rep, class Period>
	bool wait_for(const std::chrono::duration<Rep, Period> &time)
	{
		return detail::acquired(pawl_lock_timed_wait(table_, lock_, detail::seconds(time)));
	}

	/* What ready() was at the end. */
	template <class Rep, class Period, class Ready>
	bool wait_for(const std::chrono::duration<Rep, Period> &time, Ready ready)
	{
		const auto end = std::chrono::steady_clock::now() + time;

		while (!ready())
			if (!wait_for(end - std::chrono::steady_clock::now()))
				return ready();
		return true;
	}

	/* Wake up to n clients, in the order in which they wait; returns their number. */
	int notify(int n)
	{
		int woken = 0;

		detail::check(pawl_lock_notify(table_, lock_, n, &woken));
		return woken;
	}

	void notify_one()
	{
		notify(1);
	}

	void notify_all()
	{
		notify(std::numeric_limits<int>::max());
	}

      private:
	pawl_table *table_;
	std::uint64_t lock_;
};

/* A semaphore of a table with option events, as std::counting_semaphore. */
class semaphore
{
      public:
	semaphore(pawl_table *table, std::uint64_t number) noexcept : table_(table), number_(number)
	{
	}

	/* Give it so many permits: one rank, before all others. */
	void init(std::int64_t value)
	{
		detail::check(pawl_semaphore_init(table_, number_, value));
	}

	void acquire()
	{
		detail::check(pawl_semaphore_acquire(table_, number_));
	}

	bool try_acquire()
	{
		return detail::acquired(pawl_semaphore_try_acquire(table_, number_));
	}

	template <class Rep, class Period>
	bool try_acquire_for(const std::chrono::duration<Rep, Period> &time)
	{
		return detail::acquired(
		    pawl_semaphore_timed_acquire(table_, number_, detail::seconds(time)));
	}

	/* Throws PAWL_ERR_RANGE if there would be more than most (0: any number). */
	void release(std::int64_t n = 1, std::int64_t most = 0)
	{
		detail::check(pawl_semaphore_release(table_, number_, n, most));
	}

      private:
	pawl_table *table_;
	std::uint64_t number_;
};

/*
 * Units first to last of a space, of kinds with PAWL_CAP_RANGES, with the interface of a shared
 * mutex of the standard library. It keeps what it holds, so each thread needs its own object.
 */
class range_mutex : public detail::exclusive_calls<range_mutex>,
		    public detail::shared_calls<range_mutex>
{
      public:
	range_mutex(pawl_table *table, std::uint64_t space, std::int64_t first,
		    std::int64_t last) noexcept
	    : table_(table), space_(space), first_(first), last_(last)
	{
	}

	range_mutex(const range_mutex &) = delete;
	range_mutex &operator=(const range_mutex &) = delete;

      private:
	friend class detail::exclusive_calls<range_mutex>;
	friend class detail::shared_calls<range_mutex>;

	detail::one_range one() const noexcept
	{
		return {range_};
	}

	pawl_table *handle() const noexcept
	{
		return table_;
	}

	void acquire(int mode)
	{
		detail::check(pawl_range_acquire(table_, space_, first_, last_, mode, &range_));
	}

	bool try_acquire(int mode)
	{
		return detail::acquired(
		    pawl_range_try_acquire(table_, space_, first_, last_, mode, &range_));
	}

	bool timed_acquire(int mode, double seconds)
	{
		return detail::acquired(pawl_range_timed_acquire(table_, space_, first_, last_,
								 mode, seconds, &range_));
	}

	int release() noexcept
	{
		return pawl_range_release(table_, &range_);
	}

	pawl_table *table_;
	std::uint64_t space_;
	std::int64_t first_, last_;
	pawl_range range_{};
};

/*
 * Options of a table, by their names in pawl(3), without a prefix:
 *
 *     pawl::table table(comm, "rma-rw", 1000, {{"max_held", "64"}, {"distribution", "cyclic"}});
 */
class options
{
      public:
	options() = default;

	options(std::initializer_list<std::pair<std::string, std::string>> list) : list_(list)
	{
	}

	void set(std::string name, std::string value)
	{
		list_.emplace_back(std::move(name), std::move(value));
	}

	const std::vector<std::pair<std::string, std::string>> &list() const noexcept
	{
		return list_;
	}

      private:
	std::vector<std::pair<std::string, std::string>> list_;
};

namespace detail
{

/* Options as an MPI_Info; MPI_INFO_NULL before MPI_Init, where creation fails with a message. What
 * an MPI_Info cannot have is an exception: MPI_Info_set() would end the job. */
class info
{
      public:
	info(MPI_Comm comm, const options &o) : info()
	{
		int initialized = 0;

		MPI_Initialized(&initialized);
		if (o.list().empty() || mpi_has_ended() ||
		    (!initialized && (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)))
			return;
		MPI_Info_create(&info_);
		for (const auto &[name, value] : o.list())
			set("pawl_" + name, value);
	}

	info(const info &) = delete;
	info &operator=(const info &) = delete;

	~info()
	{
		if (info_ != MPI_INFO_NULL)
			MPI_Info_free(&info_);
	}

	MPI_Info get() const noexcept
	{
		return info_;
	}

      private:
	info() = default; /* the destructor frees what a constructor that throws has made */

	void set(const std::string &key, const std::string &value)
	{
		if (key.size() >= MPI_MAX_INFO_KEY)
			throw error(PAWL_ERR_OPTION,
				    "info key " + key + ": MPI allows fewer than " +
					std::to_string(MPI_MAX_INFO_KEY) + " bytes");
		if (value.empty() || value.size() >= MPI_MAX_INFO_VAL)
			throw error(PAWL_ERR_OPTION, "info key " + key + ": a value of " +
							 std::to_string(value.size()) +
							 " bytes; MPI allows 1 to " +
							 std::to_string(MPI_MAX_INFO_VAL - 1));
		MPI_Info_set(info_, key.c_str(), value.c_str());
	}

	MPI_Info info_ = MPI_INFO_NULL;
};

/* A function for the homes of locks, and what it has thrown. */
template <class Home> struct homes {
	Home &home;
	std::exception_ptr thrown;

	static int call(std::uint64_t lock, void *arg) noexcept
	{
		homes *h = static_cast<homes *>(arg);

		try {
			return static_cast<int>(h->home(lock));
		} catch (...) {
			h->thrown = std::current_exception();
			return -1; /* no rank: the call fails on all ranks */
		}
	}
};

} // namespace detail

/* A table of locks, or of spaces with ranges: pawl_table of pawl.h, which it frees. */
class table
{
      public:
	/* An empty one. */
	table() noexcept = default;

	/* Collective: pawl_table_create() with the default kind, "auto". */
	explicit table(MPI_Comm comm, std::uint64_t n = 1, const options &o = {})
	    : table(comm, "auto", n, o)
	{
	}

	/* Collective: pawl_table_create(). */
	table(MPI_Comm comm, const std::string &kind, std::uint64_t n = 1, const options &o = {})
	    : table(comm, kind, n, detail::info(comm, o).get())
	{
	}

	table(MPI_Comm comm, const std::string &kind, std::uint64_t n, MPI_Info info)
	{
		detail::check(pawl_table_create(comm, kind.c_str(), n, info, &table_));
	}

	/* Collective: pawl_table_create_homed(). home(lock) is the home rank of a lock. If it
	 * throws, creation fails on all ranks, with its exception on those where it has thrown. */
	template <class Home>
	static table homed(MPI_Comm comm, const std::string &kind, std::uint64_t n, Home home,
			   const options &o = {})
	{
		const detail::info info(comm, o);
		detail::homes<Home> homes{home, nullptr};
		table made;

		const int code =
		    pawl_table_create_homed(comm, kind.c_str(), n, &detail::homes<Home>::call,
					    &homes, info.get(), &made.table_);
		if (homes.thrown)
			std::rethrow_exception(homes.thrown);
		detail::check(code);
		return made;
	}

	/* Takes ownership of a table made with pawl.h. */
	explicit table(pawl_table *made) noexcept : table_(made)
	{
	}

	table(table &&other) noexcept
	    : table_(std::exchange(other.table_, nullptr)), exceptions_(other.exceptions_)
	{
	}

	/* Collective if it had a table, which it frees. */
	table &operator=(table &&other) noexcept
	{
		if (this != &other) {
			drop();
			table_ = std::exchange(other.table_, nullptr);
			exceptions_ = other.exceptions_;
		}
		return *this;
	}

	table(const table &) = delete;
	table &operator=(const table &) = delete;

	/* Collective; see the top of this file for exceptions and the end of MPI. */
	~table()
	{
		drop();
	}

	/* Collective. Throws PAWL_ERR_HELD, and does not free the table, if a lock is held. */
	void free()
	{
		if (table_ != nullptr)
			detail::check(pawl_table_free(&table_));
	}

	/* Collective over survivors: pawl_table_shrink(). What holds a lock of the table holds it
	 * no more, and release() says so. */
	void shrink_to(MPI_Comm survivors)
	{
		detail::check(pawl_table_shrink(&table_, survivors));
	}

	/* Collective: pawl_table_rehome(). home as of homed(); it may ask home(). */
	template <class Home> void rehome(Home home)
	{
		detail::homes<Home> homes{home, nullptr};
		const int code = pawl_table_rehome(table_, &detail::homes<Home>::call, &homes);

		if (homes.thrown)
			std::rethrow_exception(homes.thrown);
		detail::check(code);
	}

	/* For the calls of pawl.h. */
	pawl_table *get() const noexcept
	{
		return table_;
	}

	/* Gives up ownership: the caller frees the table. */
	pawl_table *release() noexcept
	{
		return std::exchange(table_, nullptr);
	}

	explicit operator bool() const noexcept
	{
		return table_ != nullptr;
	}

	pawl_table_info info() const
	{
		pawl_table_info info;

		detail::check(pawl_table_get_info(table_, &info));
		return info;
	}

	/* Whether its kind has all of these capabilities: PAWL_CAP_SHARED | PAWL_CAP_TRY, ... */
	bool can(unsigned capabilities) const
	{
		return (static_cast<unsigned>(info().kind->capabilities) & capabilities) ==
		       capabilities;
	}

	/* The name of the table in messages of this rank; "" removes it. */
	void set_name(const std::string &name)
	{
		detail::check(pawl_table_set_name(table_, name.c_str()));
	}

	/* The lock of this name; tables with option names. */
	std::uint64_t named(const std::string &name)
	{
		std::uint64_t lock = 0;

		detail::check(pawl_lock_named(table_, name.c_str(), &lock));
		return lock;
	}

	/* The home rank of a lock. */
	int home(std::uint64_t lock) const
	{
		int rank = 0;

		detail::check(pawl_table_home(table_, lock, &rank));
		return rank;
	}

	pawl_stats stats() const
	{
		pawl_stats stats;

		detail::check(pawl_table_get_stats(table_, &stats));
		return stats;
	}

	void reset_stats()
	{
		detail::check(pawl_table_reset_stats(table_));
	}

	/* What percent of the acquires (PAWL_TIME_ACQUIRE) or holds (PAWL_TIME_HOLD) of this rank
	 * do not exceed, in seconds; for tables created with PAWL_STATS in the environment. */
	double percentile(int what, double percent) const
	{
		double seconds = 0;

		detail::check(pawl_table_get_percentile(table_, what, percent, &seconds));
		return seconds;
	}

	/* A lock for std::lock_guard, std::unique_lock, std::scoped_lock, std::shared_lock. */
	shared_mutex operator[](std::uint64_t lock) const noexcept
	{
		return shared_mutex(table_, lock);
	}

	/* The condition of a lock, and the semaphore of a number; tables with option events. */
	pawl::condition condition(std::uint64_t lock) const noexcept
	{
		return pawl::condition(table_, lock);
	}

	pawl::semaphore semaphore(std::uint64_t number) const noexcept
	{
		return pawl::semaphore(table_, number);
	}

	/* Add to a counter; returns what it was. */
	std::int64_t fetch_add(std::uint64_t counter, std::int64_t value)
	{
		std::int64_t before = 0;

		detail::check(pawl_counter_add(table_, counter, value, &before));
		return before;
	}

	/* Acquire a lock until the end of the scope. */
	[[nodiscard]] held_lock lock(std::uint64_t lock, mode m = mode::exclusive)
	{
		detail::check(pawl_lock_acquire(table_, lock, static_cast<int>(m)));
		return held_lock(table_, {lock});
	}

	/* The same without waiting: empty if another client is in the way. */
	[[nodiscard]] held_lock try_lock(std::uint64_t lock, mode m = mode::exclusive)
	{
		if (!detail::acquired(pawl_lock_try_acquire(table_, lock, static_cast<int>(m))))
			return {};
		return held_lock(table_, {lock});
	}

	/* The same with a time: empty if it is over. */
	template <class Rep, class Period>
	[[nodiscard]] held_lock try_lock_for(std::uint64_t lock,
					     const std::chrono::duration<Rep, Period> &time,
					     mode m = mode::exclusive)
	{
		if (!detail::acquired(pawl_lock_timed_acquire(table_, lock, static_cast<int>(m),
							      detail::seconds(time))))
			return {};
		return held_lock(table_, {lock});
	}

	/*
	 * Several locks until the end of the scope: pawl_lock_acquire_many(). Threads that acquire
	 * theirs in this way do not deadlock, and with some kinds free locks take one round trip
	 * together. modes: none, or one for each lock.
	 *
	 *     auto both = table.lock_many({7, 3});
	 */
	[[nodiscard]] held_locks lock_many(std::vector<std::uint64_t> locks,
					   const std::vector<mode> &modes = {})
	{
		const std::vector<int> each = modes_of(locks, modes);

		detail::check(pawl_lock_acquire_many(table_, locks.size(), locks.data(),
						     each.empty() ? nullptr : each.data()));
		return held_locks(table_, {std::move(locks)});
	}

	/* The same without waiting: empty if one of them is held. */
	[[nodiscard]] held_locks try_lock_many(std::vector<std::uint64_t> locks,
					       const std::vector<mode> &modes = {})
	{
		const std::vector<int> each = modes_of(locks, modes);

		if (!detail::acquired(pawl_lock_try_acquire_many(
			table_, locks.size(), locks.data(), each.empty() ? nullptr : each.data())))
			return {};
		return held_locks(table_, {std::move(locks)});
	}

	/* The same with a time: empty if it is over. */
	template <class Rep, class Period>
	[[nodiscard]] held_locks try_lock_many_for(std::vector<std::uint64_t> locks,
						   const std::chrono::duration<Rep, Period> &time,
						   const std::vector<mode> &modes = {})
	{
		const std::vector<int> each = modes_of(locks, modes);

		if (!detail::acquired(pawl_lock_timed_acquire_many(
			table_, locks.size(), locks.data(), each.empty() ? nullptr : each.data(),
			detail::seconds(time))))
			return {};
		return held_locks(table_, {std::move(locks)});
	}

	/*
	 * Read what a lock protects without acquiring it: pawl_lock_read_begin(), for kinds with
	 * PAWL_CAP_OPTIMISTIC. copy() is called until no exclusive client was in meanwhile, and
	 * must only copy: what it reads may change under it. Returns what copy() returned last. An
	 * exception of copy() leaves the call if what it read was valid.
	 *
	 *     record r = table.read(7, [&] { return *shared_record; });
	 */
	template <class Copy> auto read(std::uint64_t lock, Copy &&copy)
	{
		using result = std::invoke_result_t<Copy &>;
		pawl_read reading = PAWL_READ_INIT;

		for (;;) {
			detail::check(pawl_lock_read_begin(table_, lock, &reading));
			if constexpr (std::is_void_v<result>) {
				try {
					copy();
				} catch (...) {
					if (end_read(lock, &reading))
						throw;
					continue;
				}
				if (end_read(lock, &reading))
					return;
			} else {
				std::optional<std::decay_t<result>> copied;

				try {
					copied.emplace(copy());
				} catch (...) {
					if (end_read(lock, &reading))
						throw;
					continue;
				}
				if (end_read(lock, &reading))
					return *std::move(copied);
			}
		}
	}

	/* Begin to acquire a lock, without waiting; see pawl::request. */
	[[nodiscard]] pawl::request request(std::uint64_t lock, mode m = mode::exclusive)
	{
		return pawl::request(table_, lock, m);
	}

	/* A part, with the intent at the whole: pawl_lock_acquire_part(). */
	[[nodiscard]] held_part lock_part(std::uint64_t whole, std::uint64_t part,
					  mode m = mode::exclusive)
	{
		detail::check(pawl_lock_acquire_part(table_, whole, part, static_cast<int>(m)));
		return held_part(table_, {whole, part});
	}

	/* Units first to last of a space until the end of the scope: pawl_range_acquire(). */
	[[nodiscard]] held_range lock_range(std::uint64_t space, std::int64_t first,
					    std::int64_t last, mode m = mode::exclusive)
	{
		pawl_range range;

		detail::check(
		    pawl_range_acquire(table_, space, first, last, static_cast<int>(m), &range));
		return held_range(table_, {range});
	}

	[[nodiscard]] held_range try_lock_range(std::uint64_t space, std::int64_t first,
						std::int64_t last, mode m = mode::exclusive)
	{
		pawl_range range;

		if (!detail::acquired(pawl_range_try_acquire(table_, space, first, last,
							     static_cast<int>(m), &range)))
			return {};
		return held_range(table_, {range});
	}

	template <class Rep, class Period>
	[[nodiscard]] held_range
	try_lock_range_for(std::uint64_t space, std::int64_t first, std::int64_t last,
			   const std::chrono::duration<Rep, Period> &time, mode m = mode::exclusive)
	{
		pawl_range range;

		if (!detail::acquired(pawl_range_timed_acquire(table_, space, first, last,
							       static_cast<int>(m),
							       detail::seconds(time), &range)))
			return {};
		return held_range(table_, {range});
	}

	/* Units for std::lock_guard and the like. */
	range_mutex range(std::uint64_t space, std::int64_t first, std::int64_t last) const noexcept
	{
		return range_mutex(table_, space, first, last);
	}

	/* How far the space reaches now: pawl_range_grow(). */
	std::int64_t grow(std::uint64_t space)
	{
		std::int64_t units = 0;

		detail::check(pawl_range_grow(table_, space, &units));
		return units;
	}

	/* Collective: pawl_range_shrink(). */
	void shrink(std::uint64_t space, std::int64_t units)
	{
		detail::check(pawl_range_shrink(table_, space, units));
	}

      private:
	/* Whether what was read is valid. */
	bool end_read(std::uint64_t lock, pawl_read *reading)
	{
		return detail::acquired(pawl_lock_read_validate(table_, lock, reading));
	}

	static std::vector<int> modes_of(const std::vector<std::uint64_t> &locks,
					 const std::vector<mode> &modes)
	{
		std::vector<int> each;

		if (!modes.empty() && modes.size() != locks.size())
			throw std::invalid_argument("pawl: as many modes as locks, or none");
		for (const mode m : modes)
			each.push_back(static_cast<int>(m));
		return each;
	}

	void drop() noexcept
	{
		if (table_ == nullptr)
			return;
		if (!detail::mpi_has_ended() && std::uncaught_exceptions() > exceptions_)
			table_ = nullptr; /* the others need not come to this point */
		else
			detail::released(pawl_table_free(&table_));
		table_ = nullptr;
	}

	pawl_table *table_ = nullptr;
	int exceptions_ = std::uncaught_exceptions();
};

} // namespace pawl

#endif
