# SPDX-License-Identifier: BSD-3-Clause
# awk -f pawl.h.awk -f fortran-module.awk HEADER TEMPLATE TEMPLATE: module pawl of Fortran, from a
# template that is read twice. Lines of the template that begin with !@ stand for what follows from
# the header, pawl.h:
#
#   !@constants         the constants of its enumerations
#   !@structure S T     its struct S as type T, public if it is named like the structure
#   !@blocks            a bind(C) interface c_NAME for each function pawl_NAME, but for those with
#                       an MPI_Comm or an MPI_Request
#   !@call F M          a procedure over function F, whose first argument is a table: M of
#                       type(pawl_table), and also F by itself. In the order of C, with a logical
#                       for the codes of a try or a deadline, the mode, which may be left out, and
#                       ierror at the end. A form for integers of 64 bits, M_i8, one for integers of
#                       32 bits, M_i4, and, if it takes a space and units, M_i48: a space of 32 bits
#                       with units of 64
#   !@bindings, !@interfaces   these procedures in the table's type and by themselves
#   !@each A B ... | C D ... | ... until !@end   the lines between once for each group, in which @1,
#                       @2 ... are its words ("-": empty); lines with !@ go on with the groups

# A line of Fortran, in lines of at most 100 characters, broken behind ", ".
function fold(indent, text, at, part, folded)
{
	while (length(indent text) > 100) {
		part = substr(text, 1, 98 - length(indent))
		for (at = length(part); substr(part, at, 1) != " "; at--)
			continue
		print indent substr(text, 1, at) "&"
		text = substr(text, at + 1)
		if (!folded++)
			indent = indent "   "
	}
	print indent text
}
function list(so_far, one)
{
	return so_far (so_far == "" ? "" : ", ") one
}

# ---- bind(C)

function type_in_c(t)
{
	if (t ~ /^(const )?pawl_table \*$|^void \*$|^const pawl_fint \*$|^const int \[\]$/)
		return "type(c_ptr), value"
	if (t == "pawl_table **") return "type(c_ptr), intent(inout)"
	if (t == "pawl_home_fn *") return "type(c_funptr), value"
	if (t == "const char *") return "character(c_char), intent(in)"
	if (t == "const uint64_t []") return "integer(c_int64_t), intent(in)"
	if (t ~ /^u?int64_t$/) return "integer(c_int64_t), value"
	if (t ~ /^u?int64_t \*$/) return "integer(c_int64_t), intent(inout)"
	if (t ~ /^(int|pawl_fint)$/) return "integer(c_int), value"
	if (t ~ /^(int|pawl_fint) \*$/) return "integer(c_int), intent(inout)"
	if (t == "size_t") return "integer(c_size_t), value"
	if (t == "double") return "real(c_double), value"
	if (t == "double *") return "real(c_double), intent(inout)"
	if (t ~ /^const pawl_.*\*$/) return "type(" kind_of(t) "), intent(in)"
	if (t ~ /^pawl_.*\*$/) return "type(" kind_of(t) "), intent(inout)"
	print "fortran-module: no type for \"" t "\"" >"/dev/stderr"
	exit 1
}
function kind_of(t)
{
	gsub(/^const | \*$/, "", t)
	return t in fortran_type ? fortran_type[t] : t
}
function block(f, n, i, names)
{
	n = arguments(f)
	for (i = 1; i <= n; i++)
		names = list(names, name[i])
	fold("      ", "function c_" substr(f, 6) "(" names ") bind(C, name=\"" f \
	     "\") result(answer)")
	print "         import"
	for (i = 1; i <= n; i++)
		print "         " type_in_c(type[i]) " :: " name[i] \
		      (type[i] == "const char *" || type[i] ~ /\[\]$/ && type[i] !~ / int/ ? \
		       "(*)" : "")
	print "         " (result[f] == "int" ? "integer(c_int)" : "type(c_ptr)") " :: answer"
	print "      end function"
}

# ---- the procedures

function is_a_try(f)
{
	return f ~ /_(try|timed)_|_validate$/
}
# One form of a call: spaces, locks and units of so many bits.
function form(call, suffix, first_bits, bits, f, i, n, width, names, passed, local, out, flag)
{
	f = called[call]
	n = arguments(f)
	declared = mode = ""
	names = "table"
	passed = "table%handle"
	for (i = 2; i <= n; i++) {
		width = "int" (i == 2 ? first_bits : bits)
		if (type[i] == "size_t") {
			passed = passed ", size(" name[i + 1] ", kind=c_size_t)"
			continue
		}
		if (name[i] ~ /^modes?$/) {
			mode = name[i]
			if (mode == "mode")
				passed = passed ", bits_of(mode)"
			else {
				passed = passed ", modes_of(bits, modes)"
				local = "integer(c_int), target :: bits(size(locks))"
			}
			continue
		}
		names = names ", " name[i]
		if (type[i] ~ /^u?int64_t$|^const uint64_t/) {
			declare("integer(" width "), intent(in)", name[i] (type[i] ~ /\[/ ? "(:)" : ""))
			passed = passed ", " (width == "int64" ? name[i] : "int(" name[i] ", int64)")
			continue
		}
		if (type[i] == "int") {
			declare("integer, intent(in)", name[i])
			passed = passed ", int(" name[i] ", c_int)"
			continue
		}
		passed = passed ", " (type[i] == "int *" ? "c_" : "") name[i]
		if (type[i] == "int *") {
			out = name[i]
			local = "integer(c_int) :: c_" out ", rc"
			declare("integer, intent(out)", out)
		} else if (type[i] == "double")
			declare("real(real64), intent(in)", name[i])
		else if (type[i] == "int64_t *")
			declare("integer(int64), intent(out)", name[i])
		else if (type[i] ~ /^const pawl_/)
			declare("type(" kind_of(type[i]) "), intent(in)", name[i])
		else
			declare("type(" kind_of(type[i]) "), intent(" \
				(type[i] ~ /^pawl_read / ? "inout" : "out") ")", name[i])
	}
	if (is_a_try(f)) {
		flag = f ~ /_validate$/ ? "valid" : "acquired"
		names = names ", " flag
		declare("logical, intent(out)", flag)
	}
	if (mode != "") {
		names = names ", " mode
		declare("type(pawl_mode), intent(in), optional", \
			mode (mode == "modes" ? "(:)" : ""))
	}
	fold("   ", "subroutine " call suffix "(" names ", ierror)")
	print "      class(pawl_table), intent(in) :: table"
	print declared "      integer, intent(out), optional :: ierror"
	if (local != "")
		print "      " local
	print ""
	f = "c_" substr(f, 6) "(" passed ")"
	if (flag != "")
		fold("      ", "call finish_try(" f ", " flag ", ierror)")
	else if (out != "") {
		print "      c_" out " = -1"
		fold("      ", "rc = " f)
		print "      " out " = c_" out
		print "      call finish(rc, ierror)"
	} else {
		print "      if (present(ierror)) then"
		fold("         ", "ierror = " f)
		print "      else"
		fold("         ", "call finish(" f ")")
		print "      end if"
	}
	print "   end subroutine"
}
function declare(what, variable)
{
	declared = declared "      " what " :: " variable "\n"
}
function forms(call, arguments_of)
{
	arguments_of = given[called[call]]
	if (arguments_of !~ /int64_t [a-z]+|locks\[/)
		return "any"
	return "i8 i4" (called[call] ~ /^pawl_range_/ && arguments_of ~ /, int64_t [a-z]+/ ? " i48" : "")
}
function specifics(call, n, i, suffix, all)
{
	n = split(forms(call), suffix, " ")
	for (i = 1; i <= n; i++)
		all = list(all, call "_" suffix[i])
	return all
}
function procedures(call, n, i, suffix)
{
	n = split(forms(call), suffix, " ")
	for (i = 1; i <= n; i++) {
		if (i > 1)
			print ""
		form(call, "_" suffix[i], suffix[i] ~ /^i4/ ? 32 : 64, suffix[i] == "i4" ? 32 : 64)
	}
}

# ---- constants and structures

function constants(i)
{
	for (i = 1; i <= n_constants; i++)
		if (is_mode[constant[i]])
			print "   type(pawl_mode), parameter, public :: " constant[i] \
			      " = pawl_mode(" value[constant[i]] ")"
		else
			print "   integer, parameter, public :: " constant[i] " = " \
			      value[constant[i]]
}
function structure(of, called_here, n, i, member, words, fortran, preset)
{
	print "   type, bind(C)" (of == called_here ? ", public" : "") " :: " called_here
	n = split(members[of], member, /; */)
	for (i = 1; i < n; i++) {
		words = member[i]
		fortran = words ~ /\*/ ? "type(c_ptr)" : \
		          words ~ /^u?int64_t/ ? "integer(c_int64_t)" : "integer(c_int)"
		preset = fortran == "type(c_ptr)" ? "c_null_ptr" : "0"
		sub(/^.*\*|^(unsigned|u?int64_t|int) /, "", words)
		gsub(/\[/, "(", words)
		gsub(/\]/, ")", words)
		gsub(/,/, " = " preset ",", words)
		print "      " fortran " :: " words " = " preset
	}
	print "   end type"
}

# ---- reading: the template for its calls, the template

file == 2 {
	if ($1 == "!@call") { calls[++n_calls] = $3; called[$3] = $2 }
	if ($1 == "!@structure") fortran_type[$2] = $3
	next
}
$1 == "!@constants" { constants(); next }
$1 == "!@structure" { structure($2, $3); next }
$1 == "!@blocks" {
	for (i = 1; i <= n_functions; i++)
		if (given[functions[i]] !~ /MPI_(Comm|Request)/)
			block(functions[i])
	next
}
$1 == "!@bindings" {
	for (i = 1; i <= n_calls; i++) {
		fold("      ", "procedure, private :: " specifics(calls[i]))
		fold("      ", "generic :: " calls[i] " => " specifics(calls[i]))
	}
	next
}
$1 == "!@interfaces" {
	for (i = 1; i <= n_calls; i++) {
		print "   public :: " called[calls[i]] "\n   interface " called[calls[i]]
		fold("      ", "module procedure " specifics(calls[i]))
		print "   end interface"
	}
	next
}
$1 == "!@call" { procedures($3); next }
$1 == "!@each" { sub(/^ *!@each */, ""); groups = $0; lines = ""; inside = 1; next }
$1 == "!@" { sub(/^ *!@/, ""); groups = groups $0; next }
$1 == "!@end" {
	inside = 0
	n = split(groups, group, / *\| */)
	for (i = 1; i <= n; i++) {
		text = lines
		n_words = split(group[i], word, " ")
		for (j = 1; j <= n_words; j++)
			gsub("@" j, word[j] == "-" ? "" : word[j], text)
		printf "%s", text
	}
	next
}
inside { lines = lines $0 "\n"; next }
{ print }
