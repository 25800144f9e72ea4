/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes. The usual predefined ones are in a hash table; the layout of any other type is made at
 * its first use, and kept as an attribute of the type, which is deleted with it.
 *
 * Where the elements of a derived type are, the MPI says itself: it packs a piece of memory in
 * which byte i holds a part of the number i, once for each part of the numbers.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/pinned.h"
#include "dropin/atomics/atomics.h"

enum { SLOTS = 128 };
static struct layout known[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the table, and for key */
static int key;
static bool has_key;

/* ------------------------------------------------------- predefined types */

static unsigned slot(MPI_Datatype type)
{
	return (unsigned)(((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> 57);
}

static bool is_pair(MPI_Datatype type)
{
	return type == MPI_2INT || type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT ||
	       type == MPI_LONG_INT || type == MPI_SHORT_INT || type == MPI_LONG_DOUBLE_INT;
}

static struct basic basic_of(MPI_Datatype type, enum class class)
{
	struct basic b = {.type = type, .class = class};
	MPI_Aint low;

	PMPI_Type_size(type, &b.size);
	PMPI_Type_get_extent(type, &low, &b.extent);
	if (is_pair(type))
		b.second = b.size - (int)sizeof(int) > (int)sizeof(int) ? b.size - (int)sizeof(int)
									: (int)sizeof(int);
	return b;
}

static struct layout layout_of_basic(struct basic b)
{
	return (struct layout){.basic = b, .n = 1, .extent = b.extent, .high = b.extent};
}

static void add(MPI_Datatype type, enum class class)
{
	unsigned i = slot(type);

	if (type == MPI_DATATYPE_NULL)
		return;
	while (known[i].n && known[i].basic.type != type)
		i = (i + 1) % SLOTS;
	if (!known[i].n)
		known[i] = layout_of_basic(basic_of(type, class));
}

static int forget(MPI_Datatype type, int keyval, void *value, void *extra)
{
	(void)type;
	(void)keyval;
	(void)extra;
	free(value);
	return MPI_SUCCESS;
}

bool types_begin(void)
{
	const MPI_Datatype integers[] = {MPI_SIGNED_CHAR, MPI_SHORT,  MPI_INT,     MPI_LONG,
					 MPI_LONG_LONG,   MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
					 MPI_INT64_T,     MPI_AINT,   MPI_OFFSET,  MPI_COUNT};
	const MPI_Datatype naturals[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
					 MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
					 MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T};
	bool done;

	pthread_mutex_lock(&lock);
	if (!has_key) {
		for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
			add(integers[i], SIGNED);
		for (size_t i = 0; i < sizeof naturals / sizeof *naturals; i++)
			add(naturals[i], UNSIGNED);
		add(MPI_FLOAT, FLOATING);
		add(MPI_DOUBLE, FLOATING);
		pin_library_of((void *)forget);
		has_key = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &key, NULL) ==
			  MPI_SUCCESS;
	}
	done = has_key;
	pthread_mutex_unlock(&lock);
	return done;
}

/* ---------------------------------------------------------- derived types */

/* MPI_Type_get_envelope() and MPI_Type_get_contents(), in the form that knows large counts. */
#if MPI_VERSION >= 4
typedef MPI_Count number;
#define ENVELOPE(type, c)                                                                          \
	PMPI_Type_get_envelope_c(type, &(c)->integers, &(c)->addresses, &(c)->counts, &(c)->types, \
				 &(c)->combiner)
#define CONTENTS(of, c, integer, address, count, type)                                       \
	PMPI_Type_get_contents_c(of, (c)->integers, (c)->addresses, (c)->counts, (c)->types, \
				 integer, address, count, type)
#else
typedef int number;
#define ENVELOPE(type, c) \
	PMPI_Type_get_envelope(type, &(c)->integers, &(c)->addresses, &(c)->types, &(c)->combiner)
#define CONTENTS(of, c, integer, address, count, type)                                          \
	PMPI_Type_get_contents(of, (c)->integers, (c)->addresses, (c)->types, integer, address, \
			       type)
#endif

struct envelope {
	number integers, addresses, counts, types;
	int combiner;
};

/* Types of MPI_Type_create_f90_real() and its like count as predefined: they are of no others. */
static bool is_predefined(MPI_Datatype type)
{
	struct envelope e = {0};

	return ENVELOPE(type, &e) != MPI_SUCCESS || e.combiner == MPI_COMBINER_NAMED ||
	       e.types == 0;
}

/* The types that a derived type is made of; NULL: out of memory. */
static MPI_Datatype *parts_of(MPI_Datatype type, number *n)
{
	struct envelope e = {0};
	MPI_Datatype *part;
	MPI_Aint *address;
	MPI_Count *count;
	int *integer;
	bool ok;

	ENVELOPE(type, &e);
	*n = e.types;
	integer = malloc(((size_t)e.integers + 1) * sizeof *integer);
	address = malloc(((size_t)e.addresses + 1) * sizeof *address);
	count = malloc(((size_t)e.counts + 1) * sizeof *count);
	part = malloc((size_t)e.types * sizeof *part);
	ok = integer && address && count && part &&
	     CONTENTS(type, &e, integer, address, count, part) == MPI_SUCCESS;
	free(integer);
	free(address);
	free(count);
	if (ok)
		return part;
	free(part);
	return NULL;
}

/* The predefined type of all elements. *basic is MPI_DATATYPE_NULL at first. */
static int find_basic(MPI_Datatype type, MPI_Datatype *basic)
{
	MPI_Datatype *part;
	int class = MPI_SUCCESS;
	number n;

	if (is_predefined(type)) {
		if (*basic != MPI_DATATYPE_NULL && *basic != type)
			return MPI_ERR_TYPE;
		*basic = type;
		return MPI_SUCCESS;
	}
	part = parts_of(type, &n);
	if (!part)
		return MPI_ERR_NO_MEM;
	for (number i = 0; i < n; i++) {
		if (class == MPI_SUCCESS)
			class = find_basic(part[i], basic);
		if (!is_predefined(part[i]))
			PMPI_Type_free(&part[i]);
	}
	free(part);
	return class;
}

/* Bits of the numbers of bytes that one packing shows. */
enum { PART = 8 };

/* l->offset, by packing. low: of the first byte of the type. */
static bool find_offsets(struct layout *l, MPI_Datatype type, MPI_Aint low, MPI_Aint bytes,
			 int size, MPI_Comm comm)
{
	unsigned char *memory = malloc((size_t)bytes), *packed = malloc((size_t)size);
	bool ok = memory && packed;

	for (int shift = 0; ok && (shift == 0 || bytes >> shift); shift += PART) {
		int position = 0;

		for (MPI_Aint i = 0; i < bytes; i++)
			memory[i] = (unsigned char)(i >> shift);
		ok = PMPI_Pack(memory - low, 1, type, packed, size, &position, comm) ==
			 MPI_SUCCESS &&
		     position == size;
		for (MPI_Aint i = 0; ok && i < l->n; i++)
			l->offset[i] |= (MPI_Aint)packed[i * l->basic.size] << shift;
	}
	free(memory);
	free(packed);
	l->low = l->n ? PTRDIFF_MAX : 0;
	for (MPI_Aint i = 0; ok && i < l->n; i++) {
		l->offset[i] += low;
		l->low = l->offset[i] < l->low ? l->offset[i] : l->low;
		if (l->offset[i] + l->basic.extent > l->high)
			l->high = l->offset[i] + l->basic.extent;
	}
	return ok;
}

/* Not in the table: an MPI without Fortran may refuse the handles. */
static bool is_integer_of_fortran(MPI_Datatype type)
{
	return type == MPI_INTEGER || type == MPI_INTEGER4 || type == MPI_INTEGER8;
}

static struct layout *layout_new(MPI_Datatype type, MPI_Comm comm, int *class)
{
	MPI_Datatype basic = MPI_DATATYPE_NULL;
	MPI_Aint low, bytes, from, extent;
	struct layout *l;
	struct basic b;
	int size;

	*class = find_basic(type, &basic);
	if (*class != MPI_SUCCESS)
		return NULL;
	b = basic_of(basic, is_integer_of_fortran(basic) ? SIGNED : OPAQUE);
	for (unsigned i = slot(basic); known[i].n; i = (i + 1) % SLOTS)
		if (known[i].basic.type == basic)
			b = known[i].basic;
	PMPI_Type_size(type, &size);
	PMPI_Type_get_true_extent(type, &low, &bytes);
	PMPI_Type_get_extent(type, &from, &extent);
	*class = MPI_ERR_TYPE;
	if (size == MPI_UNDEFINED || b.size <= 0 || b.extent > MOST_BYTES)
		return NULL;
	*class = MPI_ERR_NO_MEM;
	l = malloc(sizeof *l + (size_t)(size / b.size) * sizeof *l->offset);
	if (!l)
		return NULL;
	*l = layout_of_basic(b);
	if (type == basic)
		return l;
	*l = (struct layout){.basic = b,
			     .n = size / b.size,
			     .offset = (MPI_Aint *)(l + 1),
			     .extent = extent,
			     .high = PTRDIFF_MIN};
	memset(l->offset, 0, (size_t)l->n * sizeof *l->offset);
	if (find_offsets(l, type, low, bytes, size, comm))
		return l;
	free(l);
	return NULL;
}

static const struct layout *layout_kept(MPI_Datatype type, MPI_Comm comm, int *class)
{
	struct layout *l;
	int found = 0;

	pthread_mutex_lock(&lock);
	PMPI_Type_get_attr(type, key, &l, &found);
	if (!found) {
		l = layout_new(type, comm, class);
		if (l && PMPI_Type_set_attr(type, key, l) != MPI_SUCCESS) {
			free(l);
			l = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	return l;
}

const struct layout *layout_of(MPI_Datatype type, MPI_Comm comm, int *class)
{
	for (unsigned i = slot(type); known[i].n; i = (i + 1) % SLOTS)
		if (known[i].basic.type == type)
			return &known[i];
	*class = MPI_ERR_TYPE;
	return type == MPI_DATATYPE_NULL ? NULL : layout_kept(type, comm, class);
}
