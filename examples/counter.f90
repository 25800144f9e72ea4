! SPDX-License-Identifier: BSD-3-Clause
!
! The counter of counter.c in Fortran: all ranks increment one counter that lives at rank 0, by a
! get and a put under one lock of a table of a thousand.
!
!   mpifort $(pkg-config --variable=fortran pawl)/pawl.F90 counter.f90 \
!       $(pkg-config --libs pawl) -o counter
!   mpirun -n 4 ./counter
!
! Open MPI 4.1 needs OMPI_MCA_osc=^rdma for MPI_Win_allocate on one node.
program counter
   use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
   use mpi_f08
   use pawl
   implicit none

   integer, parameter :: turns = 1000
   type(pawl_table) :: table
   type(MPI_Win) :: win
   type(c_ptr) :: base
   integer, pointer :: mine
   integer, asynchronous :: value
   integer :: rank, ranks, i

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   call pawl_table_create(MPI_COMM_WORLD, "auto", 1000, table)
   call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
   call c_f_pointer(base, mine)
   call MPI_Win_lock_all(MPI_MODE_NOCHECK, win)
   mine = 0
   call MPI_Win_sync(win)
   call MPI_Barrier(MPI_COMM_WORLD)

   do i = 1, turns
      call table%acquire(7)
      call get()
      value = value + 1
      call MPI_Put(value, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
      call MPI_Win_flush(0, win) ! the next holder is to see it
      call table%release(7)
   end do

   call MPI_Barrier(MPI_COMM_WORLD)
   call get()
   if (rank == 0) print "(2(a,i0))", "counter: ", value, ", expected ", ranks*turns
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call table%free()
   call MPI_Finalize()
   if (value /= ranks*turns) error stop 1

contains

   subroutine get()
      call MPI_Get(value, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
      call MPI_Win_flush(0, win)
   end subroutine
end program
