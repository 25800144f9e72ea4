! SPDX-License-Identifier: BSD-3-Clause
! Errors without STAT=, and a deadlock, by the first argument; the program does not get to its end.
program coarray_misuse
  use, intrinsic :: iso_fortran_env
  implicit none
  type(lock_type), save :: a[*], b[*]
  integer :: depth
  character(20) :: what

  depth = 0
  call get_command_argument(1, what)
  sync all
  select case (what)
  case ('twice')
    if (this_image() == 1) then
      lock(a[2])
      lock(a[2])
    end if
  case ('unlocked')
    if (this_image() == 1) then
      unlock(a[2])
    end if
  case ('of-another')
    if (this_image() == 1) lock(a[2])
    sync all
    if (this_image() == 2) then
      unlock(a[2])
    end if
  case ('nested')
    if (this_image() == 1) call again()
  case ('deadlock')
    if (this_image() == 1) then
      lock(a[1])
    else
      lock(b[1])
    end if
    sync all
    if (this_image() == 1) then
      lock(b[1])
    else
      lock(a[1])
    end if
  end select
  sync all
  print '(a)', 'not stopped'

contains

  recursive subroutine again()
    critical
      depth = depth + 1
      if (depth < 3) call again()
    end critical
  end subroutine

end program
