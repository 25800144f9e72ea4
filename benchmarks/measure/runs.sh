# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that compare programs of a build tree, after build=FOLDER: what configure
# found, a folder for temporary files, and the median.

# value NAME: of the build tree's Makefile.
value() { sed -n "s/^$1 = *//p" "$build/Makefile" | sed 1q; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_osc="${OMPI_MCA_osc-^rdma}"

# For awk: the median of a[1] to a[n], which are sorted after it.
median='
	function median(a, n,    i, j, t)
	{
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] < a[j - 1]; j--) {
				t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
			}
		return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
	}'
