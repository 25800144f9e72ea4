! SPDX-License-Identifier: BSD-3-Clause
!
! STAT=, ERRMSG= and teams, as libpawl-caf has them. Two or more images. Prints TAP.
program coarray_stat
  use, intrinsic :: iso_fortran_env
  use coarray_results
  implicit none
  type(lock_type), save :: l(4)[*]
  type(lock_type), allocatable :: own(:)[:]
  type(team_type) :: half
  integer(int64) :: small[*]
  integer :: me, n, st
  logical :: acquired, good
  character(60) :: text

  me = this_image()
  n = num_images()

  good = .true.
  if (me == 1) then
    st = 7
    lock(l(1)[n], stat=st)
    good = st == 0
    text = ' '
    lock(l(1)[n], stat=st, errmsg=text)
    good = good .and. st == stat_locked .and. index(text, 'locked the variable already') > 0
  end if
  call result(good, 'LOCK of a lock of this image: STAT_LOCKED')

  if (me == 1) then
    acquired = .true.
    lock(l(1)[n], acquired_lock=acquired, stat=st)
    good = st == stat_locked .and. .not. acquired
  end if
  call result(good, 'the same with ACQUIRED_LOCK=')

  if (me == 2) then
    text = ' '
    unlock(l(1)[n], stat=st, errmsg=text)
    good = st == stat_locked_other_image .and. index(text, 'another image') > 0
    lock(l(1)[n], acquired_lock=acquired, stat=st)
    good = good .and. st == 0 .and. .not. acquired
  end if
  call result(good, 'UNLOCK of a lock of another image: STAT_LOCKED_OTHER_IMAGE')

  if (me == 1) then
    st = 7
    unlock(l(1)[n], stat=st)
    good = st == 0
    text = ' '
    unlock(l(1)[n], stat=st, errmsg=text)
    good = good .and. st /= 0 .and. st /= stat_locked .and. st /= stat_locked_other_image .and. &
           index(text, 'not locked') > 0
    lock(l(1)[n], acquired_lock=acquired, stat=st)
    good = good .and. acquired .and. st == 0
    unlock(l(1)[n])
  end if
  call result(good, 'UNLOCK of a lock that is not locked')

  if (me == 2) then
    st = 0
    text = ' '
    lock(l(1)[n + 1], stat=st, errmsg=text)
    good = st /= 0 .and. index(text, 'no lock variable') > 0
  end if
  call result(good, 'an image that there is not')

  ! A lock that is locked when it is deallocated is unlocked in its successor.
  allocate (own(3)[*])
  if (me == 2) lock(own(2)[1])
  sync all
  deallocate (own)
  allocate (own(3)[*])
  if (me == 1) then
    lock(own(2)[1], acquired_lock=acquired)
    good = acquired
    if (acquired) then
      unlock(own(2)[1])
    end if
  end if
  call result(good, 'deallocated while it is locked')
  deallocate (own)

  ! Image numbers are those of the current team: image 1 of the second team is image 2 of all.
  if (me == 1) lock(l(3)[1])
  sync all
  form team (mod(me + 1, 2) + 1, half)
  change team (half)
    if (mod(me, 2) == 0 .and. this_image() == 1) then
      lock(l(3)[1], acquired_lock=acquired)
      good = acquired
      if (acquired) then
        unlock(l(3)[1])
      end if
    end if
  end team
  sync all
  if (me == 1) then
    unlock(l(3)[1], stat=st)
    good = st == 0
  end if
  call result(good, 'locks of all images in a team')

  ! MPICH 4.0 addresses windows of 8 bytes wrongly.
  small[1 + mod(me, n)] = me
  sync all
  good = small == 1 + mod(me + n - 2, n) .and. small[1 + mod(me, n)] == me
  call result(good, 'a coarray of 8 bytes')

  call end_of_results()

contains

  ! The next result is good, unless something says otherwise.
  subroutine result(good, name)
    logical, intent(inout) :: good
    character(len=*), intent(in) :: name

    sync all
    call report(good, name)
    good = .true.
  end subroutine

end program
