/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a program that is linked with --wrap, in place of those that its objects call. */
#ifndef WRAP_H
#define WRAP_H

/* Begins the one in place of `name`, whose own name is then __real_name. */
#define WRAP(type, name, parameters)   \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters

/* The same as long as fails(), a function of the program, returns false; else `failed`. */
#define MAY_FAIL(type, name, failed, parameters, arguments)          \
	WRAP(type, name, parameters)                                 \
	{                                                            \
		return fails() ? (failed) : __real_##name arguments; \
	}

#endif
