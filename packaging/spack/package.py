# SPDX-License-Identifier: BSD-3-Clause
"""Pawl for Spack: copy this file to packages/pawl/package.py of a repository of packages (spack
repo create), and add the version with the checksum of its archive (spack checksum pawl)."""

import os

from spack.package import *


class Pawl(AutotoolsPackage):
    """Distributed locks for MPI programs: mutual exclusion, reader-writer locks and range locks,
    by one-sided operations."""

    license("BSD-3-Clause")

    # The archive of make dist, in the current folder.
    manual_download = True
    url = f"file://{os.getcwd()}/pawl-0.1.0.tar.gz"

    version("0.1.0")

    variant("ucx", default=True, description="transport over UCX between nodes")
    variant("simgrid", default=False, description="simulator: pawl-sim and pawl-tune")
    variant("static", default=True, description="static libraries, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("pkgconfig", type=("build", "run"))
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("simgrid@3.30:", when="+simgrid")

    def configure_args(self):
        args = [f"CC={self.spec['mpi'].mpicc}", "--without-mpirun"]
        args += self.with_or_without("ucx")
        args += self.enable_or_disable("static")
        if self.spec.satisfies("~simgrid"):
            args.append("--without-simgrid")
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """A program is built by the installed flags."""
        flags = Executable("pkg-config")(
            "--cflags",
            "--libs",
            "pawl",
            output=str,
            extra_env={"PKG_CONFIG_PATH": join_path(self.prefix.lib, "pkgconfig")},
        )
        mpicc = Executable(self.spec["mpi"].mpicc)
        mpicc(join_path("examples", "counter.c"), "-o", "counter", *flags.split())
