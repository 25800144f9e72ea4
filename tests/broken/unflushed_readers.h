/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of an RMA-RW whose writers close a gate counter, and look who is inside
 * without having flushed the closing. */
#ifndef TESTS_BROKEN_UNFLUSHED_READERS_H
#define TESTS_BROKEN_UNFLUSHED_READERS_H

#define readers_layout unflushed_readers_layout
#define readers_gate unflushed_readers_gate

#endif
