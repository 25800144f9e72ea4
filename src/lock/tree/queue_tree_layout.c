/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of the words of a tree of queues, its bound on overtaking, and the check that its
 * words are those of a free lock. */
#include <stdio.h>
#include <string.h>

#include "lock/tree/queue_tree.h"
#include "lock/tree/queue_tree_words.h"

static int bits_for(int64_t value)
{
	int bits = 0;

	for (; value; value >>= 1)
		bits++;
	return bits;
}

/* The words of a level are NODE words if each of its elements lies within a node. */
static enum rma_domain level_domain(const struct lock_setup *s, int i)
{
	return s->domain == RMA_NODE || s->topo->level[i - 1].type >= TOPO_NODE ? RMA_NODE
										: RMA_NET;
}

int queue_tree_layout(struct lock_setup *s, struct queue_tree *t, int64_t max_run, char *err,
		      size_t errlen)
{
	int shift = STATUS_GRANT_BITS;

	memset(t, 0, sizeof *t);
	t->n = s->topo->nlevels;
	for (int i = 1; i <= t->n; i++) {
		const struct topo_level *from = &s->topo->level[i - 1];
		struct queue_level *l = &t->level[i - 1];
		uint64_t links = i < t->n ? (uint64_t)from->max_children : 0;

		l->domain = level_domain(s, i);
		l->stride = LINKS_OFFSET + links * WORD_BYTES;
		if (i == 1) {
			l->base = lock_reserve(s, s->block, l->stride);
			continue;
		}
		lock_reserve_at_level(s, &l->area, i, s->n, l->stride);
		l->threshold = queue_tree_options(s)->t_l[from->type];
		l->shift = shift;
		l->mask = ((int64_t)1 << bits_for(l->threshold)) - 1;
		shift += bits_for(l->threshold);
	}
	if (max_run) {
		t->run_shift = shift;
		t->run_mask = ((int64_t)1 << bits_for(max_run)) - 1;
		t->run_limit = max_run;
		shift += bits_for(max_run);
	}
	if (shift > STATUS_BITS) {
		snprintf(err, errlen,
			 "options t_l and t_w: the thresholds of %d levels need %d bits together,"
			 " and %d are there; choose smaller ones",
			 t->n, shift - STATUS_GRANT_BITS, STATUS_BITS - STATUS_GRANT_BITS);
		return PAWL_ERR_OPTION;
	}
	return PAWL_SUCCESS;
}

void queue_tree_may_post(struct lock_setup *s, struct queue_tree *t)
{
	t->posts = s->posts && t->n > 1 && t->level[1].domain == RMA_NODE &&
		   s->topo->level[1].count < 1 << ROOT_ELEMENT_BITS;
	if (t->posts)
		lock_reserve_at_level(s, &t->root, 2, s->n, ROOT_BYTES);
}

void queue_tree_describe(const struct lock_setup *s, const struct queue_tree *t, char *text,
			 size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 2; i <= t->n && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%st_l %s:%lld",
					 i > 2 ? ", " : "", s->topo->level[i - 1].name,
					 (long long)t->level[i - 1].threshold);
}

/* How many others can come first. An element of level i keeps the lock for at most (t + 1) holds of
 * its children. In a queue every client ahead holds once. The element returns to the parent's queue
 * at most as often as it has members, and each time waits there for the other elements; and it may
 * wait for one more hold that starts between its leaving and the arrival of its next member. */
uint64_t queue_tree_overtakes(const struct lock_setup *s, const struct queue_tree *t)
{
	double hold[TOPO_MAX_LEVELS + 2], wait = 0;

	hold[t->n + 1] = 1;
	for (int i = t->n; i > 1; i--)
		hold[i] = (double)(t->level[i - 1].threshold + 1) * hold[i + 1];
	for (int i = 1; i <= t->n; i++) {
		double members = s->topo->level[i - 1].max_children;

		if (i == t->n)
			members *= s->max_held;
		wait = members * hold[i + 1] + (i > 1 ? (members + 1) * (wait + hold[i] + 1) : 0);
	}
	return wait < 1e18 ? (uint64_t)wait : UINT64_MAX;
}

/* TAIL and all LINK words are null, except for an element whose place in the parent's queue was
 * passed over and that no client has entered since. *over counts the links of such elements, minus
 * their tails. */
static bool element_idle(const struct queue_level *l, int64_t *words, int i, int j, int64_t *over,
			 char *err, size_t errlen)
{
	for (uint64_t k = 0; k < l->stride / WORD_BYTES; k++) {
		bool mark = k ? words[k] == LINK_DONE : i > 1 && words[k] < 0;

		if (mark)
			*over += k ? 1 : -1;
		if (mark || words[k] == 0)
			continue;
		snprintf(err, errlen, "at level %d, element %d, %s %d is %lld", i, j,
			 k ? "LINK" : "TAIL", k ? (int)k - 1 : 0, (long long)words[k]);
		return false;
	}
	return true;
}

/* All stays of an element in a root queue that is posted have ended. */
static bool stays_ended(const struct lock_setup *s, const struct queue_tree *t, int j,
			uint64_t lock, const struct lock_memory *m, char *err, size_t errlen)
{
	int rank;
	uint64_t at = lock_area_place(s, &t->root, j, lock, &rank);
	int64_t next = *lock_memory_word(m, rank, at + ROOT_NEXT);
	int64_t stay = *lock_memory_word(m, rank, at + ROOT_STAY);

	snprintf(err, errlen, "element %d, in stay %lld, has NEXT %lld", j, (long long)stay,
		 (long long)next);
	return next == -stay;
}

bool queue_tree_idle(const struct lock_setup *s, const struct queue_tree *t, uint64_t lock,
		     const struct lock_memory *m, char *err, size_t errlen)
{
	const struct queue_level *root = &t->level[0];
	int64_t over = 0;

	if (!element_idle(root, lock_memory_home(s, m, root->base, root->stride, lock), 1, 0, &over,
			  err, errlen))
		return false;
	for (int i = 2; i <= t->n; i++) {
		const struct queue_level *l = &t->level[i - 1];

		for (int j = 0; j < s->topo->level[i - 1].count; j++) {
			int rank;
			uint64_t at = lock_area_place(s, &l->area, j, lock, &rank);

			if (!element_idle(l, lock_memory_word(m, rank, at), i, j, &over, err,
					  errlen))
				return false;
			if (i > 2 || !t->posts || !s->posts)
				continue;
			over += *lock_memory_word(m, rank, at) < 0;
			if (!stays_ended(s, t, j, lock, m, err, errlen))
				return false;
		}
	}
	snprintf(err, errlen,
		 "links of places passed over, minus the tails that refer to them: %lld",
		 (long long)over);
	return over == 0;
}
