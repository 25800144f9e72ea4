/* SPDX-License-Identifier: BSD-3-Clause */
/* The mutexes of ARMCI, to compile the code of doc/mutexes.md where ARMCI is not installed. */
int ARMCI_Create_mutexes(int n);
int ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);
