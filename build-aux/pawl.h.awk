# SPDX-License-Identifier: BSD-3-Clause
# Reads the first file, pawl.h, for what other languages have of it: value[] of each constant, in
# the order of constant[1 ... n_constants], of which is_mode[] are modes; members[] of each
# structure; and of the functions[1 ... n_functions] their result[] and what they are given[].

# The arguments of function f, as in the header: type[i], name[i]; their number.
function arguments(f, n, i)
{
	n = split(given[f], name, / *, */)
	if (given[f] == "void")
		return 0
	for (i = 1; i <= n; i++) {
		type[i] = name[i]
		sub(/[a-z_]+(\[\])?$/, "", type[i])
		if (name[i] ~ /\[\]$/)
			type[i] = type[i] "[]"
		gsub(/^.*[ *]|\[\]$/, "", name[i])
		gsub(/struct | +$/, "", type[i])
	}
	return n
}

FNR == 1 { file++ }
file == 1 {
	gsub(/\/\*.*\*\//, "")
	if ($0 ~ /\/\*/) { comment = 1; sub(/\/\*.*/, "") }
	if (comment) {
		if ($0 !~ /\*\//) next
		comment = 0
		sub(/.*\*\//, "")
	}
	macro = /^#/ || goes_on
	goes_on = macro && /\\$/
	if (macro || /^$/ || /^extern/) next
	statement = statement " " $0
	if ($0 !~ /;[ \t]*$/ || statement ~ /{[^}]*$/) next
	gsub(/[ \t]+/, " ", statement)
	sub(/^ /, "", statement)
	take(statement)
	statement = ""
	next
}
function take(s, n, i, entry, next_value, what)
{
	if (s ~ /^enum {/) {
		gsub(/^enum { *| *};$/, "", s)
		n = split(s, entry, / *, */)
		next_value = 0
		for (i = 1; i <= n; i++) {
			what = entry[i]
			sub(/ *=.*/, "", what)
			if (entry[i] ~ /=/) {
				next_value = entry[i]
				sub(/.*= */, "", next_value)
				if (next_value in value) next_value = value[next_value]
			}
			constant[++n_constants] = what
			value[what] = next_value++
			is_mode[what] = s ~ /^PAWL_EXCLUSIVE/
		}
	} else if (s ~ /^(typedef )?struct [a-z_]+ {/) {
		match(s, /pawl_[a-z_]+/)
		what = substr(s, RSTART, RLENGTH)
		gsub(/^[^{]*{ *|}[^}]*$/, "", s)
		members[what] = s
	} else if (s !~ /^(static|typedef)/ && match(s, /pawl_[a-z_]+\(/)) {
		what = substr(s, RSTART, RLENGTH - 1)
		result[what] = substr(s, 1, RSTART - 1)
		gsub(/ +$/, "", result[what])
		s = substr(s, RSTART + RLENGTH)
		sub(/\);$/, "", s)
		given[what] = s
		functions[++n_functions] = what
	}
}
