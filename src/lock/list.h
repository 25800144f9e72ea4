/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of lock that libpawl has, the default first. A new kind is a line here. */
#ifndef LOCK_LIST_H
#define LOCK_LIST_H

#define LIBRARY_KINDS(KIND)  \
	KIND(lock_adaptive)  \
	KIND(lock_dmcs)      \
	KIND(lock_rma_mcs)   \
	KIND(lock_rma_rw)    \
	KIND(lock_mgl)       \
	KIND(lock_shiftlock) \
	KIND(lock_alock)     \
	KIND(lock_declock)   \
	KIND(lock_citron)    \
	KIND(lock_ss)

#endif
