! SPDX-License-Identifier: BSD-3-Clause
!
! Module pawl: exclusion, modes, tries, times, ranges, parts, and the codes and messages of
! failures, with the handles of mpi_f08 (-DWITH_F08) or of mpi. Started by tests/fortran.sh.
!
!     fortran           the tests, in TAP
!     fortran broken    acquires no lock: has to fail
!     fortran giveup    a failure without ierror: has to end the program with the message
!     fortran sizes     the sizes of the types that C has, too
module homes
   use, intrinsic :: iso_c_binding
   implicit none
contains

   function home_of(lock, arg) bind(C) result(home)
      integer(c_int64_t), value :: lock
      type(c_ptr), value :: arg
      integer(c_int) :: home
      integer, pointer :: last

      call c_f_pointer(arg, last)
      home = 0
      if (lock >= 50) home = last
   end function
end module

program test
   use, intrinsic :: iso_c_binding
   use, intrinsic :: iso_fortran_env, only: int32, int64, real64
#ifdef WITH_F08
   use mpi_f08
#else
   use mpi
#endif
   use pawl
   use homes
   implicit none

   integer, parameter :: turns = 500
   integer :: rank, ranks, ierror, count = 0, failed = 0, i
   logical :: good = .true.
   character(16) :: what
   character(:), allocatable :: kind
#ifdef WITH_F08
   type(MPI_Win) :: win
#else
   integer :: win
#endif
   integer(c_long), pointer, volatile :: words(:)
   interface
      function c_alarm(seconds) bind(C, name="alarm") result(left)
         import :: c_int
         integer(c_int), value :: seconds
         integer(c_int) :: left
      end function
      function c_yield() bind(C, name="sched_yield") result(rc)
         import :: c_int
         integer(c_int) :: rc
      end function
   end interface

   ! The watchdog: SIGALRM ends the program, and mpirun reports it.
   i = c_alarm(170)
   what = ""
   if (command_argument_count() > 0) call get_command_argument(1, what)
   if (what == "sizes") then
      print "(a,i0)", "pawl_range ", c_sizeof(pawl_range()), "pawl_stats ", c_sizeof(pawl_stats())
      stop
   end if
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, i, ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
   if (what == "giveup") call give_up()
   call share_words()

   if (what == "broken") then
      kind = "d-mcs"
      call exclusion()
   else
      i = 0
      do
         kind = pawl_kind_name(i)
         if (kind == "") exit
         if (iand(pawl_kind_capabilities(kind), PAWL_CAP_RANGES) /= 0) then
            call ranges()
         else
            call exclusion()
            call tries()
         end if
         i = i + 1
      end do
      call parts()
      call reads()
      call many_and_requests()
      call failures()
      call events()
      call changes()
      call lives()
      call tables()
   end if

   if (rank == 0) print "(a,i0)", "1..", count
   call MPI_Win_unlock_all(win, ierror)
   call MPI_Win_free(win, ierror)
   call MPI_Finalize(ierror)
   if (failed > 0) error stop 1

contains

   subroutine expect(condition, text)
      logical, intent(in) :: condition
      character(*), intent(in) :: text

      if (.not. condition) print "(a,i0,2a)", "# rank ", rank, ": not so: ", text
      good = good .and. condition
   end subroutine

   subroutine result(name)
      character(*), intent(in) :: name
      logical :: all

      call MPI_Allreduce(good, all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
      count = count + 1
      if (.not. all) failed = failed + 1
      if (rank == 0 .and. .not. all) write (*, "(a)", advance="no") "not "
      if (rank == 0) print "(a,i0,2a)", "ok ", count, " - ", name
      good = .true.
   end subroutine

   subroutine barrier()
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
   end subroutine

   ! Two words that all ranks of the host share, changed by loads and stores.
   subroutine share_words()
      type(c_ptr) :: base
      integer(MPI_ADDRESS_KIND) :: bytes
      integer :: unit

      bytes = merge(64, 0, rank == 0)
      call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
      call MPI_Win_shared_query(win, 0, bytes, unit, base, ierror)
      call c_f_pointer(base, words, [2])
      call MPI_Win_lock_all(0, win, ierror)
      if (rank == 0) words = 0
      call MPI_Win_sync(win, ierror)
      call barrier()
   end subroutine

   ! An increment by a load and a store, which loses one if another rank is in: all ranks are,
   ! where they have no lock.
   subroutine increment(locked)
      logical, intent(in), optional :: locked
      integer, save :: calls = 0
      integer(c_long) :: old
      integer(c_int) :: rc

      old = words(1)
      calls = calls + 1
      if (mod(calls, 16) == 0) rc = c_yield()
      if (present(locked)) then
         if (.not. locked) call barrier()
      end if
      words(1) = old + 1
   end subroutine

   subroutine is(value)
      integer(int64), intent(in) :: value

      call barrier()
      call expect(words(1) == value, "the count of all increments")
      call barrier()
      if (rank == 0) words = 0
      call barrier()
   end subroutine

   subroutine exclusion()
      type(pawl_table) :: table
      integer :: j
      logical :: shared

      shared = btest(pawl_kind_capabilities(kind), 0)
      call pawl_table_create(MPI_COMM_WORLD, kind, 4, table)
      do j = 1, turns
         if (what /= "broken") call table%acquire(1)
         call increment(what /= "broken")
         if (what /= "broken") call table%release(1)
      end do
      call is(int(turns, int64)*ranks)
      do j = 1, turns
         if (shared .and. mod(j, 2) == 0) then
            call pawl_lock_acquire(table, 2_int64, PAWL_SHARED, ierror)
         else
            call pawl_lock_acquire(table, 2_int64, PAWL_EXCLUSIVE, ierror)
            call increment()
         end if
         call expect(ierror == PAWL_SUCCESS, "acquire")
         call pawl_lock_release(table, 2_int64, ierror)
         call expect(ierror == PAWL_SUCCESS, "release")
      end do
      call is(int(merge(turns/2, turns, shared), int64)*ranks)
      call table%free()
      call result(kind//": acquire and release")
   end subroutine

   ! Rank 0 holds it; the others try, and wait until a deadline.
   subroutine tries()
      type(pawl_table) :: table
      logical :: acquired, tried, timed
      integer :: turn

      tried = iand(pawl_kind_capabilities(kind), PAWL_CAP_TRY) /= 0
      timed = iand(pawl_kind_capabilities(kind), PAWL_CAP_TIMED) /= 0
      call pawl_table_create(MPI_COMM_WORLD, kind, 1, table)
      if (rank == 0) call table%acquire(0)
      call barrier()
      if (rank /= 0 .and. tried) then
         call table%try_acquire(0, acquired, ierror=ierror)
         call expect(.not. acquired .and. ierror == PAWL_SUCCESS, "a try finds it held")
         call pawl_lock_try_acquire(table, 0, acquired)
         call expect(.not. acquired, "a try without ierror")
      end if
      if (rank /= 0 .and. timed) then
         call table%timed_acquire(0, 0.01_real64, acquired, PAWL_EXCLUSIVE, ierror)
         call expect(.not. acquired .and. ierror == PAWL_SUCCESS, "the time is over")
      end if
      call barrier()
      if (rank == 0) call table%release(0)
      call barrier()
      do turn = 0, ranks - 1
         if (turn == rank .and. tried) then
            call table%try_acquire(0_int64, acquired)
            call expect(acquired, "a try finds it free")
            if (acquired) call table%release(0_int64)
         end if
         call barrier()
      end do
      if (timed) then
         call table%timed_acquire(0_int64, 20._real64, acquired)
         call expect(acquired, "in time")
         if (acquired) call table%release(0)
      end if
      call barrier()
      call table%free(ierror)
      call expect(ierror == PAWL_SUCCESS, "free")
      call result(kind//": tries, and times")
   end subroutine

   subroutine ranges()
      type(pawl_table) :: table
      type(pawl_range) :: range
      logical :: acquired
      integer :: j
      integer(int64) :: first, last

      call pawl_table_create(MPI_COMM_WORLD, kind, 2_int64, table)
      first = 10 - rank
      last = 19 + rank
      do j = 1, turns
         call table%acquire_range(1, first, last, range)
         call increment()
         call table%release_range(range)
      end do
      call is(int(turns, int64)*ranks)
      if (rank == 0) call pawl_range_acquire(table, 0, 0, 9, range, PAWL_EXCLUSIVE, ierror)
      if (rank == 0) call expect(ierror == PAWL_SUCCESS, "a range")
      call barrier()
      if (rank /= 0) then
         call table%try_acquire_range(0, 9, 9, range, acquired, ierror=ierror)
         call expect(.not. acquired .and. ierror == PAWL_SUCCESS, "a range in the way")
         if (iand(pawl_kind_capabilities(kind), PAWL_CAP_TIMED) /= 0) then
            call table%timed_acquire_range(0_int64, 5_int64, PAWL_RANGE_END, 0.005_real64, range, &
               acquired)
            call expect(.not. acquired, "a range that ends later")
         end if
      end if
      call barrier()
      if (rank == 0) call pawl_range_release(table, range)
      call barrier()
      call table%free()
      call result(kind//": ranges")
   end subroutine

   subroutine parts()
      type(pawl_table) :: table
      integer :: j

      call pawl_table_create(MPI_COMM_WORLD, "mgl", 10, table)
      do j = 1, turns
         if (mod(j, 10) == rank) then
            call table%acquire(0)
            call increment()
            call table%release(0)
         else
            call table%acquire_part(0, 1)
            call increment()
            call table%release_part(0, 1)
         end if
      end do
      call is(int(turns, int64)*ranks)
      call table%acquire(0, PAWL_INTENT)
      call table%acquire(2 + rank)
      call table%release_part(0, 2 + rank, ierror)
      call expect(ierror == PAWL_SUCCESS, "an intent and a part")
      call table%free()
      call result("mgl: a whole and a part")
   end subroutine

   subroutine many_and_requests()
      type(pawl_table) :: table
      type(pawl_request) :: request
      logical :: acquired, done
      integer :: i, ierror
#ifdef WITH_F08
      type(MPI_Request) :: handle
#else
      integer :: handle
#endif

      call pawl_table_create(MPI_COMM_WORLD, "d-mcs", 8, table)
      do i = 1, turns
         if (mod(i, 2) == 0) then
            call table%acquire_many([1, 0, 3])
         else
            call table%acquire_many([0_int64, 3_int64], [PAWL_EXCLUSIVE, PAWL_EXCLUSIVE])
         end if
         call increment()
         if (mod(i, 2) == 0) then
            call table%release_many([0, 1, 3])
         else
            call pawl_lock_release_many(table, [0, 3])
         end if
      end do
      call is(int(turns, int64)*ranks)
      if (rank == 0) call table%acquire(1)
      call barrier()
      if (rank /= 0) then
         call table%try_acquire_many([0, 1], acquired)
         call expect(.not. acquired, "a try finds one held")
         call table%timed_acquire_many([0, 1], 0.001d0, acquired)
         call expect(.not. acquired, "so does one with a time")
         call table%iacquire(1, request)
         call pawl_request_test(request, done)
         call expect(.not. done, "a request of what is held")
         call pawl_request_cancel(request)
      end if
      call barrier()
      if (rank == 0) call table%release(1)
      call table%acquire_many([2, 2], ierror=ierror)
      call expect(ierror == PAWL_ERR_ARG, "a lock twice")
      do i = 1, turns
         call table%iacquire(1_int64, request, PAWL_EXCLUSIVE)
         done = .false.
         do while (.not. done .and. mod(i, 2) == 0)
            call pawl_request_test(request, done)
         end do
         if (mod(i, 16) == 1) then
            call pawl_request_mpi(request, handle)
            call MPI_Wait(handle, MPI_STATUS_IGNORE, ierror)
            call pawl_request_test(request, done)
            call expect(done, "a request that MPI_Wait has awaited")
         end if
         if (.not. done) call pawl_request_wait(request)
         call increment()
         call table%release(1)
      end do
      call is(int(turns, int64)*ranks)
      call pawl_request_mpi(request, handle, ierror)
      call expect(ierror == PAWL_ERR_ARG, "one that has ended has no request of the MPI")
      call table%free()
      call result("several locks by one call, and requests")
   end subroutine

   ! Two words that change together, read without the lock.
   subroutine reads()
      type(pawl_table) :: table, other
      type(pawl_read) :: read
      integer(c_long) :: first, second
      logical :: valid
      integer :: j

      call pawl_table_create(MPI_COMM_WORLD, "declock", 2, table)
      do j = 1, turns
         if (mod(j, 4) == 0) then
            call table%acquire(1)
            call increment()
            words(2) = words(2) + 1
            call table%release(1)
         end if
         valid = .false.
         do while (.not. valid)
            if (mod(j, 2) == 0) then
               call table%read_begin(1, read)
               first = words(1)
               second = words(2)
               call table%read_validate(1, read, valid)
            else
               call pawl_lock_read_begin(table, 1_int64, read, ierror)
               call expect(ierror == PAWL_SUCCESS, "begin of a read")
               first = words(1)
               second = words(2)
               call pawl_lock_read_validate(table, 1_int64, read, valid, ierror)
               call expect(ierror == PAWL_SUCCESS, "end of a read")
            end if
         end do
         call expect(first == second, "a read that is valid saw no change")
      end do
      call is(int(turns/4, int64)*ranks)
      call table%read_validate(1, read, valid, ierror)
      call expect(ierror == PAWL_ERR_ARG .and. .not. valid, "no read has begun")
      call pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, other)
      call other%read_begin(0, read, ierror)
      call expect(ierror == PAWL_ERR_UNSUPPORTED, "d-mcs has no reads without the lock")
      call other%free()
      call table%free()
      call result("reads without the lock")
   end subroutine

   subroutine has_sentence(code, word)
      integer, intent(in) :: code
      character(*), intent(in) :: word

      call expect(ierror == code, "the code of "//pawl_strerror(code))
      call expect(index(pawl_error_message(), word) > 0, word//" in: "//pawl_error_message())
   end subroutine

   subroutine failures()
      type(pawl_table) :: table
      type(pawl_range) :: range
      logical :: acquired
      integer(int64) :: named, again
#ifdef WITH_F08
      type(MPI_Info) :: info
#else
      integer :: info
#endif

      call pawl_table_create(MPI_COMM_WORLD, "no-such-lock", 1, table, ierror=ierror)
      call has_sentence(int(PAWL_ERR_KIND), "no-such-lock")
      call MPI_Info_create(info, ierror)
      call MPI_Info_set(info, "pawl_max_held", "none", ierror)
      call pawl_table_create(MPI_COMM_WORLD, "rma-mcs ", 1, table, info, ierror)
      call has_sentence(int(PAWL_ERR_OPTION), "max_held")
      call MPI_Info_set(info, "pawl_max_held", "3", ierror)
      call MPI_Info_set(info, "pawl_names", "yes", ierror)
      call pawl_table_create(MPI_COMM_WORLD, "rma-mcs", 10, table, info, ierror)
      call expect(ierror == PAWL_SUCCESS, "create")
      call table%named("orders ", named)
      call pawl_lock_named(table, "orders", again)
      call expect(named >= 0 .and. named < 10 .and. named == again, "a name")
      call table%named("", again, ierror)
      call has_sentence(int(PAWL_ERR_ARG), "empty")
      call MPI_Info_free(info, ierror)
      call table%acquire(10, ierror=ierror)
      call has_sentence(int(PAWL_ERR_RANGE), "10")
      call table%acquire(-1, ierror=ierror)
      call has_sentence(int(PAWL_ERR_RANGE), "9")
      call table%acquire(1, PAWL_INTENT, ierror)
      call has_sentence(int(PAWL_ERR_UNSUPPORTED), "PAWL_INTENT")
      call table%acquire(1, pawl_mode(77), ierror)
      call has_sentence(int(PAWL_ERR_ARG), "77")
      call table%acquire_range(1, 0, 1, range, ierror=ierror)
      call has_sentence(int(PAWL_ERR_UNSUPPORTED), "range")
      call table%timed_acquire(1, -1._real64, acquired, ierror=ierror)
      call has_sentence(int(PAWL_ERR_ARG), "-1")
      call expect(.not. acquired, "not acquired")
      call table%release(1, ierror)
      call has_sentence(int(PAWL_ERR_NOT_HELD), "1")
      call table%acquire(rank)
      call table%acquire(rank, ierror=ierror)
      call has_sentence(int(PAWL_ERR_HELD), "held")
      call table%free(ierror)
      call has_sentence(int(PAWL_ERR_HELD), "release before")
      call table%release(rank)
      call table%abandon(rank, ierror)
      call expect(ierror /= PAWL_SUCCESS, "abandon without a lease")
      call table%free()
      call table%acquire(0, ierror=ierror)
      call has_sentence(int(PAWL_ERR_ARG), "null")
      call result("failures: codes and sentences")
   end subroutine

   ! A table with one option.
   subroutine create_with(key, value, kind, n, table)
      character(*), intent(in) :: key, value, kind
      integer, intent(in) :: n
      type(pawl_table), intent(out) :: table
#ifdef WITH_F08
      type(MPI_Info) :: info
#else
      integer :: info
#endif

      call MPI_Info_create(info, ierror)
      call MPI_Info_set(info, key, value, ierror)
      call pawl_table_create(MPI_COMM_WORLD, kind, n, table, info)
      call MPI_Info_free(info, ierror)
   end subroutine

   subroutine events()
      type(pawl_table) :: table
      integer(int64) :: before, permits
      integer :: woken
      logical :: got

      call create_with("pawl_events", "yes", "d-mcs", 3, table)
      call table%acquire(0)
      do ! each rank waits for its turn, of which counter 1 is
         call table%counter_add(1, 0, before)
         if (before == rank) exit
         call table%wait(0)
      end do
      call table%counter_add(1_int64, 1_int64, before)
      call table%notify(0, huge(woken), woken)
      call expect(woken >= 0 .and. woken < ranks, "the number of ranks that were woken")
      call table%release(0)
      if (rank == 0) call table%semaphore_init(2, 1)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call table%acquire(0) ! and no rank notifies any more
      call table%timed_wait(0, 0d0, got)
      call expect(.not. got, "no notification")
      call table%release(0)
      call table%semaphore_acquire(2)
      call table%semaphore_try_acquire(2_int64, got)
      call expect(.not. got, "a second permit")
      call table%semaphore_timed_acquire(2, 1d-3, got)
      call expect(.not. got, "a second permit after a time")
      call table%semaphore_release(2, 1, 0)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call table%semaphore_get_value(2, permits)
      call expect(permits == 1, "the permits at the end")
      call table%semaphore_release(2, n=1, most=1, ierror=ierror)
      call has_sentence(int(PAWL_ERR_RANGE), "more than 1 permits")
      call table%wait(0, ierror)
      call has_sentence(int(PAWL_ERR_NOT_HELD), "lock 0")
      call table%free()
      call result("conditions, semaphores and counters")
   end subroutine

   ! Each reader in turn becomes a writer, and a reader again.
   subroutine changes()
      type(pawl_table) :: table
      logical :: got

      call pawl_table_create(MPI_COMM_WORLD, "mgl", 2, table)
      call table%acquire(0, PAWL_SHARED)
      do
         call table%timed_upgrade(0, 1d-3, got)
         if (got) exit
         call table%release(0) ! another one waits for it
         call table%acquire(0_int64, PAWL_SHARED)
      end do
      call table%downgrade(0)
      call table%downgrade(0_int64, ierror)
      call has_sentence(int(PAWL_ERR_NOT_HELD), "not exclusively")
      call table%release(0)
      call table%upgrade(1, ierror)
      call has_sentence(int(PAWL_ERR_NOT_HELD), "lock 1")
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call table%free()
      call result("readers that become writers, and the reverse")
   end subroutine

   ! Rank 0 forgets lock 0; the next holder is told so, and repairs.
   subroutine lives()
      type(pawl_table) :: table
      type(pawl_range) :: range
      integer(int64) :: first, next
      integer :: is
#ifdef WITH_F08
      type(MPI_Comm) :: left
#else
      integer :: left
#endif

      call create_with("pawl_lease", "100ms", "shiftlock", 2, table)
      first = 0
      if (rank == 0) then
         call table%acquire(0)
         call table%token(0, first)
         call table%abandon(0)
      end if
      call MPI_Bcast(first, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierror)
      if (rank == ranks - 1) then
         call table%acquire(0, ierror=ierror)
         call expect(ierror == PAWL_RECOVERED, "told of a recovery")
         call table%token(0_int64, next)
         call expect(next > first, "a larger number")
         call table%release(0)
         call table%acquire(0) ! which does not end the program
         call table%is_consistent(0, is)
         call expect(is == 0, "not consistent")
         call table%consistent(0)
         call table%is_consistent(0_int64, is)
         call expect(is == 1, "consistent")
         call table%release(0)
         call table%acquire(1) ! and is left alone
      end if
      call MPI_Comm_split(MPI_COMM_WORLD, rank / (ranks - 1), 0, left, ierror)
      call table%shrink_to(left)
      call pawl_table_shrink(table, left)
      call table%acquire(1)
      call table%token(1, next)
      call expect(next > first, "a larger number over fewer ranks")
      call table%release(1)
      call table%shrink_to(MPI_COMM_NULL, ierror)
      call has_sentence(int(PAWL_ERR_ARG), "MPI_COMM_NULL")
      call table%free()
      call MPI_Comm_free(left, ierror)
      call create_with("pawl_lease", "1s", "citron", 1, table)
      call table%acquire_range(0, rank, rank, range)
      call table%token_range(range, next)
      call table%is_consistent_range(range, is)
      call expect(next > 0 .and. is == 1, "a range")
      call table%consistent_range(range, ierror)
      call has_sentence(int(PAWL_ERR_RANGE), "all units")
      call table%release_range(range)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call table%free()
      call result("holders are told of a recovery, and have numbers")
   end subroutine

   subroutine tables()
      type(pawl_table) :: table
      type(pawl_table_info) :: info
      type(pawl_stats) :: stats
      double precision :: seconds
      integer :: home
      integer, target :: last

      last = ranks - 1
      call pawl_table_create_homed(MPI_COMM_WORLD, "rma-rw", 100, home_of, table, arg=c_loc(last))
      call table%home(49, home)
      call expect(home == 0, "the home of lock 49")
      call table%home(50_int64, home, ierror)
      call expect(home == ranks - 1 .and. ierror == PAWL_SUCCESS, "the home of lock 50")
      last = 0
      call table%rehome(home_of, arg=c_loc(last))
      call table%home(50, home)
      call expect(home == 0, "lock 50 has moved")
      last = ranks
      call pawl_table_rehome(table, home_of, ierror, c_loc(last))
      call expect(ierror == PAWL_ERR_ARG, "no such rank")
      call table%get_info(info)
      call expect(info%kind == "rma-rw" .and. info%n == 100 .and. info%ranks == ranks, "the info")
      call expect(info%max_held == 16 .and. len(info%topology) > 0, "more of the info")
      call expect(info%transport == "node", "its transport: "//info%transport)
      call expect(len(info%name) == 0, "no name yet: "//info%name)
      call table%set_name("orders")
      call table%get_info(info)
      call expect(info%name == "orders", "the name: "//info%name)
      call table%reset_stats()
      call table%acquire(3, PAWL_SHARED)
      call table%release(3)
      call table%get_stats(stats)
      call expect(stats%acquires == 1, "the count of acquires")
      call table%get_percentile(PAWL_TIME_HOLD, 50d0, seconds, ierror)
      call expect(ierror == PAWL_ERR_UNSUPPORTED, "percentiles without PAWL_STATS")
      call expect(len(pawl_version()) >= 5, "the version")
      call expect(pawl_kind_capabilities("no-such-lock") == -1, "no such kind")
      call table%free()
      call result("tables: homes, info, stats")
   end subroutine

   subroutine give_up()
      type(pawl_table) :: table

      call pawl_table_create(MPI_COMM_WORLD, "rma-mcs", 10, table)
      call table%acquire(10)
      print "(a)", "it went on"
   end subroutine
end program
