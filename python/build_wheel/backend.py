# SPDX-License-Identifier: BSD-3-Clause
"""Packs the package as PEP 517 asks: a wheel of pure Python, by the standard library alone.

Not by setuptools: pip builds in an environment that has only what `requires` names, which it
fetches, and login nodes of clusters and the builders of packages have no network. So `requires` is
empty. (`--no-build-isolation` with setuptools works there only where setuptools is installed; from
Python 3.12 on, a new environment is without it.)
"""

import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent


def _project():
    """The values of pyproject.toml that a wheel repeats; tomllib is not in every Python."""
    text = (TOP / "pyproject.toml").read_text()
    values = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))
    values["dependencies"] = re.search(r'^dependencies = \["(.*)"\]$', text, re.MULTILINE).group(1)
    return values


def _metadata(project):
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\n"
        f"Version: {project['version']}\n"
        f"Summary: {project['description']}\n"
        "License: BSD-3-Clause\n"
        f"Requires-Python: {project['requires-python']}\n"
        f"Requires-Dist: {project['dependencies']}\n"
    )


def _sources():
    return sorted(
        path for path in (TOP / "pawl").iterdir() if path.suffix == ".py" or path.name == "py.typed"
    )


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    files = {f"pawl/{path.name}": path.read_bytes() for path in _sources()}
    files[f"{stem}.dist-info/METADATA"] = _metadata(project).encode()
    files[f"{stem}.dist-info/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: pawl\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(
        "{},sha256={},{}\n".format(
            name,
            base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
            len(data),
        )
        for name, data in files.items()
    )
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    name = f"{stem}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as tar:
        for path in [TOP / "pyproject.toml", pathlib.Path(__file__).resolve(), *_sources()]:
            tar.add(path, f"{stem}/{path.relative_to(TOP)}")
    return name
