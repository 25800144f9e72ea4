/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of pawl-info, as text and as one JSON object. */
#include <string.h>

#include "info.h"

#include "base/json.h"

static const char *const op_names[OPS] = {"fetch_add", "swap", "compare_swap", "put_flush", "get"};

/* Whether the CPU, the device or the target's MPI performs atomics on the words of a path. */
static const char *atomics_of(const struct info *in, const struct info_path *p, char *why,
			      size_t len)
{
	if (p->domain == RMA_NODE) {
		snprintf(why, len, "instructions of the CPU in shared memory");
		return "cpu";
	}
	if (strcmp(p->transport, "mpi") == 0)
		return job_atomics(&in->job, why, len);
	if (in->atomics[0]) {
		snprintf(why, len, "%s", in->atomics);
		return "offloaded";
	}
	snprintf(why, len, "%s", in->job.ucx_why);
	return in->job.ucx_known ? in->job.ucx_offloads ? "offloaded" : "emulated" : "unknown";
}

/* --------------------------------------------------------------------- text */

static void wrap(FILE *out, const char *indent, const char *text)
{
	size_t width = 96 - strlen(indent);

	while (*text) {
		size_t len = strlen(text);

		if (len > width)
			for (len = width; len > 1 && text[len] != ' '; len--)
				;
		fprintf(out, "%s%.*s\n", indent, (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

static void show_job(FILE *out, const struct info *in)
{
	const struct job *j = &in->job;
	char component[64];

	job_component(j, component, sizeof component);
	fprintf(out, "pawl-info (Pawl) %s\n", pawl_version());
	fprintf(out, "MPI        %s%s%s%s\n", j->library, component[0] ? ", " : "", component,
		j->thread_multiple ? "" : ", without MPI_THREAD_MULTIPLE");
	fprintf(out, "ranks      %d on %d host%s%s, %d rank%s a cpu%s\n", j->nranks, j->nhosts,
		j->nhosts == 1 ? "" : "s", in->machines < j->nhosts ? " that share a machine" : "",
		in->ranks_per_cpu, in->ranks_per_cpu == 1 ? "" : "s",
		in->ranks_per_cpu == 1 ? "" : " (oversubscribed)");
	if (j->ucx_known)
		fprintf(out, "UCX        %s: %s\n", j->ucx_device[0] ? j->ucx_device : "no network",
			j->ucx_why);
	fprintf(out, "topology   %s\n", in->place.topo->text);
	wrap(out, "           ", in->place.warning);
}

static void show_levels(FILE *out, const struct topo *t)
{
	for (int i = 0; i < t->nlevels; i++)
		fprintf(out, "  level %-2d %-10s %5d element%s of %d or more ranks\n", i + 1,
			t->level[i].name, t->level[i].count, t->level[i].count == 1 ? "," : "s,",
			t->level[i].min_size);
}

static void show_time(FILE *out, double ns)
{
	if (ns < 1000)
		fprintf(out, " %6.1f ns", ns);
	else
		fprintf(out, " %6.1f us", ns / 1000);
}

static void show_paths(FILE *out, const struct info *in)
{
	char why[400], shown[420] = "";

	fprintf(out, "\n%-13s %-9s %-5s %-5s %-9s %9s %9s %9s %9s %9s  %s\n", "between", "ranks",
		"words", "by", "atomics", "fetch-add", "swap", "CAS", "put+flush", "get",
		"target asleep");
	for (int i = 0; i < in->npaths; i++) {
		const struct info_path *p = &in->path[i];
		const char *atomics = atomics_of(in, p, why, sizeof why);
		char ranks[32];

		snprintf(ranks, sizeof ranks, "%d, %d", p->from, p->to);
		fprintf(out, "%-13s %-9s %-5s %-5s %-9s", p->between, ranks,
			p->domain == RMA_NODE ? "NODE" : "NET", p->transport, atomics);
		for (int op = 0; op < OPS; op++)
			show_time(out, p->ns[op]);
		fprintf(out, "  %s (%.3g ms)\n", p->asynchronous ? "goes on" : "waits",
			p->asleep_ms);
		if (p->domain == RMA_NET)
			snprintf(shown, sizeof shown, "%s: %s", atomics, why);
	}
	for (int i = 0; i < in->nwindows; i++) {
		const struct info_path *p = &in->window[i];
		char ranks[32];

		snprintf(ranks, sizeof ranks, "%d, %d", p->from, p->to);
		fprintf(out, "%-13s %-9s %-21s", p->between, ranks, "window of a program");
		for (int op = 0; op < OPS; op++)
			show_time(out, p->ns[op]);
		fprintf(out, "\n");
	}
	if (shown[0])
		fprintf(out, "NET words %s\n", shown);
	if (in->no_windows)
		fprintf(out,
			"windows of a program: not measured, because trap %s makes them fail\n",
			in->no_windows);
}

static void show_traps(FILE *out, const struct info *in)
{
	fprintf(out, "\n%s\n", in->ntraps ? "known traps that apply to this job" : "no known trap");
	for (int i = 0; i < in->ntraps; i++) {
		const struct trap *t = &in->traps[i];
		char cure[400];

		fprintf(out, "  %s%s\n", t->name, t->grave ? " (fails or hangs)" : "");
		wrap(out, "    ", t->what);
		snprintf(cure, sizeof cure, "cure: %s", t->cure);
		wrap(out, "    ", cure);
	}
}

static void show_advice(FILE *out, const struct info *in)
{
	fprintf(out, "\nadvice\n");
	if (in->round_trip_ns > 0)
		fprintf(out, "  lease=%lld or more (microseconds), for kinds that take it\n",
			(long long)advise_lease_us(in->round_trip_ns, in->ranks_per_cpu));
	if (in->ranks_per_cpu > 1)
		wrap(out, "  ", "no binding of ranks to cores, and wait=auto: ranks share cpus");
	else if (in->unbound && in->job.nranks > 1)
		wrap(out, "  ",
		     "bind ranks to cores (mpirun --bind-to core, or -bind-to core): the levels"
		     " within a node are found only then");
	else
		wrap(out, "  ", "binding: keep it as it is");
	if (in->job.nhosts > 1 && in->job.ucx_known && in->job.ucx_offloads)
		fprintf(out, "  keep UCX_NET_DEVICES and UCX_TLS so that %s stays allowed\n",
			in->job.ucx_device);
}

void info_show(FILE *out, const struct info *in)
{
	show_job(out, in);
	show_levels(out, in->place.topo);
	if (in->error[0])
		fprintf(out, "\nno windows: %s\n", in->error);
	else if (in->npaths)
		show_paths(out, in);
	else
		fprintf(out, "\none rank: nothing to measure\n");
	show_traps(out, in);
	show_advice(out, in);
}

/* --------------------------------------------------------------------- JSON */

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

static void put_job(FILE *out, const struct info *in)
{
	const struct job *j = &in->job;
	char component[64];

	json_put_member(out, "version", pawl_version());
	fprintf(out, ",");
	json_put_member(out, "mpi", j->library);
	fprintf(out, ",");
	json_put_member(out, "component", job_component(j, component, sizeof component));
	fprintf(out,
		",\"thread_multiple\":%s,\"ranks\":%d,\"hosts\":%d,\"machines\":%d"
		",\"ranks_per_cpu\":%d,\"oversubscribed\":%s,",
		truth(j->thread_multiple), j->nranks, j->nhosts, in->machines, in->ranks_per_cpu,
		truth(in->ranks_per_cpu > 1));
	if (j->ucx_known) {
		json_put_member(out, "ucx_device", j->ucx_device);
		fprintf(out, ",\"ucx_offloads\":%s,", truth(j->ucx_offloads));
		json_put_member(out, "ucx_why", j->ucx_why);
		fprintf(out, ",");
	}
	json_put_member(out, "topology", in->place.topo->text);
	fprintf(out, ",");
	json_put_member(out, "warning", in->place.warning);
}

static void put_levels(FILE *out, const struct topo *t)
{
	fprintf(out, ",\"levels\":[");
	for (int i = 0; i < t->nlevels; i++) {
		fprintf(out, "%s{", i ? "," : "");
		json_put_member(out, "name", t->level[i].name);
		fprintf(out, ",\"elements\":%d,\"element_of_rank\":[", t->level[i].count);
		for (int p = 0; p < t->nranks; p++)
			fprintf(out, "%s%d", p ? "," : "", t->level[i].element[p]);
		fprintf(out, "]}");
	}
	fprintf(out, "]");
}

static void put_path(FILE *out, const struct info *in, const struct info_path *p)
{
	char why[400];

	fprintf(out, "{");
	json_put_member(out, "between", p->between);
	fprintf(out, ",\"ranks\":[%d,%d],\"domain\":\"%s\",", p->from, p->to,
		p->domain == RMA_NODE ? "node" : "net");
	json_put_member(out, "transport", p->transport);
	fprintf(out, ",");
	json_put_member(out, "atomics", atomics_of(in, p, why, sizeof why));
	fprintf(out, ",\"ns\":{");
	for (int op = 0; op < OPS; op++)
		fprintf(out, "%s\"%s\":%.1f", op ? "," : "", op_names[op], p->ns[op]);
	fprintf(out, "},\"target_asleep_ms\":%.3f,\"asynchronous\":%s}", p->asleep_ms,
		truth(p->asynchronous));
}

static void put_window(FILE *out, const struct info_path *p)
{
	fprintf(out, "{");
	json_put_member(out, "between", p->between);
	fprintf(out, ",\"ranks\":[%d,%d],\"ns\":{", p->from, p->to);
	for (int op = 0; op < OPS; op++)
		fprintf(out, "%s\"%s\":%.1f", op ? "," : "", op_names[op], p->ns[op]);
	fprintf(out, "}}");
}

static void put_traps(FILE *out, const struct info *in)
{
	fprintf(out, ",\"traps\":[");
	for (int i = 0; i < in->ntraps; i++) {
		fprintf(out, "%s{", i ? "," : "");
		json_put_member(out, "name", in->traps[i].name);
		fprintf(out, ",\"grave\":%s,", truth(in->traps[i].grave));
		json_put_member(out, "what", in->traps[i].what);
		fprintf(out, ",");
		json_put_member(out, "cure", in->traps[i].cure);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

void info_show_json(FILE *out, const struct info *in)
{
	fprintf(out, "{");
	put_job(out, in);
	put_levels(out, in->place.topo);
	fprintf(out, ",");
	json_put_member(out, "error", in->error);
	fprintf(out, ",\"paths\":[");
	for (int i = 0; i < in->npaths; i++) {
		fprintf(out, "%s", i ? "," : "");
		put_path(out, in, &in->path[i]);
	}
	fprintf(out, "],\"windows\":[");
	for (int i = 0; i < in->nwindows; i++) {
		fprintf(out, "%s", i ? "," : "");
		put_window(out, &in->window[i]);
	}
	fprintf(out, "]");
	put_traps(out, in);
	if (in->round_trip_ns > 0)
		fprintf(out, ",\"lease_us\":%lld",
			(long long)advise_lease_us(in->round_trip_ns, in->ranks_per_cpu));
	fprintf(out, "}\n");
}
