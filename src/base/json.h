/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in JSON. */
#ifndef PAWL_BASE_JSON_H
#define PAWL_BASE_JSON_H

#include <stdio.h>

/* The text in quotes, with escapes; "" for NULL. */
static inline void json_put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; text && *text; text++)
		if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned)*text);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputc('"', out);
}

/* "key":"value" */
static inline void json_put_member(FILE *out, const char *key, const char *value)
{
	json_put_text(out, key);
	fputc(':', out);
	json_put_text(out, value);
}

#endif
