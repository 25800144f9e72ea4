/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a time line: its events, and files that cannot be written. Prints TAP. */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/trace.h"
#include "tests/tap.h"

enum { TEXT = 1 << 14 };

static char path[40], text[TEXT];

const char *pawl_strerror(int code)
{
	return code == PAWL_ERR_TIMEOUT ? "timeout" : "?";
}

static void read_text(void)
{
	char command[80];
	FILE *f;
	size_t n;

	/* -f: what is not compressed is copied */
	snprintf(command, sizeof command, "exec gzip -dcf <%s", path);
	f = popen(command, "r");
	n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	text[n] = '\0';
	if (f && pclose(f) != 0)
		text[0] = '\0';
}

static bool has(const char *part)
{
	read_text();
	if (strstr(text, part))
		return true;
	printf("# no %s in %s\n", part, text);
	return false;
}

/* Two ranks: a hold, an acquire of the same lock that failed, a hold that waited for the first one,
 * an acquire that failed, and one that did not end. */
static struct trace_record records[] = {
    {.begin_ns = 1000, .acquired_ns = 1000, .release_ns = 3000, .released_ns = 3100, .from = -1},
    {.begin_ns = 1500,
     .acquired_ns = 1600,
     .release_ns = 3150,
     .code = PAWL_ERR_TIMEOUT,
     .from = -1},
    {.begin_ns = 2000,
     .acquired_ns = 3200,
     .release_ns = 4000,
     .released_ns = 4100,
     .rank = 1,
     .from = 0,
     .mode = PAWL_EXCLUSIVE,
     .waited = 1,
     .first = 5,
     .last = 8},
    {.begin_ns = 5000, .acquired_ns = 6000, .lock = 1, .code = PAWL_ERR_TIMEOUT, .from = -1},
    {.begin_ns = 7000, .acquired_ns = 7000, .released_ns = 9000, .lock = 2, .unfinished = 1},
};

static struct trace_rank ranks[2];
static struct trace_site site = {.address = &site, .rank = 1, .text = "a\tb \"c\" \\d"};

static struct trace_all table(void)
{
	records[2].site = records[2].release_site = &site;
	for (int r = 0; r < 2; r++)
		ranks[r] =
		    (struct trace_rank){.world = r, .number = r, .thread = 100000, .host = "h"};
	return (struct trace_all){.about = "k, 3 spaces",
				  .number = 1,
				  .ranges = true,
				  .ranks = 2,
				  .rank = ranks,
				  .record = records,
				  .n = sizeof records / sizeof *records,
				  .site = &site,
				  .sites = 1};
}

/* Two tables, with a limit. */
static void write_two(struct trace_all *t, const char *name, char copy[TEXT])
{
	struct trace_record copies[sizeof records / sizeof *records];
	struct trace_all t2;

	snprintf(path, sizeof path, "trace_file.%d.%s", (int)getpid(), name);
	*t = table();
	t2 = *t;
	t2.number = 2;
	t2.record = memcpy(copies, records, sizeof copies);
	t->limit = t2.limit = 1 << 12;
	ok(trace_file_create(path) && trace_file_add(path, t) && trace_file_add(path, &t2), "%s",
	   name);
	ok(ranks[0].lost + ranks[1].lost > 0, "the limit is that of the text");
	read_text();
	memcpy(copy, text, TEXT);
}

/* The same text, and a file that stays as it is if gzip cannot be started. */
static void compressed(void)
{
	static char plain[TEXT], packed[TEXT];
	struct trace_all t;
	char *end, *unset;
	bool added;

	write_two(&t, "json", plain);
	unlink(path);
	write_two(&t, "json.gz", packed);
	end = strstr(plain, "\n]}");
	ok(end && strncmp(plain, packed, (size_t)(end - plain)) == 0 &&
	       strstr(packed, "\n], \"pawlBytes\": ") == packed + (end - plain) &&
	       atoi(strrchr(packed, ':') + 1) == (int)(end - plain),
	   "a compressed file has the same text");
	unset = strdup(getenv("PATH"));
	setenv("PATH", "/nowhere", 1);
	added = trace_file_add(path, &t);
	setenv("PATH", unset, 1);
	free(unset);
	ok(!added && has(packed), "without gzip it stays as it was");
	unlink(path);
}

int main(void)
{
	struct trace_all t = table();

	snprintf(path, sizeof path, "trace_file.%d.tmp", (int)getpid());
	ok(trace_file_create(path) && has("\"traceEvents\""), "a file begins");
	ok(trace_file_add(path, &t), "a table");
	ok(has("\"first\": 5, \"last\": 8"), "the units of a range");
	ok(has("\"site\": \"a\\u0009b \\\"c\\\" \\\\d\""), "a call site, with escapes");
	ok(has("\"result\": \"timeout\""), "an acquire that failed");
	ok(has("\"result\": \"unfinished\""), "one that did not end");
	ok(has("\"ph\": \"s\"") && has("\"ph\": \"f\""), "a hand-over");
	ok(has("\"cat\": \"hand-over\", \"pid\": 0, \"tid\": 100000, \"ts\": 3.000"),
	   "it begins at the release of the hold");
	ok(!strstr(text, "\"failure\""), "no failure");
	t.failure = "two holders";
	t.failure_ns = 8000;
	t.number = 2;
	ok(trace_file_add(path, &t) && has("\"cat\": \"failure\"") && has("two holders"),
	   "the failure of a run");
	ok(strcmp(text + strlen(text) - 4, "\n]}\n") == 0 &&
	       strstr(text, "]}") == text + strlen(text) - 3,
	   "one end, after two tables");
	unlink(path);
	ok(trace_file_add(path, &t) && has("\"traceEvents\""), "a file that was removed");
	unlink(path);
	compressed();
	ok(!trace_file_create("/dev/full"), "a file without room does not begin");
	ok(!trace_file_create("/nowhere/x") && !trace_file_add("/nowhere/x", &t), "no folder");
	ok(!trace_file_add("/dev/full", &t), "no room for a table");
	return tap_plan();
}
