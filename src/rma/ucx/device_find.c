/* SPDX-License-Identifier: BSD-3-Clause */
/* Find, open and close the device of ucx/device.c: the first one that UCX's variables allow, whose
 * interface has 64-bit addition and compare-and-swap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sparse.h"
#include "rma/ucx/device_parts.h"

enum { WORD = sizeof(int64_t), PAGE = 4096 };

#define SOME_ATOMICS (UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_CSWAP))
#define ALL_POSTS                                                                              \
	(UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_AND) | UCS_BIT(UCT_ATOMIC_OP_OR) | \
	 UCS_BIT(UCT_ATOMIC_OP_XOR))
#define ALL_ATOMICS (ALL_POSTS | UCS_BIT(UCT_ATOMIC_OP_SWAP) | UCS_BIT(UCT_ATOMIC_OP_CSWAP))
#define NEEDED                                                                                \
	(UCT_IFACE_FLAG_ATOMIC_DEVICE | UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_GET_BCOPY | \
	 UCT_IFACE_FLAG_CONNECT_TO_EP | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE)

/* The next entry of a list with commas, and its length; NULL: there is none. */
static const char *next_entry(const char *at, size_t *n)
{
	at += strspn(at, ",");
	*n = strcspn(at, ",");
	return *n ? at : NULL;
}

static bool is_entry(const char *at, size_t n, const char *text)
{
	return strlen(text) == n && strncmp(at, text, n) == 0;
}

static bool is_in(const char *list, const char *name)
{
	size_t n;

	for (const char *at = list; (at = next_entry(at, &n)); at += n)
		if (is_entry(at, n, name) || is_entry(at, n, "all"))
			return true;
	return false;
}

/* Whether it is a reliable transport, such as rc_verbs, and UCX_TLS allows it: by its name, by the
 * beginning of it, or by rc_x and dc_x for those of mlx5. */
static bool is_allowed(const char *transport)
{
	const char *list = getenv("UCX_TLS");
	bool negated = list && *list == '^', named = false;
	size_t n;

	if (strncmp(transport, "rc_", 3) != 0 && strncmp(transport, "dc_", 3) != 0)
		return false;
	if (!list)
		return true;
	for (const char *at = list + negated; (at = next_entry(at, &n)); at += n)
		named = named || is_entry(at, n, "all") || is_entry(at, n, "ib") ||
			(n >= 2 && strncmp(at, transport, n) == 0) ||
			(n == 4 && strncmp(at, transport, 3) == 0 && at[3] == 'x' &&
			 strstr(transport, "mlx5"));
	return named != negated;
}

static bool open_iface(struct ucx_net *n, const uct_tl_resource_desc_t *t, uct_iface_h *iface,
		       uct_iface_attr_t *attr)
{
	struct ucx_device *d = n->device;
	uct_iface_params_t params = {
	    .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE |
			  UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
			  UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG |
			  UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS,
	    .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
	    .mode.device = {t->tl_name, t->dev_name},
	    .err_handler = device_on_failure,
	    .err_handler_arg = n,
	    .err_handler_flags = 0,
	};
	uct_iface_config_t *config;
	ucs_status_t status = uct_md_iface_config_read(d->md, t->tl_name, NULL, NULL, &config);

	if (status != UCS_OK)
		return false;
	status = uct_iface_open(d->md, d->worker, &params, config, iface);
	uct_config_release(config);
	if (status == UCS_OK && uct_iface_query(*iface, attr) == UCS_OK)
		return true;
	if (status == UCS_OK)
		uct_iface_close(*iface);
	return false;
}

static bool has_few(const uct_iface_attr_t *a)
{
	return (a->cap.flags & NEEDED) == NEEDED &&
	       (a->cap.atomic64.fop_flags & SOME_ATOMICS) == SOME_ATOMICS &&
	       (a->cap.event_flags & UCT_IFACE_FLAG_EVENT_SEND_COMP) &&
	       (a->cap.event_flags & UCT_IFACE_FLAG_EVENT_FD) &&
	       a->cap.put.max_short >= sizeof(int64_t) && a->ep_addr_len <= UCX_END_BYTES;
}

static bool has_all(const uct_iface_attr_t *a)
{
	return (a->cap.flags & UCT_IFACE_FLAG_ATOMIC_DEVICE) &&
	       (a->cap.atomic64.op_flags & ALL_POSTS) == ALL_POSTS &&
	       (a->cap.atomic64.fop_flags & ALL_ATOMICS) == ALL_ATOMICS;
}

/* Keep the interface if it is the first one that will do. */
static void try_iface(struct ucx_net *n, const uct_tl_resource_desc_t *t, struct ucx_found *found)
{
	struct ucx_device *d = n->device;
	uct_iface_attr_t attr;
	uct_iface_h iface;

	if (!open_iface(n, t, &iface, &attr))
		return;
	found->all = found->all || has_all(&attr);
	if (d->iface || !has_few(&attr)) {
		uct_iface_close(iface);
		return;
	}
	d->iface = iface;
	d->address_bytes = attr.device_addr_len;
	d->end_bytes = (attr.ep_addr_len + WORD - 1) / WORD * WORD; /* as wire.h wants it */
	snprintf(d->name, sizeof d->name, "%.30s/%.30s", t->tl_name, t->dev_name);
	snprintf(d->atomics, sizeof d->atomics,
		 "%s adds and compares-and-swaps; swap, or, and are compare-and-swaps, a round trip"
		 " longer after each change by others",
		 d->name);
}

static void try_md(struct ucx_net *n, const char *name, const char *devices,
		   struct ucx_found *found)
{
	struct ucx_device *d = n->device;
	uct_tl_resource_desc_t *t;
	uct_md_config_t *config;
	uct_md_attr_t attr;
	unsigned count = 0;
	ucs_status_t status;

	if (uct_md_config_read(d->component, NULL, NULL, &config) != UCS_OK)
		return;
	status = uct_md_open(d->component, name, config, &d->md);
	uct_config_release(config);
	if (status != UCS_OK) {
		d->md = NULL;
		return;
	}
	if (uct_md_query(d->md, &attr) == UCS_OK &&
	    uct_md_query_tl_resources(d->md, &t, &count) == UCS_OK) {
		d->key_bytes = attr.rkey_packed_size;
		for (unsigned i = 0; i < count; i++)
			if (is_in(devices, t[i].dev_name) && is_allowed(t[i].tl_name))
				try_iface(n, &t[i], found);
		uct_release_tl_resource_list(t);
	}
	if (d->iface)
		return;
	uct_md_close(d->md);
	d->md = NULL;
}

/* All devices of the component, until one will do. */
static void try_component(struct ucx_net *n, const char *devices, struct ucx_found *found)
{
	uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
						   UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};
	uct_md_resource_desc_t *mds;

	if (uct_component_query(n->device->component, &attr) != UCS_OK ||
	    strcmp(attr.name, "ib") != 0)
		return;
	mds = calloc(attr.md_resource_count + 1, sizeof *mds);
	attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
	attr.md_resources = mds;
	if (mds && uct_component_query(n->device->component, &attr) == UCS_OK)
		for (unsigned i = 0; i < attr.md_resource_count && !n->device->iface; i++)
			try_md(n, mds[i].md_name, devices, found);
	free(mds);
}

static bool begin_device(struct ucx_net *n)
{
	struct ucx_device *d = n->device = calloc(1, sizeof *d);
	bool ok = d && (d->ends = sparse_array((size_t)n->ranks, sizeof *d->ends)) != NULL;

	for (int i = 0; ok && i < UCX_OPERANDS; i++)
		ok = device_add_flight(d);
	return ok && ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &d->async) == UCS_OK &&
	       uct_worker_create(d->async, UCS_THREAD_MODE_SERIALIZED, &d->worker) == UCS_OK;
}

/* A shared mapping; see (V) in device.c. */
static bool open_page(struct ucx_device *d)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	d->page = page;
	if (uct_md_mem_reg(d->md, page, PAGE, UCT_MD_MEM_ACCESS_ALL, &d->page_memory) == UCS_OK)
		return true;
	d->page_memory = NULL;
	return false;
}

struct ucx_found ucx_device_find(struct ucx_net *n, const char *devices)
{
	const char *asked = getenv("UCX_NET_DEVICES");
	struct ucx_found found = {false, false};
	uct_component_h *components;
	unsigned count;

	if (begin_device(n) && uct_query_components(&components, &count) == UCS_OK) {
		for (unsigned i = 0; i < count && !n->device->iface; i++) {
			n->device->component = components[i];
			try_component(n, asked ? asked : devices, &found);
		}
		uct_release_component_list(components);
	}
	found.few = n->device && n->device->iface &&
		    uct_iface_event_fd_get(n->device->iface, &n->device->fd) == UCS_OK &&
		    open_page(n->device);
	if (found.few)
		uct_iface_progress_enable(n->device->iface, UCT_PROGRESS_SEND);
	else
		ucx_device_close(n);
	return found;
}

void ucx_device_close(struct ucx_net *n)
{
	struct ucx_device *d = n->device;

	if (!d)
		return;
	for (int i = 0; d->ends && i < n->ranks; i++)
		if (d->ends[i].accepted)
			uct_ep_destroy(d->ends[i].accepted);
	if (d->page_memory)
		uct_md_mem_dereg(d->md, d->page_memory);
	if (d->page)
		munmap(d->page, PAGE);
	if (d->iface)
		uct_iface_close(d->iface);
	if (d->md)
		uct_md_close(d->md);
	if (d->worker)
		uct_worker_destroy(d->worker);
	if (d->async)
		ucs_async_context_destroy(d->async);
	for (unsigned i = 0; i < d->flights; i++)
		free(d->flight[i]);
	free(d->flight);
	sparse_free(d->ends, (size_t)n->ranks, sizeof *d->ends);
	free(d);
	n->device = NULL;
}

size_t ucx_device_card(const struct ucx_net *n, void *to, size_t room)
{
	const struct ucx_device *d = n->device;
	const size_t bytes = sizeof(struct device_card) + d->key_bytes + d->address_bytes;
	struct device_card *card = to;

	if (bytes > room)
		return 0;
	card->page = (uint64_t)(uintptr_t)d->page;
	card->key_bytes = (uint16_t)d->key_bytes;
	card->address_bytes = (uint16_t)d->address_bytes;
	if (uct_md_mkey_pack(d->md, d->page_memory, card->key) != UCS_OK ||
	    uct_iface_get_device_address(d->iface,
					 (uct_device_addr_t *)(card->key + d->key_bytes)) != UCS_OK)
		return 0;
	return bytes;
}
