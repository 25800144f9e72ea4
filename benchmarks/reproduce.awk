# SPDX-License-Identifier: BSD-3-Clause
# Data of ./reproduce (panel, series, ranks, value) in, a gnuplot script out. Called
# with out, the file of the figure, and columns, the panels side by side.

{
	if (!($1 in panel)) {
		panel[$1] = ++panels
		parts = split($1, part, "|")
		title[panels] = part[1]
		label[panels] = parts > 1 ? part[2] : "ranks"
		scale[panels] = parts > 2 ? "y" : "xy"
	}
	p = panel[$1]
	if (!((p, $2) in seen)) {
		seen[p, $2] = 1
		name[p, ++series[p]] = $2
	}
	data[p, $2] = data[p, $2] $3 " " $4 "\n"
	x = $3 + 0
	if (!((p, x) in at)) {
		at[p, x] = 1
		low[p] = low[p] == "" || x < low[p] ? x : low[p]
		high[p] = x > high[p] ? x : high[p]
		tics[p] = tics[p] (tics[p] == "" ? "" : ", ") x
		xs[p]++
	}
}

END {
	# Okabe and Ito: told apart by colour-blind readers too.
	colours = split("#0072B2 #D55E00 #009E73 #CC79A7 #56B4E9 #E69F00 #000000 #999999", colour, " ")
	points = split("5 7 9 13 11 4 6 8", point, " ")
	if (!panels) {
		print "reproduce: no data" >"/dev/stderr"
		exit 1
	}
	rows = int((panels + columns - 1) / columns)
	printf "set terminal svg size %d,%d font 'DejaVu Sans,12' background '#ffffff' noenhanced\n", 460 * columns, 360 * rows
	printf "set output '%s'\nset multiplot layout %d,%d\n", out, rows, columns
	print "set border 3 lc '#555555'\nset tics nomirror out textcolor '#222222'\nset grid back lc '#dddddd' lw 1 lt 1"
	print "set key below Left reverse samplen 2 spacing 1.1 font ',10' maxrows 3"
	for (p = 1; p <= panels; p++) {
		printf "set title '%s' font ',13'\n", title[p]
		# A tic for each value, unless they are too many to be read.
		printf "unset logscale\nset logscale %s\nset xtics %s\nset mxtics 1\nset xlabel '%s'\n", \
			scale[p], (xs[p] > 20 ? "autofreq" : "(" tics[p] ")"), label[p]
		if (scale[p] == "xy")
			printf "set xrange [%g:%g]\n", low[p] * 0.8, high[p] * 1.25
		else
			printf "set xrange [%g:%g]\n", low[p] - (high[p] - low[p]) / 20, \
				high[p] + (high[p] - low[p]) / 20
		print title[p] ~ /us$|seconds$|aborts|conflicts/ ? "set format y '%g'" : "set format y '%.0s %c'"
		for (i = 1; i <= series[p]; i++)
			printf "$d%d_%d << END\n%sEND\n", p, i, data[p, name[p, i]]
		printf "plot "
		for (i = 1; i <= series[p]; i++)
			printf "%s$d%d_%d using 1:2 with linespoints lw 2 ps 0.7 pt %d lc rgb '%s' title '%s'", \
				(i > 1 ? ", " : ""), p, i, point[(i - 1) % points + 1], colour[(i - 1) % colours + 1], name[p, i]
		printf "\n"
	}
	print "unset multiplot"
}
