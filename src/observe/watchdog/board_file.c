/* SPDX-License-Identifier: BSD-3-Clause */
/* See board_file.h. */
#include "observe/watchdog/board_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'p', 'a', 'w', 'l', 'b', 'r', 'd', '1'};

struct board_file {
	struct board_file_contents *map;
	char path[96];
};

bool board_file_folder(char *path, size_t len, bool create)
{
	struct stat s;

	snprintf(path, len, "/dev/shm/pawl-%u", (unsigned)geteuid());
	if (create)
		mkdir(path, S_IRWXU);
	/* Another user may have made a folder or a link of this name. */
	return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
	       !(s.st_mode & (S_IRWXG | S_IRWXO));
}

uint64_t board_file_process(int pid, int field)
{
	char path[64], text[1024], *rest;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	/* Field 2, the name, is in parentheses, and may have blanks. */
	rest = strrchr(text, ')');
	for (int i = 2; rest && i < field; i++)
		rest = strchr(rest + 1, ' ');
	return rest ? strtoull(rest, NULL, 10) : 0;
}

struct board_words *board_file_words(struct board_file *f)
{
	return &f->map->words;
}

void board_file_rename(struct board_file *f, const char *about)
{
	size_t most = sizeof f->map->about - 1;

	if (strncmp(f->map->about, about, most) != 0)
		strncpy(f->map->about, about, most);
}

/* Remove the files of processes that ended without pawl_table_free(). */
static void sweep(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		int pid = atoi(e->d_name);

		if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
}

static bool map(struct board_file *f, int fd)
{
	void *at;

	/* Without room in /dev/shm the first store would be fatal. */
	if (posix_fallocate(fd, 0, sizeof *f->map) != 0)
		return false;
	at = mmap(NULL, sizeof *f->map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return false;
	f->map = at;
	return true;
}

static int create(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

struct board_file *board_file_open(const struct waits_process *p, const struct waits_table *t)
{
	struct board_file *f = calloc(1, sizeof *f);
	char folder[64];
	int fd;

	if (!f || !board_file_folder(folder, sizeof folder, true)) {
		free(f);
		return NULL;
	}
	sweep(folder);
	snprintf(f->path, sizeof f->path, "%s/%d.%016llx", folder, (int)p->pid,
		 (unsigned long long)t->id);
	unlink(f->path); /* of a process that had this number and was killed */
	fd = create(f->path);
	/* Another process may just have removed the folder, which was empty. */
	if (fd < 0 && board_file_folder(folder, sizeof folder, true))
		fd = create(f->path);
	if (fd < 0 || !map(f, fd)) {
		if (fd >= 0) {
			close(fd);
			unlink(f->path);
		}
		free(f);
		return NULL;
	}
	close(fd);
	f->map->started = board_file_process(p->pid, BOARD_FILE_STARTED);
	f->map->process = *p;
	f->map->table_id = t->id;
	f->map->table_number = t->number;
	f->map->ranges = t->ranges;
	board_file_rename(f, t->about);
	memcpy(f->map->magic, magic, sizeof magic);
	return f;
}

void board_file_close(struct board_file *f)
{
	char folder[64];

	if (!f)
		return;
	unlink(f->path);
	munmap(f->map, sizeof *f->map);
	free(f);
	if (board_file_folder(folder, sizeof folder, false))
		rmdir(folder); /* if it is empty */
}

bool board_file_read(const char *path, struct board_file_contents *c)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, c, sizeof *c);
		close(fd);
	}
	if (n != (ssize_t)sizeof *c || memcmp(c->magic, magic, sizeof magic) != 0)
		return false;
	c->about[sizeof c->about - 1] = '\0';
	c->process.host[sizeof c->process.host - 1] = '\0';
	return c->started && board_file_process(c->process.pid, BOARD_FILE_STARTED) == c->started;
}
