# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of ./plot share: fields of a JSON line, lists, colours, axes.

function text(key, s)
{
	if (!match($0, "\"" key "\":\"[^\"]*\""))
		return ""
	s = substr($0, RSTART, RLENGTH)
	return substr(s, length(key) + 5, length(s) - length(key) - 5)
}

function number(key, s)
{
	if (!match($0, "\"" key "\":[-+.0-9e]+"))
		return 0
	s = substr($0, RSTART, RLENGTH)
	return substr(s, length(key) + 4) + 0
}

# Add to a list of distinct names; they keep the order of their coming.
function note(list, name, i)
{
	for (i = 1; i <= count[list]; i++)
		if (item[list, i] == name)
			return i
	item[list, ++count[list]] = name
	return count[list]
}

function plural(n, word)
{
	return n " " word (n == 1 ? "" : "s")
}

BEGIN {
	# Okabe and Ito: told apart by colour-blind readers too.
	colours = split("#0072B2 #D55E00 #009E73 #CC79A7 #56B4E9 #E69F00 #000000 #999999 #882255 #332288",
	                colour, " ")
	points = split("5 7 9 13 11 4 6 8 12 10", point, " ")
}

function colour_of(lock)
{
	return colour[(note("lock", lock) - 1) % colours + 1]
}

# "#0072B2" as a number.
function rgb(s, i, v)
{
	v = 0
	for (i = 2; i <= 7; i++)
		v = v * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1
	return v
}

function header(file, width, height)
{
	printf "\nreset\nset terminal svg size %d,%d font 'DejaVu Sans,13' background '#ffffff' noenhanced\n", width, height
	printf "set output '%s'\n", file
	print "set border 3 lc '#555555'\nset tics nomirror out textcolor '#222222'\nset grid back lc '#dddddd' lw 1 lt 1"
	print "set errorbars 0\nset key noenhanced"
}

function axis(time)
{
	if (time)
		return "('1 ns' 1, '10 ns' 10, '100 ns' 100, '1 us' 1e3, '10 us' 1e4, '100 us' 1e5, '1 ms' 1e6, '10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10, '100 s' 1e11)"
	return "('1' 1, '10' 10, '100' 100, '1 k' 1e3, '10 k' 1e4, '100 k' 1e5, '1 M' 1e6, '10 M' 1e7, '100 M' 1e8, '1 G' 1e9)"
}

function units(bench)
{
	return bench ~ /^(dht|btio|oltp)$/ ? "operations" : bench ~ /^(tatp|tpcc|bank)$/ ? "transactions" : "acquires"
}

function decade(v)
{
	return 10 ^ int(log(v) / log(10) + (v >= 1 ? 0 : -1))
}
