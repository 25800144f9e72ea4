! SPDX-License-Identifier: BSD-3-Clause
! CPU time, in ns, of an uncontended acquire and release from Fortran, for benchmarks/languages/run.
program uncontended
   use, intrinsic :: iso_fortran_env, only: int64, real64
   use mpi
   use pawl
   implicit none
   type(pawl_table) :: table
   integer(int64) :: i, turns
   integer :: ierror
   real(real64) :: begin, end
   character(20) :: text

   turns = 1000000
   if (command_argument_count() > 0) then
      call get_command_argument(1, text)
      read (text, *) turns
   end if
   call MPI_Init(ierror)
   call pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, table)
   call cpu_time(begin)
   do i = 1, turns
      call table%acquire(0)
      call table%release(0)
   end do
   call cpu_time(end)
   print "(f0.2)", (end - begin)/turns*1e9_real64
   call table%free()
   call MPI_Finalize(ierror)
end program
