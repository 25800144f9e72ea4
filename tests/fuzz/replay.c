/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a fuzz target on kept inputs, without a fuzzer: on every file, and every file of the
 * directories, that the arguments name. Each is also run truncated in the middle. Ends as the
 * target does: by a signal if a property does not hold.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH = 4096, MOST_BYTES = 1 << 20 };

static int replayed;

static void feed(const char *path)
{
	static uint8_t bytes[MOST_BYTES];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	/* The last name printed is that of the input that ended the target. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, n);
	LLVMFuzzerTestOneInput(bytes, n / 2);
	replayed++;
}

static void feed_all(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *d;
	char file[PATH];

	if (!dir) {
		feed(path);
		return;
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(file, sizeof file, "%s/%s", path, d->d_name) < sizeof file)
			feed(file);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		feed_all(argv[i]);
	if (!replayed)
		fprintf(stderr, "usage: %s FILE|DIRECTORY...; nothing was replayed\n", argv[0]);
	return !replayed;
}
