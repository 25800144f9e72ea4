#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ways in which libpawl-mpi gets into the processes of a job, or into some of them. In each way the
# program's results are right, and the layer is in use (it then counts the locks, and names the
# program's line), or one line says why it is off.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/dropin-head.sh"
[ -e "$lib" ] || skip_all "no .libs/libpawl-mpi.so in this build"
export PAWL_STATS=1

# ---------------------------------------------------------------- programs

fortran=$(wrapper mpifort)
c="$CC -D_GNU_SOURCE -std=c11 -g"
with="-L$builddir/.libs -Wl,-rpath,$builddir/.libs -lpawl-mpi -lpawl"

# build LANGUAGE: program-LANGUAGE, plugin-LANGUAGE.so, and both linked with the layer by a linker
# that drops libraries without use.
build()
{
	build_objects=$work/turns-$1.o
	build_link=$CC
	case $1 in
	c) $c -fPIC -DTURNS -c "$sources/loading/loaded.c" -o "$build_objects" || return ;;
	*)
		build_flags=
		case $1 in
		mpi) build_flags=-DUSE_MPI ;;
		mpi_f08) build_flags=-DUSE_MPI_F08 ;;
		esac
		build_link=$fortran
		(cd "$work" && $fortran -w -g -fPIC $argument_mismatch $build_flags \
			-c "$sources/loading/loaded.F90" -o "$build_objects") || return
		build_objects="$build_objects $work/main.o"
		;;
	esac
	$build_link -w $build_objects -o "$work/program-$1" -rdynamic -ldl &&
		$build_link -w -shared $build_objects -o "$work/plugin-$1.so" &&
		$build_link -w $build_objects -o "$work/linked-$1" -Wl,--as-needed $with -ldl &&
		$build_link -w -shared $build_objects -o "$work/linked-$1.so" -Wl,--as-needed $with
}

$c -fPIC -c "$sources/loading/loaded.c" -o "$work/main.o"
echo "      end" >"$work/empty.f90"
argument_mismatch=
[ -z "$fortran" ] || ! $fortran -fallow-argument-mismatch -c "$work/empty.f90" \
	-o "$work/empty.o" 2>/dev/null || argument_mismatch=-fallow-argument-mismatch
languages=
for language in c mpif.h mpi mpi_f08; do
	if said=$(build $language 2>&1); then
		languages="$languages $language"
	else
		skip "programs in $language" "$(printf '%s\n' "$said" | tail -n 1)"
	fi
done

# -------------------------------------------------------------------- runs

# loaded STATE RUN...: every result is right; and the layer is "on", or off with the one line of
# each MPI_COMM_WORLD (of two, if STATE is 2), "off: PART OF LINE".
loaded()
{
	loaded_state=$1
	shift
	"$@" >"$work/said" 2>"$work/errors"
	loaded_status=$?
	cat "$work/said" "$work/errors" >"$work/both"
	if [ $loaded_status != 0 ] || ! grep -q '^right' "$work/both" || grep -q WRONG "$work/both"; then
		echo "status $loaded_status"
		head -n 20 "$work/both"
		return 1
	fi
	grep '^pawl:' "$work/errors" >"$work/lines"
	case $loaded_state in
	on) grep -q "at ${loaded_site:-loaded}\\." "$work/lines" && ! grep ' keep ' "$work/lines" ;;
	off:*) [ "$(wc -l <"$work/lines")" = "${loaded_lines:-1}" ] &&
		grep -q "${loaded_state#off: }" "$work/lines" ;;
	esac || { cat "$work/lines"; return 1; }
}

run()
{
	mpi_run 2 90 env "$found" "$@"
}
preloaded="LD_PRELOAD=$lib"

# only CONDITION PROGRAM...: with the layer in the processes for which it holds.
only()
{
	only_condition=$1
	shift
	mpi_run 2 90 sh -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		! eval "$0" || export LD_PRELOAD="$1"
		shift; exec "$@"' "$only_condition" "$lib" "$@"
}

# ----------------------------------------------------- in all processes, early

for language in $languages; do
	[ -n "$TEST_LONG" ] || [ $language != c ] || continue
	for where in local ${TEST_LONG:+global}; do
		check "preloaded, plugin in $language opened $where" \
			loaded on run $preloaded "$work/program-c" $where "$work/plugin-$language.so"
	done
	check "linked with --as-needed, $language" loaded on run "$work/linked-$language"
done
for language in ${TEST_LONG:+$languages}; do
	check "preloaded, $language" loaded on run $preloaded "$work/program-$language"
	check "linked, and preloaded, $language" loaded on run $preloaded "$work/linked-$language"
done
python=$(command -v python3)
in_python()
{
	run $1 "$python" -c '
import ctypes, sys
sys.exit(ctypes.CDLL(sys.argv[2], mode=getattr(ctypes, sys.argv[1])).whole())' "$2" "$3"
}
for language in $languages; do
	[ -n "$TEST_LONG" ] || [ $language = "${languages##* }" ] || continue
	for how in RTLD_LOCAL ${TEST_LONG:+RTLD_GLOBAL}; do
		if [ -z "$python" ]; then
			skip "python3, a plugin in $language" "no python3"
			continue
		fi
		check "preloaded, python3, a plugin in $language, $how" \
			loaded on in_python $preloaded $how "$work/plugin-$language.so"
		check "python3, a plugin in $language with the layer, $how" \
			loaded on in_python X=1 $how "$work/linked-$language.so"
	done
done

# A process learns of another one, which has opened the layer without a trace in MPI_Init, when both
# have called the MPI.
case $python:$languages in
?*:*" c" | ?*:*" c "*)
	for rank in 0 1; do
		check "python3, a plugin in c with the layer, rank $rank comes later" \
			loaded on in_python LOADED_LATE=$rank RTLD_LOCAL "$work/linked-c.so"
	done
	# The MPI has made the window before the layer gives it atomics; by osc rdma, which Open MPI
	# takes where processes can copy each other's memory.
	check "python3, a plugin in c with the layer and its atomics" loaded on in_python \
		"PAWL_ATOMICS=1 OMPI_MCA_osc=rdma,sm OMPI_MCA_btl_vader_single_copy_mechanism=cma" \
		RTLD_LOCAL "$work/linked-c.so" ;;
*) skip "a rank comes later" "no python3, or no program in c" ;;
esac

# -------------------------------------------------------- tools before and behind

# A PMPI tool in C before the layer counts what it counts without the layer; the caller of locks that
# it counts is then the tool. Behind the layer it sees what the MPI gets.
counted()
{
	sed -n 's/^tool: //p' "$work/both" | sort -u
}
by_tool()
{
	run "LD_PRELOAD=$1" TEST_TOOL=1 PAWL_STATS=$2 "$work/program-$language"
}
before()
{
	by_tool "$work/tool.so" 0 >"$work/both" 2>&1 || { cat "$work/both"; return 1; }
	before_alone=$(counted)
	loaded_site='\(loaded\|tool\)'
	loaded on by_tool "$work/tool.so $lib" 1
	before_status=$?
	loaded_site=
	echo "alone: $before_alone; before the layer:" $(counted)
	[ $before_status = 0 ] && [ -n "$before_alone" ] && [ "$(counted)" = "$before_alone" ]
}
behind()
{
	loaded on by_tool "$lib $work/tool.so" 1 || return
	counted
	[ "$(counted | sed -n '1s/ .*//p')" -ge 100 ]
}
if said=$($c -shared -fPIC -DWRAPS=4 "$sources/loading/tool.c" -o "$work/tool.so" -ldl 2>&1); then
	for language in $languages; do
		[ -n "$TEST_LONG" ] || [ $language = c ] || [ $language = mpi ] || continue
		check "a tool before the layer, $language" before
		check "a tool behind the layer, $language" behind
	done
else
	check "compile a tool" sh -c 'echo "$1"; false' sh "$said"
fi

# --------------------------------------------------------------- after MPI_Init

# Fortran's names are not in the program. With MPICH windows of mpif.h and module mpi are created by
# C's name; for mpi_f08 it is too late for other processes to know.
for language in $languages; do
	[ -n "$TEST_LONG" ] || [ $language = c ] || [ $language = mpi_f08 ] || continue
	case $language:$TEST_MPI in
	c:*) late="off: no call reached it" ;;
	*:openmpi) late=on ;;
	mpi_f08:*) late="off: before MPI_Init" ;;
	*) late="off: created by a call that did not reach" ;;
	esac
	for how in close ${TEST_LONG:+local global}; do
		check "a plugin in $language with the layer, opened after MPI_Init, $how" \
			loaded "$late" run "$work/program-c" $how "$work/linked-$language.so"
	done
	check "a plugin in $language with the layer, opened after MPI_Init, rank 1 comes later" \
		loaded "$late" run LOADED_LATE=1 "$work/program-c" local "$work/linked-$language.so"
done

# ------------------------------------------------------------ in some processes

for language in $languages; do
	[ -n "$TEST_LONG" ] || [ $language = c ] || [ $language = mpi_f08 ] || continue
	for rank in 0 1; do
		check "in rank $rank only, $language" loaded "off: rank $((1 - rank)) of" \
			only "[ \$rank = $rank ]" "$work/program-$language"
	done
done
# MPICH 4.0.2 cannot spawn here.
if [ "$TEST_MPI" = openmpi ]; then
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s spawn\n' "$lib" "$work/program-c" >"$work/child"
	chmod +x "$work/child"
	check "the spawned processes have not" loaded "off: another MPI_COMM_WORLD" \
		run $preloaded "$work/program-c" spawn
	check "only the spawned processes have" loaded "off: another MPI_COMM_WORLD" \
		run "$work/program-c" spawn "$work/child"
	loaded_lines=2
	check "both have" loaded "off: another MPI_COMM_WORLD" \
		run $preloaded "$work/program-c" spawn "$work/child"
	loaded_lines=
fi
if said=$(hosts_can_run); then
	on_h1()
	{
		hosts_run 2 4 90 --env TEST_EXIT=1 -- sh -c '[ "$(hostname)" = h2 ] || export LD_PRELOAD="$0"; exec "$@"' \
			"$lib" "$work/program-c"
	}
	check "on one of 2 hosts only" loaded "off: rank 2 of" on_h1
else
	skip "on one of 2 hosts only" "$said"
fi

# Linked statically, the layer does not ask the launcher. It says so if its message is not answered.
unanswered()
{
	$c -w "$work/turns-c.o" -o "$work/static-c" "$builddir/.libs/libpawl-mpi.a" \
		"-L$builddir/.libs" "-Wl,-rpath,$builddir/.libs" -lpawl -lm -ldl || return
	mpi_run 2 15 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || exec "$0"; exec "$1"' \
		"$work/static-c" "$work/program-c" >"$work/both" 2>&1
	grep '^pawl:' "$work/both" >"$work/lines"
	cat "$work/lines"
	[ "$(wc -l <"$work/lines")" = 1 ] && ! grep WRONG "$work/both" &&
		grep -q 'rank 0 .* waited .* for 5 s: .* loaded libpawl-mpi?' "$work/lines"
}
if [ -n "$TEST_LONG" ] && [ -e "$builddir/.libs/libpawl-mpi.a" ]; then
	timed check "linked statically into rank 0 only: a line after 5 s" unanswered
fi

# A launcher whose store is not known: the layer takes it that all processes have it.
if [ "$TEST_MPI" = mpich ]; then
	check "an unknown launcher" loaded on run PMIX_NAMESPACE=none $preloaded "$work/program-c"
fi

finish
