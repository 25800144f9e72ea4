! SPDX-License-Identifier: BSD-3-Clause
! turns() of loaded.c in Fortran, by mpif.h, module mpi (-DUSE_MPI) or mpi_f08 (-DUSE_MPI_F08).
integer(c_int) function turns(handle) bind(c)
   use, intrinsic :: iso_c_binding
#ifdef USE_MPI_F08
   use mpi_f08
#elif defined(USE_MPI)
   use mpi
#endif
   implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
   include 'mpif.h'
#endif
   integer, value :: handle
#ifdef USE_MPI_F08
   type(MPI_Comm) :: comm
   type(MPI_Win) :: win
#else
   integer :: comm, win
#endif
   integer, parameter :: each = 50
   integer, asynchronous, allocatable :: memory(:)
   integer :: bytes_of = 4, rank, ranks, total, one, i, value(2), bad, ierr
   integer(kind=MPI_ADDRESS_KIND) :: bytes = 64, zero = 0, next = 1

#ifdef USE_MPI_F08
   comm%MPI_VAL = handle
#else
   comm = handle
#endif
   bad = 0
   one = 1
   allocate(memory(16), source=0) ! MPICH 4.0.2 moves a base that is not a multiple of 16
   call MPI_Comm_rank(comm, rank, ierr)
   call MPI_Comm_size(comm, ranks, ierr)
   call MPI_Win_create(memory, bytes, bytes_of, MPI_INFO_NULL, comm, win, ierr)
   call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
   if (total /= ranks) bad = bad + 1
   do i = 1, each
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierr)
      call MPI_Get(value, 2, MPI_INTEGER, 0, zero, 2, MPI_INTEGER, win, ierr)
      call MPI_Win_flush(0, win, ierr)
      if (value(1) /= -value(2)) bad = bad + 1
      value = value + [1, -1]
      call MPI_Put(value(1), 1, MPI_INTEGER, 0, zero, 1, MPI_INTEGER, win, ierr)
      call MPI_Win_flush(0, win, ierr)
      call MPI_Put(value(2), 1, MPI_INTEGER, 0, next, 1, MPI_INTEGER, win, ierr)
      call MPI_Win_unlock(0, win, ierr)
   end do
   call MPI_Barrier(comm, ierr)
   call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
   call MPI_Get(value, 2, MPI_INTEGER, 0, zero, 2, MPI_INTEGER, win, ierr)
   call MPI_Win_unlock(0, win, ierr)
   if (value(1) /= each * ranks .or. value(2) /= -value(1)) bad = bad + 1
   call MPI_Win_free(win, ierr)
   turns = merge(1, 0, bad /= 0)
end function
