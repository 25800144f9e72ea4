! SPDX-License-Identifier: BSD-3-Clause
!
! Pawl for Fortran 2008: module pawl, over the calls of pawl.h; pawl(3) says what each does.
!
!     use mpi_f08
!     use pawl
!     type(pawl_table) :: table
!
!     call pawl_table_create(MPI_COMM_WORLD, "rma-mcs", 1000, table)
!     call table%acquire(7)
!     ! ... change what lock 7 protects ...
!     call table%release(7)
!     call table%free()
!
! Handles are those of mpi_f08, type(MPI_Comm) and type(MPI_Info), or those of module mpi and of
! mpif.h, which are integers. With -DPAWL_NO_MPI_F08 the module uses no module of MPI and takes
! integers only: for an MPI without mpi_f08, or whose module files are of another compiler.
!
! Locks, spaces and ranks count from 0, as in C. Locks, spaces, units and numbers of locks are
! integers of 32 or of 64 bits. Modes have a type of their own, so that the compiler refuses an
! ierror in their place.
!
! Each call has ierror as its last argument, which is optional: PAWL_SUCCESS or PAWL_ERR_*, and
! pawl_error_message() has the message. Without ierror a failure prints the message and ends the
! program by "error stop". A try at a lock that is held and a deadline that passes are no failures:
! argument acquired is then .false.
!
! The user compiles this file with the program, because compilers cannot read each other's module
! files:
!
!     mpifort $(pkg-config --variable=fortran pawl)/pawl.F90 program.f90 \
!         $(pkg-config --libs pawl)
module pawl
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funloc, &
      c_funptr, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, &
      c_sizeof
   use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
#ifndef PAWL_NO_MPI_F08
   use mpi_f08, only: MPI_Comm, MPI_Info
#endif
   implicit none
   private

   ! ------------------------------------------------------------------- constants

   enum, bind(C)
      enumerator :: PAWL_SUCCESS = 0
      enumerator :: PAWL_ERR_ARG
      enumerator :: PAWL_ERR_KIND
      enumerator :: PAWL_ERR_OPTION
      enumerator :: PAWL_ERR_UNSUPPORTED
      enumerator :: PAWL_ERR_THREAD
      enumerator :: PAWL_ERR_WINDOW
      enumerator :: PAWL_ERR_TOPOLOGY
      enumerator :: PAWL_ERR_MPI
      enumerator :: PAWL_ERR_NOMEM
      enumerator :: PAWL_ERR_RANGE
      enumerator :: PAWL_ERR_TOO_MANY
      enumerator :: PAWL_ERR_HELD
      enumerator :: PAWL_ERR_NOT_HELD
      enumerator :: PAWL_ERR_BUSY
      enumerator :: PAWL_ERR_TIMEOUT
      enumerator :: PAWL_ERR_LEASE_LOST
      enumerator :: PAWL_ERR_PEER
      enumerator :: PAWL_ERR_CONNECT
   end enum
   public :: PAWL_SUCCESS, PAWL_ERR_ARG, PAWL_ERR_KIND, PAWL_ERR_OPTION, PAWL_ERR_UNSUPPORTED, &
      PAWL_ERR_THREAD, PAWL_ERR_WINDOW, PAWL_ERR_TOPOLOGY, PAWL_ERR_MPI, PAWL_ERR_NOMEM, &
      PAWL_ERR_RANGE, PAWL_ERR_TOO_MANY, PAWL_ERR_HELD, PAWL_ERR_NOT_HELD, PAWL_ERR_BUSY, &
      PAWL_ERR_TIMEOUT, PAWL_ERR_LEASE_LOST, PAWL_ERR_PEER, PAWL_ERR_CONNECT

   ! The bits of pawl_kind_capabilities().
   integer, parameter, public :: PAWL_CAP_SHARED = 1, PAWL_CAP_TRY = 2, PAWL_CAP_TIMED = 4, &
      PAWL_CAP_FAIR = 8, PAWL_CAP_INTENT = 16, PAWL_CAP_RECOVERS = 32, PAWL_CAP_THREADS = 64, &
      PAWL_CAP_RANGES = 128, PAWL_CAP_OPTIMISTIC = 256

   ! The modes. Those with AHEAD are the intents of a client that holds a part already.
   type, bind(C), public :: pawl_mode
      integer(c_int) :: bits = 1
   end type
   type(pawl_mode), parameter, public :: &
      PAWL_EXCLUSIVE = pawl_mode(1), &
      PAWL_SHARED = pawl_mode(2), &
      PAWL_INTENT = pawl_mode(4), &
      PAWL_INTENT_EXCLUSIVE = pawl_mode(4), &
      PAWL_INTENT_SHARED = pawl_mode(16), &
      PAWL_INTENT_AHEAD = pawl_mode(12), &
      PAWL_INTENT_SHARED_AHEAD = pawl_mode(24)

   ! Which times pawl_table_get_percentile() looks at.
   integer, parameter, public :: PAWL_TIME_ACQUIRE = 1, PAWL_TIME_HOLD = 2

   ! The last unit that a range can name.
   integer(int64), parameter, public :: PAWL_RANGE_END = huge(0_int64)

   ! ----------------------------------------------------------------------- types

   ! A range that is held; its contents belong to the library.
   type, bind(C), public :: pawl_range
      integer(c_int64_t) :: opaque(2) = 0
   end type

   ! An acquire that goes on; its contents belong to the library.
   type, bind(C), public :: pawl_request
      integer(c_int64_t) :: opaque(4) = 0
   end type

   ! A read without the lock; its contents belong to the library.
   type, bind(C), public :: pawl_read
      integer(c_int64_t) :: opaque(4) = 0
   end type

   ! As struct pawl_stats of pawl.h. Of an array, element 1 counts targets on the same node,
   ! element 2 those on other nodes.
   type, bind(C), public :: pawl_stats
      integer(c_int64_t) :: acquires = 0
      integer(c_int64_t) :: atomics(2) = 0
      integer(c_int64_t) :: gets(2) = 0
      integer(c_int64_t) :: puts(2) = 0
      integer(c_int64_t) :: flushes(2) = 0
      integer(c_int64_t) :: waits = 0
      integer(c_int64_t) :: parks = 0
      integer(c_int64_t) :: recoveries = 0
      integer(c_int64_t) :: aborts = 0
   end type

   ! As struct pawl_table_info of pawl.h.
   type, public :: pawl_table_info
      character(:), allocatable :: kind
      integer :: capabilities = 0
      integer(int64) :: n = 0
      integer :: ranks = 0, nodes = 0, levels = 0, max_held = 0
      integer(int64) :: bytes = 0
      character(:), allocatable :: transport, topology, parameters
      logical :: crowded = .false.
      character(:), allocatable :: name
   end type
   type, bind(C) :: c_table_info
      type(c_ptr) :: kind
      integer(c_int64_t) :: n
      integer(c_int) :: ranks, nodes, levels, max_held
      integer(c_int64_t) :: bytes
      type(c_ptr) :: transport, topology, parameters
      integer(c_int) :: crowded
      type(c_ptr) :: name
   end type
   type, bind(C) :: c_kind ! the beginning of struct pawl_kind
      type(c_ptr) :: name, summary, reference, options
      integer(c_int) :: capabilities
   end type

   ! A table: of no locks before pawl_table_create() and after free. Copies are the same table.
   type, public :: pawl_table
      type(c_ptr) :: handle = c_null_ptr ! pawl_table * of pawl.h
   contains
      procedure :: free => pawl_table_free
      procedure :: get_info => pawl_table_get_info
      procedure :: set_name => pawl_table_set_name
      procedure :: get_stats => pawl_table_get_stats
      procedure :: reset_stats => pawl_table_reset_stats
      procedure :: get_percentile => pawl_table_get_percentile
      procedure, private :: home_i8, home_i4
      generic :: home => home_i8, home_i4
      procedure, private :: acquire_i8, acquire_i4
      generic :: acquire => acquire_i8, acquire_i4
      procedure, private :: try_acquire_i8, try_acquire_i4
      generic :: try_acquire => try_acquire_i8, try_acquire_i4
      procedure, private :: timed_acquire_i8, timed_acquire_i4
      generic :: timed_acquire => timed_acquire_i8, timed_acquire_i4
      procedure, private :: release_i8, release_i4
      generic :: release => release_i8, release_i4
      procedure, private :: abandon_i8, abandon_i4
      generic :: abandon => abandon_i8, abandon_i4
      procedure, private :: acquire_many_i8, acquire_many_i4
      generic :: acquire_many => acquire_many_i8, acquire_many_i4
      procedure, private :: try_acquire_many_i8, try_acquire_many_i4
      generic :: try_acquire_many => try_acquire_many_i8, try_acquire_many_i4
      procedure, private :: timed_acquire_many_i8, timed_acquire_many_i4
      generic :: timed_acquire_many => timed_acquire_many_i8, timed_acquire_many_i4
      procedure, private :: release_many_i8, release_many_i4
      generic :: release_many => release_many_i8, release_many_i4
      procedure, private :: iacquire_i8, iacquire_i4
      generic :: iacquire => iacquire_i8, iacquire_i4
      procedure, private :: read_begin_i8, read_begin_i4
      generic :: read_begin => read_begin_i8, read_begin_i4
      procedure, private :: read_validate_i8, read_validate_i4
      generic :: read_validate => read_validate_i8, read_validate_i4
      procedure, private :: acquire_part_i8, acquire_part_i4
      generic :: acquire_part => acquire_part_i8, acquire_part_i4
      procedure, private :: release_part_i8, release_part_i4
      generic :: release_part => release_part_i8, release_part_i4
      procedure, private :: acquire_range_i8, acquire_range_i4, acquire_range_i48
      generic :: acquire_range => acquire_range_i8, acquire_range_i4, acquire_range_i48
      procedure, private :: try_acquire_range_i8, try_acquire_range_i4, try_acquire_range_i48
      generic :: try_acquire_range => try_acquire_range_i8, try_acquire_range_i4, &
         try_acquire_range_i48
      procedure, private :: timed_acquire_range_i8, timed_acquire_range_i4, timed_acquire_range_i48
      generic :: timed_acquire_range => timed_acquire_range_i8, timed_acquire_range_i4, &
         timed_acquire_range_i48
      procedure, private :: release_range_any
      generic :: release_range => release_range_any
      procedure, private :: abandon_range_any
      generic :: abandon_range => abandon_range_any
      procedure, private :: grow_i8, grow_i4
      generic :: grow => grow_i8, grow_i4
      procedure, private :: shrink_i8, shrink_i4, shrink_i48
      generic :: shrink => shrink_i8, shrink_i4, shrink_i48
   end type

   ! The home of a lock: a rank of the table's communicator. Pure, the same on all ranks.
   abstract interface
      function pawl_home_function(lock, arg) bind(C) result(rank)
         import :: c_int, c_int64_t, c_ptr
         integer(c_int64_t), value :: lock
         type(c_ptr), value :: arg
         integer(c_int) :: rank
      end function
   end interface
   public :: pawl_home_function

   ! ------------------------------------------------------------------ procedures

   public :: pawl_table_create, pawl_table_create_homed, pawl_table_free, pawl_table_get_info, &
      pawl_table_set_name, pawl_table_get_stats, pawl_table_reset_stats, pawl_table_get_percentile
   public :: pawl_error_message, pawl_strerror, pawl_version, pawl_kind_name, &
      pawl_kind_capabilities
   public :: pawl_table_home, pawl_lock_acquire, pawl_lock_try_acquire, pawl_lock_timed_acquire, &
      pawl_lock_release, pawl_lock_abandon, pawl_lock_acquire_part, pawl_lock_release_part, &
      pawl_lock_acquire_many, pawl_lock_try_acquire_many, pawl_lock_timed_acquire_many, &
      pawl_lock_release_many, pawl_lock_iacquire, pawl_request_test, pawl_request_wait, &
      pawl_request_cancel, pawl_lock_read_begin, pawl_lock_read_validate, &
      pawl_range_acquire, pawl_range_try_acquire, pawl_range_timed_acquire, pawl_range_release, &
      pawl_range_abandon, pawl_range_grow, pawl_range_shrink

   interface pawl_table_create
      module procedure create_i4, create_i8
#ifndef PAWL_NO_MPI_F08
      module procedure create_f08_i4, create_f08_i8
#endif
   end interface
   interface pawl_table_create_homed
      module procedure homed_i4, homed_i8
#ifndef PAWL_NO_MPI_F08
      module procedure homed_f08_i4, homed_f08_i8
#endif
   end interface
   interface pawl_table_home
      module procedure home_i8, home_i4
   end interface
   interface pawl_lock_acquire
      module procedure acquire_i8, acquire_i4
   end interface
   interface pawl_lock_try_acquire
      module procedure try_acquire_i8, try_acquire_i4
   end interface
   interface pawl_lock_timed_acquire
      module procedure timed_acquire_i8, timed_acquire_i4
   end interface
   interface pawl_lock_release
      module procedure release_i8, release_i4
   end interface
   interface pawl_lock_abandon
      module procedure abandon_i8, abandon_i4
   end interface
   interface pawl_lock_acquire_many
      module procedure acquire_many_i8, acquire_many_i4
   end interface
   interface pawl_lock_try_acquire_many
      module procedure try_acquire_many_i8, try_acquire_many_i4
   end interface
   interface pawl_lock_timed_acquire_many
      module procedure timed_acquire_many_i8, timed_acquire_many_i4
   end interface
   interface pawl_lock_release_many
      module procedure release_many_i8, release_many_i4
   end interface
   interface pawl_lock_iacquire
      module procedure iacquire_i8, iacquire_i4
   end interface
   interface pawl_lock_read_begin
      module procedure read_begin_i8, read_begin_i4
   end interface
   interface pawl_lock_read_validate
      module procedure read_validate_i8, read_validate_i4
   end interface
   interface pawl_lock_acquire_part
      module procedure acquire_part_i8, acquire_part_i4
   end interface
   interface pawl_lock_release_part
      module procedure release_part_i8, release_part_i4
   end interface
   interface pawl_range_acquire
      module procedure acquire_range_i8, acquire_range_i4, acquire_range_i48
   end interface
   interface pawl_range_try_acquire
      module procedure try_acquire_range_i8, try_acquire_range_i4, try_acquire_range_i48
   end interface
   interface pawl_range_timed_acquire
      module procedure timed_acquire_range_i8, timed_acquire_range_i4, timed_acquire_range_i48
   end interface
   interface pawl_range_release
      module procedure release_range_any
   end interface
   interface pawl_range_abandon
      module procedure abandon_range_any
   end interface
   interface pawl_range_grow
      module procedure grow_i8, grow_i4
   end interface
   interface pawl_range_shrink
      module procedure shrink_i8, shrink_i4, shrink_i48
   end interface

   ! -------------------------------------------------------------- the calls of C

   interface
      function c_create(comm, kind, n, info, table) bind(C, name="pawl_table_create_f") result(rc)
         import :: c_char, c_int, c_int64_t, c_ptr
         integer(c_int), value :: comm
         character(c_char), intent(in) :: kind(*)
         integer(c_int64_t), value :: n
         type(c_ptr), value :: info ! to an MPI_Fint, or null
         type(c_ptr), intent(out) :: table
         integer(c_int) :: rc
      end function
      function c_create_homed(comm, kind, n, home, arg, info, table) &
         bind(C, name="pawl_table_create_homed_f") result(rc)
         import :: c_char, c_funptr, c_int, c_int64_t, c_ptr
         integer(c_int), value :: comm
         character(c_char), intent(in) :: kind(*)
         integer(c_int64_t), value :: n
         type(c_funptr), value :: home
         type(c_ptr), value :: arg
         type(c_ptr), value :: info ! to an MPI_Fint, or null
         type(c_ptr), intent(out) :: table
         integer(c_int) :: rc
      end function
      function c_free(table) bind(C, name="pawl_table_free") result(rc)
         import :: c_int, c_ptr
         type(c_ptr), intent(inout) :: table
         integer(c_int) :: rc
      end function
      function c_get_info(table, info, bytes) &
         bind(C, name="pawl_table_get_info_sized") result(rc)
         import :: c_int, c_ptr, c_size_t, c_table_info
         type(c_ptr), value :: table
         type(c_table_info), intent(out) :: info
         integer(c_size_t), value :: bytes
         integer(c_int) :: rc
      end function
      function c_set_name(table, name) bind(C, name="pawl_table_set_name") result(rc)
         import :: c_char, c_int, c_ptr
         type(c_ptr), value :: table
         character(c_char), intent(in) :: name(*)
         integer(c_int) :: rc
      end function
      function c_get_stats(table, stats, bytes) &
         bind(C, name="pawl_table_get_stats_sized") result(rc)
         import :: c_int, c_ptr, c_size_t, pawl_stats
         type(c_ptr), value :: table
         type(pawl_stats), intent(out) :: stats
         integer(c_size_t), value :: bytes
         integer(c_int) :: rc
      end function
      function c_reset_stats(table) bind(C, name="pawl_table_reset_stats") result(rc)
         import :: c_int, c_ptr
         type(c_ptr), value :: table
         integer(c_int) :: rc
      end function
      function c_get_percentile(table, what, percent, seconds) &
         bind(C, name="pawl_table_get_percentile") result(rc)
         import :: c_double, c_int, c_ptr
         type(c_ptr), value :: table
         integer(c_int), value :: what
         real(c_double), value :: percent
         real(c_double), intent(out) :: seconds
         integer(c_int) :: rc
      end function
      function c_error_message() bind(C, name="pawl_error_message") result(text)
         import :: c_ptr
         type(c_ptr) :: text
      end function
      function c_strerror(code) bind(C, name="pawl_strerror") result(text)
         import :: c_int, c_ptr
         integer(c_int), value :: code
         type(c_ptr) :: text
      end function
      function c_version() bind(C, name="pawl_version") result(text)
         import :: c_ptr
         type(c_ptr) :: text
      end function
      function c_kind_find(name) bind(C, name="pawl_kind_find") result(kind)
         import :: c_char, c_ptr
         character(c_char), intent(in) :: name(*)
         type(c_ptr) :: kind
      end function
      function c_kind_get(index) bind(C, name="pawl_kind_get") result(kind)
         import :: c_int, c_ptr
         integer(c_int), value :: index
         type(c_ptr) :: kind
      end function
      function c_strlen(text) bind(C, name="strlen") result(length)
         import :: c_ptr, c_size_t
         type(c_ptr), value :: text
         integer(c_size_t) :: length
      end function
      function c_table_home(table, lock, rank) bind(C, name="pawl_table_home") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int), intent(out) :: rank
         integer(c_int) :: rc
      end function
      function c_lock_acquire(table, lock, mode) bind(C, name="pawl_lock_acquire") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int), value :: mode
         integer(c_int) :: rc
      end function
      function c_lock_try_acquire(table, lock, mode) &
         bind(C, name="pawl_lock_try_acquire") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int), value :: mode
         integer(c_int) :: rc
      end function
      function c_lock_timed_acquire(table, lock, mode, seconds) &
         bind(C, name="pawl_lock_timed_acquire") result(rc)
         import :: c_double, c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int), value :: mode
         real(c_double), value :: seconds
         integer(c_int) :: rc
      end function
      function c_lock_release(table, lock) bind(C, name="pawl_lock_release") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int) :: rc
      end function
      function c_lock_abandon(table, lock) bind(C, name="pawl_lock_abandon") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int) :: rc
      end function
      function c_lock_acquire_many(table, n, locks, modes) &
         bind(C, name="pawl_lock_acquire_many") result(rc)
         import :: c_int, c_int64_t, c_ptr, c_size_t
         type(c_ptr), value :: table
         integer(c_size_t), value :: n
         integer(c_int64_t), intent(in) :: locks(*)
         type(c_ptr), value :: modes ! to integers, or null
         integer(c_int) :: rc
      end function
      function c_lock_try_acquire_many(table, n, locks, modes) &
         bind(C, name="pawl_lock_try_acquire_many") result(rc)
         import :: c_int, c_int64_t, c_ptr, c_size_t
         type(c_ptr), value :: table
         integer(c_size_t), value :: n
         integer(c_int64_t), intent(in) :: locks(*)
         type(c_ptr), value :: modes ! to integers, or null
         integer(c_int) :: rc
      end function
      function c_lock_timed_acquire_many(table, n, locks, modes, seconds) &
         bind(C, name="pawl_lock_timed_acquire_many") result(rc)
         import :: c_double, c_int, c_int64_t, c_ptr, c_size_t
         type(c_ptr), value :: table
         integer(c_size_t), value :: n
         integer(c_int64_t), intent(in) :: locks(*)
         type(c_ptr), value :: modes ! to integers, or null
         real(c_double), value :: seconds
         integer(c_int) :: rc
      end function
      function c_lock_release_many(table, n, locks) &
         bind(C, name="pawl_lock_release_many") result(rc)
         import :: c_int, c_int64_t, c_ptr, c_size_t
         type(c_ptr), value :: table
         integer(c_size_t), value :: n
         integer(c_int64_t), intent(in) :: locks(*)
         integer(c_int) :: rc
      end function
      function c_lock_iacquire(table, lock, mode, request) &
         bind(C, name="pawl_lock_iacquire") result(rc)
         import :: c_int, c_int64_t, c_ptr, pawl_request
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         integer(c_int), value :: mode
         type(pawl_request), intent(inout) :: request
         integer(c_int) :: rc
      end function
      function c_request_test(request, done) &
         bind(C, name="pawl_request_test") result(rc)
         import :: c_int, pawl_request
         type(pawl_request), intent(inout) :: request
         integer(c_int), intent(out) :: done
         integer(c_int) :: rc
      end function
      function c_request_wait(request) &
         bind(C, name="pawl_request_wait") result(rc)
         import :: c_int, pawl_request
         type(pawl_request), intent(inout) :: request
         integer(c_int) :: rc
      end function
      function c_request_cancel(request) &
         bind(C, name="pawl_request_cancel") result(rc)
         import :: c_int, pawl_request
         type(pawl_request), intent(inout) :: request
         integer(c_int) :: rc
      end function
      function c_lock_read_begin(table, lock, read) &
         bind(C, name="pawl_lock_read_begin") result(rc)
         import :: c_int, c_int64_t, c_ptr, pawl_read
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         type(pawl_read), intent(inout) :: read
         integer(c_int) :: rc
      end function
      function c_lock_read_validate(table, lock, read) &
         bind(C, name="pawl_lock_read_validate") result(rc)
         import :: c_int, c_int64_t, c_ptr, pawl_read
         type(c_ptr), value :: table
         integer(c_int64_t), value :: lock
         type(pawl_read), intent(inout) :: read
         integer(c_int) :: rc
      end function
      function c_lock_acquire_part(table, whole, part, mode) &
         bind(C, name="pawl_lock_acquire_part") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: whole
         integer(c_int64_t), value :: part
         integer(c_int), value :: mode
         integer(c_int) :: rc
      end function
      function c_lock_release_part(table, whole, part) &
         bind(C, name="pawl_lock_release_part") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: whole
         integer(c_int64_t), value :: part
         integer(c_int) :: rc
      end function
      function c_range_acquire(table, space, first, last, mode, range) &
         bind(C, name="pawl_range_acquire") result(rc)
         import :: c_int, c_int64_t, c_ptr, pawl_range
         type(c_ptr), value :: table
         integer(c_int64_t), value :: space
         integer(c_int64_t), value :: first
         integer(c_int64_t), value :: last
         integer(c_int), value :: mode
         type(pawl_range), intent(inout) :: range
         integer(c_int) :: rc
      end function
      function c_range_try_acquire(table, space, first, last, mode, range) &
         bind(C, name="pawl_range_try_acquire") result(rc)
         import :: c_int, c_int64_t, c_ptr, pawl_range
         type(c_ptr), value :: table
         integer(c_int64_t), value :: space
         integer(c_int64_t), value :: first
         integer(c_int64_t), value :: last
         integer(c_int), value :: mode
         type(pawl_range), intent(inout) :: range
         integer(c_int) :: rc
      end function
      function c_range_timed_acquire(table, space, first, last, mode, seconds, range) &
         bind(C, name="pawl_range_timed_acquire") result(rc)
         import :: c_double, c_int, c_int64_t, c_ptr, pawl_range
         type(c_ptr), value :: table
         integer(c_int64_t), value :: space
         integer(c_int64_t), value :: first
         integer(c_int64_t), value :: last
         integer(c_int), value :: mode
         real(c_double), value :: seconds
         type(pawl_range), intent(inout) :: range
         integer(c_int) :: rc
      end function
      function c_range_release(table, range) bind(C, name="pawl_range_release") result(rc)
         import :: c_int, c_ptr, pawl_range
         type(c_ptr), value :: table
         type(pawl_range), intent(in) :: range
         integer(c_int) :: rc
      end function
      function c_range_abandon(table, range) bind(C, name="pawl_range_abandon") result(rc)
         import :: c_int, c_ptr, pawl_range
         type(c_ptr), value :: table
         type(pawl_range), intent(in) :: range
         integer(c_int) :: rc
      end function
      function c_range_grow(table, space, units) bind(C, name="pawl_range_grow") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: space
         integer(c_int64_t), intent(out) :: units
         integer(c_int) :: rc
      end function
      function c_range_shrink(table, space, units) bind(C, name="pawl_range_shrink") result(rc)
         import :: c_int, c_int64_t, c_ptr
         type(c_ptr), value :: table
         integer(c_int64_t), value :: space
         integer(c_int64_t), value :: units
         integer(c_int) :: rc
      end function
   end interface

contains

   ! --------------------------------------------------------------------- helpers

   ! A string of C as a character variable.
   function text_of(text) result(copy)
      type(c_ptr), intent(in) :: text
      character(:), allocatable :: copy
      character(c_char), pointer :: bytes(:)
      integer :: i

      allocate (character(c_strlen(text)) :: copy)
      call c_f_pointer(text, bytes, [len(copy)])
      do i = 1, len(copy)
         copy(i:i) = bytes(i)
      end do
   end function

   ! Return the code in ierror; without ierror, print a failure and end the program.
   subroutine finish(rc, ierror)
      integer(c_int), value :: rc
      integer, intent(out), optional :: ierror

      if (present(ierror)) then
         ierror = rc
      else if (rc /= PAWL_SUCCESS) then
         call give_up(rc)
      end if
   end subroutine

   subroutine give_up(rc)
      integer(c_int), value :: rc

      write (error_unit, "(4a)") "pawl: ", pawl_strerror(int(rc)), ": ", pawl_error_message()
      flush (error_unit)
      error stop 1
   end subroutine

   ! As finish() after a try or a timed acquire.
   subroutine finish_try(rc, acquired, ierror)
      integer(c_int), intent(in) :: rc
      logical, intent(out) :: acquired
      integer, intent(out), optional :: ierror

      acquired = rc == PAWL_SUCCESS
      if (rc == PAWL_ERR_BUSY .or. rc == PAWL_ERR_TIMEOUT) then
         if (present(ierror)) ierror = PAWL_SUCCESS
      else
         call finish(rc, ierror)
      end if
   end subroutine

   pure function bits_of(mode) result(bits)
      type(pawl_mode), intent(in), optional :: mode
      integer(c_int) :: bits

      bits = PAWL_EXCLUSIVE%bits
      if (present(mode)) bits = mode%bits
   end function

   ! For calls on several locks: the address of bits, which become those of the modes; null if
   ! there are no modes. As many modes as locks.
   function modes_of(bits, modes) result(address)
      integer(c_int), intent(inout), target :: bits(:)
      type(pawl_mode), intent(in), optional :: modes(:)
      type(c_ptr) :: address

      address = c_null_ptr
      if (.not. present(modes)) return
      if (size(modes) /= size(bits)) error stop "pawl: as many modes as locks, or none"
      bits = modes%bits
      if (size(bits) > 0) address = c_loc(bits)
   end function

   ! ------------------------------------------------------- errors, kinds, version

   ! The message of the last failed call of this thread.
   function pawl_error_message() result(text)
      character(:), allocatable :: text

      text = text_of(c_error_message())
   end function

   ! A phrase for a code.
   function pawl_strerror(code) result(text)
      integer, intent(in) :: code
      character(:), allocatable :: text

      text = text_of(c_strerror(int(code, c_int)))
   end function

   function pawl_version() result(text)
      character(:), allocatable :: text

      text = text_of(c_version())
   end function

   ! The name of the kind of lock with this index, from 0; empty past the last one.
   function pawl_kind_name(index) result(name)
      integer, intent(in) :: index
      character(:), allocatable :: name
      type(c_kind), pointer :: kind
      type(c_ptr) :: found

      name = ""
      found = c_kind_get(int(index, c_int))
      if (.not. c_associated(found)) return
      call c_f_pointer(found, kind)
      name = text_of(kind%name)
   end function

   ! What a kind can do, a set of bits PAWL_CAP_*: btest() or iand(). -1 if there is no such kind.
   function pawl_kind_capabilities(name) result(capabilities)
      character(*), intent(in) :: name
      integer :: capabilities
      type(c_kind), pointer :: kind
      type(c_ptr) :: found

      capabilities = -1
      found = c_kind_find(trim(name)//c_null_char)
      if (.not. c_associated(found)) return
      call c_f_pointer(found, kind)
      capabilities = kind%capabilities
   end function

   ! ---------------------------------------------------------------------- tables

   ! Create a table of n locks of a kind over comm. Collective.
   subroutine create_i8(comm, kind, n, table, info, ierror)
      integer, intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int64), intent(in) :: n
      type(pawl_table), intent(out) :: table
      integer, intent(in), optional :: info
      integer, intent(out), optional :: ierror
      integer(c_int), target :: handle
      type(c_ptr) :: given

      given = c_null_ptr
      if (present(info)) then
         handle = int(info, c_int)
         given = c_loc(handle)
      end if
      call finish(c_create(int(comm, c_int), trim(kind)//c_null_char, n, given, table%handle), &
         ierror)
   end subroutine

   subroutine create_i4(comm, kind, n, table, info, ierror)
      integer, intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int32), intent(in) :: n
      type(pawl_table), intent(out) :: table
      integer, intent(in), optional :: info
      integer, intent(out), optional :: ierror

      call create_i8(comm, kind, int(n, int64), table, info, ierror)
   end subroutine

   ! The same with homes chosen by the program: home(lock, arg), with bind(C).
   subroutine homed_i8(comm, kind, n, home, table, info, ierror, arg)
      integer, intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int64), intent(in) :: n
      procedure(pawl_home_function) :: home
      type(pawl_table), intent(out) :: table
      integer, intent(in), optional :: info
      integer, intent(out), optional :: ierror
      type(c_ptr), intent(in), optional :: arg
      integer(c_int), target :: handle
      type(c_ptr) :: given, passed

      given = c_null_ptr
      if (present(info)) then
         handle = int(info, c_int)
         given = c_loc(handle)
      end if
      passed = c_null_ptr
      if (present(arg)) passed = arg
      call finish(c_create_homed(int(comm, c_int), trim(kind)//c_null_char, n, c_funloc(home), &
         passed, given, table%handle), ierror)
   end subroutine

   subroutine homed_i4(comm, kind, n, home, table, info, ierror, arg)
      integer, intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int32), intent(in) :: n
      procedure(pawl_home_function) :: home
      type(pawl_table), intent(out) :: table
      integer, intent(in), optional :: info
      integer, intent(out), optional :: ierror
      type(c_ptr), intent(in), optional :: arg

      call homed_i8(comm, kind, int(n, int64), home, table, info, ierror, arg)
   end subroutine

#ifndef PAWL_NO_MPI_F08
   subroutine create_f08_i8(comm, kind, n, table, info, ierror)
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int64), intent(in) :: n
      type(pawl_table), intent(out) :: table
      type(MPI_Info), intent(in), optional :: info
      integer, intent(out), optional :: ierror

      if (present(info)) then
         call create_i8(int(comm%MPI_VAL), kind, n, table, int(info%MPI_VAL), ierror)
      else
         call create_i8(int(comm%MPI_VAL), kind, n, table, ierror=ierror)
      end if
   end subroutine

   subroutine create_f08_i4(comm, kind, n, table, info, ierror)
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int32), intent(in) :: n
      type(pawl_table), intent(out) :: table
      type(MPI_Info), intent(in), optional :: info
      integer, intent(out), optional :: ierror

      call create_f08_i8(comm, kind, int(n, int64), table, info, ierror)
   end subroutine

   subroutine homed_f08_i8(comm, kind, n, home, table, info, ierror, arg)
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int64), intent(in) :: n
      procedure(pawl_home_function) :: home
      type(pawl_table), intent(out) :: table
      type(MPI_Info), intent(in), optional :: info
      integer, intent(out), optional :: ierror
      type(c_ptr), intent(in), optional :: arg

      if (present(info)) then
         call homed_i8(int(comm%MPI_VAL), kind, n, home, table, int(info%MPI_VAL), ierror, arg)
      else
         call homed_i8(int(comm%MPI_VAL), kind, n, home, table, ierror=ierror, arg=arg)
      end if
   end subroutine

   subroutine homed_f08_i4(comm, kind, n, home, table, info, ierror, arg)
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: kind
      integer(int32), intent(in) :: n
      procedure(pawl_home_function) :: home
      type(pawl_table), intent(out) :: table
      type(MPI_Info), intent(in), optional :: info
      integer, intent(out), optional :: ierror
      type(c_ptr), intent(in), optional :: arg

      call homed_f08_i8(comm, kind, int(n, int64), home, table, info, ierror, arg)
   end subroutine
#endif

   ! Free the table. Collective.
   subroutine pawl_table_free(table, ierror)
      class(pawl_table), intent(inout) :: table
      integer, intent(out), optional :: ierror

      call finish(c_free(table%handle), ierror)
   end subroutine

   ! A description of the table. Local.
   subroutine pawl_table_get_info(table, info, ierror)
      class(pawl_table), intent(in) :: table
      type(pawl_table_info), intent(out) :: info
      integer, intent(out), optional :: ierror
      type(c_table_info) :: c
      type(c_kind), pointer :: kind
      integer(c_int) :: rc

      rc = c_get_info(table%handle, c, c_sizeof(c))
      if (rc == PAWL_SUCCESS) then
         call c_f_pointer(c%kind, kind)
         info%kind = text_of(kind%name)
         info%capabilities = kind%capabilities
         info%n = c%n
         info%ranks = c%ranks
         info%nodes = c%nodes
         info%levels = c%levels
         info%max_held = c%max_held
         info%bytes = c%bytes
         info%transport = text_of(c%transport)
         info%topology = text_of(c%topology)
         info%parameters = text_of(c%parameters)
         info%crowded = c%crowded /= 0
         info%name = text_of(c%name)
      end if
      call finish(rc, ierror)
   end subroutine

   ! Name the table in messages of this rank; "" removes the name. Local.
   subroutine pawl_table_set_name(table, name, ierror)
      class(pawl_table), intent(in) :: table
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierror

      call finish(c_set_name(table%handle, trim(name)//c_null_char), ierror)
   end subroutine

   ! The counts of this rank. Local.
   subroutine pawl_table_get_stats(table, stats, ierror)
      class(pawl_table), intent(in) :: table
      type(pawl_stats), intent(out) :: stats
      integer, intent(out), optional :: ierror

      call finish(c_get_stats(table%handle, stats, c_sizeof(stats)), ierror)
   end subroutine

   subroutine pawl_table_reset_stats(table, ierror)
      class(pawl_table), intent(in) :: table
      integer, intent(out), optional :: ierror

      call finish(c_reset_stats(table%handle), ierror)
   end subroutine

   ! What percent (0 .. 100) of this rank's acquires (PAWL_TIME_ACQUIRE) or holds (PAWL_TIME_HOLD)
   ! do not exceed, in seconds. Local. For tables created with PAWL_STATS in the environment.
   subroutine pawl_table_get_percentile(table, what, percent, seconds, ierror)
      class(pawl_table), intent(in) :: table
      integer, intent(in) :: what
      real(real64), intent(in) :: percent
      real(real64), intent(out) :: seconds
      integer, intent(out), optional :: ierror

      seconds = 0
      call finish(c_get_percentile(table%handle, int(what, c_int), real(percent, c_double), &
         seconds), ierror)
   end subroutine

   ! Each call below has a form for integers of 64 bits, and one for integers of 32 bits, whose
   ! name ends with _i4; those of ranges also one for a space of 32 bits with units of 64 (_i48).

   ! The home rank of a lock. Local.
   subroutine home_i8(table, lock, rank, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      integer, intent(out) :: rank
      integer, intent(out), optional :: ierror
      integer(c_int) :: c_rank, rc

      c_rank = -1
      rc = c_table_home(table%handle, lock, c_rank)
      rank = c_rank
      call finish(rc, ierror)
   end subroutine

   subroutine home_i4(table, lock, rank, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      integer, intent(out) :: rank
      integer, intent(out), optional :: ierror

      call home_i8(table, int(lock, int64), rank, ierror)
   end subroutine

   ! Acquire a lock, exclusively unless mode says otherwise; wait as long as it takes.
   subroutine acquire_i8(table, lock, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      if (present(ierror)) then
         ierror = c_lock_acquire(table%handle, lock, bits_of(mode))
      else
         call finish(c_lock_acquire(table%handle, lock, bits_of(mode)))
      end if
   end subroutine

   subroutine acquire_i4(table, lock, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call acquire_i8(table, int(lock, int64), mode, ierror)
   end subroutine

   ! The same without waiting for other holders.
   subroutine try_acquire_i8(table, lock, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish_try(c_lock_try_acquire(table%handle, lock, bits_of(mode)), acquired, ierror)
   end subroutine

   subroutine try_acquire_i4(table, lock, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call try_acquire_i8(table, int(lock, int64), acquired, mode, ierror)
   end subroutine

   ! The same, but wait at most that many seconds.
   subroutine timed_acquire_i8(table, lock, seconds, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      real(real64), intent(in) :: seconds
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish_try(c_lock_timed_acquire(table%handle, lock, bits_of(mode), seconds), acquired, &
         ierror)
   end subroutine

   subroutine timed_acquire_i4(table, lock, seconds, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      real(real64), intent(in) :: seconds
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call timed_acquire_i8(table, int(lock, int64), seconds, acquired, mode, ierror)
   end subroutine

   ! Release a lock that this thread holds, whatever its mode.
   subroutine release_i8(table, lock, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      integer, intent(out), optional :: ierror

      if (present(ierror)) then
         ierror = c_lock_release(table%handle, lock)
      else
         call finish(c_lock_release(table%handle, lock))
      end if
   end subroutine

   subroutine release_i4(table, lock, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      integer, intent(out), optional :: ierror

      call release_i8(table, int(lock, int64), ierror)
   end subroutine

   ! Forget a lock without a release: for tests of recovery.
   subroutine abandon_i8(table, lock, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      integer, intent(out), optional :: ierror

      call finish(c_lock_abandon(table%handle, lock), ierror)
   end subroutine

   subroutine abandon_i4(table, lock, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      integer, intent(out), optional :: ierror

      call abandon_i8(table, int(lock, int64), ierror)
   end subroutine

   ! Acquire several locks, exclusively unless modes says otherwise. Threads that use this call do
   ! not dead-lock with each other, and some kinds acquire free locks in one round trip.
   subroutine acquire_many_i8(table, locks, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: locks(:)
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror
      integer(c_int), target :: bits(size(locks))

      call finish(c_lock_acquire_many(table%handle, size(locks, kind=c_size_t), locks, &
         modes_of(bits, modes)), ierror)
   end subroutine

   subroutine acquire_many_i4(table, locks, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: locks(:)
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror

      call acquire_many_i8(table, int(locks, int64), modes, ierror)
   end subroutine

   ! The same without waiting for other holders: all of them, or none.
   subroutine try_acquire_many_i8(table, locks, acquired, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: locks(:)
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror
      integer(c_int), target :: bits(size(locks))

      call finish_try(c_lock_try_acquire_many(table%handle, size(locks, kind=c_size_t), locks, &
         modes_of(bits, modes)), acquired, ierror)
   end subroutine

   subroutine try_acquire_many_i4(table, locks, acquired, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: locks(:)
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror

      call try_acquire_many_i8(table, int(locks, int64), acquired, modes, ierror)
   end subroutine

   ! The same, but wait at most that many seconds in all.
   subroutine timed_acquire_many_i8(table, locks, seconds, acquired, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: locks(:)
      real(real64), intent(in) :: seconds
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror
      integer(c_int), target :: bits(size(locks))

      call finish_try(c_lock_timed_acquire_many(table%handle, size(locks, kind=c_size_t), locks, &
         modes_of(bits, modes), seconds), acquired, ierror)
   end subroutine

   subroutine timed_acquire_many_i4(table, locks, seconds, acquired, modes, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: locks(:)
      real(real64), intent(in) :: seconds
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: modes(:)
      integer, intent(out), optional :: ierror

      call timed_acquire_many_i8(table, int(locks, int64), seconds, acquired, modes, ierror)
   end subroutine

   ! Release several locks that this thread holds.
   subroutine release_many_i8(table, locks, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: locks(:)
      integer, intent(out), optional :: ierror

      call finish(c_lock_release_many(table%handle, size(locks, kind=c_size_t), locks), ierror)
   end subroutine

   subroutine release_many_i4(table, locks, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: locks(:)
      integer, intent(out), optional :: ierror

      call release_many_i8(table, int(locks, int64), ierror)
   end subroutine

   ! Begin to acquire a lock, without waiting. pawl_request_test() and pawl_request_wait() say when
   ! it is held; only the thread that has made the request may use it.
   subroutine iacquire_i8(table, lock, request, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      type(pawl_request), intent(out) :: request
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish(c_lock_iacquire(table%handle, lock, bits_of(mode), request), ierror)
   end subroutine

   subroutine iacquire_i4(table, lock, request, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      type(pawl_request), intent(out) :: request
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call iacquire_i8(table, int(lock, int64), request, mode, ierror)
   end subroutine

   ! Look once, without waiting: done if the lock is held now.
   subroutine pawl_request_test(request, done, ierror)
      type(pawl_request), intent(inout) :: request
      logical, intent(out) :: done
      integer, intent(out), optional :: ierror
      integer(c_int) :: c_done, rc

      c_done = 0
      rc = c_request_test(request, c_done)
      done = c_done /= 0
      call finish(rc, ierror)
   end subroutine

   ! Wait until the lock is held.
   subroutine pawl_request_wait(request, ierror)
      type(pawl_request), intent(inout) :: request
      integer, intent(out), optional :: ierror

      call finish(c_request_wait(request), ierror)
   end subroutine

   ! End the request without the lock.
   subroutine pawl_request_cancel(request, ierror)
      type(pawl_request), intent(inout) :: request
      integer, intent(out), optional :: ierror

      call finish(c_request_cancel(request), ierror)
   end subroutine

   subroutine read_begin_i8(table, lock, read, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      type(pawl_read), intent(inout) :: read
      integer, intent(out), optional :: ierror

      call finish(c_lock_read_begin(table%handle, lock, read), ierror)
   end subroutine

   subroutine read_begin_i4(table, lock, read, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      type(pawl_read), intent(inout) :: read
      integer, intent(out), optional :: ierror

      call read_begin_i8(table, int(lock, int64), read, ierror)
   end subroutine

   subroutine read_validate_i8(table, lock, read, valid, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: lock
      type(pawl_read), intent(inout) :: read
      logical, intent(out) :: valid
      integer, intent(out), optional :: ierror

      call finish_try(c_lock_read_validate(table%handle, lock, read), valid, ierror)
   end subroutine

   subroutine read_validate_i4(table, lock, read, valid, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: lock
      type(pawl_read), intent(inout) :: read
      logical, intent(out) :: valid
      integer, intent(out), optional :: ierror

      call read_validate_i8(table, int(lock, int64), read, valid, ierror)
   end subroutine

   ! Acquire part, and an intent at whole.
   subroutine acquire_part_i8(table, whole, part, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: whole
      integer(int64), intent(in) :: part
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish(c_lock_acquire_part(table%handle, whole, part, bits_of(mode)), ierror)
   end subroutine

   subroutine acquire_part_i4(table, whole, part, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: whole
      integer(int32), intent(in) :: part
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call acquire_part_i8(table, int(whole, int64), int(part, int64), mode, ierror)
   end subroutine

   ! Release both.
   subroutine release_part_i8(table, whole, part, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: whole
      integer(int64), intent(in) :: part
      integer, intent(out), optional :: ierror

      call finish(c_lock_release_part(table%handle, whole, part), ierror)
   end subroutine

   subroutine release_part_i4(table, whole, part, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: whole
      integer(int32), intent(in) :: part
      integer, intent(out), optional :: ierror

      call release_part_i8(table, int(whole, int64), int(part, int64), ierror)
   end subroutine

   ! Acquire units first to last of a space.
   subroutine acquire_range_i8(table, space, first, last, range, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      type(pawl_range), intent(out) :: range
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish(c_range_acquire(table%handle, space, first, last, bits_of(mode), range), ierror)
   end subroutine

   subroutine acquire_range_i4(table, space, first, last, range, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int32), intent(in) :: first
      integer(int32), intent(in) :: last
      type(pawl_range), intent(out) :: range
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call acquire_range_i8(table, int(space, int64), int(first, int64), int(last, int64), range, &
         mode, ierror)
   end subroutine

   subroutine acquire_range_i48(table, space, first, last, range, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      type(pawl_range), intent(out) :: range
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call acquire_range_i8(table, int(space, int64), first, last, range, mode, ierror)
   end subroutine

   ! The same without waiting for other holders.
   subroutine try_acquire_range_i8(table, space, first, last, range, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish_try(c_range_try_acquire(table%handle, space, first, last, bits_of(mode), &
         range), acquired, ierror)
   end subroutine

   subroutine try_acquire_range_i4(table, space, first, last, range, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int32), intent(in) :: first
      integer(int32), intent(in) :: last
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call try_acquire_range_i8(table, int(space, int64), int(first, int64), int(last, int64), &
         range, acquired, mode, ierror)
   end subroutine

   subroutine try_acquire_range_i48(table, space, first, last, range, acquired, mode, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call try_acquire_range_i8(table, int(space, int64), first, last, range, acquired, mode, &
         ierror)
   end subroutine

   ! The same, but wait at most that many seconds.
   subroutine timed_acquire_range_i8(table, space, first, last, seconds, range, acquired, mode, &
         ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      real(real64), intent(in) :: seconds
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call finish_try(c_range_timed_acquire(table%handle, space, first, last, bits_of(mode), &
         seconds, range), acquired, ierror)
   end subroutine

   subroutine timed_acquire_range_i4(table, space, first, last, seconds, range, acquired, mode, &
         ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int32), intent(in) :: first
      integer(int32), intent(in) :: last
      real(real64), intent(in) :: seconds
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call timed_acquire_range_i8(table, int(space, int64), int(first, int64), int(last, int64), &
         seconds, range, acquired, mode, ierror)
   end subroutine

   subroutine timed_acquire_range_i48(table, space, first, last, seconds, range, acquired, mode, &
         ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int64), intent(in) :: first
      integer(int64), intent(in) :: last
      real(real64), intent(in) :: seconds
      type(pawl_range), intent(out) :: range
      logical, intent(out) :: acquired
      type(pawl_mode), intent(in), optional :: mode
      integer, intent(out), optional :: ierror

      call timed_acquire_range_i8(table, int(space, int64), first, last, seconds, range, &
         acquired, mode, ierror)
   end subroutine

   ! Release a range that this thread holds.
   subroutine release_range_any(table, range, ierror)
      class(pawl_table), intent(in) :: table
      type(pawl_range), intent(in) :: range
      integer, intent(out), optional :: ierror

      call finish(c_range_release(table%handle, range), ierror)
   end subroutine

   ! Forget a range without a release: for tests of recovery.
   subroutine abandon_range_any(table, range, ierror)
      class(pawl_table), intent(in) :: table
      type(pawl_range), intent(in) :: range
      integer, intent(out), optional :: ierror

      call finish(c_range_abandon(table%handle, range), ierror)
   end subroutine

   ! Let a space grow; units: the number of units that it then has.
   subroutine grow_i8(table, space, units, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: space
      integer(int64), intent(out) :: units
      integer, intent(out), optional :: ierror

      units = 0
      call finish(c_range_grow(table%handle, space, units), ierror)
   end subroutine

   subroutine grow_i4(table, space, units, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int64), intent(out) :: units
      integer, intent(out), optional :: ierror

      call grow_i8(table, int(space, int64), units, ierror)
   end subroutine

   ! Shrink a space to this many units. Collective.
   subroutine shrink_i8(table, space, units, ierror)
      class(pawl_table), intent(in) :: table
      integer(int64), intent(in) :: space
      integer(int64), intent(in) :: units
      integer, intent(out), optional :: ierror

      call finish(c_range_shrink(table%handle, space, units), ierror)
   end subroutine

   subroutine shrink_i4(table, space, units, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int32), intent(in) :: units
      integer, intent(out), optional :: ierror

      call shrink_i8(table, int(space, int64), int(units, int64), ierror)
   end subroutine

   subroutine shrink_i48(table, space, units, ierror)
      class(pawl_table), intent(in) :: table
      integer(int32), intent(in) :: space
      integer(int64), intent(in) :: units
      integer, intent(out), optional :: ierror

      call shrink_i8(table, int(space, int64), units, ierror)
   end subroutine
end module
