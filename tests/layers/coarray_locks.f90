! SPDX-License-Identifier: BSD-3-Clause
!
! Lock variables and CRITICAL: scalars and arrays of one and two dimensions, static and allocatable,
! at each image. Prints TAP; natively and under libpawl-caf the same. TEST_BREAK=1 in the
! environment leaves the locks out.
program coarray_locks
  use, intrinsic :: iso_fortran_env
  use coarray_results
  implicit none
  type(lock_type), save :: scalar[*], row(3)[*], square(2, 2)[*]
  type(lock_type), allocatable :: vector(:)[:], plain[:]
  ! Multiples of 16 bytes: MPICH 4.0 misplaces what goes to smaller ones.
  integer, save :: counter(4)[*]
  integer :: rounds, me, n, i, j, k
  logical :: acquired, good, broken
  character(8) :: text

  me = this_image()
  n = num_images()
  call get_environment_variable('TEST_BREAK', text)
  broken = text == '1'
  ! With more images than cores one access to a coarray takes milliseconds on MPICH.
  call get_environment_variable('TEST_LONG', text)
  rounds = max(merge(40, 20, text == '1')/n, 5)

  call clear()
  do i = 1, rounds
    if (.not. broken) lock(scalar[1])
    call add(1, 1)
    if (.not. broken) unlock(scalar[1])
  end do
  call report(sum_of(1) == n*rounds, 'a scalar lock')

  ! A lock for each word of each image.
  call clear()
  do i = 1, rounds
    do j = 1, n
      k = mod(i + me, 3) + 1
      if (.not. broken) lock(row(k)[j])
      call add(j, k)
      if (.not. broken) unlock(row(k)[j])
    end do
  end do
  call report(sum_of(1) + sum_of(2) + sum_of(3) == n*n*rounds, 'an array of locks')

  ! Each lock of an array is one of its own: the image holds all of them.
  good = .true.
  sync all
  if (me == 1) then
    do j = 1, 2
      do i = 1, 2
        lock(square(i, j)[n], acquired_lock=acquired)
        good = good .and. acquired
      end do
    end do
    do k = 1, 3
      lock(row(k)[n])
    end do
    lock(scalar[n])
    do j = 1, 2
      do i = 1, 2
        unlock(square(i, j)[n])
      end do
    end do
    do k = 3, 1, -1
      unlock(row(k)[n])
    end do
    unlock(scalar[n])
  end if
  sync all
  call report(good, 'many locks at a time, and two dimensions')

  ! Locks of the image itself, without an image index.
  do i = 1, rounds
    lock(row(2))
    unlock(row(2))
  end do
  sync all
  call report(.true., 'locks of this image')

  sync all
  if (me == 1) lock(row(2)[n])
  sync all
  acquired = .true.
  if (me /= 1) then
    lock(row(2)[n], acquired_lock=acquired)
    acquired = .not. acquired
  end if
  sync all
  if (me == 1) unlock(row(2)[n])
  call report(acquired, 'ACQUIRED_LOCK= of a lock that another image has')

  ! Allocatable locks, again and again: they are unlocked at first.
  do k = 1, 5
    allocate (vector(0:9)[*], plain[*])
    good = .true.
    if (me == mod(k, n) + 1) then
      do i = 0, 9
        do j = 1, n
          lock(vector(i)[j], acquired_lock=acquired)
          good = good .and. acquired
          if (acquired) then
            unlock(vector(i)[j])
          end if
        end do
      end do
      lock(plain[1])
      unlock(plain[1])
    end if
    sync all
    call clear()
    do i = 1, rounds/5
      if (.not. broken) lock(vector(9)[n])
      call add(n, 4)
      if (.not. broken) unlock(vector(9)[n])
    end do
    good = good .and. sum_of(4) == n*(rounds/5)
    ! The newest first: OpenCoarrays 2.10 loses a coarray otherwise, and MPICH crashes at the end.
    deallocate (plain)
    deallocate (vector)
  end do
  call report(good, 'allocatable locks')

  call clear()
  do i = 1, rounds
    if (broken) then
      call add(1, 1)
    else
      critical
        call add(1, 1)
      end critical
    end if
  end do
  call report(sum_of(1) == n*rounds, 'CRITICAL')

  ! Two constructs have a lock each: their blocks may nest. They are not left out.
  broken = .false.
  call clear()
  do i = 1, rounds
    critical
      call inner()
    end critical
  end do
  call report(sum_of(2) == n*rounds, 'CRITICAL within CRITICAL')

  call end_of_results()

contains

  subroutine inner()
    critical
      call add(n, 2)
    end critical
  end subroutine

  subroutine clear()
    sync all
    counter = 0
    sync all
  end subroutine

  ! Read and write; without locks all images read before one writes.
  subroutine add(image, word)
    integer, intent(in) :: image, word
    integer :: was

    was = counter(word)[image]
    if (broken) sync all
    counter(word)[image] = was + 1
  end subroutine

  integer function sum_of(word)
    integer, intent(in) :: word
    integer :: image

    sync all
    sum_of = 0
    do image = 1, n
      sum_of = sum_of + counter(word)[image]
    end do
    sync all
  end function

end program
