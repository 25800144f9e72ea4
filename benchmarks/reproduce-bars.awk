# SPDX-License-Identifier: BSD-3-Clause
# As reproduce.awk, for data whose third column is a word: bars, a group for each word.

{
	split($1, part, "|")
	if (!(part[1] in panel)) {
		panel[part[1]] = ++panels
		title[panels] = part[1]
	}
	p = panel[part[1]]
	if (!((p, $2) in seen)) {
		seen[p, $2] = 1
		name[p, ++series[p]] = $2
	}
	if (!((p, $3) in known)) {
		known[p, $3] = 1
		group[p, ++groups[p]] = $3
	}
	value[p, $2, $3] = $4
}

END {
	colours = split("#0072B2 #D55E00 #009E73 #CC79A7 #56B4E9 #E69F00 #000000 #999999", colour, " ")
	if (!panels) {
		print "reproduce: no data" >"/dev/stderr"
		exit 1
	}
	rows = int((panels + columns - 1) / columns)
	printf "set terminal svg size %d,%d font 'DejaVu Sans,12' background '#ffffff' noenhanced\n", 460 * columns, 360 * rows
	printf "set output '%s'\nset multiplot layout %d,%d\n", out, rows, columns
	print "set border 3 lc '#555555'\nset tics nomirror out textcolor '#222222'\nset grid y back lc '#dddddd' lw 1 lt 1"
	print "set xtics font ',10'\nset style data histograms\nset style histogram clustered gap 1\nset style fill solid border -1\nset boxwidth 0.9"
	print "set key below Left reverse samplen 2 spacing 1.1 font ',10' maxrows 3\nset yrange [*:*]"
	for (p = 1; p <= panels; p++) {
		printf "set title '%s' font ',13'\n", title[p]
		print title[p] ~ /a second|us$/ ? "set logscale y" : "unset logscale\nset yrange [0:*]"
		print title[p] ~ /a second/ ? "set format y '%.0s %c'" : "set format y '%g'"
		printf "$d%d << END\n", p
		for (g = 1; g <= groups[p]; g++) {
			printf "\"%s\"", group[p, g]
			for (i = 1; i <= series[p]; i++)
				printf " %s", ((p, name[p, i], group[p, g]) in value) ? value[p, name[p, i], group[p, g]] : "NaN"
			printf "\n"
		}
		printf "END\nplot "
		for (i = 1; i <= series[p]; i++)
			printf "%s$d%d using %d:xtic(1) lc rgb '%s' title '%s'", \
				(i > 1 ? ", " : ""), p, i + 1, colour[(i - 1) % colours + 1], name[p, i]
		printf "\n"
	}
	print "unset multiplot"
}
