/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network devices of the UCX transport. By itself UCX uses, and listens on, all devices of the
 * machine. Here it gets the RDMA devices and those interfaces in whose IPv4 network every host of
 * the job has a different address (bridges of containers have the same address on many hosts). On
 * one host it gets the loopback. UCX_NET_DEVICES, if set, overrides all this.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rma/ucx/parts.h"

enum { INTERFACES = 32, NAME = 256 };

struct interface {
	uint32_t address, mask;
	char name[IF_NAMESIZE];
};

struct host {
	char name[NAME];
	struct interface interface[INTERFACES];
	int n;
};

static uint32_t ipv4_of(const struct sockaddr *a)
{
	struct sockaddr_in in;

	memcpy(&in, a, sizeof in);
	return in.sin_addr.s_addr;
}

static void look_around(struct host *h)
{
	struct ifaddrs *all, *i;
	int len;

	memset(h, 0, sizeof *h);
	PMPI_Get_processor_name(h->name, &len);
	if (getifaddrs(&all) != 0)
		return;
	for (i = all; i && h->n < INTERFACES; i = i->ifa_next) {
		struct interface *to = &h->interface[h->n];

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !i->ifa_netmask ||
		    !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
			continue;
		to->address = ipv4_of(i->ifa_addr);
		to->mask = ipv4_of(i->ifa_netmask);
		snprintf(to->name, sizeof to->name, "%s", i->ifa_name);
		h->n++;
	}
	freeifaddrs(all);
}

static bool connects(const struct interface *a, const struct interface *b)
{
	return a->mask == b->mask && (a->address & a->mask) == (b->address & b->mask) &&
	       a->address != b->address;
}

/* The set of interfaces of there that lead to this host. */
static uint32_t reached(const struct host *here, const struct host *there)
{
	uint32_t set = 0;

	if (strcmp(here->name, there->name) == 0)
		return UINT32_MAX;
	for (int i = 0; i < there->n; i++)
		for (int k = 0; k < here->n; k++)
			if (connects(&here->interface[k], &there->interface[i]))
				set |= UINT32_C(1) << i;
	return set;
}

static bool add(char *text, size_t len, const char *name)
{
	size_t used = strlen(text);

	return (size_t)snprintf(text + used, len - used, "%s%s", used ? "," : "", name) <
	       len - used;
}

/* Whether an earlier entry is the same interface, which has several addresses. */
static bool is_repeated(const struct host *h, int which)
{
	int i = 0;

	while (i < which && strcmp(h->interface[i].name, h->interface[which].name) != 0)
		i++;
	return i < which;
}

/* This host's interfaces in the networks of set. */
static void add_interfaces(const struct host *here, const struct host *there, uint32_t set,
			   char *text, size_t len)
{
	for (int k = 0; k < here->n; k++) {
		const struct interface *mine = &here->interface[k];
		bool wanted = false;

		for (int i = 0; i < there->n; i++)
			wanted = wanted || (set >> i & 1 && (mine->address & mine->mask) ==
								(there->interface[i].address &
								 there->interface[i].mask));
		if (wanted && !is_repeated(here, k))
			add(text, len, mine->name);
	}
}

/* Add "mlx5_0:1", and so on, for each port of each device. */
static bool add_rdma(char *text, size_t len)
{
	static const char class[] = "/sys/class/infiniband";
	DIR *devices = opendir(class);
	bool any = false;
	struct dirent *d;

	while (devices && (d = readdir(devices))) {
		char path[sizeof class + 2 * NAME], name[NAME + 16];
		int port = 1;

		for (; d->d_name[0] != '.'; port++) {
			snprintf(path, sizeof path, "%s/%s/ports/%d", class, d->d_name, port);
			DIR *ports = opendir(path);

			if (!ports)
				break;
			closedir(ports);
			snprintf(name, sizeof name, "%s:%d", d->d_name, port);
			any = add(text, len, name) || any;
		}
	}
	if (devices)
		closedir(devices);
	return any;
}

/* What a rank says: words of which each bit is to be 1 on all ranks. All but rank 0 have only such
 * bits in what rank 0 tells all; and all but the first ranks of hosts in `reached`. */
struct said {
	uint32_t reached; /* the interfaces of rank 0's host that lead to this host */
	uint32_t flags;
	struct siphash_key key;
	uint32_t has_key;
	struct host host;
};
enum { HAS_NO_RDMA = 1, MODE_FITS = 2, MODE_IS_SET = 4, HAS_MEMORY = 8 };
_Static_assert(sizeof(struct said) % sizeof(uint32_t) == 0 &&
		   sizeof(struct said) / sizeof(uint32_t) <= RMA_QUESTION_WORDS,
	       "it has room in the words");

int ucx_ask_devices(const struct rma_request *q, bool has_memory, uint32_t *word)
{
	const char *mode = getenv("UCX_ATOMIC_MODE");
	struct host here, first;
	struct said said;
	char rdma[NAME] = "";
	int rank;

	memset(&said, 0xff, sizeof said);
	look_around(&here);
	if (q->leaders != MPI_COMM_NULL) { /* rank 0 is the first of them */
		first = here;
		PMPI_Bcast(&first, sizeof first, MPI_BYTE, 0, q->leaders);
		said.reached = reached(&here, &first);
	}
	PMPI_Comm_rank(q->comm, &rank);
	if (rank == 0) {
		said.host = here;
		said.has_key = getrandom(&said.key, sizeof said.key, 0) == (ssize_t)sizeof said.key;
	}
	said.flags = (!q->one_host && add_rdma(rdma, sizeof rdma) ? 0 : HAS_NO_RDMA) |
		     (!mode || strcmp(mode, "cpu") == 0 ? MODE_FITS : 0) |
		     (mode ? MODE_IS_SET : 0) | (has_memory ? HAS_MEMORY : 0);
	memcpy(word, &said, sizeof said);
	explicit_bzero(&said.key, sizeof said.key);
	return (int)(sizeof said / sizeof *word);
}

bool ucx_all_have_memory(const struct rma_request *q)
{
	struct said all;

	memcpy(&all, q->said, sizeof all);
	return all.flags & HAS_MEMORY;
}

bool ucx_choose_devices(struct ucx_net *n, const struct rma_request *q, char *text, size_t len,
			bool *has_rdma)
{
	struct said all;
	struct host here;

	memcpy(&all, q->said, sizeof all);
	text[0] = '\0';
	if (q->one_host) {
		add(text, len, "lo");
	} else {
		look_around(&here);
		add_rdma(text, len);
		add_interfaces(&here, &all.host, all.reached, text, len);
	}
	*has_rdma = !(all.flags & HAS_NO_RDMA);
	n->by_messages = all.flags & MODE_FITS && all.flags & (HAS_NO_RDMA | MODE_IS_SET);
	n->key = all.key;
	n->has_key = all.has_key;
	explicit_bzero(&all.key, sizeof all.key);
	return text[0] != '\0' || getenv("UCX_NET_DEVICES");
}

/* Whether name is in a list with commas. */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

/* Whether a list names RDMA devices, or other ones. Those have a port behind a colon. */
static bool names(const char *list, bool rdma)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if ((memchr(p, ':', strcspn(p, ",")) != NULL) == rdma)
			return true;
	return is_listed(list, "all");
}

static const char *allowed(const char *devices)
{
	const char *asked = getenv("UCX_NET_DEVICES");

	return asked ? asked : devices;
}

bool ucx_uses(const char *devices, bool rdma)
{
	const char *transports = getenv("UCX_TLS");
	bool negated = transports && transports[0] == '^';

	if (!rdma && transports && is_listed(transports + negated, "tcp") == negated &&
	    !is_listed(transports, "all"))
		return false;
	return names(allowed(devices), rdma);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t len, const char *format,
							 ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, len - used, format, args);
	va_end(args);
}

/* The files of RDMA devices that this process may not open. */
static void append_forbidden(char *text, size_t len)
{
	static const char folder[] = "/dev/infiniband";
	DIR *files = opendir(folder);

	for (struct dirent *d; files && (d = readdir(files));) {
		char path[sizeof folder + NAME];

		snprintf(path, sizeof path, "%s/%.250s", folder, d->d_name);
		if (strncmp(d->d_name, "uverbs", 6) == 0 && access(path, R_OK | W_OK) != 0)
			append(text, len, ", %s: %s", path, strerror(errno));
	}
	if (files)
		closedir(files);
}

static void append_limit(char *text, size_t len)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		append(text, len, ", ulimit -l %llu KiB",
		       (unsigned long long)limit.rlim_cur / 1024);
}

static void append_addresses(const char *devices, char *text, size_t len)
{
	struct ifaddrs *all = NULL;
	char address[INET_ADDRSTRLEN];

	if (getifaddrs(&all) != 0)
		return;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		struct sockaddr_in in;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    !is_listed(devices, i->ifa_name))
			continue;
		memcpy(&in, i->ifa_addr, sizeof in);
		inet_ntop(AF_INET, &in.sin_addr, address, sizeof address);
		append(text, len, ", %s %s", i->ifa_name, address);
	}
	freeifaddrs(all);
}

void ucx_name_host(const char *devices, char *text, size_t len)
{
	const char *transports = getenv("UCX_TLS");
	bool asked = allowed(devices) != devices;
	char name[MPI_MAX_PROCESSOR_NAME];
	int n;

	PMPI_Get_processor_name(name, &n);
	text[0] = '\0';
	append(text, len, "host %s (%s%s", name, asked ? "UCX_NET_DEVICES=" : "", allowed(devices));
	append_addresses(allowed(devices), text, len);
	if (transports)
		append(text, len, ", UCX_TLS=%s", transports);
	if (names(allowed(devices), true)) {
		append_forbidden(text, len);
		append_limit(text, len);
	}
	append(text, len, ")");
}
