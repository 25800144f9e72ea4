! SPDX-License-Identifier: BSD-3-Clause
!
! A coarray program: lock variables, critical, atomics, remote put and get. Through
! OpenCoarrays (caf_mpi) these are MPI_Win_lock, MPI_Win_lock_all and operations in
! their epochs. Prints TAP; what it prints does not depend on the order of images.
program coarray
  use, intrinsic :: iso_fortran_env
  use coarray_results
  implicit none
  integer, parameter :: rounds = 20
  ! Multiples of 16 bytes: MPICH 4.0 misplaces what goes to smaller ones.
  type(lock_type), save :: lock(4)[*]
  integer, save :: counter(4)[*], neighbours(4)[*], block_counter(4)[*]
  integer(atomic_int_kind), save :: atomic(4)[*]
  integer, save :: row(8)[*]
  integer :: me, n, i
  integer :: got(8)
  logical :: acquired

  me = this_image()
  n = num_images()
  counter = 0
  block_counter = 0
  neighbours = 0
  row = 0
  call atomic_define(atomic(1), 0)
  sync all

  do i = 1, rounds
    lock(lock(1)[1])
    counter(1)[1] = counter(1)[1] + 1
    unlock(lock(1)[1])
  end do
  sync all
  call report(counter(1)[1] == n * rounds, 'lock and unlock')

  ! Each image's own lock, by turns.
  do i = 1, n
    lock(lock(1)[i])
    neighbours(1)[i] = neighbours(1)[i] + 1
    unlock(lock(1)[i])
  end do
  sync all
  call report(neighbours(1) == n, 'a lock of each image')

  if (me == 1) lock(lock(1)[n])
  sync all
  acquired = .true.
  if (me /= 1) then
    lock(lock(1)[n], acquired_lock=acquired)
    acquired = .not. acquired
  end if
  sync all
  if (me == 1) unlock(lock(1)[n])
  sync all
  call report(acquired, 'acquired_lock of a lock that is held')

  do i = 1, rounds
    critical
      block_counter(1)[1] = block_counter(1)[1] + 1
    end critical
  end do
  sync all
  call report(block_counter(1)[1] == n * rounds, 'critical')

  do i = 1, rounds
    call atomic_add(atomic(1)[1], 1)
  end do
  sync all
  call atomic_ref(i, atomic(1)[1])
  call report(i == n * rounds, 'atomics')

  row(:)[mod(me, n) + 1] = [(me * 10 + i, i = 1, 8)]
  sync all
  i = mod(me + n - 2, n) + 1
  call report(row(3) == i * 10 + 3, 'remote put')
  got = row(:)[mod(me, n) + 1]
  call report(all(got == [(me * 10 + i, i = 1, 8)]), 'remote get')

  call end_of_results()

end program
