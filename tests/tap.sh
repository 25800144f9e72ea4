# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the test scripts: results in TAP (Test Anything Protocol).

tap_count=0
tap_failed=0

# check NAME COMMAND...: one result, by the command's status; what it printed
# follows as comments.
check()
{
	tap_name=$1
	shift
	tap_count=$((tap_count + 1))
	if tap_said=$("$@" 2>&1); then
		echo "ok $tap_count - $tap_name"
	else
		echo "not ok $tap_count - $tap_name"
		tap_failed=$((tap_failed + 1))
	fi
	[ -z "$tap_said" ] || printf '%s\n' "$tap_said" | sed 's/^/# /'
}

# skip NAME REASON
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: instead of any other result.
skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# The plan, and the status for those who run the script by hand.
finish()
{
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ]
	exit
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

# tap_program PREFIX COMMAND...: take over the results of a program that prints
# TAP, under names that start with PREFIX. A program that ends without its plan,
# or with another status than its results say, is one more failed result.
tap_program()
{
	tap_prefix=$1
	shift
	tap_file=tap-program.$$.tmp
	tap_status=0
	"$@" >"$tap_file" 2>&1 || tap_status=$?
	awk -v prefix="$tap_prefix" -v n="$tap_count" -v status="$tap_status" '
		/^(not )?ok [0-9]+ - / {
			n++
			bad += /^not/
			word = /^not/ ? "not ok" : "ok"
			sub(/^(not )?ok [0-9]+ - /, "")
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
			print n, bad > "'"$tap_file.sum"'"
		}' "$tap_file"
	read -r tap_count tap_bad <"$tap_file.sum"
	tap_failed=$((tap_failed + tap_bad))
	rm -f "$tap_file" "$tap_file.sum"
}

# caught PROGRAM...: succeeds if the program ends by itself having found
# something wrong; told apart from a crash or a hang.
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
		printf '%s\n' "$caught_said" | grep -q '^not ok'
}
