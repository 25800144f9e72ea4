# SPDX-License-Identifier: BSD-3-Clause
# awk -f pawl.h.awk -f python-module.awk HEADER: module pawl._header of Python, with the constants,
# structures and functions of pawl.h, but for functions with an MPI_Comm or an MPI_Request.

# The constants whose names begin with prefix ("mode:": of modes), with start in its place.
function constants(prefix, start, i, what)
{
	for (i = 1; i <= n_constants; i++) {
		what = (is_mode[constant[i]] ? "mode:" : "") constant[i]
		if (!sub("^" prefix, "", what))
			continue
		print start what " = " value[constant[i]]
		printed[i]
	}
}
function class(name, base, about)
{
	print "\n\nclass " name "(" base "):\n    \"\"\"" about "\"\"\"\n"
}
function enumeration(name, base, about, prefix)
{
	class(name, "enum." base, about)
	constants(prefix, "    ")
}

function type_in_ctypes(t)
{
	sub(/^const /, "", t)
	gsub(/struct | +$/, "", t)
	if (t == "char *") return "c_char_p"
	if (t == "unsigned") return "c_uint"
	if (t == "pawl_fint") return "c_int"
	if (t ~ /^(int|size_t|double)$/) return "c_" t
	if (t ~ /^u?int64_t$/) return "c_" substr(t, 1, length(t) - 2)
	if (t == "pawl_home_fn *") return "HOME_FUNCTION"
	if (t ~ /\*\*$/) return "POINTER(c_void_p)"
	if (t ~ /^(pawl_(table|request|range)|void) \*$|\[\]$/) return "c_void_p"
	if (sub(/ \*$/, "", t))
		return "POINTER(" (t in class_of ? class_of[t] : type_in_ctypes(t)) ")"
	print "python-module: no type for \"" t "\"" >"/dev/stderr"
	exit failed = 1
}
function structure(name, of, n, m, i, j, member, variable, t, size)
{
	class_of[of] = name
	class(name, "ctypes.Structure", "struct " of ".")
	print "    _fields_ = ["
	n = split(members[of], member, /; */)
	for (i = 1; i < n; i++) {
		t = member[i]
		sub(/[a-z_]+(\[[0-9]+\])?(, *[a-z_]+(\[[0-9]+\])?)*$/, "", t)
		m = split(substr(member[i], length(t) + 1), variable, /, */)
		for (j = 1; j <= m; j++) {
			size = variable[j] ~ /\[/ ? " * " variable[j] : ""
			gsub(/.*\[|\]/, "", size)
			if (size != "")
				size = " * " size
			sub(/\[.*/, "", variable[j])
			print "        (\"" variable[j] "\", " type_in_ctypes(t) size "),"
		}
	}
	print "    ]"
}
function signature(f, n, i, all, line)
{
	n = arguments(f)
	for (i = 1; i <= n; i++)
		all = all (i > 1 ? ", " : "") type_in_ctypes(type[i])
	line = "    \"" f "\": [" all "],"
	if (length(line) > 100) {
		gsub(/, /, ",\n        ", all)
		line = "    \"" f "\": [\n        " all ",\n    ],"
	}
	print line
}

END {
	print "# SPDX-License-Identifier: BSD-3-Clause"
	print "\"\"\"Made from pawl.h by make python-module: constants, structures and functions.\"\"\""
	print "\nfrom __future__ import annotations\n\nimport ctypes\nimport enum"
	print "from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint"
	print "from ctypes import c_uint64, c_void_p\nfrom typing import Any, Dict, List\n"
	constants("PAWL_CAP_", "CAP_")
	enumeration("Time", "IntEnum", "Which times Table.percentile() looks at.", "PAWL_TIME_")
	class("Code", "enum.IntEnum", "What calls of the library return: PAWL_SUCCESS, PAWL_ERR_*.")
	constants("PAWL_SUCCESS$", "    SUCCESS")
	constants("PAWL_ERR_", "    ")
	constants("PAWL_RECOVERED$", "    RECOVERED")
	enumeration("Mode", "IntFlag", "The modes of pawl.h; AHEAD goes with an intent.", "mode:PAWL_")
	structure("ReadData", "pawl_read")
	structure("Stats", "pawl_stats")
	structure("Kind", "pawl_kind")
	structure("TableInfo", "pawl_table_info")
	print "\n\nHOME_FUNCTION = ctypes.CFUNCTYPE(c_int, c_uint64, c_void_p)\n"
	print "#: The arguments of the functions that return an int."
	print "SIGNATURES: Dict[str, List[Any]] = {"
	for (i = 1; i <= n_functions; i++)
		if (result[functions[i]] == "int" && given[functions[i]] !~ /MPI_(Comm|Request)/)
			signature(functions[i])
	print "}"
	for (i = 1; i <= n_constants; i++)
		if (!(i in printed)) {
			print "python-module: no place for " constant[i] >"/dev/stderr"
			failed = 1
		}
	exit failed
}
