! SPDX-License-Identifier: BSD-3-Clause
! Sections a second of CRITICAL by all images together, for benchmarks/layers/run.
!   critical SECONDS empty|counter
! All images execute the same number of sections, so that an image that gets in more often does not
! count for more; more and more of them, until they take SECONDS. counter: each section adds 1 to an
! integer of image 1.
program critical_rate
   use, intrinsic :: iso_fortran_env, only: int64, real64
   implicit none
   integer, save :: counter(4)[*]
   integer(int64) :: now, begin, rate
   integer :: sections, total, i
   logical :: count
   real(real64) :: seconds, took
   character(20) :: text

   call get_command_argument(1, text)
   read (text, *) seconds
   call get_command_argument(2, text)
   count = text == 'counter'
   counter = 0
   total = 0
   sections = 5
   do
      sync all
      call system_clock(begin, rate)
      do i = 1, sections
         call one()
      end do
      sync all
      call system_clock(now)
      total = total + sections
      took = real(now - begin, real64)/real(rate, real64)
      call co_broadcast(took, 1)
      if (took >= seconds) exit
      sections = sections*min(8, max(2, int(1.2*seconds/took)))
   end do
   if (this_image() == 1) then
      if (count .and. counter(1) /= total*num_images()) error stop 'the sections overlapped'
      print '(f0.1)', sections*num_images()/took
   end if

contains

   subroutine one()
      critical
         if (count) counter(1)[1] = counter(1)[1] + 1
      end critical
   end subroutine

end program
