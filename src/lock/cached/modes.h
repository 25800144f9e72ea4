/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: MODE of nodes, which the head of the queue of nodes writes, and nobody else. */
#ifndef LOCK_CACHED_MODES_H
#define LOCK_CACHED_MODES_H

#include "lock/cached/near.h"

/* NOTES, which has the number of the node's last recall, less 1, its turn, and LEFT. */
int64_t modes_notes(struct lock_slot *slot);
/* NOTES gets these fields of the value. The head of the queue of nodes changes the number, the head
 * of QUEUE the others. These are two clients where one that has freed W passes over an abandoned
 * place (D3); so each leaves the other's fields as they are. */
void modes_note(struct lock_slot *slot, int64_t fields, int64_t value);
/* A new number, for the values of MODE that this node writes from here on. */
void modes_number(struct lock_slot *slot);
/* What acknowledges a recall by this node under its present number. */
int64_t modes_ack(struct lock_slot *slot);
/* What a head writes into MODE; members are as the fields of MODE. */
struct modes {
	enum mode mode, back, to, ahead;
	bool want;
	int round;
};
/* That nodes have this mode, in the round of the directory. */
static inline struct modes modes_shared(int64_t dir, enum mode mode)
{
	return (struct modes){.mode = mode, .round = policy_round(dir)};
}
/* Write MODE of the nodes of the directory. The own node: by a store, and an atomic on W follows.
 * modes_write(): all puts are flushed. */
void modes_put(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, struct modes m);
void modes_write(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, struct modes m);
/* The same at one node. */
void modes_write_at(const struct lock_setup *s, struct lock_slot *slot, int node, struct modes m);
/* The same in two steps, for several nodes. */
void modes_put_at(const struct lock_setup *s, struct lock_slot *slot, int node, struct modes m);
void modes_flush_at(const struct lock_setup *s, struct lock_slot *slot, int node);
/* After modes_put(); looks: the client looks at W of that node next. */
void modes_order_at(const struct lock_setup *s, struct lock_slot *slot, int node, bool looks);
/* The same at the own node, a mode that is not recalled. */
void modes_write_own(struct lock_slot *slot, struct modes m);
/* L3: the nodes have again what they have been promised. Returns the directory. */
int64_t modes_give_back(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);

#endif
