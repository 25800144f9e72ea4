/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of `ucx_info -d`, on the descriptions of machines in tests/fuzz/corpus/ucx_devices,
 * each with a note on its source: the device that UCX would use, and whether that performs 64-bit
 * atomics. Prints TAP; any failed check fails the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucx_devices.h"
#include "tests/tap.h"

static char text[65536];
static struct ucx_device devices[UCX_MAX_DEVICES];

static int load(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[512];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/ucx_devices/%s", srcdir ? srcdir : ".",
		 name);
	f = fopen(path, "r");
	if (f) {
		n = fread(text, 1, sizeof text - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	if (!n)
		printf("# %s cannot be read\n", path);
	return n ? ucx_parse(text, devices, UCX_MAX_DEVICES) : 0;
}

/* Check one machine in one environment. */
struct expectation {
	const char *file;
	struct ucx_environment env;
	bool both_widths;
	const char *device; /* "TRANSPORT/DEVICE", "": none */
	bool offloaded;
	const char *why; /* words in the message */
};

static const struct expectation expectations[] = {
    {"ndr400.txt", {0}, true, "rc_mlx5/mlx5_0:1", true, "all 64-bit"},
    {"ndr400.txt", {.tls = "dc,self"}, true, "dc_mlx5/mlx5_0:1", true, "dc_mlx5"},
    {"ndr400.txt", {.tls = "ib"}, true, "rc_mlx5/mlx5_0:1", true, "rc_mlx5"},
    {"ndr400.txt", {.tls = "rc_v,sm"}, true, "rc_verbs/mlx5_0:1", false, "all or none"},
    {"ndr400.txt", {.tls = "^ib"}, true, "tcp/eth0", false, "tcp on eth0 has no atomics"},
    {"ndr400.txt", {.tls = "tcp,self"}, true, "tcp/eth0", false, "no atomics"},
    {"ndr400.txt", {.net_devices = "eth0"}, true, "tcp/eth0", false, "no atomics"},
    {"ndr400.txt", {.atomic_mode = "cpu"}, true, "rc_mlx5/mlx5_0:1", false, "ATOMIC_MODE=cpu"},
    {"ndr400.txt", {.atomic_mode = "device"}, true, "rc_mlx5/mlx5_0:1", true, "all 64-bit"},
    {"ndr400.txt", {.tls = "self,sm"}, true, "", false, "no network device"},
    {"edr-two-devices.txt", {0}, true, "rc_mlx5/mlx5_2:1", true, "mlx5_2:1"},
    {"edr-two-devices.txt", {.net_devices = "mlx5_1:1"}, true, "rc_mlx5/mlx5_1:1", true, "mlx5_1"},
    {"edr-two-devices.txt", {.net_devices = "ib0"}, true, "tcp/ib0", false, "no atomics"},
    {"verbs-only.txt", {0}, true, "rc_verbs/mlx5_0:1", false, "such as swap"},
    {"no-extended-atomics.txt", {0}, true, "rc_mlx5/mlx5_0:1", false, "such as swap"},
    {"no-extended-atomics.txt", {0}, false, "rc_mlx5/mlx5_0:1", false, "all or none"},
    {"device-not-opened.txt", {0}, true, "tcp/ib0", false, "no atomics"},
    {"old-format.txt", {0}, true, "rc/mlx5_0:1", false, "all or none"},
    {"tcp-only.txt", {0}, true, "tcp/eth0", false, "no atomics"},
};
enum { EXPECTATIONS = sizeof expectations / sizeof expectations[0] };

static const char *or_none(const char *value)
{
	return value ? value : "-";
}

static void check_choice(const struct expectation *e)
{
	int n = load(e->file);
	struct ucx_choice c = ucx_choose(devices, n, &e->env, e->both_widths);
	char got[128] = "", what[256];

	if (c.device >= 0)
		snprintf(got, sizeof got, "%s/%s", devices[c.device].transport,
			 devices[c.device].device);
	snprintf(what, sizeof what, "%s, UCX_TLS %s, UCX_NET_DEVICES %s, UCX_ATOMIC_MODE %s%s",
		 e->file, or_none(e->env.tls), or_none(e->env.net_devices),
		 or_none(e->env.atomic_mode), e->both_widths ? "" : ", 64 bits alone");
	if (!ok(n > 0 && strcmp(got, e->device) == 0 && c.offloaded == e->offloaded &&
		    strstr(c.why, e->why),
		"%s", what))
		printf("# got \"%s\", %s: %s\n", got, c.offloaded ? "offloaded" : "emulated",
		       c.why);
}

/* The fields of one entry, compared with the text. */
static void check_fields(void)
{
	int n = load("ndr400.txt");
	const struct ucx_device *d = NULL;

	for (int i = 0; i < n; i++)
		if (strcmp(devices[i].transport, "rc_verbs") == 0)
			d = &devices[i];
	ok(n == 8, "ndr400.txt has 8 transports");
	ok(d && d->bandwidth > 45747 && d->bandwidth < 45748, "bandwidth");
	ok(d && (int)d->latency_ns == 600 && (int)d->overhead_ns == 75, "latency and overhead");
	ok(d && d->priority == 70 && d->network, "priority and type");
	ok(d && d->domain == UCX_BY_DEVICE && d->atomics64 == (UCX_ADD | UCX_FADD | UCX_CSWAP) &&
	       d->atomics32 == 0,
	   "atomics of rc_verbs");
}

/* A device without 32-bit atomics serves requests for 64 bits only. */
static void check_widths(void)
{
	struct ucx_device d = {"rc_mlx5", "mlx5_0:1", true, UCX_BY_DEVICE, 0, UCX_ALL_ATOMICS, 1,
			       600,       40,         1};
	struct ucx_environment env = {0};

	ok(ucx_choose(&d, 1, &env, false).offloaded, "64 bits alone are offloaded");
	ok(!ucx_choose(&d, 1, &env, true).offloaded &&
	       strstr(ucx_choose(&d, 1, &env, true).why, "of 32 bits"),
	   "but not if 32 bits are asked for, too");
}

static void check_rubbish(void)
{
	static const char cut[] =
	    "# Memory domain: x\n# Transport: rc_mlx5\n#   Device: a\n# atomic";

	ok(ucx_parse("", devices, UCX_MAX_DEVICES) == 0, "an empty text");
	ok(ucx_parse("no such command\n::::\n#:\n", devices, UCX_MAX_DEVICES) == 0, "rubbish");
	ok(ucx_parse(cut, devices, UCX_MAX_DEVICES) == 1, "a text that ends early");
	ok(load("ndr400.txt") > 2 && ucx_parse(text, devices, 2) == 2,
	   "no more than there is room");
}

int main(void)
{
	for (int i = 0; i < EXPECTATIONS; i++)
		check_choice(&expectations[i]);
	check_fields();
	check_widths();
	check_rubbish();
	return tap_plan();
}
