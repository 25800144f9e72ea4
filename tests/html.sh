# SPDX-License-Identifier: BSD-3-Clause
# make html: one site of all documents and manual pages, without a warning, and with search.

. "$srcdir/tests/tap.sh"

[ -n "$PYTHON" ] && "$PYTHON" -c 'import sphinx, myst_parser' 2>/dev/null ||
	skip_all "no python3 with Sphinx and MyST"
command -v groff >/dev/null || skip_all "no groff"
out=html.$$.tmp
trap 'rm -rf "$out"' EXIT

build()
{
	"$PYTHON" "$srcdir/build-aux/html" "$out" "$srcdir"/man/*.[137] "$builddir"/man/*.3
}
check "Sphinx has no warning" build

# Each document is a page, and each page is reached from the first one.
pages()
{
	bad=0
	for page in $(cd "$srcdir" && ls doc/*.md CONTRIBUTING.md models/README.md man/*.[137]) \
		$(cd "$builddir" && ls man/*.3); do
		name=${page%.md}.html
		[ -s "$out/$name" ] || { echo "no page $name"; bad=1; }
		grep -q "href=\"$name\"" "$out/index.html" || { echo "$name is not in the index"; bad=1; }
	done
	return $bad
}
check "every document and manual page is in the index" pages

figures()
{
	for data in "$srcdir"/doc/figures/*.tsv; do
		name=${data##*/}
		grep -q "_images/${name%.tsv}.svg" "$out"/doc/*.html || { echo "no picture of $name"; return 1; }
	done
}
check "every figure is drawn" figures

searched()
{
	for word in citron pawl_range_acquir progress; do
		grep -q "$word" "$out/searchindex.js" || { echo "not found: $word"; return 1; }
	done
}
check "search finds words of documents and manual pages" searched
finish
