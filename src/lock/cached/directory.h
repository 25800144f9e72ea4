/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the directory, which nodes cache a lock, in one word; README. */
#ifndef LOCK_CACHED_DIRECTORY_H
#define LOCK_CACHED_DIRECTORY_H

#include "lock/cached/cached.h"

/* OPEN: the nodes cache the lock in this mode. Else they have been promised it. The policy's part
 * is in policy.h. X: one node; S, I: a set, of one bit for all nodes with the same number modulo
 * SET_BITS; and with S, UNTOLD. */
#define DIR_OPEN INT64_C(1)
enum { DIR_MODE_SHIFT = 1, DIR_POLICY_SHIFT = 3, DIR_POLICY_BITS = 16, DIR_NODES_SHIFT = 19 };
enum { SET_MOST = 39 };
#define SET_BITS SIZE_OR((int)SET_MOST, 3)
/* And SOME. */
#define DIR_POLICY (((INT64_C(1) << DIR_POLICY_BITS) - 1) << DIR_POLICY_SHIFT | SOME)
#define DIR_SET (((INT64_C(1) << SET_MOST) - 1) << DIR_NODES_SHIFT)
/* Beside a set of S: and nodes have it by the decision of VOTE, if that is FIRST_SHARED (F3). */
#define UNTOLD (INT64_C(1) << (DIR_NODES_SHIFT + (int)SET_MOST))
#define DIR_NODES (DIR_SET | UNTOLD)
_Static_assert(DIR_NODES_SHIFT + (int)SET_MOST < 60, "a directory leaves room for FREE and GRANT");

static inline enum mode dir_mode(int64_t d)
{
	return (enum mode)((d >> DIR_MODE_SHIFT) & 3);
}

static inline bool dir_is_empty(int64_t d)
{
	return dir_mode(d) == MODE_N;
}

static inline bool dir_is_open(int64_t d)
{
	return (d & DIR_OPEN) && !dir_is_empty(d);
}

static inline int64_t dir_policy(int64_t d)
{
	return d & DIR_POLICY;
}

/* Nobody caches it. Beside it, 1 + the node that used it last. */
enum { DIR_LAST_SHIFT = DIR_NODES_SHIFT + (int)NODE_BITS };
_Static_assert((int)SET_MOST + 1 == 2 * (int)NODE_BITS, "two nodes have the room of a set");

static inline int64_t dir_none(int64_t d)
{
	return dir_policy(d);
}

/* This node has X. Beside it, likewise. */
static inline int64_t dir_owned(int64_t d, int node)
{
	return dir_policy(d) | DIR_OPEN | (int64_t)MODE_X << DIR_MODE_SHIFT |
	       (int64_t)node << DIR_NODES_SHIFT;
}

static inline int64_t dir_visited(int64_t d, int node)
{
	return (d & ~(NODE_MASK << DIR_LAST_SHIFT)) | (int64_t)(node + 1) << DIR_LAST_SHIFT;
}

/* The only node that has X or is to have it again; -1: there is none. */
static inline int dir_owner(int64_t d)
{
	return dir_mode(d) == MODE_X ? (int)((d >> DIR_NODES_SHIFT) & NODE_MASK) : -1;
}

/* -1: none. */
static inline int dir_visitor(int64_t d)
{
	return dir_mode(d) == MODE_S || dir_mode(d) == MODE_I
		   ? -1
		   : (int)((d >> DIR_LAST_SHIFT) & NODE_MASK) - 1;
}

/* In a grant, in place of the node that used the lock last: how many uncached sharers are in that
 * UNCACHED does not count yet (U3). TAIL and NEXT, where this bit says something else, never have
 * it. */
#define DEBT (INT64_C(1) << 61)
#define DEBT_MOST SIZE_OR(NODE_MASK, 2)

static inline int64_t dir_debt(int64_t d)
{
	return d & DEBT ? (d >> DIR_LAST_SHIFT) & NODE_MASK : 0;
}

static inline int64_t dir_paid(int64_t d)
{
	return d & DEBT ? d & ~(DEBT | NODE_MASK << DIR_LAST_SHIFT) : d;
}

/* Whether there is room for one more. */
static inline bool dir_may_owe(int64_t d)
{
	return (dir_is_empty(d) || dir_mode(d) == MODE_X) && dir_debt(d) < DEBT_MOST;
}

static inline int64_t dir_owing(int64_t d, int64_t debt)
{
	return dir_paid(d & ~(NODE_MASK << DIR_LAST_SHIFT)) | debt << DIR_LAST_SHIFT | DEBT;
}

static inline int64_t dir_bit(int node)
{
	return INT64_C(1) << (DIR_NODES_SHIFT + node % SET_BITS);
}

/* The nodes, and this one, have S or I. */
static inline int64_t dir_joined(int64_t d, enum mode mode, int node)
{
	int64_t nodes = 0;

	if (dir_mode(d) == MODE_X)
		nodes = dir_bit(dir_owner(d));
	else if (!dir_is_empty(d))
		nodes = d & DIR_NODES;
	return dir_policy(d) | DIR_OPEN | (int64_t)mode << DIR_MODE_SHIFT | nodes | dir_bit(node);
}

static inline bool dir_has(int64_t d, int node)
{
	if (dir_is_empty(d))
		return false;
	if (dir_mode(d) == MODE_X)
		return dir_owner(d) == node;
	return (d & dir_bit(node)) != 0;
}

static inline bool dir_has_some(int64_t d)
{
	return (d & SOME) != 0;
}

/* U5: whether it may: no node has I, nor another one than the home's X. */
static inline bool dir_may_have_some(int64_t d, int home)
{
	return dir_is_empty(d) || dir_mode(d) == MODE_S || dir_owner(d) == home;
}

/* All nodes share, or some of them do. */
static inline int64_t dir_everywhere(int64_t d)
{
	return dir_policy(d) | DIR_OPEN | (int64_t)MODE_S << DIR_MODE_SHIFT | DIR_SET;
}

/* The home's node shares, and those do that have S by a decision that is not known. */
static inline int64_t dir_undecided(int home)
{
	return dir_joined(0, MODE_S, home) | UNTOLD;
}

static inline bool dir_is_undecided(int64_t d)
{
	return dir_mode(d) == MODE_S && (d & UNTOLD);
}

/* TAIL of a lock whose queue is empty. The directory is OPEN, or empty. */
static inline int64_t dir_to_tail(int64_t d, int home)
{
	enum mode m = dir_is_open(d) ? dir_mode(d) : MODE_N;

	return FREE | (d & (DIR_POLICY | DIR_NODES)) |
	       (m == MODE_S || m == MODE_I ? TAIL_SHARED : 0) |
	       (m == MODE_X || m == MODE_I ? TAIL_OWNED : 0) |
	       (int64_t)(dir_has(d, home) ? m : MODE_N);
}

/* Of a TAIL that is not 0. */
static inline int64_t dir_of_tail(int64_t tail)
{
	int64_t d = tail & (DIR_POLICY | DIR_NODES);
	enum mode one = tail & TAIL_SHARED ? MODE_S : MODE_X;

	if (!(tail & (TAIL_SHARED | TAIL_OWNED)))
		return d;
	if ((tail & TAIL_SHARED) && (tail & TAIL_OWNED))
		one = MODE_I;
	return d | DIR_OPEN | (int64_t)one << DIR_MODE_SHIFT;
}

#endif
