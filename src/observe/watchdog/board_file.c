/* SPDX-License-Identifier: BSD-3-Clause */
/* See board_file.h. */
#include "observe/watchdog/board_file.h"

#include <ctype.h>
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

static const char magic[8] = {'p', 'a', 'w', 'l', 'b', 'r', 'd', '2'};

struct board_file {
	struct board_file_contents *map;
	char path[96];
};

bool board_file_folder(char *path, size_t len, unsigned user, bool create)
{
	struct stat s;

	snprintf(path, len, "/dev/shm/pawl-%u", user);
	if (create)
		mkdir(path, S_IRWXU);
	/* Another user may have made a folder or a link of this name. */
	return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == user &&
	       !(s.st_mode & (S_IRWXG | S_IRWXO));
}

/* A field of /proc/PID/stat; NULL: there is none. */
static const char *find_field(int pid, int field, char *text, size_t len)
{
	char path[64], *rest;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return NULL;
	n = fread(text, 1, len - 1, f);
	fclose(f);
	text[n] = '\0';
	/* Field 2, the name, is in parentheses, and may have blanks. */
	rest = strrchr(text, ')');
	for (int i = 2; rest && i < field; i++)
		rest = strchr(rest + 1, ' ');
	return rest ? rest + 1 : NULL;
}

uint64_t board_file_process(int pid, int field)
{
	char text[1024];
	const char *at = find_field(pid, field, text, sizeof text);

	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t board_file_space(void)
{
	struct stat s;

	return stat("/proc/self/ns/pid", &s) == 0 ? (uint64_t)s.st_ino : 0;
}

/* Its number means the same process for this one. */
static bool is_visible(const struct waits_process *p)
{
	return p->space && p->started && p->space == board_file_space();
}

/* A process that has ended and that its parent has not yet awaited is a zombie (Z, X). */
static bool is_over(const struct waits_process *p)
{
	enum { STATE = 3 };
	char text[1024];
	const char *state = find_field(p->pid, STATE, text, sizeof text);

	return !state || *state == 'Z' || *state == 'X' ||
	       board_file_process(p->pid, BOARD_FILE_STARTED) != p->started;
}

bool board_file_has_ended(const struct waits_process *p)
{
	char host[sizeof p->host] = "";

	/* Hosts have namespaces of the same number. */
	gethostname(host, sizeof host - 1);
	return strcmp(host, p->host) == 0 && is_visible(p) && is_over(p);
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

/* The name of a file: process, its PID namespace, and table. */
struct file_name {
	int pid;
	unsigned long long space, table;
};

static bool read_name(const char *text, struct file_name *n)
{
	return sscanf(text, "%d.%llu.%llx", &n->pid, &n->space, &n->table) == 3 && n->pid > 0;
}

static bool runs(const struct file_name *n)
{
	return n->space != board_file_space() || kill(n->pid, 0) == 0 || errno != ESRCH;
}

static bool is_in_use(const char *folder, unsigned long long table)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	struct file_name n;
	bool used = false;

	while (d && !used && (e = readdir(d)))
		used = read_name(e->d_name, &n) && n.table == table && runs(&n);
	if (d)
		closedir(d);
	return used;
}

/* Remove the files of processes of this PID namespace that ended without pawl_table_free(), unless
 * other ranks of the table still run: pawl-stuck shows them what the process held. */
static void sweep(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	struct file_name n;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];

		if (!read_name(e->d_name, &n) || runs(&n) || is_in_use(folder, n.table))
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

	if (!f || !board_file_folder(folder, sizeof folder, geteuid(), true)) {
		free(f);
		return NULL;
	}
	sweep(folder);
	snprintf(f->path, sizeof f->path, "%s/%d.%llu.%016llx", folder, (int)p->pid,
		 (unsigned long long)p->space, (unsigned long long)t->id);
	unlink(f->path); /* of a process that had this number and was killed */
	fd = create(f->path);
	/* Another process may just have removed the folder, which was empty. */
	if (fd < 0 && board_file_folder(folder, sizeof folder, geteuid(), true))
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
	f->map->process = *p;
	f->map->table_id = t->id;
	f->map->table_number = t->number;
	f->map->ranges = t->ranges;
	f->map->recovers = t->recovers;
	snprintf(f->map->kind, sizeof f->map->kind, "%s", t->kind);
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
	if (board_file_folder(folder, sizeof folder, geteuid(), false))
		rmdir(folder); /* if it is empty */
}

static void make_printable(char *text)
{
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

bool board_file_read(const char *path, struct board_file_contents *c)
{
	/* Root reads files of other users, which may be anything. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, c, sizeof *c);
		close(fd);
	}
	if (n != (ssize_t)sizeof *c || memcmp(c->magic, magic, sizeof magic) != 0)
		return false;
	c->about[sizeof c->about - 1] = '\0';
	c->kind[sizeof c->kind - 1] = '\0';
	c->process.host[sizeof c->process.host - 1] = '\0';
	make_printable(c->kind);
	make_printable(c->about);
	make_printable(c->process.host);
	return is_visible(&c->process);
}
