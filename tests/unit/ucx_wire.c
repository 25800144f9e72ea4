/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the UCX transport: a message sealed with the key is accepted once; every other
 * byte string is refused, and so is every operation outside the limits. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/wire.h"
#include "tests/tap.h"

enum { RANKS = 5, ME = 3, OTHER = 1, CHANCE = 200000 };
#define END UINT64_C(4096)

static const struct siphash_key key = {
    {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
static const struct wire_expected request = {WIRE_REQUEST, ME, RANKS};
static const struct wire_expected answer = {WIRE_ANSWER, ME, RANKS};
static const struct wire_limits limits = {64, END};
static const struct wire_header header = {
    .number = 7, .type = WIRE_REQUEST, .index = 2, .from = OTHER, .to = ME};
static char message[WIRE_TASK_BYTES + WIRE_REQUEST_BYTES];
static struct wire_header read_back;

static void put_op(int i, uint64_t offset, unsigned operation)
{
	struct wire_op op = {offset << WIRE_OPERATION_BITS | operation, 1, 2};

	memcpy(message + sizeof header + (size_t)i * WIRE_OP_LEAST, &op, WIRE_OP_LEAST);
}

static size_t bytes_of(int ops)
{
	return sizeof header + (size_t)ops * WIRE_OP_LEAST;
}

static bool opens(const struct wire_expected *e, size_t length)
{
	return wire_open(&key, e, message, length, &read_back);
}

/* The number of operations that are decoded from a request of these. */
static int decoded(size_t length)
{
	struct wire_op op[WIRE_OPS_MOST];

	return wire_operations(&limits, message, length, op);
}

/* The first two and the last vectors of the reference implementation: of 0, 1, ... */
static void vectors(void)
{
	unsigned char in[63];

	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = (unsigned char)i;
	ok(siphash(&key, in, 0) == UINT64_C(0x726fdb47dd0e0e31) &&
	       siphash(&key, in, 1) == UINT64_C(0x74f839c593dc67fd) &&
	       siphash(&key, in, 15) == UINT64_C(0xa129ca6149be45e5) &&
	       siphash(&key, in, 63) == UINT64_C(0x958a324ceb064572),
	   "SipHash-2-4 has the values of its authors");
}

static void good(void)
{
	put_op(0, 64, WIRE_ADD);
	put_op(1, END - 8, WIRE_PUT);
	wire_seal(&key, &header, message, bytes_of(2));
	ok(opens(&request, bytes_of(2)) && read_back.number == 7 && read_back.index == 2 &&
	       read_back.from == OTHER && decoded(bytes_of(2)) == 2,
	   "a good request is accepted");
	wire_seal(&key, &header, message, bytes_of(0));
	ok(opens(&request, bytes_of(0)) && decoded(bytes_of(0)) == 0,
	   "and one that asks for nothing");
}

static void truncated(void)
{
	bool bad = false;

	put_op(0, 64, WIRE_ADD);
	put_op(1, 72, WIRE_ADD);
	wire_seal(&key, &header, message, bytes_of(2));
	for (size_t n = 0; n < bytes_of(2); n++)
		bad = bad || opens(&request, n);
	for (size_t n = bytes_of(2) + 1; n < sizeof message; n++)
		bad = bad || opens(&request, n);
	ok(!bad, "with bytes cut off, or more behind it, it is refused");
}

static void changed(void)
{
	bool bad = false;

	put_op(0, 64, WIRE_ADD);
	wire_seal(&key, &header, message, bytes_of(1));
	for (size_t bit = 0; bit < 8 * bytes_of(1); bit++) {
		message[bit / 8] ^= (char)(1 << bit % 8);
		bad = bad || opens(&request, bytes_of(1));
		message[bit / 8] ^= (char)(1 << bit % 8);
	}
	ok(!bad && opens(&request, bytes_of(1)), "with any bit changed it is refused");
}

static void other_key(void)
{
	struct siphash_key guess = key;
	bool bad = false;

	put_op(0, 64, WIRE_ADD);
	for (int bit = 0; bit < 128; bit++) {
		guess.half[bit / 64] ^= UINT64_C(1) << bit % 64;
		wire_seal(&guess, &header, message, bytes_of(1));
		bad = bad || opens(&request, bytes_of(1));
		guess.half[bit / 64] ^= UINT64_C(1) << bit % 64;
	}
	ok(!bad, "made with another key it is refused");
}

static bool opens_with(struct wire_header h)
{
	wire_seal(&key, &h, message, bytes_of(1));
	return opens(&request, bytes_of(1));
}

static void misled(void)
{
	struct wire_header h = header;
	bool bad = false;

	for (h.to = -1; h.to <= RANKS; h.to++)
		bad = bad || (h.to != ME && opens_with(h));
	h = header;
	for (h.from = -2; h.from <= RANKS + 1; h.from++)
		bad = bad || ((h.from < 0 || h.from >= RANKS) && opens_with(h));
	h = header;
	for (h.type = 0; h.type < 8; h.type++)
		bad = bad || (h.type != WIRE_REQUEST && opens_with(h));
	ok(!bad && opens_with(header),
	   "for another rank, of none of the table, or of another type it is refused");
	ok(!opens(&answer, bytes_of(1)), "a request is no answer");
	wire_seal(&key, &header, message, WIRE_REQUEST_BYTES + 8);
	ok(!opens(&request, WIRE_REQUEST_BYTES + 8), "a request has a greatest length");
	h = header;
	h.type = WIRE_ANSWER;
	wire_seal(&key, &h, message, WIRE_ANSWER_BYTES + 8);
	ok(!opens(&answer, WIRE_ANSWER_BYTES + 8), "an answer has one, too");
}

static bool is_allowed(uint64_t offset, unsigned operation)
{
	put_op(0, offset, operation);
	put_op(1, 64, WIRE_PUT); /* a compare-and-swap takes half of it */
	return decoded(operation == WIRE_CAS ? sizeof header + WIRE_OP_BYTES : bytes_of(2)) > 0;
}

static void limited(void)
{
	static const uint64_t wrong[] = {0,
					 8,
					 56,
					 63,
					 65,
					 71,
					 END - 7,
					 END - 1,
					 END,
					 END + 8,
					 UINT64_MAX >> 3,
					 UINT64_C(1) << 60};
	bool bad = false;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		for (unsigned op = WIRE_PUT; op <= WIRE_AND; op++)
			bad = bad || is_allowed(wrong[i], op);
	ok(!bad, "no operation outside of the words is accepted");
	for (unsigned op = WIRE_PUT; op <= WIRE_AND; op++)
		bad = bad || !is_allowed(64, op) || !is_allowed(END - 8, op);
	ok(!bad, "on the first and the last all are");
	put_op(0, 64, WIRE_CAS);
	ok(decoded(bytes_of(1)) < 0, "a compare-and-swap without what it expects is refused");
	ok(decoded(sizeof header - 1) < 0 && decoded(0) < 0, "and less than a header");
}

static void many(void)
{
	for (int i = 0; i <= WIRE_OPS_MOST; i++)
		put_op(i, 64, WIRE_PUT);
	ok(decoded(bytes_of(WIRE_OPS_MOST)) == WIRE_OPS_MOST, "as many puts as fit");
	ok(decoded(bytes_of(WIRE_OPS_MOST + 1)) < 0, "not one more");
	for (int i = 0; i < WIRE_OPERANDS; i++)
		put_op(i, 64, WIRE_GET);
	ok(decoded(bytes_of(WIRE_OPERANDS + 1)) == WIRE_OPERANDS + 1,
	   "as many results as an answer holds");
	put_op(WIRE_OPERANDS, 64, WIRE_GET);
	ok(decoded(bytes_of(WIRE_OPERANDS + 1)) < 0, "not one more");
}

static void chance(void)
{
	struct wire_op op[WIRE_OPS_MOST];
	int accepted = 0;
	bool bad = false;

	srand(1);
	for (int i = 0; i < CHANCE; i++) {
		size_t length = (size_t)rand() % 256;
		int n;

		for (size_t k = 0; k < length; k++)
			message[k] = (char)(rand() >> 8);
		accepted += opens(&request, length) || opens(&answer, length);
		n = wire_operations(&limits, message, length, op);
		for (int k = 0; k < n; k++)
			bad = bad || (wire_offset(&op[k]) >= END);
	}
	ok(!accepted && !bad, "of 200000 random ones none is accepted");
}

static void once(void)
{
	struct wire_window w = {0, 0};
	bool bad = false;

	ok(wire_is_new(&w, 0) && !wire_is_new(&w, 0), "number 0 is accepted once");
	for (uint64_t i = 1; i <= 1000; i++)
		bad = bad || !wire_is_new(&w, i);
	for (uint64_t i = 0; i <= 1000; i++)
		bad = bad || wire_is_new(&w, i);
	ok(!bad, "so are 1 to 1000, and no more then");
	ok(wire_is_new(&w, 1000 + WIRE_WINDOW) && !wire_is_new(&w, 1000),
	   "what is too far behind is not");
	for (uint64_t i = 1001; i < 1000 + WIRE_WINDOW; i++)
		bad = bad || !wire_is_new(&w, i) || wire_is_new(&w, i);
	ok(!bad, "what was overtaken by less is, once");
	ok(wire_is_new(&w, UINT64_C(1) << 40) && !wire_is_new(&w, UINT64_C(1) << 40) &&
	       wire_is_new(&w, (UINT64_C(1) << 40) - 1) && !wire_is_new(&w, 1064),
	   "and after a leap");
}

int main(void)
{
	vectors();
	good();
	truncated();
	changed();
	other_key();
	misled();
	limited();
	many();
	chance();
	once();
	return tap_plan();
}
