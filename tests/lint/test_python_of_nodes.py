# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules run on nodes, for which README promises Python 3.9: nothing newer is in what travels to them.

The control node is newer, so no other test would notice. What was new in which version is Python's own "What's New".
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lint.test_import_rules import files

OLDEST = (3, 9)
#: Python's own names that came after it, by module; an empty set stands for the whole module.
NEWER: dict[str, set[str]] = {
    "asyncio": {"Runner", "TaskGroup", "timeout"},
    "collections.abc": {"Buffer"},
    "contextlib": {"aclosing", "chdir"},
    "datetime": {"UTC"},
    "enum": {"EnumCheck", "EnumType", "StrEnum", "member", "nonmember", "verify"},
    "hashlib": {"file_digest"},
    "inspect": {"get_annotations"},
    "itertools": {"batched", "pairwise"},
    "operator": {"call"},
    "sys": {"exception", "orig_argv", "stdlib_module_names"},
    "tomllib": set(),
    "types": {"EllipsisType", "NoneType", "NotImplementedType", "UnionType"},
    "typing": {"Concatenate", "LiteralString", "Never", "NotRequired", "ParamSpec", "Required", "Self", "TypeAlias",
               "TypeGuard", "Unpack", "assert_never", "assert_type", "override", "reveal_type"},
}  # fmt: skip
BUILTINS = {"BaseExceptionGroup", "EncodingWarning", "ExceptionGroup", "aiter", "anext"}
#: Keywords of calls that came after it, by the name that is called.
KEYWORDS = {
    "bisect": {"key"}, "bisect_left": {"key"}, "bisect_right": {"key"}, "insort": {"key"},
    "chmod": {"follow_symlinks"}, "create_connection": {"all_errors"}, "dataclass": {"kw_only", "slots"},
    "glob": {"root_dir"}, "map": {"strict"}, "Popen": {"process_group"}, "rmtree": {"dir_fd", "onexc"},
    "run": {"process_group"}, "stat": {"follow_symlinks"}, "write_text": {"newline"}, "zip": {"strict"},
    "NamedTemporaryFile": {"delete_on_close"},
}  # fmt: skip
#: Modules that Python 3.12 and 3.13 took away (PEP 594, PEP 632); Debian 13 has 3.13.
GONE = {
    "aifc",
    "asynchat",
    "asyncore",
    "audioop",
    "cgi",
    "cgitb",
    "chunk",
    "crypt",
    "distutils",
    "imghdr",
    "imp",
    "lib2to3",
    "mailcap",
    "msilib",
    "nis",
    "nntplib",
    "ossaudiodev",
    "pipes",
    "smtpd",
    "sndhdr",
    "spwd",
    "sunau",
    "telnetlib",
    "uu",
    "xdrlib",
}
METHODS = {"add_note", "bit_count", "hardlink_to", "is_junction"}
#: Classes whose union with | is no set: None, types of Python, and what is written with brackets behind it.
TYPES = {name for name, value in vars(builtins).items() if isinstance(value, type)} | {"Any"}


def is_type(node: ast.AST) -> bool:
    """Whether this is a type, as far as its spelling tells."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.Subscript):
        named = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        return named in TYPES or (named[:1].isupper() and not named.isupper())
    return isinstance(node, ast.Name) and node.id in TYPES


def evaluated(tree: ast.AST) -> Iterator[ast.AST]:
    """What Python runs when it imports or calls: no annotations, and nothing that only type checkers read."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns"):
            continue
        if isinstance(tree, ast.If) and getattr(tree.test, "id", "") == "TYPE_CHECKING" and field == "body":
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                yield from evaluated(node)


def newer(text: str) -> list[str]:
    """What in this source needs a Python after the oldest, each with its line."""
    try:
        tree = ast.parse(text, feature_version=OLDEST)
    except SyntaxError as error:
        return [f"{error.lineno}: {error.msg}"]
    found: list[tuple[int, str]] = []
    if "from __future__ import annotations" not in text and "|" in text:
        found.append((1, "no 'from __future__ import annotations'"))
    for node in evaluated(tree):
        line = getattr(node, "lineno", 0)
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.BitOr)
            and (is_type(node.left) or is_type(node.right))
        ):
            found.append((line, f"{ast.unparse(node)} outside of an annotation"))
        elif isinstance(node, ast.Import):
            found += [(line, one.name) for one in node.names if NEWER.get(one.name) == set()]
        elif isinstance(node, ast.ImportFrom) and node.module in NEWER:
            names = NEWER[node.module]
            found += [(line, f"{node.module}.{one.name}") for one in node.names if not names or one.name in names]
        elif isinstance(node, ast.Attribute):
            named = getattr(node.value, "id", "")
            if node.attr in METHODS or node.attr in NEWER.get(named, ()):
                found.append((line, f"{named or '...'}.{node.attr}"))
        elif isinstance(node, ast.Name) and node.id in BUILTINS:
            found.append((line, node.id))
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            late = KEYWORDS.get(called, set()) & {one.arg for one in node.keywords}
            found += [(line, f"{called}({keyword}=)") for keyword in sorted(late)]
    return [f"{line}: {what}" for line, what in sorted(found)]


def gone(text: str) -> set[str]:
    """What this source imports that Python does not have any more."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    named = [one.name for node in imports if isinstance(node, ast.Import) for one in node.names]
    named += [node.module or "" for node in imports if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in named} & GONE


@pytest.mark.parametrize("folder", ["plugins", "page", "canary", "spark_validation"])
def test_nothing_needs_a_module_that_newer_pythons_lack(folder: str) -> None:
    assert {str(path): lacks for path in files(folder) if (lacks := gone(path.read_text()))} == {}


def test_a_module_that_newer_pythons_lack_is_noticed() -> None:
    assert gone("import crypt\nfrom distutils.version import LooseVersion\nfrom .pipes import one") == {
        "crypt",
        "distutils",
    }


@pytest.mark.parametrize("path", [*files("plugins/module_utils"), *files("plugins/modules")], ids=lambda p: p.stem)
def test_nothing_that_travels_to_nodes_needs_a_newer_python(path: Path) -> None:
    assert newer(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "from typing import Sequence\nLimits = Sequence[float | None]",
        "one = isinstance(x, int | str)",
        "list(zip(a, b, strict=True))",
        "match x:\n    case 1:\n        pass",
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A: ...",
        "from itertools import pairwise",
        "import itertools\nitertools.batched(a, 2)",
        "import datetime\ndatetime.UTC",
        "import tomllib",
        "from typing import TypeAlias",
        "try:\n    pass\nexcept* ValueError:\n    pass",
        "raise ExceptionGroup('a', [])",
    ],
)
def test_what_is_newer_is_noticed(source: str) -> None:
    assert newer(f"from __future__ import annotations\n{source}") != []


@pytest.mark.parametrize(
    "source",
    [
        "def f(a: int | None) -> list[str] | None: ...",
        "known = {1} | {2}\nboth = names(a) | OTHERS | set(b)",
        "if TYPE_CHECKING:\n    from typing import TypeAlias",
        "'a'.removeprefix('b')\nmerged = {} | {}",
    ],
)
def test_what_is_as_old_passes(source: str) -> None:
    assert newer(f"from __future__ import annotations\n{source}") == []


def test_certificates_are_judged_alike_by_each_python() -> None:
    # From Python 3.13 on create_default_context asks for what Java, Kafka and Prometheus do not.
    paths = [path for folder in ("plugins", "page", "canary", "spark_validation") for path in files(folder)]
    made = [path for path in paths if "ssl.create_default_context(" in path.read_text()]
    assert [path for path in made if "~ssl.VERIFY_X509_STRICT" not in path.read_text()] == []
