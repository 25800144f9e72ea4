# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the test scripts: results in TAP (Test Anything Protocol).

tap_count=0
tap_failed=0
tap_directive=

# check NAME COMMAND...: one result, by the command's status; its output follows as
# comments.
check()
{
	tap_name=$1
	shift
	tap_count=$((tap_count + 1))
	if tap_said=$("$@" 2>&1); then
		echo "ok $tap_count - $tap_name"
	else
		echo "not ok $tap_count - $tap_name$tap_directive"
		tap_failed=$((tap_failed + 1))
	fi
	[ -z "$tap_said" ] || printf '%s\n' "$tap_said" | sed 's/^/# /'
}

# timed check NAME COMMAND...: other work on the machine may make the result fail, since it depends
# on how long something takes, or on which ranks run at the same time. Such a failure ends with
# "# timed", and run-tests runs a test that fails in no other way once more, when nothing else runs.
timed()
{
	tap_directive=" # timed"
	"$@"
	tap_directive=
}

# The skips that tests/expected-skips declares for this test and this MPI: extended
# regular expressions, one a line. Every name, unless TEST_SKIPS=declared.
tap_declared()
{
	if [ "${TEST_SKIPS-}" != declared ]; then
		echo '.*'
		return
	fi
	awk -v mpi="${TEST_MPI-}" -v major="${TEST_MPI_MAJOR-}" -v test="${0##*/}" '
		!/^#/ && ($1 == "any" || $1 == mpi || $1 == mpi major) && $2 == test {
			sub(/^[^ ]+ +[^ ]+ +/, "")
			print
		}' "$srcdir/tests/expected-skips"
}

# tap_may_skip NAME: whether the result may be skipped.
tap_may_skip()
{
	printf '%s\n' "$1" | grep -qxE -e "$(tap_declared)" -e '$^'
}

# skip NAME REASON
skip()
{
	tap_count=$((tap_count + 1))
	if tap_may_skip "$1"; then
		echo "ok $tap_count - $1 # SKIP $2"
	else
		echo "not ok $tap_count - $1 # skipped, which tests/expected-skips does not declare: $2"
		tap_failed=$((tap_failed + 1))
	fi
}

# skip_all REASON: instead of any other result.
skip_all()
{
	if tap_may_skip all; then
		echo "1..0 # SKIP $1"
		exit 0
	fi
	skip all "$1"
	finish
}

# The plan, and the status for a run of the script by hand.
finish()
{
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ]
	exit
}

# make_tmp: make $tmp, a folder for the files of this script, which is removed at its end.
make_tmp()
{
	tmp=$PWD/${0##*/}.$$.tmp
	mkdir "$tmp" || exit 1
	trap 'rm -rf "$tmp"' EXIT
}

# has_ucx: whether this build has the transport over UCX.
has_ucx()
{
	grep -q '^UCX_LIBS = *-l' "$builddir/Makefile"
}

# complains WORDS ARGUMENT...: complainer, which a script defines, ends with status 2 for these
# arguments, and a message with these words.
complains()
{
	complains_words=$1
	shift
	complains_said=$(complainer "$@" 2>&1)
	complains_status=$?
	printf '%s\n' "$complains_said"
	[ $complains_status = 2 ] && printf '%s\n' "$complains_said" | grep -q -e "$complains_words"
}

# told WORDS COMMAND...: tests/lock/table/no_table, which the command starts, says with these words (an
# extended regular expression) why there is no table, and UCX is given nothing that it refuses.
told()
{
	told_words=$1
	shift
	told_said=$("$@" 2>&1)
	printf '%s\n' "$told_said" | grep -E -e '^create' -e 'UCX +ERROR' -e "invalid configuration" ||
		printf '%s\n' "$told_said" | tail -n 5
	printf '%s\n' "$told_said" | grep -qE -e "^create: .*$told_words" &&
		! printf '%s\n' "$told_said" | grep -q "invalid configuration"
}

# The text of pawl.h without comments.
pawl_h()
{
	awk '
		{ text = text $0 "\n" }
		END {
			while ((i = index(text, "/*")) > 0) {
				printf "%s", substr(text, 1, i - 1)
				text = substr(text, i + 2)
				text = substr(text, index(text, "*/") + 2)
			}
			printf "%s", text
		}' "$srcdir/include/pawl.h"
}

# The functions that pawl.h declares, one a line, sorted.
pawl_functions()
{
	pawl_h | grep -v '^typedef' | grep -oE '\bpawl_[a-z0-9_]+\(' | tr -d '(' | sort -u
}

# tap_program PREFIX COMMAND...: include the results of a program that prints
# TAP, under names that start with PREFIX. A program that ends without its plan,
# or with a status that contradicts its results, is one more failed result.
tap_program()
{
	tap_prefix=$1
	shift
	tap_file=tap-program.$$.tmp
	tap_status=0
	"$@" >"$tap_file" 2>&1 || tap_status=$?
	tap_declared >"$tap_file.skips"
	awk -v prefix="$tap_prefix" -v n="$tap_count" -v status="$tap_status" '
		FILENAME ~ /\.skips$/ { declared[$0]; next }
		function may_skip(name, one)
		{
			sub(/ # SKIP.*/, "", name)
			for (one in declared)
				if (name ~ "^(" one ")$")
					return 1
			return 0
		}
		/^(not )?ok [0-9]+ - / {
			n++
			word = /^not/ ? "not ok" : "ok"
			sub(/^(not )?ok [0-9]+ - /, "")
			if (/ # SKIP/ && !may_skip(prefix ": " $0)) {
				word = "not ok"
				undeclared++
				sub(/ # SKIP/, " # skipped, which tests/expected-skips does not declare:")
			} else {
				bad += word == "not ok"
			}
			print word " " n " - " prefix ": " $0
			next
		}
		/^1\.\.[0-9]+$/ { plan = 1; next }
		{ print "# " $0 }
		END {
			if (!plan || (status != 0) != (bad > 0)) {
				n++
				bad++
				print "not ok " n " - " prefix " ends well # status " status \
				      (plan ? "" : ", no plan")
			}
			print n, bad + undeclared > "'"$tap_file.sum"'"
		}' "$tap_file.skips" "$tap_file"
	read -r tap_count tap_bad <"$tap_file.sum"
	tap_failed=$((tap_failed + tap_bad))
	rm -f "$tap_file" "$tap_file.sum" "$tap_file.skips"
}

# make_install FOLDER LOG: the tests of this build tree that run at the same time need its libraries
# (stage in Makefile.am); without TEST_STAGED no other test may run meanwhile.
make_install()
{
	if [ -n "${TEST_STAGED-}" ]; then
		cp "$TEST_STAGED.log" "$2" && cp -a "$TEST_STAGED/." "$1"
	else
		make -C "$builddir" install DESTDIR="$1" >"$2" 2>&1
	fi || { tail -n 20 "$2"; return 1; }
}

# caught PROGRAM...: succeeds if the program ends by itself with a failed check, not by
# a crash or a hang.
caught()
{
	caught_status=0
	caught_said=$("$@" 2>&1) || caught_status=$?
	printf '%s\n' "$caught_said" | grep -E '^not ok' | head -n 3
	if [ "$caught_status" = 124 ] || [ "$caught_status" = 137 ]; then
		echo "it hung"
		return 1
	fi
	[ "$caught_status" != 0 ] && printf '%s\n' "$caught_said" | grep -q '^1\.\.' &&
		printf '%s\n' "$caught_said" | grep -q '^not ok' && return
	echo "it ended with $caught_status, and last said:"
	printf '%s\n' "$caught_said" | tail -n 5
	return 1
}
