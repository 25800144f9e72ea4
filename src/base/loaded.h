/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells libpawl that a layer under another interface (src/layers) is in the process. */
#ifndef BASE_LOADED_H
#define BASE_LOADED_H

/* Defined by each layer; libpawl has a weak reference to it. */
__attribute__((visibility("default"))) void pawl_private_layer(void);

#endif
