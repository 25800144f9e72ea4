/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of pawl-bench, pawl-sim and pawl-tune, each in one row: name, value, range, help, and
 * the programs that have it.
 */
#include <string.h>

#include "benchmarks/harness/bench.h"
#include "benchmarks/workloads/citron/ranges.h"
#include "benchmarks/workloads/shiftlock/txn.h"
#include "cli.h"

#define BENCH FOR_BENCH
#define SIM FOR_SIM
#define TUNE FOR_TUNE
#define PACE_MOST 1000000000
#define AT(member) .offset = offsetof(struct settings, member)

static bool set_locks(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;

	s->locks = value;
	return check_locks(row->name, value);
}

static bool set_reference(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;

	s->reference = value;
	s->own_reference = true;
	return check_locks(row->name, value);
}

static bool set_benches(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;

	(void)row;
	s->benches = value;
	return check_benches(value);
}

static bool set_machine(void *settings, const struct cli_row *row, const char *value)
{
	(void)row;
	((struct settings *)settings)->machine = value;
	return true;
}

static bool set_lock_option(void *settings, const struct cli_row *row, const char *value)
{
	(void)row;
	return add_lock_option(settings, value);
}

/* Units, or 0 for "mixed". */
static bool set_length(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;
	char rest[200];

	s->length = 0;
	if (strcmp(value, "mixed") == 0 || cli_count(row, value, &s->length))
		return true;
	snprintf(rest, sizeof rest, "%s", cli_error());
	return cli_wrong("%s, and not \"mixed\"", rest);
}

static bool set_no_verify(void *settings, const struct cli_row *row, const char *value)
{
	(void)row;
	(void)value;
	((struct settings *)settings)->verify = 0;
	return true;
}

static bool set_json(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;

	(void)row;
	s->json = true;
	s->json_file = value;
	return true;
}

/* clang-format off */
static const struct cli_row rows[] = {
	{CLI_PLACE, TUNE, .name = "MACHINE", .call = set_machine},
	{CLI_PLACE, TUNE, .name = "WORKLOAD", .call = set_benches},

	{CLI_HEADING, BENCH, .help = "What is measured"},
	{CLI_HEADING, SIM, .help = "What is simulated"},
	{CLI_HEADING, TUNE, .help = "What is searched"},
	{CLI_FLAG, BENCH, "list", AT(list), .help = "list locks and workloads"},
	{CLI_FLAG, SIM, "list", AT(list), .help = "list locks, workloads and machines"},
	{CLI_TEXT, SIM, "machine", .argument = "NAME", AT(machine),
	 .help = "the machine; a file, if NAME has a \"/\""},
	{CLI_TEXT, SIM | TUNE, "machines", .argument = "DIR", AT(machines),
	 .help = "the folder with the files of machines"},
	{CLI_INT, SIM | TUNE, "ranks", .argument = "P", AT(ranks), .least = 1, .most = 1048576,
	 .help = "virtual ranks (default: the machine's)"},
	{CLI_CALL, BENCH, "lock", .argument = "A,B,...", .call = set_locks,
	 .help = "the locks to measure (default: those of libpawl, and mpi-win-lock)"},
	{CLI_FLAG, BENCH, "baselines", AT(baselines),
	 .help = "by default measure the locks of other papers, too: all of --list"},
	{CLI_CALL, SIM, "lock", .argument = "A,B,...", .call = set_locks,
	 .help = "the locks to measure (default: all)"},
	{CLI_CALL, TUNE, "lock", .argument = "NAME", .call = set_locks,
	 .help = "the lock (default: adaptive)"},
	{CLI_CHOICE, TUNE, "goal", .argument = "GOAL", AT(goal),
	 .words = "throughput, p99, slowest",
	 .help = "throughput: most acquires a second (default); p99: the shortest 99th percentile "
		 "of the latency; slowest: the best slowest rank"},
	{CLI_REAL, TUNE, "fairness", .argument = "F", AT(fairness), .low = 0, .high = 1,
	 .help = "Jain's index must be at least this, 0 to 1 (default: 0)"},
	{CLI_CALL, BENCH | SIM, "bench", .argument = "A,B,...", .call = set_benches,
	 .help = "the workloads to run (default: ecsb)"},
	{CLI_REAL, 0, "fw", .argument = "PERCENT", AT(fw), .low = 0, .high = 100,
	 .help = "acquires that are exclusive, drawn at random (default: 100; micro: 50; bank: 85); "
		 "locks that readers cannot share are always exclusive; for dht: operations that "
		 "insert"},
	{CLI_COUNT, 0, "locks", .argument = "N", AT(n), .least = 1, .most = 4000000000,
	 .help = "locks in the table (default: 1; locktable: 1000; micro: 100000; tatp: 680236; "
		 "tpcc: 60490; bank: 1000000)"},
	{CLI_REAL, 0, "zipf", .argument = "S", AT(zipf), .low = 0, .high = 10,
	 .help = "exponent of Zipf's law for locks, or for the first units of ranges; 0: uniform "
		 "(default; range, abort: 0.9)"},
	{CLI_REAL, 0, "locality", .argument = "PERCENT", AT(locality), .low = 0, .high = 100,
	 .help = "locktable: acquires of locks of the client's own node (default: 95)"},
	{CLI_COUNT, 0, "section", .argument = "NS", AT(pace.section), .least = 0, .most = PACE_MOST,
	 .help = "ecsb, sob, wcsb, warb, locktable, micro: time in the critical section, drawn from "
		 "half to one and a half of it (default: 0)"},
	{CLI_COUNT, 0, "think", .argument = "NS", AT(pace.think), .least = 0, .most = PACE_MOST,
	 .help = "the same workloads: time after each release, drawn likewise (default: 0)"},
	{CLI_COUNT, 0, "burst", .argument = "N", AT(pace.burst), .least = 1, .most = 1000000,
	 .help = "the same workloads: --rest follows one of N releases, drawn at random"},
	{CLI_COUNT, 0, "rest", .argument = "NS", AT(pace.rest), .least = 0, .most = PACE_MOST,
	 .help = "time between bursts, drawn likewise"},
	{CLI_REAL, BENCH, "fail", .argument = "P", AT(fail), .low = 0, .high = 0.5,
	 .help = "micro: abandon the lock with this probability instead of releasing it; for locks "
		 "that recover"},
	{CLI_REAL, SIM | TUNE, "fail", .argument = "P", AT(fail), .low = 0, .high = 0.5,
	 .help = "micro: with this probability a client abandons a lock instead of releasing it, "
		 "and goes on as another (default: 0)"},
	{CLI_COUNT, BENCH | SIM, "subscribers", .argument = "N", AT(subscribers), .least = 1,
	 .most = 100000000, .help = "tatp: subscribers (default: 100000)"},
	{CLI_COUNT, BENCH | SIM, "warehouses", .argument = "N", AT(warehouses), .least = 1, .most = 10000,
	 .help = "tpcc: warehouses of each node (default: 100)"},
	{CLI_COUNT, 0, "space", .argument = "UNITS", AT(space), .least = 1, .most = UINT64_C(1) << 40,
	 .help = "units of each space (default: 268435456; range-grow: 1024 at first)"},
	{CLI_CALL, BENCH, "length", .argument = "UNITS", .call = set_length, .least = 1,
	 .most = UINT64_C(1) << 40,
	 .help = "range, abort: length of the ranges; mixed: 1, 16 and 256 (default)"},
	{CLI_CALL, SIM | TUNE, "length", .argument = "UNITS", .call = set_length, .least = 1,
	 .most = UINT64_C(1) << 40,
	 .help = "range: length of the ranges; mixed: a third of the clients each uses 1, 16 and 256 "
		 "(default)"},
	{CLI_COUNT, BENCH | SIM, "grid", .argument = "N", AT(grid), .least = 1, .most = 512,
	 .help = "btio: points along a side of the grid (default: 64)"},
	{CLI_COUNT, BENCH | SIM, "file", .argument = "BYTES", AT(file), .least = OLTP_LOG_BYTES,
	 .most = 1 << 30, .help = "oltp: size of each of 11 files (default: 10485760)"},
	{CLI_CHOICE, SIM | TUNE, "homes", .argument = "WHERE", AT(homes), .words = "all, first-node",
	 .help = "all: locks live at all ranks (default); first-node: at the ranks of the first "
		 "node, a lock server"},
	{CLI_TEXT, SIM | TUNE, "platform", .argument = "FILE", AT(platform),
	 .help = "the network between nodes: a platform of SimGrid (default: that of the machine)"},
	{CLI_INT, 0, "active", .argument = "K", AT(active), .least = 1, .most = 1000000,
	 .help = "K ranks acquire, the others wait; 1: uncontended (default: all)"},
	{CLI_CHOICE, 0, "active-on", .argument = "WHERE", AT(active_on), .words = "home, remote",
	 .help = "home: active ranks are on the node where lock 0 lives (default); remote: on other "
		 "nodes"},
	{CLI_CALL, BENCH, "option", 'o', "NAME=VALUE", .call = set_lock_option,
	 .help = "an option of the library, see pawl(3), for the locks that take it; a note on "
		 "stderr says which do not; may be repeated"},
	{CLI_CALL, SIM | TUNE, "option", 'o', "NAME=VALUE", .call = set_lock_option,
	 .help = "an option of the library, see pawl(3), for the locks that take it; a note on "
		 "stderr says which do not; of those that all kinds take, distribution and topology; "
		 "may be repeated"},

	{CLI_HEADING, BENCH, .help = "How long"},
	{CLI_HEADING, SIM | TUNE, .help = "How long, in virtual time, after a warm-up of a tenth"},
	{CLI_SECONDS, BENCH, "seconds", .argument = "S", AT(seconds), .low = 0.001, .high = 3600,
	 .help = "time for each lock and repetition (default: 1)"},
	{CLI_COUNT, BENCH, "iterations", .argument = "N", AT(iterations), .least = 1,
	 .most = 1000000000000,
	 .help = "acquires of each rank, in place of a time (dht always: default 100000, or 2000 "
		 "over several nodes, but no longer than 2 S)"},
	{CLI_COUNT, SIM | TUNE, "iterations", .argument = "N", AT(iterations), .least = 1,
	 .most = 1000000000000,
	 .help = "acquires for each active rank (default: 20, but at least 20000 altogether)"},
	{CLI_SECONDS, SIM | TUNE, "seconds", .argument = "S", AT(seconds), .low = 1e-6, .high = 3600,
	 .help = "virtual time, in place of a number of acquires (not dht); with both, until both "
		 "are reached"},
	{CLI_FLAG, SIM, "steady", AT(steady),
	 .help = "run a lock that is not steady for longer: see the manual"},
	{CLI_INT, SIM, "lengthen", .argument = "N", AT(lengthen), .least = 0, .most = 6,
	 .help = "run each lock for longer N times, as if it had not been steady (default: 0)"},
	{CLI_SECONDS, BENCH, "warmup", .argument = "S", AT(warmup), .low = 0, .high = 3600,
	 .help = "warm-up before each measurement (default: a tenth)"},
	{CLI_INT, BENCH, "repetitions", .argument = "R", AT(repetitions), .least = 1, .most = 1000,
	 .help = "number of repetitions (default: 3)"},
	{CLI_INT, SIM, "repetitions", .argument = "R", AT(repetitions), .least = 1, .most = 1000,
	 .help = "number of runs with other random numbers, of which medians are printed "
		 "(default: 1)"},
	{CLI_INT, BENCH, "timeout", .argument = "S", AT(timeout), .least = 0, .most = 86400,
	 .help = "end the run if a step takes S seconds longer than it should (default: 120; 0: "
		 "never)"},
	{CLI_COUNT, 0, "seed", .argument = "N", AT(seed), .least = 0, .most = UINT64_MAX,
	 .help = "seed of the random numbers (default: 1)"},

	{CLI_HEADING, BENCH, .help = "Checks"},
	{CLI_SECONDS, BENCH, "verify", .argument = "S", AT(verify), .low = 0, .high = 3600,
	 .help = "check mutual exclusion for S seconds before each measurement (default: 0.2)"},
	{CLI_CALL, BENCH, "no-verify", .call = set_no_verify, .help = "do not check"},

	{CLI_HEADING, 0, .help = "Output"},
	{CLI_CALL, BENCH | SIM, "json", .argument = "[FILE]", .call = set_json,
	 .help = "print one JSON object a line, to FILE besides the table, or in place of the table"},
	{CLI_TEXT, SIM, "trace", .argument = "FILE", AT(trace),
	 .help = "write the time line of the locks, for pawl-trace(1) and ui.perfetto.dev"},
	{CLI_CALL, BENCH, "reference", .argument = "LOCK", .call = set_reference,
	 .help = "ratios are to this lock (default: mpi-win-lock; bank: redlock; of ranges: ss)"},
	{CLI_CALL, SIM, "reference", .argument = "LOCK", .call = set_reference,
	 .help = "ratios are to this lock (default: d-mcs; of ranges: ss)"},
	{CLI_CHOICE, BENCH | SIM, "progress", .argument = "WHEN", AT(progress),
	 .words = "auto, always, never",
	 .help = "show on stderr what is running and how much is left; always: in one line; auto "
		 "(default): the same on a terminal, elsewhere a line when a lock has ended and every "
		 "5 s; never"},
	{CLI_FLAG, 0, "help", 'h', AT(help), .help = "print this text"},
	{CLI_FLAG, 0, "version", AT(version), .help = "print the version"},
	{CLI_END},
};
/* clang-format on */

const char *settings_benches(const struct settings *s)
{
	return s->benches ? s->benches : "ecsb";
}

void settings_help(FILE *out, unsigned program)
{
	cli_help(out, rows, program);
}

static void set_defaults(struct settings *s, unsigned program)
{
	*s = (struct settings){.reference = "mpi-win-lock",
			       .fw = -1,
			       .zipf = -1,
			       .grid = 64,
			       .file = OLTP_FILE_BYTES,
			       .locality = 95,
			       .subscribers = TATP_SUBSCRIBERS,
			       .warehouses = TPCC_WAREHOUSES,
			       .seconds = 1,
			       .warmup = -1,
			       .verify = 0.2,
			       .repetitions = 3,
			       .timeout = 120,
			       .seed = 1};
	if (program == FOR_BENCH)
		return;
	/* Virtual time needs no repetitions, and a run ends after enough acquires. */
	s->simulate = true;
	s->reference = "d-mcs";
	s->seconds = 0;
	s->repetitions = 1;
}

bool settings_parse(struct settings *s, unsigned program, int argc, char **argv)
{
	set_defaults(s, program);
	if (!cli_parse(rows, program, s, argc, argv))
		return false;
	return s->help || s->version || s->list || settings_check(s);
}
