/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of machines, by name. */
#include "sim_bench.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".machine";
static char name[96];

/* The text in place of the MPI's name in tables and JSON lines. */
const char *native_name(void)
{
	return name;
}

static const char *folder(const struct settings *s)
{
	return s->machines ? s->machines : MACHINES_DIR;
}

static int by_name(const struct dirent *e)
{
	size_t len = strlen(e->d_name), end = sizeof ending - 1;

	return len > end && strcmp(e->d_name + len - end, ending) == 0;
}

bool sim_list_machines(const struct settings *s, FILE *out)
{
	struct dirent **entries;
	int n = scandir(folder(s), &entries, by_name, alphasort);

	fprintf(out, "\nMachines (--machine), in %s:\n", folder(s));
	for (int i = 0; i < n; i++) {
		char path[4400], err[1200];
		struct machine m;

		snprintf(path, sizeof path, "%s/%s", folder(s), entries[i]->d_name);
		entries[i]->d_name[strlen(entries[i]->d_name) - strlen(ending)] = '\0';
		fprintf(out, "  %-22s%s\n", entries[i]->d_name,
			machine_read(&m, path, err, sizeof err) ? m.summary : err);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n >= 0;
}

/* The network between the nodes, which is built when the engine starts. */
static bool open_network(const struct settings *s, struct machine *m, char *err, size_t errlen)
{
	char why[300] = "";

	if (s->platform) {
		m->network.shape = NETWORK_FILE;
		if (snprintf(m->network.text, sizeof m->network.text, "%s", s->platform) >=
		    (int)sizeof m->network.text) {
			snprintf(err, errlen, "--platform: more than %zu bytes",
				 sizeof m->network.text - 1);
			return false;
		}
	}
	if (network_choose(&m->network, why, sizeof why))
		return true;
	snprintf(err, errlen,
		 "%s: %s; accepted: a platform of SimGrid, or what pawl-sim(1) says of net route",
		 s->platform ? "--platform" : "net route", why);
	return false;
}

bool sim_open_machine(const struct settings *s, struct machine *m, char *err, size_t errlen)
{
	char path[4400], why[900] = "";

	if (!s->machine) {
		snprintf(err, errlen, "--machine=NAME is needed; see --list");
		return false;
	}
	if (strchr(s->machine, '/'))
		snprintf(path, sizeof path, "%s", s->machine);
	else
		snprintf(path, sizeof path, "%s/%s%s", folder(s), s->machine, ending);
	if (!machine_read(m, path, why, sizeof why)) {
		snprintf(err, errlen,
			 "--machine: %s; accepted: a name of pawl-sim --list, or a file with a"
			 " \"/\" in its name",
			 why);
		return false;
	}
	snprintf(name, sizeof name, "simulated %.80s", s->machine);
	return open_network(s, m, err, errlen);
}
