/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that is left, from files such as those of the kernel. */
#include "rma/memory/memory.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/pawl-memory-XXXXXX";

/* Create a file below root, with the folders above it. */
static void put(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		exit(2);
}

static void expect(uint64_t wanted, const char *name)
{
	uint64_t got = memory_available(root);

	ok(got == wanted, "%s # %llu, wanted %llu", name, (unsigned long long)got,
	   (unsigned long long)wanted);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 2;
	expect(MEMORY_UNKNOWN, "no files: unknown");
	put("proc/meminfo", "MemTotal:  900 kB\nMemAvailable:     800 kB\nSwapFree:   100 kB\n");
	expect(900 * 1024, "what the kernel calls available, and swap");
	put("proc/self/cgroup", "0::/job/step\n");
	put("sys/fs/cgroup/job/step/memory.max", "max\n");
	put("sys/fs/cgroup/job/step/memory.current", "5000\n");
	expect(900 * 1024, "version 2, no limit");
	put("sys/fs/cgroup/job/memory.max", "600000\n");
	put("sys/fs/cgroup/job/memory.current", "500000\n");
	put("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 20000\nactive_file 3000\n");
	expect(123000, "version 2, the limit of the group above, without the file cache");
	put("sys/fs/cgroup/job/step/memory.max", "6000\n");
	expect(1000, "version 2, a narrower one below");
	put("sys/fs/cgroup/job/step/memory.current", "7000\n");
	expect(0, "version 2, more than the limit in use");
	put("proc/self/cgroup", "0::/\n");
	put("sys/fs/cgroup/memory.max", "700\n");
	put("sys/fs/cgroup/memory.current", "300\n");
	expect(400, "version 2, in a container");
	put("proc/self/cgroup", "3:cpu,cpuacct:/\n2:memory:/docker/x\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "80000\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "50000\n");
	put("sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 10000\n");
	expect(40000, "version 1, in a container that does not see its own path");
	snprintf(command, sizeof command, "rm -rf %s", root);
	if (system(command) != 0)
		return 2;
	return tap_plan();
}
