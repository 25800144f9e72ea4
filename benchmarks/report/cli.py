# SPDX-License-Identifier: BSD-3-Clause
"""The command line of pawl-report."""
from __future__ import annotations

import argparse
import sys
from typing import Sequence

from . import compare, figures, plot, reproduce, run, sweep
from .results import BadInput

COMMANDS = {
    "compare": (compare, "compare the locks on this machine"),
    "run": (run, "measure a table of doc/ on this machine"),
    "reproduce": (reproduce, "simulate the figures of the papers, and draw them"),
    "sweep": (sweep, "simulate the default kind in settings drawn from a seed"),
    "figures": (figures, "draw the figures of the papers from the data in doc/measured/figures"),
    "plot": (plot, "draw results of pawl-bench"),
}

HELP = """\
usage: pawl-report COMMAND [OPTION]... [ARGUMENT]...

Run Pawl's benchmarks, and make tables and figures of their results.

""" + "".join(f"  {name:<11}{text}\n" for name, (_, text) in COMMANDS.items()) + """
pawl-report COMMAND --help says more. Exit status: 0 all well; 1 something did not run or was wrong;
2 wrong options or input."""


class Parser(argparse.ArgumentParser):
    """One sentence on what is wrong, and what is accepted."""

    def error(self, message: str):
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)

    @property
    def accepted(self) -> str:
        return ", ".join(o for action in self._actions for o in action.option_strings)


def parse(command: str, argv: Sequence[str]) -> argparse.Namespace:
    module, _ = COMMANDS[command]
    parser = Parser(prog=f"pawl-report {command}", description=module.ABOUT, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    module.options(parser)
    args, unknown = parser.parse_known_intermixed_args(list(argv))
    if unknown:
        raise BadInput(f"{command}: unknown option {unknown[0]}; accepted: {parser.accepted}")
    return args


def main(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(HELP, file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    command, *rest = argv
    try:
        if command not in COMMANDS:
            raise BadInput(f"there is no command \"{command}\"; accepted: {', '.join(COMMANDS)}")
        return COMMANDS[command][0].main(parse(command, rest))
    except BadInput as error:
        print(f"pawl-report: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
