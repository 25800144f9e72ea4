/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: the first shares, by which sharers enter locks that no client has
 * acquired in another mode yet, without a far operation for each lock.
 *
 * The locks of a home are in groups. A group has two words at its home: TAKEN, which clients of the
 * home's node change, and MARKS, which others change; and a word READS at each node. TAKEN and
 * MARKS have a bit for each few locks of the group, which is set when one of them is acquired other
 * than shared (F2); MARKS also has a bit for each node that reads locks of the group.
 *
 * A sharer that finds that its node does not read the group yet sets the bit of the node in MARKS,
 * looks at TAKEN, and sets in READS the bits of the locks that neither says were taken (F1). The
 * first share of each of these is open at the node as long as R of the lock has number 0 and GATE
 * is 0. A sharer enters by it as by any share (shares.c).
 *
 * The root of a lock is fresh at first, at the node of the home: W of that node is NEW there, or
 * has FRESH, and GUEST has no RESOLVED. A client that acquires a fresh lock other than shared sets
 * its bit, and gets the bits of the nodes that read the group (F2): a client of the home's node by
 * an operation on TAKEN and a look at MARKS; a guest, or a client of a node to which the root goes,
 * by one on MARKS. An exclusive client closes the shares of these nodes (F3), as those that it
 * finds in H. Any other one, or one whose node gets the root, splits it with their bits. Then the
 * root is not fresh any more: FRESH is taken out of W, or a guest sets RESOLVED when it leaves.
 * Sharers of the home's node leave the root fresh.
 *
 * An exclusive client opens the shares again when it leaves if that pays, and leaves the root fresh
 * (F4): it writes into GATE of each node what is there at first, together with how often the share
 * had been used until then. So the next one knows how often it has been used since: F3 fetches GATE
 * by the operation that closes it, and reads that count with R.
 *
 * It pays if sharers save more far operations by the shares than F3 and F4 take. A sharer saves
 * those of a guest, but one of the home's node saves none, so its uses do not count. The client
 * goes by the uses of this lock since its shares were opened. These are few while the table is new,
 * and by chance at any time, and a share that stays closed is never used again. So it pays, too, if
 * it would pay for a lock that is used as the client uses all locks: if all nodes do that, each
 * node shares a lock of another one, for each exclusive use of it, as often as the client shares
 * locks of other nodes for each exclusive acquire, divided by the number of other nodes.
 *
 * Ordering guarantees
 *   (A) F1 sets the mark and then looks at TAKEN; F2 of the home's node sets the bit in TAKEN and
 *       then looks at MARKS: a far atomic, a flush (or the transport's order) and a get follow each
 *       other on the one side, a seq_cst read-modify-write precedes a seq_cst load on the other.
 *       The other cases of F2 are atomics on MARKS, as F1. So F1 finds that the lock was taken, or
 *       F2 finds the node.
 *   (B) While the first share of a lock is open at a node, or has sharers, the root is fresh, and
 *       the node is in MARKS before each F2 of the lock; or F2 has found it, and its client is
 *       about to close the share or to split the root; or the node is in H; or the root is whole,
 *       with LOCAL, and at this node. GATE keeps it closed afterwards: only F4 opens it again,
 *       which leaves the root fresh, or with LOCAL. So does another number, and R never has number
 *       0 again. READS only says which first shares may be open; a bit of it is harmless where
 *       GATE or R say more.
 *   (C) F3 is C2 ... C4 of shares.c, of which (A) and (E) hold as they are. At the client's own
 *       node, too, it writes GATE, and R keeps its number: a store precedes a read-modify-write of
 *       R. A client that gives up after F2 leaves the root fresh: the next one repeats F2 and F3.
 *   (D) The root is fresh only at the node of the home. If it leaves by H2, STATUS says that it is
 *       fresh; if by Q5 or G5, W and GUEST do. The client that gets it does F2 before it uses it. A
 *       client that takes W from NEW, or with FRESH, may find that another node has the root: it
 *       changes nothing then but W, and STATUS by H2, which fails.
 *   (E) F4 precedes the release, so it is performed before another client closes the shares. A
 *       sharer that has counted itself before it, and finds GATE open after it, is in: C4 of a
 *       later client finds its count, as R has the same number all the time. If the number is
 *       another one, F4 has no effect. What the holder did precedes F4, which the sharer has read.
 *       A guest that has done F4 and then takes the root along takes it as fresh, with the share of
 *       its host.
 *
 * Far operations: for a node, 1 atomic and 1 get in 1 round trip (2 if the transport is not
 * ordered) for each group; of an acquire, none. F2: none at the node of the home, elsewhere 1
 * atomic, which shares the round trip of a guest. F3: 1 atomic and 1 get for each other node that
 * reads the group; F4: 1 put.
 *
 * Model: models/adaptive_shares.pml with -DFIRST, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* A bit of a word stands for so many locks. The bits of nodes are those that they have in H. */
enum { LOCKS_PER_BIT = 16, LOCKS_SHIFT = SHARED_SHIFT + FIRST_NODES, LOCK_BITS = 40 };
enum { GROUP_LOCKS = LOCKS_PER_BIT * LOCK_BITS };
_Static_assert((int)FIRST_NODES <= (int)COUNT_BITS && LOCKS_SHIFT + LOCK_BITS <= 63,
	       "the fields do not overlap");
#define NODES (((INT64_C(1) << FIRST_NODES) - 1) << SHARED_SHIFT)
#define LOCKS (((INT64_C(1) << LOCK_BITS) - 1) << LOCKS_SHIFT)
/* READS: F1 has been done. */
#define READ INT64_C(1)

/* The words of a group at the home. */
enum { TAKEN = 0 /* NODE */, MARKS = 8 /* NET */, GROUP_BYTES = 16 };

/* A client opens the first shares of a group if so many of its acquires are shared for each that is
 * not. */
enum { SHARES_PAY = 4 };

/* In the small worlds of the adversary, half of the locks have no first shares, so that it also has
 * sharers that are guests. */
#define EACH ATTEMPTS_OR(1, 2)

/* On tables of at most so many nodes, an exclusive client opens the first shares again if that
 * pays. The uses of the shares are in so many bits for each node. */
enum { REOPEN_NODES = 8, USES_BITS = 8, ONE_USES = (1 << USES_BITS) - 1 };

/* The far operations of a guest that shares, and those of F3 and F4 for each node. */
enum { GUEST_OPERATIONS = 4, CLOSE_OPERATIONS = 3 };

void first_layout(struct lock_setup *s, struct adaptive_constants *k)
{
	uint64_t each = (s->block + GROUP_LOCKS - 1) / GROUP_LOCKS;
	uint64_t all = each * (uint64_t)s->topo->nranks, size;

	k->groups_each = k->several && k->nodes <= SIZE_OR(FIRST_NODES, 3) ? each : 0;
	if (!k->groups_each)
		return;
	k->groups = lock_reserve(s, each, GROUP_BYTES);
	size = k->node_level ? (uint64_t)s->topo->level[k->node_level - 1].min_size : 1;
	k->reads = lock_reserve(s, (all + size - 1) / size, sizeof(int64_t));
}

/* The group of a lock at its home, and the bit of the lock. */
static uint64_t group_of(const struct lock_setup *s, uint64_t lock, int *home, int64_t *bit)
{
	uint64_t index;

	lock_home(s, lock, home, &index);
	*bit = INT64_C(1) << (LOCKS_SHIFT + index / LOCKS_PER_BIT % LOCK_BITS);
	return index / GROUP_LOCKS;
}

/* The place of READS at a node. */
static int place_of(const struct lock_setup *s, int node, uint64_t group, int home, uint64_t *at)
{
	const struct adaptive_constants *k = s->state;
	uint64_t i = (uint64_t)home * k->groups_each + group;

	if (!k->node_level) {
		*at = k->reads + i * sizeof(int64_t);
		return node;
	}
	*at = k->reads + topo_tail_index(s->topo, k->node_level, node, i) * sizeof(int64_t);
	return topo_tail_rank(s->topo, k->node_level, node, i);
}

static struct rma_word reads_of(const struct lock_setup *s, struct lock_slot *slot, int64_t *bit)
{
	struct rma_client *c = &slot->client;
	uint64_t group, at;
	int home, rank;

	group = group_of(s, slot->lock, &home, bit);
	rank = place_of(s, adaptive_node(s, c->rma->rank), group, home, &at);
	return rma_word(c->rma, RMA_NODE, rank, at);
}

static struct rma_word at_home(const struct lock_setup *s, struct lock_slot *slot,
			       enum rma_domain d, int offset, int64_t *bit)
{
	const struct adaptive_constants *k = s->state;
	int home;
	uint64_t group = group_of(s, slot->lock, &home, bit);

	return rma_word(slot->client.rma, d, home,
			k->groups + group * GROUP_BYTES + (uint64_t)offset);
}

bool first_is_open(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	int64_t bit, reads;

	if (!k->groups_each)
		return false;
	rma_get(&slot->client, reads_of(s, slot, &bit), &reads);
	return (reads & bit) != 0;
}

/* ------------------------------------------------------------------- sharers */

static bool pays(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return (slot->lock + (uint64_t)s->max_held) % EACH == 0 &&
	       own->shares >= SHARES_PAY * (uint64_t)own->exclusives;
}

bool first_open(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word reads, marks, taken;
	int64_t bit, value, marked = 0, were = 0;

	if (!k->groups_each)
		return false;
	reads = reads_of(s, slot, &bit);
	rma_get(c, reads, &value);
	if ((value & READ) || !pays(s, slot))
		return (value & bit) != 0;
	/* F1. */
	marks = at_home(s, slot, RMA_NET, MARKS, &bit);
	taken = at_home(s, slot, RMA_NODE, TAKEN, &bit);
	if (!FAULT(adaptive_unmarked))
		rma_fao(c, marks, RMA_OR, share_bit(adaptive_node(s, c->rma->rank)), &marked);
	/* Orders the mark before the look at TAKEN; pairs with F2; (A). */
	if (rma_is_cpu(taken))
		rma_flush(c, marks);
	else
		rma_order(c, marks);
	if (!FAULT(adaptive_taken))
		rma_get(c, taken, &were);
	rma_flush(c, marks); /* orders the looks before the use of their results */
	rma_fao(c, reads, RMA_OR, READ | (LOCKS & ~(marked | were)), &value);
	return ((value | ~(marked | were)) & bit) != 0;
}

/* ------------------------------------------------------------- other clients */

int64_t first_claim_here(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t bit, value;
	struct rma_word taken = at_home(s, slot, RMA_NODE, TAKEN, &bit);

	rma_get(c, taken, &value);
	if (!(value & bit) && !FAULT(adaptive_unclaimed))
		rma_fao(c, taken, RMA_OR, bit, &value);
	return rma_peek_ordered(c, at_home(s, slot, RMA_NET, MARKS, &bit)) & NODES; /* (A) */
}

struct rma_word first_post_claim(const struct lock_setup *s, struct lock_slot *slot, int64_t *old)
{
	int64_t bit;
	struct rma_word marks = at_home(s, slot, RMA_NET, MARKS, &bit);

	rma_fao(&slot->client, marks, RMA_OR, FAULT(adaptive_unclaimed) ? 0 : bit, old);
	return marks;
}

int64_t first_nodes_of(int64_t marks)
{
	return marks & NODES;
}

int64_t first_claim_there(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t old;
	struct rma_word marks = first_post_claim(s, slot, &old);

	rma_flush(&slot->client, marks); /* orders F2 before the use of its result */
	return first_nodes_of(old);
}

/* Whether so many uses of first shares by other nodes than the home's pay for closing so many. */
static bool uses_pay(uint64_t uses, uint64_t closes)
{
	return GUEST_OPERATIONS * uses >= CLOSE_OPERATIONS * closes;
}

/* Whether it pays to open the shares of these nodes again, which have been used so often. */
static bool reopening_pays(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes,
			   const uint64_t uses[])
{
	const struct adaptive_constants *k = s->state;
	int home = adaptive_home_node(s, slot->lock);
	uint64_t sum = 0, n = 0, exclusives, away;

	if (k->nodes > REOPEN_NODES)
		return false;
	if (nodes == share_bit(home))
		return uses[home] > 0;
	for (int j = 0; j < k->nodes; j++) {
		if (!(nodes & share_bit(j)) || j == home)
			continue;
		n++;
		sum += uses[j];
	}
	away = share_uses_away(slot, &exclusives);
	exclusives++; /* this one */
	return uses_pay(sum, n) || uses_pay(away, exclusives * (uint64_t)(k->nodes - 1));
}

bool first_close(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes, bool tries)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	uint64_t uses[FIRST_NODES], all[FIRST_NODES];

	own->reopens = 0;
	if (FAULT(adaptive_first) || !nodes)
		return true;
	if (!share_close_first(s, slot, nodes, tries, uses, all))
		return false;
	own->uses = 0;
	for (int j = 0; j < k->nodes && j < REOPEN_NODES; j++)
		if (nodes & share_bit(j))
			own->uses |= (all[j] & ONE_USES) << j * USES_BITS;
	if (reopening_pays(s, slot, nodes, uses))
		own->reopens = (uint16_t)(nodes >> SHARED_SHIFT);
	return true;
}

void first_reopen(const struct lock_setup *s, struct lock_slot *slot, int ordered)
{
	struct adaptive_slot *own = lock_own(slot);
	int n = 0;
	struct rma_word gate[FIRST_NODES];

	if (!own->reopens)
		return;
	for (int j = 0; j < REOPEN_NODES; j++)
		if (own->reopens >> j & 1)
			gate[n++] =
			    share_reopen_first(s, slot, j, own->uses >> j * USES_BITS & ONE_USES);
	own->reopens = 0;
	for (int i = 0; i < n; i++) {
		/* Orders F4 before the release; (E). */
		if (FAULT(adaptive_late))
			continue;
		if (gate[i].rank == ordered)
			rma_order(&slot->client, gate[i]);
		else if (gate[i].flags & RMA_FAR)
			rma_flush(&slot->client, gate[i]);
	}
}

void first_publish(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t flags = kept_root_flags(slot), bits;

	if (!(flags & W_FRESH))
		return;
	bits = first_claim_here(s, slot);
	kept_root_set_flags(slot, flags & ~(int64_t)W_FRESH);
	if (!bits || FAULT(adaptive_fresh))
		return;
	if (flags & W_LOCAL)
		bits |= share_bit(adaptive_node(s, slot->client.rma->rank));
	sharing_split(s, slot, bits);
}

/* ------------------------------------------------------------- the simulator */

bool first_is_open_at(const struct lock_setup *s, uint64_t lock, int node,
		      const struct lock_memory *m)
{
	const struct adaptive_constants *k = s->state;
	int64_t bit;
	uint64_t group, at;
	int home, rank;

	if (!k->groups_each)
		return false;
	group = group_of(s, lock, &home, &bit);
	rank = place_of(s, node, group, home, &at);
	return (*lock_memory_word(m, rank, at) & bit) != 0;
}
