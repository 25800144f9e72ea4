/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites as text: function, file and line by the debug information of the program, which
 * addr2line (binutils) reads. Without addr2line or debug information: module and offset.
 * All sites of a module are asked for at once.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "observe/tallies.h"

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct site *s = arg;
	uintptr_t at = (uintptr_t)s->address - 1; /* the call, not what follows it */

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		ssize_t len;

		if (p->p_type != PT_LOAD || at - begin >= p->p_memsz)
			continue;
		s->offset = at - info->dlpi_addr;
		if (info->dlpi_name[0]) {
			snprintf(s->module, sizeof s->module, "%s", info->dlpi_name);
			return 1;
		}
		len = readlink("/proc/self/exe", s->module, sizeof s->module - 1);
		s->module[len > 0 ? len : 0] = '\0';
		return 1;
	}
	return 0;
}

void sites_locate(struct site *s)
{
	s->offset = (uintptr_t)s->address;
	memset(s->module, 0, sizeof s->module);
	dl_iterate_phdr(find_module, s);
}

static void describe_offset(const struct site *s, char *text)
{
	const char *base = strrchr(s->module, '/');

	if (s->offset)
		snprintf(text, SITE_TEXT, "%s+0x%llx", base ? base + 1 : s->module,
			 (unsigned long long)s->offset);
	else
		snprintf(text, SITE_TEXT, "%s", s->module);
}

/* ------------------------------------------------------------------ addr2line */

enum { ADDRESS = 24, FIXED_ARGUMENTS = 5 };

static bool read_line(FILE *in, char *line, int len)
{
	if (!fgets(line, len, in))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* After an address come pairs of lines, function and place, the innermost inlined function first,
 * until the next address. The functions of pawl.hpp are inlined into the program's. */
static void read_answers(FILE *in, char (*text)[SITE_TEXT], const int *which)
{
	char function[160], place[1024];
	int at = -1;
	bool done = true;

	while (read_line(in, function, sizeof function)) {
		const char *base;

		if (strncmp(function, "0x", 2) == 0) {
			at++;
			done = false;
			continue;
		}
		if (!read_line(in, place, sizeof place))
			return;
		base = strrchr(place, '/');
		base = base ? base + 1 : place;
		place[strcspn(place, " ")] = '\0';
		if (done || base[0] == '?' || strncmp(base, "pawl.hpp:", 9) == 0)
			continue;
		snprintf(text[which[at]], SITE_TEXT, "%s at %.150s", function, base);
		done = true;
	}
}

/* Ask for all sites of one module. */
static void ask(const struct site *sites, const int *which, int n, char (*text)[SITE_TEXT])
{
	char name[sizeof sites->module], addresses[TALLY_SITES][ADDRESS];
	char program[] = "addr2line", flags[] = "-afiC", exe[] = "-e";
	char *arguments[TALLY_SITES + FIXED_ARGUMENTS] = {program, flags, exe, name};
	pid_t child;
	FILE *in;

	memcpy(name, sites[which[0]].module, sizeof name);
	for (int i = 0; i < n; i++) {
		snprintf(addresses[i], ADDRESS, "0x%llx",
			 (unsigned long long)sites[which[i]].offset);
		arguments[FIXED_ARGUMENTS - 1 + i] = addresses[i];
	}
	in = child_start(arguments, &child);
	if (!in)
		return;
	read_answers(in, text, which);
	fclose(in);
	child_await(child);
}

void sites_resolve(const struct site *sites, int n, char (*text)[SITE_TEXT])
{
	bool asked[TALLY_SITES] = {false};

	for (int i = 0; i < n; i++)
		describe_offset(&sites[i], text[i]);
	for (int i = 0; i < n; i++) {
		int which[TALLY_SITES], many = 0;

		for (int j = i; j < n; j++)
			if (!asked[j] && sites[j].offset && sites[j].module[0] == '/' &&
			    strcmp(sites[i].module, sites[j].module) == 0) {
				which[many++] = j;
				asked[j] = true;
			}
		if (many)
			ask(sites, which, many, text);
	}
}
