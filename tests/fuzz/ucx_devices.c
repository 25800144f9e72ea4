/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `ucx_info -d` prints, and which device UCX would use. Up to three lines before the first
 * that begins with # are UCX_TLS, UCX_NET_DEVICES and UCX_ATOMIC_MODE, an empty one is a variable
 * that is not set; the rest is the text. Files of the corpus that end in .txt are without such
 * lines, for tests/unit/ucx_devices.c.
 *
 * Of the text: names end, figures are finite, fewer devices are the first of more, carriage
 * returns do not matter, and the devices, printed, are read as they are. Of the choice: a device is
 * a network, none that could be used costs less, and one that does all atomics of both widths does
 * those of one.
 */
#include "property.h"

#include <ctype.h>
#include <math.h>

#include "tools/ucx_devices.h"

/* PRINTED: characters for a device, printed. */
enum { PRINTED = 1200, FEW = 3 };

static const char *const atomics[] = {"add",  "and", "or",   "xor",  "fadd",
				      "fand", "for", "fxor", "swap", "cswap"};
_Static_assert(UCX_ALL_ATOMICS == (1 << sizeof atomics / sizeof atomics[0]) - 1,
	       "the names are in the order of the bits");

static struct ucx_device devices[UCX_MAX_DEVICES], others[UCX_MAX_DEVICES];

static bool is_figure(double d)
{
	return isfinite(d) && d >= 0;
}

static bool same(const struct ucx_device *a, const struct ucx_device *b, int n)
{
	return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static void check_device(const struct ucx_device *d)
{
	property(memchr(d->transport, '\0', sizeof d->transport) && d->transport[0] &&
		     memchr(d->device, '\0', sizeof d->device),
		 "names end, and a transport has one");
	property(is_figure(d->bandwidth) && is_figure(d->latency_ns) && is_figure(d->overhead_ns),
		 "figures are finite, and not negative");
	property(d->domain <= UCX_BY_DEVICE && d->atomics32 <= UCX_ALL_ATOMICS &&
		     d->atomics64 <= UCX_ALL_ATOMICS,
		 "domain and operations are known ones");
}

static int print(const struct ucx_device *d, char *text)
{
	int at = sprintf(text, "# Memory domain: x\n# Transport: %s\n#  Device: %s\n", d->transport,
			 d->device);

	/* The loopback interface is of that type, too, where the type is not known. */
	if (!d->network || strcmp(d->device, "lo") != 0)
		at += sprintf(text + at, "# Type: %s\n", d->network ? "network" : "loopback");
	at += sprintf(text + at, "# bandwidth: %.17g/ppn + 0.00 MB/sec\n# latency: %.17g nsec\n",
		      d->bandwidth, d->latency_ns);
	at += sprintf(text + at, "# overhead: %.17g nsec\n# device priority: %d\n", d->overhead_ns,
		      d->priority);
	if (d->domain != UCX_NO_ATOMICS)
		at += sprintf(text + at, "# domain: %s\n",
			      d->domain == UCX_BY_DEVICE ? "device" : "cpu");
	for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++)
		at +=
		    sprintf(text + at, "# atomic_%s: %s %s bit\n", atomics[i],
			    d->atomics32 >> i & 1 ? "32," : "", d->atomics64 >> i & 1 ? "64" : "");
	return at;
}

/* A name that was cut at a blank is read without it. */
static bool ends_well(const char *name)
{
	return !name[0] || !isspace((unsigned char)name[strlen(name) - 1]);
}

static void check_printed(int n)
{
	char *text = calloc((size_t)n + 1, PRINTED);
	bool good = true;
	int at = 0;

	property(text, "there is memory");
	for (int i = 0; i < n; i++) {
		good = good && ends_well(devices[i].transport) && ends_well(devices[i].device);
		at += print(&devices[i], text + at);
	}
	if (good)
		property(ucx_parse(text, others, UCX_MAX_DEVICES) == n && same(devices, others, n),
			 "devices that are printed are read as they are");
	free(text);
}

static void check_returns(const char *text, int n)
{
	char *other = calloc(2 * strlen(text) + 1, 1), *to = other;
	bool cut = false;

	property(other, "there is memory");
	for (const char *c = text, *line = text; *c; c++) {
		if (*c == '\n') {
			*to++ = '\r';
			line = c + 1;
		}
		/* Of a line so long a part is read. */
		cut = cut || c - line >= 254;
		*to++ = *c;
	}
	if (!cut)
		property(ucx_parse(other, others, UCX_MAX_DEVICES) == n && same(devices, others, n),
			 "carriage returns do not matter");
	free(other);
}

static void check_choice(int n, const struct ucx_environment *env)
{
	struct ucx_choice both = ucx_choose(devices, n, env, true);
	struct ucx_choice one = ucx_choose(devices, n, env, false);
	const struct ucx_device *d;

	property(one.device >= -1 && one.device < n && both.device >= -1 && both.device < n,
		 "the choice is one of the devices, or none");
	property(one.why[0] && memchr(one.why, '\0', sizeof one.why), "there is a sentence");
	property(!both.offloaded || one.offloaded, "all of both widths are all of one");
	property((one.device < 0) == (both.device < 0), "there is a device for both, or for none");
	if (one.device < 0)
		return;
	d = &devices[one.device];
	property(d->network, "the choice is a network");
	property(!one.offloaded || (d->domain == UCX_BY_DEVICE && d->atomics64 == UCX_ALL_ATOMICS),
		 "what is left to a device, it can do");
	property(!one.offloaded || !env->atomic_mode || strcmp(env->atomic_mode, "cpu") != 0,
		 "mode cpu leaves nothing to devices");
	if (env->tls || env->net_devices)
		return;
	for (int i = 0; i < n; i++)
		property(one.offloaded || !devices[i].network ||
			     devices[i].latency_ns + devices[i].overhead_ns >=
				 d->latency_ns + d->overhead_ns,
			 "no network costs less than the choice");
}

/* The next line of the text as a variable. */
static char *variable(char **text)
{
	char *line = *text;
	size_t len = strcspn(line, "\n");

	if (line[0] == '#')
		return NULL;
	*text += len + (line[len] == '\n');
	line[len] = '\0';
	return len ? line : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *at = text;
	struct ucx_environment env = {.tls = variable(&at)};
	int n;

	env.net_devices = variable(&at);
	env.atomic_mode = variable(&at);
	memset(devices, 0, sizeof devices);
	n = ucx_parse(at, devices, UCX_MAX_DEVICES);
	property(n >= 0 && n <= UCX_MAX_DEVICES, "there are at most so many devices");
	for (int i = 0; i < n; i++)
		check_device(&devices[i]);
	property(ucx_parse(at, others, FEW) == (n < FEW ? n : FEW) &&
		     same(devices, others, n < FEW ? n : FEW - 1),
		 "fewer devices are the first of more");
	check_returns(at, n);
	check_printed(n);
	check_choice(n, &env);
	free(text);
	return 0;
}
