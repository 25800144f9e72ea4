# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what is refused, and how."""
import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

from report import cli, figures, launch
from report.data import BESIDE, Data
from report.simulate import UNSTEADY


def run(*argv):
    """Exit status, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(argv)
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


class CommandLine(unittest.TestCase):
    def refused(self, words, *argv):
        status, out, err = run(*argv)
        self.assertEqual((status, out), (2, ""))
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_help(self):
        for command in cli.COMMANDS:
            status, out, _ = run(command, "--help")
            self.assertEqual(status, 0)
            self.assertIn(f"usage: pawl-report {command}", out)
            self.assertIn(command, run("--help")[1])

    def test_no_command(self):
        self.assertEqual(run()[0], 2)
        self.refused(["tables", "accepted: compare, run"], "tables")

    def test_options(self):
        self.refused(["--speed", "accepted:", "--seconds"], "compare", "--speed=3")
        self.refused(["bars", "workloads", "dropin"], "run", "bars")
        self.refused(["--repetitions"], "run", "ranges", "--repetitions=0")
        self.refused(["--seconds"], "run", "ranges", "--seconds=-1")
        self.refused(["accepted: speed, operations"], "run", "ranges", "--part=fast", ".")
        self.refused(["no parts"], "run", "dropin", "--part=fast")
        self.refused(["\"99\"", "shift13"], "reproduce", "--only=3,99")
        self.refused(["--out DIR or --bars FILE"], "plot", "x.json")
        self.refused(["accepted: .svg, .png"], "plot", "--bars=x.gif", "x.json")
        self.refused(["x.json: No such file"], "plot", "--bars=x.svg", "x.json")
        self.refused(["no build tree"], "compare", "/nowhere")

    @mock.patch.dict(os.environ, clear=True)
    def test_rows_that_do_not_exist_are_named(self):
        with tempfile.TemporaryDirectory() as tree:
            with open(os.path.join(tree, "Makefile"), "w", encoding="utf-8") as file:
                file.write("PAWL_MPI = mpich\nPAWL_MPI_MAJOR = 4\nMPIRUN = mpirun.mpich\n")
            self.refused(["pawl-bench is missing"], "run", "workloads", tree)
            os.mkdir(os.path.join(tree, "benchmarks"))
            program = os.path.join(tree, "benchmarks", "pawl-bench")
            with open(program, "w", encoding="utf-8"):
                os.chmod(program, 0o755)
            self.refused(["near locks, 20", "TATP"], "run", "workloads", "--match=nothing", tree)
            self.assertEqual(launch.Build(tree).launcher(3), ["mpirun.mpich", "-n", "3"])

    def test_all_figures_of_the_documents_have_data(self):
        text = ""
        for page in ("reproduction.md", "speed.md"):
            with open(os.path.join(figures.FOLDER, "..", page), encoding="utf-8") as file:
                text += file.read()
        for path in figures.all_data():
            name = os.path.basename(path)
            self.assertEqual(text.count(f"(figures/{name})"), 1, name)

    def test_a_run_that_is_not_steady_is_not_drawn(self):
        data = Data()
        for x, y in (("1", 5), ("2", 7)):
            data.add("a second|clients", "lock", x, y)
            data.add(f"a second{BESIDE}Jain's index|clients", "lock", x, 1)
        data.add(f"a second{BESIDE}{UNSTEADY}|clients", "lock", "2", 1.5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figure.tsv")
            data.write(path)
            panel, = figures.steady_panels(path)
        self.assertEqual((panel.title, panel.xlabel), ("a second", "clients"))
        self.assertEqual(panel.series, {"lock": [("1", 5.0)]})

    def test_a_job_that_hangs_is_ended(self):
        out = launch.execute(["sleep", "30"], dict(os.environ), 0.2, show=False)
        self.assertEqual(out.status, 124)
        self.assertIn("ended after 0.2 s", out.errors)


if __name__ == "__main__":
    unittest.main()
