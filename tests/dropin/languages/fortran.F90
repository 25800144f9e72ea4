! SPDX-License-Identifier: BSD-3-Clause
!
! A Fortran program, for each of the three interfaces: -DUSE_MPI_F08, -DUSE_MPI,
! or mpif.h. Half of the ranks lock through Fortran, the others through C
! (fortran_c.c) in the same window: both have to meet the same lock.
! TEST_BREAK=1 in the environment: no lock has an effect.
program fortran
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
#if defined(USE_MPI_F08)
#define HANDLE(kind) type(kind)
#define VALUE(handle) handle%MPI_VAL
#else
#define HANDLE(kind) integer
#define VALUE(handle) handle
#endif
  interface
    integer(c_int) function add_in_c(win, target, assertion) bind(c)
      import :: c_int
      integer(c_int), value :: win, target, assertion
    end function
  end interface
  integer, parameter :: word_kind = MPI_ADDRESS_KIND
  integer :: rank, size, ierr, results = 0, failures = 0, assertion
  character(len=8) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call get_environment_variable('TEST_BREAK', text)
  assertion = merge(MPI_MODE_NOCHECK, 0, text == '1')
  call created()
  call allocated()
  call wrong()
  if (rank == 0) print '(a,i0)', '1..', results
  call MPI_Finalize(ierr)
  if (failures > 0) stop 1

contains

  subroutine report(good, name)
    logical, intent(in) :: good
    character(len=*), intent(in) :: name
    logical :: all_good

    call MPI_Allreduce(good, all_good, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    results = results + 1
    if (.not. all_good) failures = failures + 1
    if (rank /= 0) return
    if (all_good) then
      print '(a,i0,2a)', 'ok ', results, ' - ', name
    else
      print '(a,i0,2a)', 'not ok ', results, ' - ', name
    end if
  end subroutine

  ! Get, a moment for others, put: under an exclusive lock, by load and store
  ! nowhere, so that it is the same in all languages.
  subroutine add_in_fortran(win, target)
    HANDLE(MPI_Win), intent(in) :: win
    integer, intent(in) :: target
    integer(word_kind), asynchronous :: word
    double precision :: end
    logical :: flag

    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, assertion, win, ierr)
    call MPI_Get(word, 1, MPI_AINT, target, 0_MPI_ADDRESS_KIND, 1, MPI_AINT, win, ierr)
    call MPI_Win_flush(target, win, ierr)
    end = MPI_Wtime() + 20d-6
    do while (MPI_Wtime() < end)
      call MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    end do
    word = word + 1
    call MPI_Put(word, 1, MPI_AINT, target, 0_MPI_ADDRESS_KIND, 1, MPI_AINT, win, ierr)
    call MPI_Win_unlock(target, win, ierr)
  end subroutine

  subroutine work(win, name)
    HANDLE(MPI_Win), intent(in) :: win
    character(len=*), intent(in) :: name
    integer(word_kind), asynchronous :: word
    integer(word_kind) :: done, total, found
    integer :: i, t
    double precision :: end

    done = 0
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end = MPI_Wtime() + 0.1d0
    i = 0
    do while (i < 5 .or. MPI_Wtime() < end)
      t = mod(i, 2) * mod(rank + i, size)
      if (mod(rank, 2) == 0) then
        call add_in_fortran(win, t)
      else
        ierr = add_in_c(int(VALUE(win), c_int), int(t, c_int), int(assertion, c_int))
      end if
      done = done + 1
      i = i + 1
    end do
    call MPI_Allreduce(done, total, 1, MPI_AINT, MPI_SUM, MPI_COMM_WORLD, ierr)
    found = 0
    do t = 0, size - 1
      call MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win, ierr)
      call MPI_Get(word, 1, MPI_AINT, t, 0_MPI_ADDRESS_KIND, 1, MPI_AINT, win, ierr)
      call MPI_Win_unlock(t, win, ierr)
      found = found + word
    end do
    call report(found == total, name // ': exclusive locks')

    call MPI_Win_lock_all(0, win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    found = 0
    do t = 0, size - 1
      call MPI_Get(word, 1, MPI_AINT, t, 0_MPI_ADDRESS_KIND, 1, MPI_AINT, win, ierr)
      call MPI_Win_flush(t, win, ierr)
      found = found + word
    end do
    call MPI_Win_unlock_all(win, ierr)
    call report(found == total, name // ': MPI_Win_lock_all')
  end subroutine

  subroutine created()
    integer(word_kind), asynchronous :: memory(2)
    HANDLE(MPI_Win) :: win

    memory = 0
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call work(win, 'MPI_Win_create')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Win_free(win, ierr)
  end subroutine

  subroutine allocated()
    HANDLE(MPI_Win) :: win
    integer(word_kind), asynchronous :: zeros(2)
#if defined(USE_MPI_F08) || defined(USE_MPI)
    type(c_ptr) :: base
#else
    integer(MPI_ADDRESS_KIND) :: base
#endif

    call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
    zeros = 0
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierr)
    call MPI_Put(zeros, 2, MPI_AINT, rank, 0_MPI_ADDRESS_KIND, 2, MPI_AINT, win, ierr)
    call MPI_Win_unlock(rank, win, ierr)
    call work(win, 'MPI_Win_allocate')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call add(win, transfer(base, C_NULL_PTR))
    call MPI_Win_free(win, ierr)
  end subroutine

  ! All ranks add to the first word of rank 0, which is where the window says.
  subroutine add(win, base)
    HANDLE(MPI_Win), intent(in) :: win
    type(c_ptr), intent(in) :: base
    integer(word_kind), pointer :: there(:)
    integer(word_kind), asynchronous :: one, found
    integer :: i

    call c_f_pointer(base, there, [2])
    there = 0
    one = 1
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Win_lock_all(0, win, ierr)
    do i = 1, 100
      call MPI_Fetch_and_op(one, found, MPI_AINT, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win, ierr)
      call MPI_Win_flush(0, win, ierr)
    end do
    call MPI_Win_unlock_all(win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call report(rank /= 0 .or. there(1) == 100 * size, 'MPI_Fetch_and_op')
  end subroutine

  ! An error comes back in ierr.
  subroutine wrong()
    integer(word_kind), asynchronous :: memory(2)
    HANDLE(MPI_Win) :: win
    integer :: code, class

    memory = 0
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
    call MPI_Win_lock(MPI_LOCK_SHARED, size + 1, 0, win, code)
    class = MPI_SUCCESS
    if (code /= MPI_SUCCESS) call MPI_Error_class(code, class, ierr)
    call report(class == MPI_ERR_RANK, 'a bad rank')
    call MPI_Win_free(win, ierr)
  end subroutine

end program
