/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of ucx/device.c where UCT is not there: no device is found, so the rest is not called.
 */
#include "rma/ucx/device.h"

struct ucx_found ucx_device_find(struct ucx_net *n, const char *devices)
{
	(void)n, (void)devices;
	return (struct ucx_found){false, false};
}

void ucx_device_close(struct ucx_net *n)
{
	(void)n;
}

size_t ucx_device_card(const struct ucx_net *n, void *to, size_t room)
{
	(void)n, (void)to, (void)room;
	return 0;
}

enum rma_failure ucx_device_register(struct rma_ucx *u, void *base, size_t bytes, char *err,
				     size_t errlen)
{
	(void)u, (void)base, (void)bytes, (void)err, (void)errlen;
	return RMA_FAIL_WINDOW;
}

size_t ucx_device_key_bytes(const struct ucx_net *n)
{
	(void)n;
	return 0;
}

bool ucx_device_pack_key(const struct rma_ucx *u, void *to)
{
	(void)u, (void)to;
	return false;
}

void ucx_device_unregister(struct rma_ucx *u)
{
	(void)u;
}

void ucx_device_use(struct rma *r)
{
	(void)r;
}

ucs_status_t ucx_device_begin(struct ucx_peer *p)
{
	(void)p;
	return UCS_ERR_UNSUPPORTED;
}

void ucx_device_join(struct ucx_peer *p, const void *address, size_t bytes)
{
	(void)p, (void)address, (void)bytes;
}

void ucx_device_part(struct ucx_peer *p)
{
	(void)p;
}

size_t ucx_device_accept(struct ucx_net *n, int rank, const void *address, size_t bytes,
			 char own[UCX_END_BYTES])
{
	(void)n, (void)rank, (void)address, (void)bytes, (void)own;
	return 0;
}

bool ucx_device_progress(struct ucx_device *d)
{
	(void)d;
	return false;
}

bool ucx_device_arm(struct ucx_device *d, int *fd)
{
	(void)d, (void)fd;
	return true;
}

void ucx_device_forget(const struct rma_ucx *u)
{
	(void)u;
}
