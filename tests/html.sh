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
	"$PYTHON" "$srcdir/build-aux/html" "$out" "$builddir"/man/*.[137]
}
check "Sphinx has no warning" build

# Each document is a page, and each page is reached from the first one, from that of what was
# measured, or from pawl(3).
pages()
{
	bad=0
	for page in $(cd "$srcdir" && ls doc/*.md doc/measured/*.md CONTRIBUTING.md models/README.md) \
		$(cd "$builddir" && ls man/*.[137]); do
		name=${page%.md}.html index=index.html link=$name
		case $page in
		doc/measured/README.md) ;;
		doc/measured/*) index=doc/measured/README.html link=${name##*/} ;;
		man/pawl_*) index=man/pawl.3.html link=${name##*/} ;;
		esac
		[ -s "$out/$name" ] || { echo "no page $name"; bad=1; }
		grep -q "href=\"$link\"" "$out/$index" || { echo "$name is not in $index"; bad=1; }
	done
	return $bad
}
check "every document and manual page is in the index" pages

figures()
{
	for data in "$srcdir"/doc/measured/figures/*.tsv "$srcdir"/doc/measured/figures/*.json.gz; do
		# what headlines are with other constants, and not drawn
		case $data in */figvaried.tsv) continue ;; esac
		name=${data##*/}
		grep -q "_images/${name%%.*}.svg" "$out"/doc/*.html "$out"/doc/*/*.html ||
			{ echo "no picture of $name"; return 1; }
	done
}
check "every figure is drawn" figures

# Names of manual pages are links in documents and in manual pages; sections have anchors.
manuals()
{
	for link in 'index.html ="man/pawl.3.html"' 'doc/using.html ="../man/pawl.3.html"' \
		'man/pawl-mpi.7.html ="pawl.3.html"' 'man/pawl-mpi.7.html id="see-also"'; do
		grep -q "${link#* }" "$out/${link%% *}" || { echo "not there: $link"; return 1; }
	done
}
check "manual pages have links and sections" manuals

searched()
{
	for word in citron pawl_range_acquir progress; do
		grep -q "$word" "$out/searchindex.js" || { echo "not found: $word"; return 1; }
	done
}
check "search finds words of documents and manual pages" searched
finish
