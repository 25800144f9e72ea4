/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See memory.h. Pages of the file cache count towards the limit of a control group, but the kernel
 * drops them when memory is short, so they are taken as free. Pages of shared memory are not.
 */
#include "rma/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096, LINE = 4352 };

/* The number after a word at the start of a line; 0 if there is none. */
static uint64_t field(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	uint64_t value = 0;
	char line[LINE];

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, word, strlen(word)) == 0)
			value = strtoull(line + strlen(word), NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* A file that holds one number. MEMORY_UNKNOWN if there is no such file, or no limit ("max"). */
static uint64_t number(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long value;
	uint64_t result = MEMORY_UNKNOWN;

	if (f && fscanf(f, "%llu", &value) == 1)
		result = value;
	if (f)
		fclose(f);
	return result;
}

static uint64_t host_available(const char *root)
{
	enum { KIB = 1024 };
	char path[PATH];
	uint64_t kib;

	snprintf(path, sizeof path, "%s/proc/meminfo", root);
	kib = field(path, "MemAvailable:");
	return kib ? (kib + field(path, "SwapFree:")) * KIB : MEMORY_UNKNOWN;
}

struct hierarchy {
	const char *folder, *limit, *used, *cache[2];
};

static const struct hierarchy version1 = {
    "/sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    {"total_inactive_file ", "total_active_file "},
};
static const struct hierarchy version2 = {
    "/sys/fs/cgroup",
    "memory.max",
    "memory.current",
    {"inactive_file ", "active_file "},
};

static uint64_t group_available(const char *root, const struct hierarchy *h, const char *group)
{
	char path[PATH];
	uint64_t limit, used, cache;

	snprintf(path, sizeof path, "%s%s%s/%s", root, h->folder, group, h->limit);
	limit = number(path);
	snprintf(path, sizeof path, "%s%s%s/%s", root, h->folder, group, h->used);
	used = number(path);
	if (limit == MEMORY_UNKNOWN || used == MEMORY_UNKNOWN)
		return MEMORY_UNKNOWN;
	snprintf(path, sizeof path, "%s%s%s/memory.stat", root, h->folder, group);
	cache = field(path, h->cache[0]) + field(path, h->cache[1]);
	used = used > cache ? used - cache : 0;
	return limit > used ? limit - used : 0;
}

/* The least over a group and all groups above it. */
static uint64_t groups_available(const char *root, const struct hierarchy *h, char *group)
{
	uint64_t least = MEMORY_UNKNOWN, here;
	char *slash;

	do {
		if (strcmp(group, "/") == 0)
			group[0] = '\0';
		here = group_available(root, h, group);
		least = here < least ? here : least;
		slash = strrchr(group, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return least;
}

uint64_t memory_available(const char *root)
{
	uint64_t least = host_available(root), here;
	char path[PATH], line[LINE];
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	f = fopen(path, "r");
	/* NUMBER:CONTROLLERS:GROUP */
	while (f && fgets(line, sizeof line, f)) {
		char *controllers = strchr(line, ':'), *group = NULL;

		line[strcspn(line, "\n")] = '\0';
		if (controllers)
			group = strchr(++controllers, ':');
		if (!group)
			continue;
		*group++ = '\0';
		if (!*controllers)
			here = groups_available(root, &version2, group);
		else if (strcmp(controllers, "memory") == 0)
			here = groups_available(root, &version1, group);
		else
			continue;
		least = here < least ? here : least;
	}
	if (f)
		fclose(f);
	return least;
}
