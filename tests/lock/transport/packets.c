/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a verbs device sends for locks: the packets of RoCE between two hosts, captured on the
 * network interface of one of them, by the operation in their headers, beside what the library
 * counts. First each kind and mode, by one client on the other host than the lock's home; then
 * workloads as those of ALock (each client takes a lock of its own host with some probability) and
 * of ShiftLock (some clients read), by all. What a device does on its own host passes no interface.
 * To be run as root on two ranks on each of two hosts whose MPI has another network; TEST_INTERFACE
 * is the device's.
 */
#include "tests/lock/tables.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMES = 50, EACH = 40, LOCKS = 20 };
/* A packet whose answer is late is sent once more, and so is what follows it. */
#define SENT_TWICE 0.1
#define HELD_S 0.001 /* so that others come meanwhile */

/* ------------------------------------------------------------------ the capture */

enum { SWAPPED, ADDED, READ, WRITTEN, SENT, DROPPED, WHAT };

static _Atomic(int64_t) seen[WHAT];
static int tap = -1;

/* Which operation a frame asks for; DROPPED: none. */
static int operation_of(const unsigned char *frame, size_t bytes)
{
	enum { ROCE_PORT = 4791, UDP = 17, RELIABLE = 0x1f };
	size_t at = sizeof(struct ethhdr);
	int version = bytes > at ? frame[at] >> 4 : 0, protocol;

	if (bytes < at + 40 + 8 + 1 || (version != 4 && version != 6))
		return DROPPED;
	protocol = frame[at + (version == 4 ? 9 : 6)];
	at += version == 4 ? 4 * (size_t)(frame[at] & 15) : 40;
	if (protocol != UDP || (frame[at + 2] << 8 | frame[at + 3]) != ROCE_PORT)
		return DROPPED;
	at += 8;
	/* The upper bits are the service: 0 is a reliable connection, 3 a datagram, which is sent.
	 */
	if (frame[at] >> 5)
		return SENT;
	switch (frame[at] & RELIABLE) {
	case 0x13:
		return SWAPPED;
	case 0x14:
		return ADDED;
	case 0x0c:
		return READ;
	case 0x0d: /* to 0x12: responses and acknowledgements */
	case 0x0e:
	case 0x0f:
	case 0x10:
	case 0x11:
	case 0x12:
		return DROPPED;
	default:
		return (frame[at] & RELIABLE) >= 6 && (frame[at] & RELIABLE) <= 0x0b ? WRITTEN
										     : SENT;
	}
}

static void *capture(void *arg)
{
	unsigned char frame[128];

	(void)arg;
	for (;;) {
		ssize_t n = recv(tap, frame, sizeof frame, 0);
		int what = n > 0 ? operation_of(frame, (size_t)n) : DROPPED;

		if (what != DROPPED)
			atomic_fetch_add(&seen[what], 1);
	}
	return NULL;
}

static bool capture_begin(const char *interface)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(interface)};
	int room = 32 << 20;
	pthread_t thread;

	tap = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	return tap >= 0 && at.sll_ifindex > 0 &&
	       setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) == 0 &&
	       bind(tap, (struct sockaddr *)&at, sizeof at) == 0 &&
	       pthread_create(&thread, NULL, capture, NULL) == 0;
}

/* ------------------------------------------------------------------- what counts */

struct count {
	int64_t seen[WHAT];
	int64_t atomics, gets, puts; /* on the other host, as the library counts them */
	int64_t near;                /* of all three, on the own host, by CPU or by the device */
	int64_t acquires;
};

static pawl_table *table;
static const struct pawl_kind *kind;

/* The counts until now, and from now on. */
static void take_seen(int64_t to[WHAT])
{
	struct tpacket_stats lost = {0};
	socklen_t bytes = sizeof lost;

	meet();
	sleep_for(0.05); /* what is on its way */
	if (tap_rank == 0) {
		getsockopt(tap, SOL_PACKET, PACKET_STATISTICS, &lost, &bytes);
		for (int i = 0; i < WHAT; i++)
			to[i] = atomic_exchange(&seen[i], 0);
		to[DROPPED] = lost.tp_drops;
	}
	meet();
}

static void begin(void)
{
	int64_t before[WHAT] = {0};

	expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
	take_seen(before);
}

/* Of all ranks since begin(). */
static struct count counted(void)
{
	struct pawl_stats s = {.acquires = 0};
	struct count c = {.acquires = 0}, sum = c;
	int64_t own[5];

	take_seen(sum.seen);
	expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "stats");
	own[0] = (int64_t)s.atomics[1];
	own[1] = (int64_t)s.gets[1];
	own[2] = (int64_t)s.puts[1];
	own[3] = (int64_t)(s.atomics[0] + s.gets[0] + s.puts[0]);
	own[4] = (int64_t)s.acquires;
	MPI_Allreduce(MPI_IN_PLACE, own, 5, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	sum.atomics = own[0];
	sum.gets = own[1];
	sum.puts = own[2];
	sum.near = own[3];
	sum.acquires = own[4];
	return sum;
}

/* More: what the transport tries again, because others have changed the word. */
static void agree(int64_t captured, int64_t counted, double more, const char *what)
{
	expect(captured >= counted && (double)captured <= (double)counted * (1 + SENT_TWICE) + more,
	       "%lld %s captured, %lld counted", (long long)captured, what, (long long)counted);
}

static void judge(const struct count *c, double more, const char *what)
{
	double n = (double)(c->acquires ? c->acquires : 1);

	expect(c->acquires > 0, "no acquire");
	if (tap_rank == 0) {
		agree(c->seen[SWAPPED] + c->seen[ADDED], c->atomics, 4 + more, "atomics");
		agree(c->seen[READ], c->gets, 4 + more, "reads");
		agree(c->seen[WRITTEN], c->puts, 4, "writes");
		expect(c->seen[SENT] == 0, "%lld sends", (long long)c->seen[SENT]);
		expect(c->seen[DROPPED] == 0, "%lld packets were not captured",
		       (long long)c->seen[DROPPED]);
	}
	result("%s, an acquire and release: %.2f compare-and-swap, %.2f fetch-and-add, %.2f read, "
	       "%.2f write; own host %.2f",
	       what, (double)c->seen[SWAPPED] / n, (double)c->seen[ADDED] / n,
	       (double)c->seen[READ] / n, (double)c->seen[WRITTEN] / n, (double)c->near / n);
}

/* --------------------------------------------------------------------- the locks */

static void take(uint64_t lock, int mode, double held_s)
{
	pawl_range range;

	if (kind->capabilities & PAWL_CAP_RANGES) {
		expect_held(pawl_range_acquire(table, lock, 0, 0, mode, &range), "acquire");
		sleep_for(held_s);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	} else {
		expect_held(pawl_lock_acquire(table, lock, mode), "acquire");
		sleep_for(held_s);
		expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
	}
}

static void alone(void)
{
	char what[100];
	int mode;

	now_doing("%s, one client", kind->name);
	/* An emulated machine may take longer than a lease is by itself. */
	table = table_open(kind->name, 1, readers_expire(kind) ? "lease" : NULL, "5000000");
	for (int m = 0; table && m < TAP_MODES; m++) {
		struct count c;

		if (!tap_mode(kind, m, &mode))
			continue;
		if (tap_rank == tap_size - 1)
			take(0, mode, 0); /* connects */
		begin();
		for (int i = 0; i < TIMES && tap_rank == tap_size - 1; i++)
			take(0, mode, 0);
		c = counted();
		snprintf(what, sizeof what, "%s, mode %d, one client", kind->name, mode);
		judge(&c, 0, what);
	}
	table_close(table);
}

/* All clients; each takes a lock of its own host in so many of 100 cases, to read in so many. */
static void together(const char *name, uint64_t locks, uint32_t near, uint32_t read)
{
	uint64_t seed = 1 + (uint64_t)tap_rank, each = locks / (uint64_t)tap_size;
	char what[100];
	struct count c;

	kind = pawl_kind_find(name);
	now_doing("%s, all clients", name);
	table = table_open(name, locks, NULL, NULL);
	if (!table)
		return;
	for (uint64_t l = 0; l < locks; l++)
		take(l, PAWL_EXCLUSIVE, 0);
	begin();
	for (int i = 0; i < EACH; i++) {
		bool own = random_below(&seed, 100) < near;
		int host = (tap_rank / 2 + !own) % 2;
		uint64_t lock = locks == 1 ? 0
					   : (uint64_t)(2 * host) * each +
						 random_below(&seed, (uint32_t)(2 * each));

		take(lock, random_below(&seed, 100) < read ? PAWL_SHARED : PAWL_EXCLUSIVE, HELD_S);
	}
	c = counted();
	snprintf(what, sizeof what, "%s, %d locks, %u %% near, %u %% read", name, (int)locks, near,
		 read);
	judge(&c, (double)c.atomics, what);
	table_close(table);
}

int main(int argc, char **argv)
{
	static const char *const exclusive[] = {"alock", "rdma-mcs", "rdma-spin"};
	static const char *const readers[] = {"shiftlock", "dslr", "fompi-rw"};
	static const uint32_t near[] = {100, 95, 85}, read[] = {0, 50, 95};
	const char *interface = getenv("TEST_INTERFACE");

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	expect(tap_size == 4 && interface, "runs on 4 ranks, with TEST_INTERFACE");
	expect(tap_rank != 0 || (interface && capture_begin(interface)), "no capture");
	if (!result("4 ranks, and a capture"))
		return tap_end();
	for (int i = 0; (kind = tap_kind(&i));)
		if (!(kind->capabilities & PAWL_CAP_THREADS) &&
		    strcmp(kind->name, "mpi-win-lock") != 0)
			alone();
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			together(exclusive[k], LOCKS, near[i], 0);
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			together(readers[k], 1, 50, read[i]);
	return tap_end();
}
