# SPDX-License-Identifier: BSD-3-Clause
# JSON lines of pawl-bench in, a gnuplot script out. Called by ./plot, behind
# plot-common.awk, with
#   out   the folder of the figures, or ""
#   bars  the file of the one figure with bars, or ""

/^{"lock"/ {
	lock = text("lock"); bench = text("bench"); mpi = text("mpi")
	ranks = number("ranks"); nodes = number("nodes"); active = number("active")
	fw = number("fw"); locks = number("locks")
	law = (number("zipf") > 0 ? ", zipf " number("zipf") : "") \
		(bench == "locktable" ? ", locality " number("locality") " %" : "") \
		(bench ~ /^(range|abort)$/ ? ", length " text("length") ", " number("units") " units" : "") \
		(bench == "range-grow" ? ", " number("units") " units at first" : "") \
		(number("fail") > 0 ? ", failures " number("fail") : "")
	speed = number("throughput"); p50 = number("p50")
	note("lock", lock); note("mpi", mpi)
	# One run, for the bars.
	key = bench SUBSEP ranks SUBSEP nodes SUBSEP active SUBSEP fw SUBSEP locks SUBSEP law
	note("case", key)
	case_ranks[key] = ranks
	if (active == ranks || bench == "dht")
		most = ranks > most ? ranks : most
	case_bench[key] = bench
	case_title[key] = toupper(bench) ", " plural(ranks, "rank") (nodes > 1 ? " on " nodes " nodes" : "") \
		(active < ranks && bench != "dht" ? (active == 1 ? ", uncontended" : ", " active " active") : "") \
		(locks > 1 ? ", " locks " locks" : "") law \
		(fw < 100 || bench == "dht" ? ", F_W = " fw " %" : "")
	bar[key, lock, mpi] = bench == "lb" ? p50 : speed
	# Series over ranks. LB uncontended has one point, whatever the ranks.
	if (active == 1 && ranks > 1 && bench != "dht")
		next
	group = mpi SUBSEP nodes SUBSEP bench SUBSEP locks SUBSEP law
	note("group", group)
	note("ranks" group, ranks); note("fw" group, fw); note("locks" group, lock)
	value[group, lock, fw, ranks] = bench == "lb" ? p50 : speed
	has[group, lock, fw] = 1
}

# ---------------------------------------------------------------------- bars

function short(v, time)
{
	if (time)
		return v < 1e3 ? sprintf("%.3g ns", v) : v < 1e6 ? sprintf("%.3g us", v / 1e3) : \
			v < 1e9 ? sprintf("%.3g ms", v / 1e6) : sprintf("%.3g s", v / 1e9)
	return v < 1e3 ? sprintf("%.3g", v) : v < 1e6 ? sprintf("%.3g k", v / 1e3) : sprintf("%.3g M", v / 1e6)
}

# The bars of one run: its locks from top to bottom, one bar for each MPI.
function panel(c, m, l, y, i, n, name, low, high, tics, h, present, v, time)
{
	time = case_bench[c] == "lb"
	low = 1e30; high = 0; n = 0; tics = ""
	h = 0.8 / count["mpi"]
	print "$bars << END"
	for (l = 1; l <= count["lock"]; l++) {
		name = item["lock", l]
		present = 0
		for (m = 1; m <= count["mpi"]; m++) {
			if (!((c, name, item["mpi", m]) in bar))
				continue
			v = bar[c, name, item["mpi", m]]
			if (v <= 0)
				continue
			present = 1
			y = -n + 0.4 - (m - 0.5) * h
			low = v < low ? v : low; high = v > high ? v : high
			printf "%g %.6g %g %g \"%s\" %d\n", y, v, y - h / 2, y + h / 2, short(v, time), \
				rgb(count["mpi"] > 1 ? colour[m] : colour_of(name))
		}
		if (present)
			tics = tics (n ? ", " : "") sprintf("'%s' %d", name, -n++)
	}
	print "END"
	if (!n)
		return
	low = decade(low) / 2; high = decade(high) * 10 * 6
	printf "set title '%s' font ',14'\nset ytics (%s) scale 0\nset yrange [%g:0.6]\n", case_title[c], tics, -n + 0.4
	printf "set logscale x\nset xtics %s\nset xrange [%g:%g]\nset mxtics 1\n", axis(time), low, high
	printf "set xlabel '%s'\n", time ? "acquire + release, median (shorter is better)" : units(case_bench[c]) " a second (longer is better)"
	printf "plot $bars using (%g):1:(%g):2:3:4:6 with boxxyerror fs solid lc rgb variable notitle, \\\n", low, low
	printf "  $bars using 2:1:5 with labels left offset 0.6,0 font ',11' tc '#222222' notitle\n"
}

# All runs, or of a series over ranks those with the most.
function draw_bars(file, c, columns, rows, m, names, cases)
{
	cases = 0
	for (c = 1; c <= count["case"]; c++)
		if (bars != "" || case_ranks[item["case", c]] == most)
			shown[++cases] = item["case", c]
	columns = cases > 1 ? 2 : 1
	rows = int((cases + columns - 1) / columns)
	header(file, 560 * columns, 60 + rows * (110 + 26 * count["lock"]))
	names = ""
	for (m = 1; m <= count["mpi"]; m++)
		names = names (m > 1 ? ", " : "") item["mpi", m]
	if (count["mpi"] > 1)
		names = names " (in this order, top to bottom)"
	printf "set multiplot layout %d,%d title 'Pawl: locks compared in one run, %s' font ',17'\n", rows, columns, names
	for (c = 1; c <= cases; c++)
		panel(shown[c])
	print "unset multiplot\nunset output"
}

# --------------------------------------------------------------------- lines

function sorted(list, n, i, j, t)
{
	n = count[list]
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && item[list, j - 1] > item[list, j]; j--) {
			t = item[list, j]; item[list, j] = item[list, j - 1]; item[list, j - 1] = t
		}
	return n
}

function series(g, lock, fw, id, r, n)
{
	printf "$s%d << END\n", id
	n = count["ranks" g]
	for (r = 1; r <= n; r++)
		if ((g, lock, fw, item["ranks" g, r]) in value)
			printf "%d %.6g\n", item["ranks" g, r], value[g, lock, fw, item["ranks" g, r]]
	print "END"
}

# Lines over ranks, one for each lock that was measured with this F_W.
function lines(g, fw, title, time, several, l, id, plots, name, tics, r)
{
	id = 0; plots = ""
	for (l = 1; l <= count["locks" g]; l++) {
		name = item["locks" g, l]
		if (!((g, name, fw) in has) || (several && fractions[g, name] < 2))
			continue
		series(g, name, fw, ++id)
		plots = plots (id > 1 ? ", \\\n  " : "") sprintf("$s%d using 1:2 with linespoints lw 2.5 ps 0.9 pt %d lc rgb '%s' title '%s'", \
			id, point[(note("lock", name) - 1) % points + 1], colour_of(name), name)
	}
	if (!id)
		return
	tics = ""
	for (r = 1; r <= count["ranks" g]; r++)
		tics = tics (r > 1 ? ", " : "") item["ranks" g, r]
	printf "set title '%s' font ',14'\nset logscale xy\nset xtics (%s)\nset ytics %s\nset mytics 1\n", title, tics, axis(time)
	printf "set xrange [%g:%g]\nset xlabel 'ranks'\n", item["ranks" g, 1] * 0.85, item["ranks" g, count["ranks" g]] * 1.15
	printf "set ylabel '%s' offset 1,0\n", time ? "acquire + release, median" : units(bench_of[g]) " a second"
	printf "set yrange [*:*]\nset key outside right center Left reverse samplen 2.5 spacing 1.3\nplot %s\n", plots
}

# A panel for each fraction of writers.
function panels(g, file, title, time, n, f)
{
	n = count["fw" g]
	header(file, n > 1 ? 1360 : 760, 20 + 380 * int((n + 1) / 2))
	if (n > 1)
		printf "set multiplot layout %d,2\n", int((n + 1) / 2)
	for (f = 1; f <= n; f++)
		lines(g, item["fw" g, f], title ", F_W = " item["fw" g, f] " %", time, n > 1 && bench_of[g] != "dht")
	print (n > 1 ? "unset multiplot\n" : "") "unset output"
}

function where(part)
{
	return part[1] ", " plural(part[2], "node") (part[4] > 1 ? ", " part[4] " locks" : "") part[5]
}

function draw_group(g, part, bench, name, time, f, l, title, some)
{
	if (count["ranks" g] < 2)
		return
	sorted("ranks" g)
	sorted("fw" g)
	split(g, part, SUBSEP)
	bench_of[g] = bench = part[3]
	time = bench == "lb"
	name = bench
	if (count["group" bench] > 1) {
		name = bench "-" tolower(part[1]) "-" part[2] "n" (part[4] > 1 ? "-" part[4] "l" : "") part[5]
		gsub(/[^a-z0-9.]+/, "-", name)
	}
	title = toupper(bench) ": " where(part)
	if (bench == "dht" || count["fw" g] == 1) {
		panels(g, out "/" name ".svg", title, time)
		return
	}
	# All locks where all is exclusive; those that share, for each fraction.
	for (l = 1; l <= count["locks" g]; l++)
		for (f = 1; f <= count["fw" g]; f++)
			if ((g, item["locks" g, l], item["fw" g, f]) in has)
				some = (fractions[g, item["locks" g, l]] += 1) > 1 || some
	if ((g, item["locks" g, 1], 100) in has) {
		header(out "/" name ".svg", 760, 400)
		lines(g, 100, title ", F_W = 100 %", time, 0)
		print "unset output"
	}
	if (some)
		panels(g, out "/" name "-fw.svg", title, time)
}

END {
	if (!count["case"]) {
		print "plot: no results of pawl-bench in the input" >"/dev/stderr"
		exit 1
	}
	for (i = 1; i <= count["group"]; i++) {
		split(item["group", i], part, SUBSEP)
		note("group" part[3], item["group", i])
	}
	draw_bars(bars != "" ? bars : out "/contestants.svg")
	for (i = 1; out != "" && i <= count["group"]; i++)
		draw_group(item["group", i])
}
