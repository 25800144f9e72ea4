# SPDX-License-Identifier: BSD-3-Clause
"""The commands of pawl-report.

cli.py         the command line
compare.py     compare: the locks on this machine
answer.py      its last table and its picture: adaptive and MPI_Win_lock
run.py         run: the tables of doc/; tables/ has a file for each
reproduce.py   reproduce: data of the papers' figures, by simulation; papers/ has a file for each
data.py        such data: a table for each panel of a figure
figures.py     figures: draws it
plot.py        plot: draws results of pawl-bench; plot_more.py: distributions and ranges

launch.py      starts the programs of a build tree as MPI jobs; progress
simulate.py    starts pawl-sim, and makes points of figures from its results
results.py     the JSON lines of pawl-bench and pawl-sim
stats.py       medians and spreads
style.py       what all figures share
text.py        numbers and tables for people
"""
