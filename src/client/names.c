/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of locks (option names, pawl_lock_named()). Each lock has a place for a name at its home:
 * NAME_WORDS words, zero at first. A name takes the place of a free lock when it is first asked
 * for, and keeps it as long as the table lives.
 *
 * The words of a name are its bytes, a byte 1, which is in no name, and zeros up to the end of a
 * word. So no word of a name is zero, and no name is the beginning of another one.
 *
 * A client looks for its name at the places from a hash of the name on, in the order of the locks,
 * as in a hash table with open addressing. At each place it puts its words one after the other, by
 * a compare-and-swap with zero, and goes on to the next word only if the word is its own now, put
 * by itself or by a client with the same beginning. If a word is another one, it goes to the next
 * place. It has found its lock when its last word is there.
 *
 * Ordering guarantees
 *   (A) A word is changed once, from zero, so what a client has seen in a word stays.
 *   (B) A client leaves a place only if a word there is not its own, so by (A) its name is never
 *       complete there: neither is it yet, nor does another client complete it later.
 *   (C) All clients that ask for a name begin at the same place, and take the places in the same
 *       order. By (B) all of them end at the first place at which the name is complete; so a name
 *       has one lock. A place has one name, because no complete name is the beginning of another.
 *   (D) A beginning that no client completes takes a place only after a death: a client puts word
 *       i + 1 only after word i is its own, so one of the clients that have put the words up to
 *       there has not left the place. It completes the name unless it dies. So without deaths, as
 *       many names as locks fit.
 *
 * Nothing waits, and the death of a client does no harm but to take the place of a lock. Words need
 * no order among themselves: a client decides by each word alone, after its flush.
 *
 * Cost: for a name that is known, one round trip (the gets of all words at once) at each place, of
 * which a table that is half full has 1.5 on average; for a new one a round trip more for each
 * word.
 *
 * Considered and not chosen: numbers by a hash alone (two names may get one lock), names that ranks
 * agree on (collective), and a directory at one rank (all clients ask that rank).
 */
#include <string.h>

#include "base/hash.h"
#include "client/client.h"

enum { NAME_WORDS = CLIENT_NAME_BYTES / 8 };

struct name {
	int64_t word[NAME_WORDS];
	int words;
};

static struct name encode(const char *text)
{
	struct name name = {.words = 0};
	size_t len = strlen(text);
	unsigned char bytes[CLIENT_NAME_BYTES] = {0};

	memcpy(bytes, text, len);
	bytes[len] = FAULT(client_name_end) ? 0 : 1;
	memcpy(name.word, bytes, sizeof bytes);
	name.words = (int)((FAULT(client_name_end) ? len - 1 : len) / 8) + 1;
	return name;
}

static struct rma_word word_of(const struct lock_setup *s, struct lock_slot *slot, int i)
{
	return lock_home_word(s, &slot->client, s->domain, s->names + (uint64_t)i * 8,
			      CLIENT_NAME_BYTES, slot->lock);
}

/* Make a word the client's own if it is zero. False: it is another one. */
static bool put(const struct lock_setup *s, struct lock_slot *slot, int i, int64_t mine)
{
	struct rma_word w = word_of(s, slot, i);
	int64_t old;

	rma_cas(&slot->client, w, 0, mine, &old);
	/* Orders the swap before the look at old and the swap of the next word; pairs with put() of
	 * other clients: (B), (D). */
	rma_flush(&slot->client, w);
	return old == 0 || old == mine || FAULT(client_name_swap);
}

/* Take the place of slot->lock for the name at slot->first, or find it there. PAWL_ERR_BUSY: it has
 * another name. */
static int take_place(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct name *name = (const struct name *)(uintptr_t)slot->first;
	int64_t seen[NAME_WORDS] = {0};

	for (int i = 0; i < name->words; i++)
		rma_get(&slot->client, word_of(s, slot, i), &seen[i]);
	/* Orders the gets before the looks at seen; no pair, because words change once: (A). */
	rma_flush(&slot->client, word_of(s, slot, 0));
	for (int i = 0; i < name->words; i++) {
		if (seen[i] == name->word[i])
			continue;
		if (seen[i] != 0 || !put(s, slot, i, name->word[i]))
			return PAWL_ERR_BUSY;
	}
	return PAWL_SUCCESS;
}

int client_named(struct client_set *set, const char *text, uint64_t *lock)
{
	const uint64_t n = set->setup->n, begin = hash_text(HASH_BEGIN, text) % n;
	const struct name name = encode(text);
	int rc = PAWL_ERR_BUSY;

	for (uint64_t i = 0; i < n && rc == PAWL_ERR_BUSY; i++) {
		struct lock_slot *slot;

		*lock = begin < n - i ? begin + i : begin - (n - i);
		slot = slots_claim_range(set, *lock, &rc);
		if (!slot)
			return rc;
		slot->first = (int64_t)(uintptr_t)&name;
		rc = client_end(set, slot, client_perform(set, slot, take_place));
	}
	return rc;
}
