/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls on ranges, from the public interface down to the protocols, by a single client. The
 * first byte names a table; then each byte is a call, with units, mode and space from the next
 * bytes: units below 0, behind all trees, at both ends of int64_t, and ranges that end
 * before they begin. The MPI is started without a launcher.
 *
 * An invalid range is refused, with a message that has its units. A range that overlaps one of
 * this client, or is next to one if the kind rounds up, is PAWL_ERR_HELD; every other range is
 * acquired, and never busy, because there is no other client. At the end all ranges are released
 * and a range of all units is free.
 */
#include "property.h"

#include <inttypes.h>
#include <mpi.h>
#include <pawl.h>

enum { MOST_HELD = 6, SPACES = 2 };

static struct contestant {
	const char *kind, *options; /* "NAME=VALUE ..." */
	bool rounds;                /* ranges may be rounded up */
	pawl_table *table;
	const struct pawl_kind *is;
} contestants[] = {
    {.kind = "citron", .options = "units=4096", .rounds = true},
    {.kind = "citron", .options = "units=1024 k=0", .rounds = true},
    {.kind = "citron", .options = "units=64 units_most=65536", .rounds = true},
    {.kind = "citron", .options = "units=256 units_most=65536 growth=call m=2", .rounds = true},
    {.kind = "citron", .options = "units=70000 fast_path=no k=8 m=5", .rounds = true},
    {.kind = "citron", .options = "units=4096 lease=3600000000", .rounds = true},
    {.kind = "lld", .options = ""},
    {.kind = "ss", .options = "segments=8 segment_units=16", .rounds = true},
    {.kind = "ss", .options = "segments=3 segment_units=4611686018427387904", .rounds = true},
    {.kind = "it", .options = ""},
    {.kind = "llc", .options = ""},
    {.kind = "mt", .options = ""},
};

enum { CONTESTANTS = sizeof contestants / sizeof contestants[0] };

struct held {
	uint64_t space;
	int64_t first, last;
	pawl_range range;
};

static struct held held[MOST_HELD];
static int nheld;

/* ------------------------------------------------------------------------- the job */

/* MPIs do not free all memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void end(void)
{
	for (int i = 0; i < CONTESTANTS; i++)
		if (contestants[i].table)
			pawl_table_free(&contestants[i].table);
	MPI_Finalize();
}

static void begin(void)
{
	static bool begun;
	int provided;

	if (begun)
		return;
	begun = true;
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
	setenv("OMPI_MCA_osc", "^rdma", 0); /* it crashes */
#endif
	property(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS &&
		     provided == MPI_THREAD_MULTIPLE,
		 "the MPI starts without a launcher");
	atexit(end);
}

static void open_table(struct contestant *c)
{
	char text[200], *rest = text, *name;
	MPI_Info info;

	if (c->table)
		return;
	snprintf(text, sizeof text, "max_held=%d %s", MOST_HELD, c->options);
	MPI_Info_create(&info);
	while ((name = strsep(&rest, " "))) {
		char key[80], *value = strchr(name, '=');

		if (!value)
			continue;
		*value++ = '\0';
		snprintf(key, sizeof key, "pawl_%s", name);
		MPI_Info_set(info, key, value);
	}
	c->is = pawl_kind_find(c->kind);
	property(c->is, "there is such a kind");
	if (pawl_table_create(MPI_COMM_SELF, c->kind, SPACES, info, &c->table) != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", c->kind, pawl_error_message());
		property(false, "there is a table");
	}
	MPI_Info_free(&info);
}

/* --------------------------------------------------------------------------- calls */

static int64_t draw_unit(struct input *in)
{
	uint8_t b = next_byte(in);

	switch (b >> 5) {
	case 0:
	case 1:
		return b & 63;
	case 2: /* near a power of 2, such as the ends of trees and segments */
		return (INT64_C(64) << (b & 31)) - 4 + next_byte(in) % 8;
	case 3:
		return INT64_MAX - (b & 31);
	case 4:
		return INT64_MIN + (b & 31);
	case 5:
		return -(b & 31);
	default:
		return (int64_t)next_word(in) >> (b & 63);
	}
}

static int64_t behind(int64_t unit, int n)
{
	return unit > INT64_MAX - n ? INT64_MAX : unit + n;
}

static bool overlaps(uint64_t space, int64_t first, int64_t last)
{
	for (int i = 0; i < nheld; i++)
		if (held[i].space == space && held[i].first <= last && first <= held[i].last)
			return true;
	return false;
}

static bool has_any(uint64_t space)
{
	for (int i = 0; i < nheld; i++)
		if (held[i].space == space)
			return true;
	return false;
}

static void expect(int rc, int wanted, const char *what)
{
	if (rc != wanted)
		fprintf(stderr, "%s: %s (%s)\n", what, pawl_strerror(rc), pawl_error_message());
	property(rc == wanted, what);
}

/* The error code that the arguments alone determine; PAWL_SUCCESS: none. */
static int refusal(const struct contestant *c, uint64_t space, int64_t first, int64_t last,
		   int mode, bool timed)
{
	if (mode != PAWL_EXCLUSIVE && mode != PAWL_SHARED)
		return PAWL_ERR_ARG;
	if (mode == PAWL_SHARED && !(c->is->capabilities & PAWL_CAP_SHARED))
		return PAWL_ERR_UNSUPPORTED;
	if (space >= SPACES || first < 0 || last < first)
		return PAWL_ERR_RANGE;
	if (timed && !(c->is->capabilities & PAWL_CAP_TIMED))
		return PAWL_ERR_UNSUPPORTED;
	return PAWL_SUCCESS;
}

static void check_units_named(uint64_t space, int64_t first, int64_t last)
{
	char units[80];

	if (space >= SPACES)
		snprintf(units, sizeof units, "space %" PRIu64, space);
	else
		snprintf(units, sizeof units, "units %" PRId64 " to %" PRId64, first, last);
	property(strstr(pawl_error_message(), units), "a refusal has the space or the units");
}

static void acquire(struct contestant *c, struct input *in, int how)
{
	uint8_t more = next_byte(in);
	int64_t first = draw_unit(in), last = more & 8 ? behind(first, more >> 4) : draw_unit(in);
	uint64_t space = (more & 7) == 7 ? next_word(in) : more & 1;
	int mode = (more & 7) == 6 ? more >> 3 : more & 2 ? PAWL_SHARED : PAWL_EXCLUSIVE;
	int rc, wanted = refusal(c, space, first, last, mode, how == 2);
	pawl_range range;

	if (how == 0)
		rc = pawl_range_acquire(c->table, space, first, last, mode, &range);
	else if (how == 1)
		rc = pawl_range_try_acquire(c->table, space, first, last, mode, &range);
	else
		rc = pawl_range_timed_acquire(c->table, space, first, last, mode, 0, &range);
	if (wanted != PAWL_SUCCESS) {
		expect(rc, wanted, "what is no range is refused");
		if (wanted == PAWL_ERR_RANGE)
			check_units_named(space, first, last);
		return;
	}
	if (nheld == MOST_HELD) {
		expect(rc, PAWL_ERR_TOO_MANY, "there are no more than max_held");
		return;
	}
	if (rc == PAWL_ERR_HELD && c->rounds && has_any(space))
		return;
	expect(rc, overlaps(space, first, last) ? PAWL_ERR_HELD : PAWL_SUCCESS,
	       "a range is acquired exactly if it meets none of this client");
	if (rc == PAWL_SUCCESS)
		held[nheld++] = (struct held){space, first, last, range};
}

static void release(struct contestant *c, int which)
{
	struct held h = held[which];

	expect(pawl_range_release(c->table, &h.range), PAWL_SUCCESS, "a range is released");
	expect(pawl_range_release(c->table, &h.range), PAWL_ERR_NOT_HELD, "it is released once");
	held[which] = held[--nheld];
}

static void grow(struct contestant *c, uint64_t space)
{
	int64_t units = 0;
	int rc = pawl_range_grow(c->table, space, &units);

	if (strcmp(c->kind, "citron") != 0) {
		expect(rc, PAWL_ERR_UNSUPPORTED, "other kinds do not grow");
		return;
	}
	/* The call waits for the holder of units behind the end, so it refuses if that is this
	 * client. */
	property(rc == PAWL_SUCCESS || nheld > 0, "a space grows, as far as it may");
	property(rc != PAWL_SUCCESS || units >= 64, "it says how far it reaches");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct contestant *c = &contestants[next_byte(&in) % CONTESTANTS];
	pawl_range all;

	begin();
	open_table(c);
	while (in.size) {
		uint8_t call = next_byte(&in);

		if (call % 8 < 5)
			acquire(c, &in, call % 8 % 3);
		else if (call % 8 < 7 && nheld > 0)
			release(c, call / 8 % nheld);
		else if (nheld == 0)
			grow(c, call / 8 % SPACES);
	}
	while (nheld > 0)
		release(c, 0);
	for (uint64_t s = 0; s < SPACES; s++) {
		expect(pawl_range_try_acquire(c->table, s, 0, PAWL_RANGE_END, PAWL_EXCLUSIVE, &all),
		       PAWL_SUCCESS, "at the end all units are free");
		expect(pawl_range_release(c->table, &all), PAWL_SUCCESS, "and are released");
	}
	return 0;
}
