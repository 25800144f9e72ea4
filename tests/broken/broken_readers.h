/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the reader counters of the broken RMA-RW, whose writers do not
 * wait for the readers inside. Included before the library's own files. */
#ifndef TESTS_BROKEN_READERS_H
#define TESTS_BROKEN_READERS_H

#define BREAK_RW_DRAIN
#define readers_layout broken_readers_layout
#define readers_ticket broken_readers_ticket
#define readers_gate broken_readers_gate

#endif
