/* SPDX-License-Identifier: BSD-3-Clause */
/* See ucx_devices.h. Formats of UCX 1.6 to 1.18, whose lines differ in blanks, in the
 * order of "Transport" and "Device", and in what they add. */
#include "ucx_devices.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256 };

/* ---------------------------------------------------------------- the text */

static const struct {
	const char *key;
	unsigned bit;
} atomics[] = {
    {"atomic_add", UCX_ADD},     {"atomic_and", UCX_AND},   {"atomic_or", UCX_OR},
    {"atomic_xor", UCX_XOR},     {"atomic_fadd", UCX_FADD}, {"atomic_fand", UCX_FAND},
    {"atomic_for", UCX_FOR},     {"atomic_fxor", UCX_FXOR}, {"atomic_swap", UCX_SWAP},
    {"atomic_cswap", UCX_CSWAP},
};
enum { ATOMICS = sizeof atomics / sizeof atomics[0] };

/* Where a line is "# KEY: VALUE", with blanks anywhere: cut into both. */
static bool split(char *line, char **key, char **value)
{
	char *colon, *end;

	line += strspn(line, "# \t");
	colon = strchr(line, ':');
	if (!colon)
		return false;
	*colon = '\0';
	*key = line;
	*value = colon + 1 + strspn(colon + 1, " \t");
	end = *value + strlen(*value);
	while (end > *value && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return true;
}

/* What is no finite number from 0 on says nothing. */
static double known(double figure)
{
	return isfinite(figure) && figure > 0 ? figure : 0;
}

/* "45747.33/ppn + 0.00 MB/sec": the sum of the two. */
static double bandwidth_of(const char *value)
{
	const char *plus = strstr(value, " + ");

	return known(strtod(value, NULL) + (plus ? strtod(plus + 3, NULL) : 0));
}

/* Older versions of UCX do not say which devices are networks. */
static bool looks_like_network(const char *transport)
{
	static const char *const inside[] = {"self", "posix", "sysv", "mm",       "cma",
					     "knem", "xpmem", "cuda", "gdr_copy", "rocm"};

	for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
		if (strncmp(transport, inside[i], strlen(inside[i])) == 0)
			return false;
	return true;
}

static void read_atomics(struct ucx_device *d, const char *key, const char *value)
{
	for (int i = 0; i < ATOMICS; i++) {
		if (strcmp(key, atomics[i].key) != 0)
			continue;
		if (strstr(value, "64"))
			d->atomics64 |= atomics[i].bit;
		if (strstr(value, "32"))
			d->atomics32 |= atomics[i].bit;
	}
}

static void read_field(struct ucx_device *d, const char *key, const char *value)
{
	if (strcmp(key, "Type") == 0)
		/* The loopback interface is of type network, too, and reaches no other host. */
		d->network = strcmp(value, "network") == 0 && strcmp(d->device, "lo") != 0;
	else if (strcmp(key, "bandwidth") == 0)
		d->bandwidth = bandwidth_of(value);
	else if (strcmp(key, "latency") == 0)
		d->latency_ns = known(strtod(value, NULL));
	else if (strcmp(key, "overhead") == 0)
		d->overhead_ns = known(strtod(value, NULL));
	else if (strcmp(key, "device priority") == 0 || strcmp(key, "priority") == 0)
		d->priority = atoi(value);
	else if (strcmp(key, "domain") == 0)
		d->domain = strcmp(value, "device") == 0 ? UCX_BY_DEVICE : UCX_BY_CPU;
	else
		read_atomics(d, key, value);
}

int ucx_parse(const char *text, struct ucx_device *devices, int max)
{
	char line[LINE], transport[sizeof devices->transport] = "", *key, *value;
	int n = 0;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");

		snprintf(line, sizeof line, "%.*s", (int)len, p);
		p += len + (p[len] == '\n');
		if (!split(line, &key, &value))
			continue;
		if (strcmp(key, "Memory domain") == 0) {
			transport[0] = '\0';
		} else if (strcmp(key, "Transport") == 0) {
			snprintf(transport, sizeof transport, "%s", value);
		} else if (strcmp(key, "Device") == 0 && transport[0]) {
			struct ucx_device *d = &devices[n];

			if (n == max)
				return n;
			n++;
			memset(d, 0, sizeof *d);
			snprintf(d->transport, sizeof d->transport, "%s", transport);
			snprintf(d->device, sizeof d->device, "%s", value);
			d->network = looks_like_network(transport);
		} else if (n > 0 && transport[0]) {
			read_field(&devices[n - 1], key, value);
		}
	}
	return n;
}

/* ------------------------------------------------------------- what is allowed */

/* Short names of UCX_TLS. */
static const struct {
	const char *alias, *transport;
} aliases[] = {
    {"ib", "rc_verbs"},  {"ib", "rc_mlx5"},    {"ib", "dc_mlx5"},   {"ib", "ud_verbs"},
    {"ib", "ud_mlx5"},   {"rc", "rc_verbs"},   {"rc", "rc_mlx5"},   {"rc_v", "rc_verbs"},
    {"rc_x", "rc_mlx5"}, {"dc", "dc_mlx5"},    {"dc_x", "dc_mlx5"}, {"ud", "ud_verbs"},
    {"ud", "ud_mlx5"},   {"ud_v", "ud_verbs"}, {"ud_x", "ud_mlx5"},
};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

static bool is_named(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && strncmp(word, name, len) == 0;
}

static bool means(const char *word, size_t len, const char *transport)
{
	if (is_named(word, len, "all") || is_named(word, len, transport))
		return true;
	for (int i = 0; i < ALIASES; i++)
		if (is_named(word, len, aliases[i].alias) &&
		    strcmp(aliases[i].transport, transport) == 0)
			return true;
	return false;
}

/* Whether a list "a,b" has it, or a list "^a,b" has it not. */
static bool allows(const char *list, const char *name)
{
	bool negated = list && list[0] == '^', found = false;

	if (!list || !list[0])
		return true;
	for (const char *p = list + negated; *p;) {
		size_t len = strcspn(p, ",");

		/* "\name" is a name without its aliases, "name:aux" one for wireup only. */
		if (p[0] == '\\')
			found = found || is_named(p + 1, len - 1, name);
		else
			found = found || means(p, len, name);
		p += len;
		p += *p == ',';
	}
	return found != negated;
}

static bool is_usable(const struct ucx_device *d, const struct ucx_environment *env)
{
	return allows(env->tls, d->transport) &&
	       (!d->network || allows(env->net_devices, d->device));
}

/* ---------------------------------------------------------------- the choice */

static bool has_all(const struct ucx_device *d, bool both_widths)
{
	return d->domain == UCX_BY_DEVICE && d->atomics64 == UCX_ALL_ATOMICS &&
	       (!both_widths || d->atomics32 == UCX_ALL_ATOMICS);
}

static double cost_of(const struct ucx_device *d)
{
	return d->latency_ns + d->overhead_ns;
}

static bool is_better(const struct ucx_device *a, const struct ucx_device *b)
{
	return cost_of(a) != cost_of(b) ? cost_of(a) < cost_of(b) : a->priority > b->priority;
}

/* The best of the network devices that are allowed; only those that offload, if so asked. */
static int best(const struct ucx_device *devices, int n, const struct ucx_environment *env,
		bool offloading, bool both_widths)
{
	int found = -1;

	for (int i = 0; i < n; i++) {
		const struct ucx_device *d = &devices[i];

		if (!d->network || !is_usable(d, env) || (offloading && !has_all(d, both_widths)))
			continue;
		if (found < 0 || is_better(d, &devices[found]))
			found = i;
	}
	return found;
}

/* A device that has atomics, but not all that UCX wants; -1: none. */
static int incomplete(const struct ucx_device *devices, int n, const struct ucx_environment *env)
{
	for (int i = 0; i < n; i++)
		if (devices[i].network && is_usable(&devices[i], env) &&
		    devices[i].domain == UCX_BY_DEVICE)
			return i;
	return -1;
}

struct ucx_choice ucx_choose(const struct ucx_device *devices, int n,
			     const struct ucx_environment *env, bool both_widths)
{
	const char *mode = env->atomic_mode && env->atomic_mode[0] ? env->atomic_mode : "guess";
	struct ucx_choice c = {.device = best(devices, n, env, true, both_widths)};
	int part = incomplete(devices, n, env);

	if (strcmp(mode, "cpu") != 0 && c.device >= 0) {
		c.offloaded = true;
		snprintf(c.why, sizeof c.why, "%s on %s has all 64-bit atomics",
			 devices[c.device].transport, devices[c.device].device);
		return c;
	}
	c.device = best(devices, n, env, false, both_widths);
	if (c.device < 0)
		snprintf(c.why, sizeof c.why, "no network device is allowed");
	else if (strcmp(mode, "cpu") == 0)
		snprintf(c.why, sizeof c.why,
			 "UCX_ATOMIC_MODE=cpu leaves atomics to the target's CPU");
	else if (part >= 0)
		snprintf(c.why, sizeof c.why,
			 "%s on %s lacks some atomics (%s), and UCX takes all or none",
			 devices[part].transport, devices[part].device,
			 (devices[part].atomics64 & UCX_SWAP) ? "of 32 bits" : "such as swap");
	else
		snprintf(c.why, sizeof c.why, "%s on %s has no atomics",
			 devices[c.device].transport, devices[c.device].device);
	return c;
}
