# SPDX-License-Identifier: BSD-3-Clause
# JSON lines of pawl-bench in, a gnuplot script out: distributions of latencies, operations
# per acquire, and goodput of clients that fail. Called by ./plot, behind
# plot-common.awk, with
#   out   the folder of the figures

# The pairs that begin at the first "[[" of s: to "ns fraction" lines. The very last,
# the maximum, is left out: it would stretch the axis for one sample.
function pairs(s, n, i, p, lines, v)
{
	s = substr(s, index(s, "[[") + 2)
	s = substr(s, 1, index(s, "]]") - 1)
	n = split(s, p, /\],\[/)
	lines = ""
	for (i = 1; i < n; i++) {
		split(p[i], v, ",")
		lines = lines (v[1] > 0 ? v[1] : 1) " " v[2] "\n"
	}
	return lines
}

# One distribution: a line in a panel of a figure.
function keep(figure, panel, lock, lines)
{
	note("figure", figure)
	note("panels" figure, panel)
	note("lines" figure SUBSEP panel, lock)
	cdf[figure, panel, lock] = lines
}

function cdf_of(type, at)
{
	at = index($0, "\"" type "\":{\"count\":")
	at = at ? substr($0, at) : ""
	# Of a type without samples there is none before the next type.
	return at ~ /^"[^"]*":{[^}]*"cdf"/ ? pairs(at) : ""
}

function transactions(types, n, i, type, lines)
{
	n = split(types, type, " ")
	for (i = 1; i <= n; i++) {
		lines = cdf_of(type[i])
		if (lines != "")
			keep(bench, type[i] ": " where, lock, lines)
	}
}

function operations(name, s)
{
	s = $0
	if (!match(s, /"ops_per_acquire":{[^}]*}/))
		return -1
	s = substr(s, RSTART, RLENGTH)
	return match(s, "\"" name "\":[0-9.]+") ? \
		substr(s, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : -1
}

function timeline(s, p, n, i, lines)
{
	s = substr($0, index($0, "\"goodput\":[") + 11)
	s = substr(s, 1, index(s, "]") - 1)
	n = split(s, p, ",")
	lines = ""
	for (i = 1; i <= n; i++)
		lines = lines ((i - 0.5) * 100 / n) " " p[i] "\n"
	return lines
}

/^{"lock"/ {
	lock = text("lock"); bench = text("bench")
	note("lock", lock)
	where = text("mpi") ", " plural(number("ranks"), "rank") \
		(number("nodes") > 1 ? " on " number("nodes") " nodes" : "")
	if (bench == "locktable")
		keep(bench, where ", " number("locks") " locks, locality " number("locality") " %", lock, \
		     pairs(substr($0, index($0, "\"cdf\":"))))
	if (bench == "tatp")
		transactions("GSD UL")
	if (bench == "tpcc")
		transactions("DLY NEW")
	if (bench == "bank")
		transactions("balance transfer")
	if (bench == "micro" && number("fail") == 0 && operations("atomic") >= 0) {
		panel = where ", " number("locks") " locks, F_W = " number("fw") " %" \
			(number("zipf") > 0 ? ", zipf " number("zipf") : "")
		note("ops", panel)
		note("rows" panel, lock)
		ops[panel, lock] = operations("atomic") " " operations("get") " " operations("put")
	}
	if (number("fail") > 0) {
		panel = where ", failures " number("fail")
		note("fail", panel)
		note("rows" panel, lock)
		good[panel, lock] = timeline()
	}
}

function pages(panels, file, width, height, columns)
{
	columns = panels > 1 ? 2 : 1
	header(out "/" file ".svg", width * columns, height * int((panels + columns - 1) / columns))
	printf "set multiplot layout %d,%d\n", int((panels + columns - 1) / columns), columns
}

# Lines of one panel; the data is lines[i] for each lock.
function curves(title, list, style, i, n, name, plots)
{
	n = count[list]
	plots = ""
	for (i = 1; i <= n; i++) {
		name = item[list, i]
		printf "$s%d << END\n%sEND\n", i, data[i]
		plots = plots (i > 1 ? ", \\\n  " : "") sprintf("$s%d using 1:2 with %s lw 2 lc rgb '%s' title '%s'", \
			i, style, colour_of(name), name)
	}
	printf "set title '%s' font ',13'\nset key outside right center Left reverse samplen 2 spacing 1.2\n", title
	printf "plot %s\n", plots
}

function draw_cdf(figure, p, l, panel)
{
	pages(count["panels" figure], figure "-cdf", 700, 380)
	for (p = 1; p <= count["panels" figure]; p++) {
		panel = item["panels" figure, p]
		for (l = 1; l <= count["lines" figure SUBSEP panel]; l++)
			data[l] = cdf[figure, panel, item["lines" figure SUBSEP panel, l]]
		printf "set logscale x\nset xtics %s\nset mxtics 1\nset xrange [*:*]\nset yrange [0:1.02]\n", axis(1)
		printf "set xlabel 'latency'\nset ylabel 'fraction done' offset 1,0\n"
		curves(toupper(figure) ", " panel, "lines" figure SUBSEP panel, "steps")
	}
	print "unset multiplot\nunset output"
}

function draw_goodput(p, l, panel)
{
	pages(count["fail"], "micro-goodput", 700, 380)
	for (p = 1; p <= count["fail"]; p++) {
		panel = item["fail", p]
		for (l = 1; l <= count["rows" panel]; l++)
			data[l] = good[panel, item["rows" panel, l]]
		printf "unset logscale\nset xrange [0:100]\nset xtics 20\nset yrange [0:*]\nset ytics auto\nset format y '%%.1s %%c'\n"
		printf "set xlabel 'time, per cent of the run'\nset ylabel 'acquires a second' offset 1,0\n"
		curves("MICRO, " panel, "rows" panel, "lines")
	}
	print "unset multiplot\nunset output"
}

# Atomics, gets and puts on top of each other, a row for each lock.
function draw_operations(p, l, n, panel, most)
{
	most = 0
	for (p = 1; p <= count["ops"]; p++)
		most = count["rows" item["ops", p]] > most ? count["rows" item["ops", p]] : most
	pages(count["ops"], "micro-ops", 700, 110 + 30 * most)
	for (p = 1; p <= count["ops"]; p++) {
		panel = item["ops", p]
		n = count["rows" panel]
		print "$ops << END"
		for (l = 1; l <= n; l++)
			printf "\"%s\" %d %s\n", item["rows" panel, l], -l, ops[panel, item["rows" panel, l]]
		print "END"
		printf "set title '%s' font ',13'\nset yrange [%g:-0.4]\nset xrange [0:*]\nset style fill solid\n", panel, -n - 0.6
		printf "set xlabel 'operations per acquire and release'\nset key outside right center Left reverse samplen 1\n"
		printf "plot $ops using (0):2:(0):3:($2-0.35):($2+0.35):ytic(1) with boxxyerror lc rgb '%s' title 'atomics', \\\n", colour[1]
		printf "  '' using 3:2:3:($3+$4):($2-0.35):($2+0.35) with boxxyerror lc rgb '%s' title 'gets', \\\n", colour[3]
		printf "  '' using ($3+$4):2:($3+$4):($3+$4+$5):($2-0.35):($2+0.35) with boxxyerror lc rgb '%s' title 'puts'\n", colour[2]
	}
	print "unset multiplot\nunset output"
}

END {
	for (f = 1; f <= count["figure"]; f++)
		draw_cdf(item["figure", f])
	if (count["ops"])
		draw_operations()
	if (count["fail"])
		draw_goodput()
}
