# SPDX-License-Identifier: BSD-3-Clause
"""Execute packaging/spack/package.py and packaging/easybuild/*.eb with stubs of their tools.

Prints, one a line: "version V", "option --with-x" for what they give to configure, "requires P V"
for the least version of a package, "has P V" for a version of a package, and "installs FILE" for
what is looked for after the installation."""

import itertools
import re
import sys
import types

# The parameters of an easyconfig that are used here, and those which EasyBuild demands.
EASYCONFIG = {
    "easyblock", "name", "version", "homepage", "description", "toolchain", "sources",
    "builddependencies", "dependencies", "configopts", "sanity_check_paths",
    "sanity_check_commands", "moduleclass",
}
DEMANDED = {"name", "version", "homepage", "description", "toolchain"}


class Spec:
    """A concrete spec with these variants on."""

    mpicc = "mpicc"

    def __init__(self, variants, on):
        self.variants = variants
        self.on = on

    def __getitem__(self, name):
        if name != "mpi":
            raise KeyError(name)
        return self

    def satisfies(self, text):
        match = re.fullmatch(r"([+~])([a-z_]+)", text)
        if not match or match.group(2) not in self.variants:
            raise ValueError(f"no variant {text}")
        return (match.group(2) in self.on) == (match.group(1) == "+")


def spack(path):
    found = {"versions": [], "variants": [], "depends": []}

    def depends_on(spec, when=None, type=None):
        if when is not None and when.strip("+~") not in found["variants"]:
            raise ValueError(f"depends_on(when={when}): no such variant")
        found["depends"].append(spec)

    class AutotoolsPackage:
        def _either(self, name, yes, no):
            if name not in found["variants"]:
                raise KeyError(f"no variant {name}")
            return [f"--{yes if name in self.spec.on else no}-{name}"]

        def with_or_without(self, name):
            return self._either(name, "with", "without")

        def enable_or_disable(self, name):
            return self._either(name, "enable", "disable")

    def decorator(*_arguments, **_named):
        return lambda function: function

    stub = types.ModuleType("spack.package")
    stub.AutotoolsPackage = AutotoolsPackage
    stub.depends_on = depends_on
    stub.license = lambda name: None
    stub.version = lambda number, **named: found["versions"].append(number)
    stub.variant = lambda name, default, description: found["variants"].append(name)
    stub.run_after = stub.on_package_attributes = decorator
    stub.Executable = stub.join_path = None
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = stub

    space = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), space)
    package = space["Pawl"]()
    for number in found["versions"]:
        print("version", number)
    options = set()
    variants = found["variants"]
    for n in range(len(variants) + 1):
        for on in itertools.combinations(variants, n):
            package.spec = Spec(variants, on)
            options.update(o for o in package.configure_args() if o.startswith("--"))
    print("\n".join(f"option {o}" for o in sorted(options)))
    for spec in found["depends"]:
        match = re.fullmatch(r"([a-z]+)(?:@([0-9.]+):)?", spec)
        if not match:
            raise ValueError(f"depends_on({spec})")
        if match.group(2):
            print("requires", match.group(1), match.group(2))


def easybuild(path):
    space = {"SHLIB_EXT": "so"}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), space)
    keys = {k for k in space if not k.startswith("__")} - {"SHLIB_EXT"}
    if keys - EASYCONFIG or DEMANDED - keys:
        raise ValueError(f"unknown {keys - EASYCONFIG}, missing {DEMANDED - keys}")
    toolchain = space["toolchain"]
    wanted = f"{space['name']}-{space['version']}-{toolchain['name']}-{toolchain['version']}.eb"
    if not path.endswith("/" + wanted):
        raise ValueError(f"EasyBuild looks for it as {wanted}")
    print("version", space["version"])
    print("\n".join(f"option {o}" for o in re.findall(r"--[a-z-]+", space["configopts"])))
    for name, version in space["dependencies"]:
        print("has", name.lower(), version)
    for file in itertools.chain(*space["sanity_check_paths"].values()):
        print("installs", file)


for argument in sys.argv[1:]:
    (spack if argument.endswith(".py") else easybuild)(argument)
