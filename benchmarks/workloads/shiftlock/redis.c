/* SPDX-License-Identifier: BSD-3-Clause */
/* The bank's calls to its Redis server, by hiredis. */
#include "redis.h"

#include <stdio.h>

#ifdef PAWL_HAVE_HIREDIS

#include <hiredis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static redisContext *server;
static char error[200];

bool redis_usable(char *why, size_t whylen)
{
	(void)why;
	(void)whylen;
	return true;
}

/* Address, port and password, as redis_start() has them. */
static bool connect_host(const char *where)
{
	char address[REDIS_PATH], password[REDIS_PATH];
	redisReply *r;
	bool ok;
	int port;

	if (sscanf(where, "%99s %d %99s", address, &port, password) != 3)
		return false;
	server = redisConnect(address, port);
	if (!server || server->err)
		return false;
	r = redisCommand(server, "AUTH %s", password);
	ok = r && r->type == REDIS_REPLY_STATUS;
	if (r)
		freeReplyObject(r);
	return ok;
}

bool redis_connect(const char *where, char *why, size_t whylen)
{
	bool ok;

	if (where[0] == '/') {
		server = redisConnectUnix(where);
		ok = server && !server->err;
	} else {
		ok = connect_host(where);
	}
	if (ok)
		return true;
	snprintf(why, whylen, "cannot connect to redis-server: %s",
		 server ? server->errstr : "out of memory");
	redis_disconnect();
	return false;
}

void redis_disconnect(void)
{
	if (server)
		redisFree(server);
	server = NULL;
}

const char *redis_error(void)
{
	return error;
}

/* Whether the answer has that type; if not, redis_error() describes it. */
static bool is_answer(const redisReply *r, int type)
{
	if (r && r->type == type)
		return true;
	snprintf(error, sizeof error, "redis-server: %s",
		 !r                             ? server->errstr
		 : r->type == REDIS_REPLY_ERROR ? r->str
						: "an answer of another type");
	return false;
}

static bool end(redisReply *r, bool ok)
{
	if (r)
		freeReplyObject(r);
	return ok;
}

static bool number(const redisReply *r, int64_t *value)
{
	if (!is_answer(r, REDIS_REPLY_STRING))
		return false;
	*value = strtoll(r->str, NULL, 10);
	return true;
}

/* ----------------------------------------------------------------------- accounts */

bool redis_fill(uint64_t n, int64_t balance)
{
	static const char fill[] =
	    "for i = 0, tonumber(ARGV[1]) - 1 do redis.call('SET', 'a' .. i, ARGV[2]) end "
	    "return 'done'";
	redisReply *r = redisCommand(server, "EVAL %s 0 %" PRIu64 " %" PRId64, fill, n, balance);

	return end(r, is_answer(r, REDIS_REPLY_STRING));
}

bool redis_sum(uint64_t n, int64_t *sum)
{
	static const char add[] = "local s = 0 "
				  "for i = 0, tonumber(ARGV[1]) - 1 do "
				  "s = s + tonumber(redis.call('GET', 'a' .. i)) end "
				  "return string.format('%.0f', s)";
	redisReply *r = redisCommand(server, "EVAL %s 0 %" PRIu64, add, n);

	return end(r, number(r, sum));
}

bool redis_read(uint64_t account, int64_t *balance)
{
	redisReply *r = redisCommand(server, "GET a%" PRIu64, account);

	return end(r, number(r, balance));
}

bool redis_read_two(const uint64_t *account, int64_t *balance)
{
	redisReply *r = redisCommand(server, "MGET a%" PRIu64 " a%" PRIu64, account[0], account[1]);

	return end(r, is_answer(r, REDIS_REPLY_ARRAY) && number(r->element[0], &balance[0]) &&
			  number(r->element[1], &balance[1]));
}

bool redis_write_two(const uint64_t *account, const int64_t *balance)
{
	redisReply *r = redisCommand(server, "MSET a%" PRIu64 " %" PRId64 " a%" PRIu64 " %" PRId64,
				     account[0], balance[0], account[1], balance[1]);

	return end(r, is_answer(r, REDIS_REPLY_STATUS));
}

/* -------------------------------------------------------------------------- locks */

bool redis_claim(uint64_t account, const char *token, int ttl_ms, bool *got)
{
	redisReply *r =
	    redisCommand(server, "SET lock%" PRIu64 " %s NX PX %d", account, token, ttl_ms);

	*got = r && r->type == REDIS_REPLY_STATUS;
	return end(r, *got || is_answer(r, REDIS_REPLY_NIL));
}

bool redis_unclaim(uint64_t account, const char *token)
{
	static const char compare_and_delete[] =
	    "if redis.call('get', KEYS[1]) == ARGV[1] then "
	    "return redis.call('del', KEYS[1]) else return 0 end";
	redisReply *r = redisCommand(server, "EVAL %s 1 lock%" PRIu64 " %s", compare_and_delete,
				     account, token);

	return end(r, is_answer(r, REDIS_REPLY_INTEGER));
}

#else

static const char missing[] = "this pawl-bench was configured without hiredis: apt-get install"
			      " libhiredis-dev redis-server, and configure again";

bool redis_usable(char *why, size_t whylen)
{
	snprintf(why, whylen, "%s", missing);
	return false;
}

bool redis_connect(const char *where, char *why, size_t whylen)
{
	(void)where;
	return redis_usable(why, whylen);
}

void redis_disconnect(void)
{
}

const char *redis_error(void)
{
	return missing;
}

bool redis_fill(uint64_t n, int64_t balance)
{
	(void)n;
	(void)balance;
	return false;
}

bool redis_sum(uint64_t n, int64_t *sum)
{
	(void)n;
	(void)sum;
	return false;
}

bool redis_read(uint64_t account, int64_t *balance)
{
	(void)account;
	(void)balance;
	return false;
}

bool redis_read_two(const uint64_t *account, int64_t *balance)
{
	(void)account;
	(void)balance;
	return false;
}

bool redis_write_two(const uint64_t *account, const int64_t *balance)
{
	(void)account;
	(void)balance;
	return false;
}

bool redis_claim(uint64_t account, const char *token, int ttl_ms, bool *got)
{
	(void)account;
	(void)token;
	(void)ttl_ms;
	*got = false;
	return false;
}

bool redis_unclaim(uint64_t account, const char *token)
{
	(void)account;
	(void)token;
	return false;
}

#endif
