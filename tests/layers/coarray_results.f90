! SPDX-License-Identifier: BSD-3-Clause
!
! The results of a coarray program, in TAP: a result is good if it is so at each image.
module coarray_results
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  private
  public :: report, end_of_results
  integer :: results = 0, failures = 0

contains

  ! All images call it, and wait for each other.
  subroutine report(good, name)
    logical, intent(in) :: good
    character(len=*), intent(in) :: name
    integer, save :: bad[*]

    bad = merge(0, 1, good)
    call co_sum(bad)
    results = results + 1
    if (bad > 0) failures = failures + 1
    if (this_image() /= 1) return
    if (bad > 0) then
      print '(a,i0,2a)', 'not ok ', results, ' - ', name
    else
      print '(a,i0,2a)', 'ok ', results, ' - ', name
    end if
    flush (output_unit)
  end subroutine

  ! The plan, and error termination if a result was not good. That of one image may end the others
  ! at once, so what is printed is written before.
  subroutine end_of_results()
    if (this_image() == 1) print '(a,i0)', '1..', results
    flush (output_unit)
    sync all
    if (failures > 0) error stop 1
  end subroutine

end module
