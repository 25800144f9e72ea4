# SPDX-License-Identifier: BSD-3-Clause
# JSON lines of pawl-bench in, a gnuplot script out: the figures of workloads over ranges, in
# the manner of Figures 7 and 9 to 12 of the Citron paper (FAST'23). Called by ./plot, behind
# plot-more.awk, whose variables of a line it uses.

# "[[1,2],[3,4]]" behind that key: lines "1 2".
function rows(key, s)
{
	s = substr($0, index($0, "\"" key "\":[[") + length(key) + 5)
	s = substr(s, 1, index(s, "]]") - 1)
	gsub(/\],\[/, "\n", s)
	gsub(/,/, " ", s)
	return s "\n"
}

# Acquires a second of ranges of that length.
function speed_of(size, s)
{
	s = substr($0, index($0, "\"length-" size "\":{\"count\":") + length(size) + 19)
	return number("seconds") > 0 ? (s + 0) / number("seconds") : 0
}

/^{"lock"/ && bench == "range-grow" && /"over_time"/ {
	panel = where ", " number("units") " units at first"
	note("grow", panel)
	note("rows" panel, lock)
	grow[panel, lock] = rows("over_time")
}

/^{"lock"/ && bench == "range" {
	panel = where ", zipf " number("zipf") ", " number("units") " units"
	if (text("length") == "mixed") {
		note("sizes", panel)
		note("rows" panel, lock)
		sizes[panel, lock] = speed_of(1) " " speed_of(16) " " speed_of(256)
	}
	panel = where ", length " text("length") ", " number("units") " units"
	note("skew", panel)
	note("rows" panel, lock)
	note("zipf" panel, number("zipf"))
	skew[panel, lock] = skew[panel, lock] number("zipf") " " number("throughput") "\n"
}

# Of one column of the rows behind that key, those that a logarithmic axis can show.
function column(key, c, n, i, line, v, lines)
{
	n = split(rows(key), line, "\n") - 1
	lines = ""
	for (i = 1; i <= n; i++) {
		split(line[i], v, " ")
		if (v[c] > 0)
			lines = lines v[1] " " v[c] "\n"
	}
	return lines
}

/^{"lock"/ && bench == "falseconflict" {
	panel = number("units") " units"
	note("false", panel)
	for (k = 1; k <= 6; k++)
		conflicts[panel, k] = column("false_conflicts", k + 2)
}

/^{"lock"/ && bench == "abort" {
	panel = where ", length " text("length") ", zipf " number("zipf")
	name = lock
	if (match(text("parameters"), /(^|[ ,])m [0-9]+/))
		name = lock " " substr(text("parameters"), RSTART + (RSTART > 1), RLENGTH - (RSTART > 1))
	lines = column("by_clients", 2)
	if (lines != "") {
		note("abort", panel)
		note("rows" panel "abort", name)
		again[panel, name] = lines
	}
}

function draw_conflicts(p, k, panel)
{
	pages(count["false"], "falseconflict", 700, 380)
	for (p = 1; p <= count["false"]; p++) {
		panel = item["false", p]
		for (k = 1; k <= 6; k++)
			if (conflicts[panel, k] != "") {
				note("ks" panel, "k = " k)
				data[count["ks" panel]] = conflicts[panel, k]
			}
		printf "set logscale xy\nset xrange [1:*]\nset xtics auto\nset yrange [*:1]\nset ytics auto\nset format y '10^{%%T}'\nset termoption enhanced\n"
		printf "set xlabel 'units of a range'\nset ylabel 'false conflicts of all pairs' offset 1,0\n"
		curves("FALSECONFLICT, " panel, "ks" panel, "linespoints pt 7 ps 0.7")
	}
	print "unset multiplot\nunset output"
}

function draw_aborts(p, l, panel)
{
	pages(count["abort"], "abort", 700, 380)
	for (p = 1; p <= count["abort"]; p++) {
		panel = item["abort", p]
		for (l = 1; l <= count["rows" panel "abort"]; l++)
			data[l] = again[panel, item["rows" panel "abort", l]]
		printf "set logscale xy\nset xrange [*:*]\nset xtics auto\nset yrange [*:*]\nset ytics auto\nset format y '10^{%%T}'\nset termoption enhanced\n"
		printf "set xlabel 'clients'\nset ylabel 'aborts per acquire' offset 1,0\n"
		curves("ABORT, " panel, "rows" panel "abort", "linespoints pt 7 ps 0.7")
	}
	print "unset multiplot\nunset output"
}

function draw_grow(p, l, panel)
{
	pages(count["grow"], "range-grow", 700, 380)
	for (p = 1; p <= count["grow"]; p++) {
		panel = item["grow", p]
		for (l = 1; l <= count["rows" panel]; l++)
			data[l] = grow[panel, item["rows" panel, l]]
		printf "unset logscale\nset xrange [0:*]\nset xtics auto\nset yrange [0:*]\nset ytics auto\nset format y '%%.1s %%c'\n"
		printf "set xlabel 'time in seconds'\nset ylabel 'acquires a second' offset 1,0\n"
		curves("RANGE-GROW, " panel, "rows" panel, "lines")
	}
	print "unset multiplot\nunset output"
}

# The lines of one lock, by skew.
function by_skew(lines, n, i, j, v, t)
{
	n = split(lines, v, "\n") - 1
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
		}
	lines = ""
	for (i = 1; i <= n; i++)
		lines = lines v[i] "\n"
	return lines
}

# Where there is more than one skew.
function draw_skew(p, l, panel, n)
{
	for (p = 1; p <= count["skew"]; p++)
		if (count["zipf" item["skew", p]] > 1)
			skewed[++n] = item["skew", p]
	if (!n)
		return
	pages(n, "range-skew", 700, 380)
	for (p = 1; p <= n; p++) {
		panel = skewed[p]
		for (l = 1; l <= count["rows" panel]; l++)
			data[l] = by_skew(skew[panel, item["rows" panel, l]])
		printf "unset logscale\nset xrange [-0.02:*]\nset xtics auto\nset yrange [0:*]\nset ytics auto\nset format y '%%.1s %%c'\n"
		printf "set xlabel 'exponent of Zipf''s law'\nset ylabel 'acquires a second' offset 1,0\n"
		curves("RANGE, " panel, "rows" panel, "linespoints pt 7 ps 0.7")
	}
	print "unset multiplot\nunset output"
}

# Speeds by length on top of each other, a row for each lock.
function draw_sizes(p, l, n, panel, most)
{
	for (p = 1; p <= count["sizes"]; p++)
		most = count["rows" item["sizes", p]] > most ? count["rows" item["sizes", p]] : most
	pages(count["sizes"], "range-sizes", 700, 110 + 30 * most)
	for (p = 1; p <= count["sizes"]; p++) {
		panel = item["sizes", p]
		n = count["rows" panel]
		print "$speeds << END"
		for (l = 1; l <= n; l++)
			printf "\"%s\" %d %s\n", item["rows" panel, l], -l, sizes[panel, item["rows" panel, l]]
		print "END"
		printf "set title 'RANGE, %s' font ',13'\nset yrange [%g:-0.4]\nset xrange [0:*]\nset style fill solid\n", panel, -n - 0.6
		printf "unset logscale\nset xtics auto\nset format x '%%.1s %%c'\nset format y\n"
		printf "set xlabel 'acquires a second'\nset key outside right center Left reverse samplen 1\n"
		printf "plot $speeds using (0):2:(0):3:($2-0.35):($2+0.35):ytic(1) with boxxyerror lc rgb '%s' title '1 unit', \\\n", colour[1]
		printf "  '' using 3:2:3:($3+$4):($2-0.35):($2+0.35) with boxxyerror lc rgb '%s' title '16 units', \\\n", colour[3]
		printf "  '' using ($3+$4):2:($3+$4):($3+$4+$5):($2-0.35):($2+0.35) with boxxyerror lc rgb '%s' title '256 units'\n", colour[2]
	}
	print "unset multiplot\nunset output"
}

END {
	if (count["grow"])
		draw_grow()
	if (count["sizes"])
		draw_sizes()
	draw_skew()
	if (count["false"])
		draw_conflicts()
	if (count["abort"])
		draw_aborts()
}
