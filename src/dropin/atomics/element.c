/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One element: by an instruction, by compare-and-swap, or under the lock of its target (atomics.h,
 * Atomicity).
 */
#include <sched.h>
#include <string.h>

#include "dropin/atomics/atomics.h"

/* ------------------------------------------------------- values, in private memory */

#define COMBINE(type, plain, MORE)                              \
	static bool combine_##type(enum op op, type a, type *b) \
	{                                                       \
		if (op == SUM)                                  \
			*b = (type)((plain)*b + (plain)a);      \
		else if (op == PROD)                            \
			*b = (type)((plain)*b * (plain)a);      \
		else if (op == MIN)                             \
			*b = a < *b ? a : *b;                   \
		else if (op == MAX)                             \
			*b = a > *b ? a : *b;                   \
		MORE return op < REPLACE;                       \
	}
#define BITS                               \
	else if (op == BAND) *b &= a;      \
	else if (op == BOR) *b |= a;       \
	else if (op == BXOR) *b ^= a;      \
	else if (op == LAND) *b = *b && a; \
	else if (op == LOR) *b = *b || a;  \
	else if (op == LXOR) *b = !*b != !a;
#define NOTHING
/* Sums and products of signed integers wrap around. */
COMBINE(int64_t, uint64_t, BITS)
COMBINE(uint64_t, uint64_t, BITS)
COMBINE(double, double, NOTHING)

bool element_needs_mpi(const struct basic *b, enum op op)
{
	if (op == REPLACE || op == NO_OP)
		return false;
	return op == OTHER || b->class == OPAQUE || (b->class == FLOATING && op > MAX);
}

/* Values of type, computed in a wider one, which rounds sums and products of floats in the same
 * way. */
#define VIA(type, wide)                              \
	if (b->size == (int)sizeof(type)) {          \
		type x, y;                           \
		wide result;                         \
                                                     \
		memcpy(&x, operand, sizeof x);       \
		memcpy(&y, value, sizeof y);         \
		result = y;                          \
		if (!combine_##wide(op, x, &result)) \
			return false;                \
		y = (type)result;                    \
		memcpy(value, &y, sizeof y);         \
		return true;                         \
	}

static bool combine_here(const struct basic *b, enum op op, const void *operand, void *value)
{
	if (element_needs_mpi(b, op))
		return false;
	if (b->class == SIGNED) {
		VIA(int64_t, int64_t)
		VIA(int32_t, int64_t)
		VIA(int16_t, int64_t)
		VIA(int8_t, int64_t)
	} else if (b->class == UNSIGNED) {
		VIA(uint64_t, uint64_t)
		VIA(uint32_t, uint64_t)
		VIA(uint16_t, uint64_t)
		VIA(uint8_t, uint64_t)
	} else if (b->class == FLOATING) {
		VIA(double, double)
		VIA(float, double)
	}
	return false;
}

int element_combine(const struct basic *b, enum op op, MPI_Op mpi_op, const void *operand,
		    void *value)
{
	if (op == REPLACE)
		memcpy(value, operand, (size_t)b->extent);
	if (op == REPLACE || op == NO_OP || combine_here(b, op, operand, value))
		return MPI_SUCCESS;
	return PMPI_Reduce_local(operand, value, 1, b->type, mpi_op);
}

/* ------------------------------------------------- values that fit an instruction */

#define ORDER memory_order_seq_cst

/* For an unsigned type of each size. */
#define WORD(type)                                                                              \
	static int change_##type(const struct basic *b, enum op op, MPI_Op mpi_op,              \
				 _Atomic(type) *at, const void *operand, void *before)          \
	{                                                                                       \
		const bool whole = b->class < FLOATING;                                         \
		type value = 0, old, next;                                                      \
                                                                                                \
		if (op == NO_OP) {                                                              \
			old = atomic_load_explicit(at, ORDER);                                  \
			memcpy(before, &old, sizeof old);                                       \
			return MPI_SUCCESS;                                                     \
		}                                                                               \
		memcpy(&value, operand, sizeof value);                                          \
		if (op == REPLACE) {                                                            \
			old = atomic_exchange_explicit(at, value, ORDER);                       \
		} else if (whole && op == SUM) {                                                \
			old = atomic_fetch_add_explicit(at, value, ORDER);                      \
		} else if (whole && op == BAND) {                                               \
			old = atomic_fetch_and_explicit(at, value, ORDER);                      \
		} else if (whole && op == BOR) {                                                \
			old = atomic_fetch_or_explicit(at, value, ORDER);                       \
		} else if (whole && op == BXOR) {                                               \
			old = atomic_fetch_xor_explicit(at, value, ORDER);                      \
		} else {                                                                        \
			old = atomic_load_explicit(at, memory_order_relaxed);                   \
			do {                                                                    \
				int rc;                                                         \
                                                                                                \
				next = old;                                                     \
				rc = element_combine(b, op, mpi_op, &value, &next);             \
				if (rc != MPI_SUCCESS)                                          \
					return rc;                                              \
			} while (!atomic_compare_exchange_weak_explicit(at, &old, next, ORDER,  \
									memory_order_relaxed)); \
		}                                                                               \
		memcpy(before, &old, sizeof old);                                               \
		return MPI_SUCCESS;                                                             \
	}                                                                                       \
	static void swap_##type(_Atomic(type) *at, const void *compare, const void *swap,       \
				void *before)                                                   \
	{                                                                                       \
		type old, next;                                                                 \
                                                                                                \
		memcpy(&old, compare, sizeof old);                                              \
		memcpy(&next, swap, sizeof next);                                               \
		atomic_compare_exchange_strong_explicit(at, &old, next, ORDER, ORDER);          \
		memcpy(before, &old, sizeof old);                                               \
	}
WORD(uint8_t)
WORD(uint16_t)
WORD(uint32_t)
WORD(uint64_t)

/* ------------------------------------------------------------- values under a lock */

enum { SPINS = 100 };

void element_acquire(atomic_uint *lock)
{
	/* Orders the accesses of the holder before these; pairs with element_release(). */
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		for (int i = 0; atomic_load_explicit(lock, memory_order_relaxed); i++)
			if (i >= SPINS)
				sched_yield();
}

void element_release(atomic_uint *lock)
{
	/* Orders these accesses before those of the next holder; pairs with element_acquire().
	 * Sequentially consistent with the other elements. */
	atomic_store_explicit(lock, 0, ORDER);
}

/* There may be other data in the gap of a pair. */
void element_copy(const struct basic *b, void *to, const void *from)
{
	const size_t tail = b->second ? sizeof(int) : 0, second = (size_t)b->second;

	memcpy(to, from, (size_t)b->size - tail);
	if (tail)
		memcpy((char *)to + second, (const char *)from + second, tail);
}

bool element_same(const struct basic *b, const void *x, const void *y)
{
	const size_t tail = b->second ? sizeof(int) : 0, second = (size_t)b->second;

	return memcmp(x, y, (size_t)b->size - tail) == 0 &&
	       memcmp((const char *)x + second, (const char *)y + second, tail) == 0;
}

static int change_locked(const struct basic *b, enum op op, MPI_Op mpi_op, atomic_uint *lock,
			 char *at, const void *operand, void *before)
{
	_Alignas(16) char value[MOST_BYTES] = {0}, by[MOST_BYTES] = {0};
	int rc;

	if (op != NO_OP)
		element_copy(b, by, operand);
	element_acquire(lock);
	element_copy(b, value, at);
	element_copy(b, before, value);
	rc = element_combine(b, op, mpi_op, by, value);
	if (rc == MPI_SUCCESS && op != NO_OP)
		element_copy(b, at, value);
	element_release(lock);
	return rc;
}

/* The size of the word that an element is; 0: it is none. */
static int word_size(const struct basic *b, const char *at)
{
	const bool is_word = b->size == 1 || b->size == 2 || b->size == 4 || b->size == 8;

	return is_word && b->extent == b->size && (uintptr_t)at % (unsigned)b->size == 0 ? b->size
											 : 0;
}

#define AT(type) ((_Atomic(type) *)(void *)at)

int element_change(const struct basic *b, enum op op, MPI_Op mpi_op, atomic_uint *lock, char *at,
		   const void *operand, void *before)
{
	switch (word_size(b, at)) {
	case 8:
		return change_uint64_t(b, op, mpi_op, AT(uint64_t), operand, before);
	case 4:
		return change_uint32_t(b, op, mpi_op, AT(uint32_t), operand, before);
	case 2:
		return change_uint16_t(b, op, mpi_op, AT(uint16_t), operand, before);
	case 1:
		return change_uint8_t(b, op, mpi_op, AT(uint8_t), operand, before);
	default:
		return change_locked(b, op, mpi_op, lock, at, operand, before);
	}
}

void element_swap(const struct basic *b, atomic_uint *lock, char *at, const void *compare,
		  const void *swap, void *before)
{
	switch (word_size(b, at)) {
	case 8:
		swap_uint64_t(AT(uint64_t), compare, swap, before);
		return;
	case 4:
		swap_uint32_t(AT(uint32_t), compare, swap, before);
		return;
	case 2:
		swap_uint16_t(AT(uint16_t), compare, swap, before);
		return;
	case 1:
		swap_uint8_t(AT(uint8_t), compare, swap, before);
		return;
	default:
		break;
	}
	element_acquire(lock);
	element_copy(b, before, at);
	if (element_same(b, before, compare))
		element_copy(b, at, swap);
	element_release(lock);
}
