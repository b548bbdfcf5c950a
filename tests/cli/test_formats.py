"""What each output format looks like, for one report that has everything in it."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest

from pallas_lsp.cli import formats
from pallas_lsp.cli.places import Places
from pallas_lsp.cli.report import Report
from pallas_lsp.pages import load_rule_page
from pallas_lsp.rules.diagnostic import Diagnostic, Fix, Related
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Edit, Location, Span

TEXT = """\
def kernel(x_ref, o_ref):
    é = "𝛼"; o_ref[0, 0] = sum(x_ref)

spec = BlockSpec(
    (8, 128),
)
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "ops, 1%.py")
    source = Source(path, TEXT)

    def at(text: str) -> Location:
        start = TEXT.index(text)
        return Location(path, Span(start, start + len(text)))

    store, spec, close = at("o_ref[0, 0]"), at("BlockSpec(\n    (8, 128),\n)"), at("\n)").span.start
    keepdims = Fix("Store a vector", "safe", (Edit(path, at("sum(x_ref)").span, "sum(x_ref, keepdims=True)"),))
    move = Fix("Move it to SMEM", "unsafe", (Edit(path, Span(close, close), " smem"),))
    message, related = "Cannot store a scalar: 100%\nsure", Related(spec, "`o_ref` is in VMEM")
    return Report(
        diagnostics=(
            Diagnostic("store-scalar-to-vmem", "error", message, store, (related,), (keepdims, move)),
            Diagnostic("masked-load", "warning", "Hm <&>", at("x_ref,"), fixes=(move,)),
            Diagnostic("ref-index-bounds", "info", "Just so", at("(8, 128)")),
        ),
        places=Places(lambda asked: source if asked == path else None),
        checked=7,
    )


def test_full(report: Report) -> None:
    assert formats.render(report, "full") == """\
ops, 1%.py:2:14: error[store-scalar-to-vmem] Cannot store a scalar: 100%
sure
  |
1 | def kernel(x_ref, o_ref):
2 |     é = "𝛼"; o_ref[0, 0] = sum(x_ref)
  |              ^^^^^^^^^^^
3 |
  |
note: ops, 1%.py:4:8: `o_ref` is in VMEM
  |
4 | spec = BlockSpec(
  |        ^^^^^^^^^^
5 |     (8, 128),
  |     ^^^^^^^^^
6 | )
  | ^
  |
help: Store a vector (safe fix)
or: Move it to SMEM (unsafe fix)

ops, 1%.py:1:12: warning[masked-load] Hm <&>
  |
1 | def kernel(x_ref, o_ref):
  |            ^^^^^^
2 |     é = "𝛼"; o_ref[0, 0] = sum(x_ref)
  |
help: Move it to SMEM (unsafe fix)

ops, 1%.py:5:5: info[ref-index-bounds] Just so
  |
4 | spec = BlockSpec(
5 |     (8, 128),
  |     ^^^^^^^^
6 | )
  |

Found 1 error, 1 warning and 1 for information in 1 file (7 files checked). 1 can be fixed with --fix, 2 with --fix --unsafe-fixes.
"""


def test_full_in_colour_is_the_same_text(report: Report) -> None:
    coloured = formats.render(dataclasses.replace(report, colour=True), "full")
    assert coloured.count("\x1b[1;31m") == 2  # the severity and the underline
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == formats.render(report, "full")


def test_concise_is_one_line_a_finding(report: Report) -> None:
    assert formats.render(report, "concise").splitlines() == [
        "ops, 1%.py:2:14: error[store-scalar-to-vmem] Cannot store a scalar: 100% sure",
        "ops, 1%.py:1:12: warning[masked-load] Hm <&>",
        "ops, 1%.py:5:5: info[ref-index-bounds] Just so",
    ]


def test_json_is_the_contract(report: Report, tmp_path: Path) -> None:
    filename = str(tmp_path / "ops, 1%.py")
    first, second, third = json.loads(formats.render(report, "json"))
    assert first == {
        "code": "store-scalar-to-vmem",
        "severity": "error",
        "message": "Cannot store a scalar: 100%\nsure",
        "filename": filename,
        "location": {"row": 2, "column": 14},
        "end_location": {"row": 2, "column": 25},
        "related": [{"filename": filename, "location": {"row": 4, "column": 8}, "message": "`o_ref` is in VMEM"}],
        "fix": {
            "applicability": "safe",
            "message": "Store a vector",
            "edits": [
                {
                    "filename": filename,
                    "content": "sum(x_ref, keepdims=True)",
                    "location": {"row": 2, "column": 28},
                    "end_location": {"row": 2, "column": 38},
                }
            ],
        },
        "url": None,
    }
    assert second["fix"]["applicability"] == "unsafe"
    assert (third["fix"], third["related"]) == (None, [])


def test_github(report: Report) -> None:
    first, second, third = formats.render(report, "github").splitlines()
    assert first == (
        "::error title=pallas-lsp (store-scalar-to-vmem),file=ops%2C 1%25.py,line=2,endLine=2,col=14,endColumn=25"
        "::ops, 1%25.py:2:14: store-scalar-to-vmem Cannot store a scalar: 100%25%0Asure"
    )
    assert second.startswith("::warning ")
    assert third.startswith("::notice ")


def test_gitlab_fingerprints_do_not_move_with_the_lines(report: Report) -> None:
    issues = json.loads(formats.render(report, "gitlab"))
    assert [issue["severity"] for issue in issues] == ["major", "minor", "info"]
    assert issues[0]["check_name"] == "store-scalar-to-vmem"
    assert issues[0]["location"] == {
        "path": "ops, 1%.py",
        "positions": {"begin": {"line": 2, "column": 14}, "end": {"line": 2, "column": 25}},
    }
    moved = dataclasses.replace(report.diagnostics[0], location=report.diagnostics[2].location)
    twice = json.loads(formats.render(dataclasses.replace(report, diagnostics=(moved, moved)), "gitlab"))
    assert twice[0]["fingerprint"] == issues[0]["fingerprint"] != twice[1]["fingerprint"]


def test_junit_is_xml_with_a_case_a_finding(report: Report) -> None:
    text = formats.render(report, "junit")
    root = xml.etree.ElementTree.fromstring(text)
    assert root.attrib == {"name": "pallas-lsp", "tests": "3", "failures": "3"}
    assert [suite.attrib["name"] for suite in root] == ["ops, 1%.py"]
    assert root[0][1].attrib == {"name": "masked-load", "line": "1", "column": "12"}
    assert root[0][1][0].attrib == {"message": "Hm <&>"}
    odd = dataclasses.replace(report.diagnostics[0], message="a \x00 \x1b ]]>")
    odd_report = xml.etree.ElementTree.fromstring(formats.render(dataclasses.replace(report, diagnostics=(odd,)), "junit"))
    assert odd_report[0][0][0].attrib["message"] == "a \ufffd \ufffd ]]>"
    clean = xml.etree.ElementTree.fromstring(formats.render(dataclasses.replace(report, diagnostics=()), "junit"))
    assert clean.attrib["tests"] == "1"
    assert clean.attrib["failures"] == "0"


def test_sarif(report: Report) -> None:
    log = json.loads(formats.render(report, "sarif"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["masked-load", "ref-index-bounds", "store-scalar-to-vmem"]
    page = load_rule_page("store-scalar-to-vmem")
    assert page is not None
    assert rules[2]["shortDescription"]["text"] == page.summary
    first = run["results"][0]
    assert (first["ruleId"], rules[first["ruleIndex"]]["id"], first["level"]) == ("store-scalar-to-vmem",) * 2 + ("error",)
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "ops%2C%201%25.py"},
        "region": {"startLine": 2, "startColumn": 14, "endLine": 2, "endColumn": 25},
    }
    assert first["relatedLocations"][0]["message"]["text"] == "`o_ref` is in VMEM"
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 28, "endLine": 2, "endColumn": 38},
            "insertedContent": {"text": "sum(x_ref, keepdims=True)"},
        }
    ]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_a_place_that_cannot_be_read_has_no_excerpt(report: Report) -> None:
    gone = dataclasses.replace(report, places=Places(lambda path: None))
    assert formats.render(gone, "full").startswith("ops, 1%.py:1:1: error[store-scalar-to-vmem]")
    assert " | " not in formats.render(gone, "full")


@pytest.mark.parametrize("name", formats.NAMES)
def test_a_clean_report(report: Report, name: str) -> None:
    text = formats.render(dataclasses.replace(report, diagnostics=()), name)
    if name == "full":
        assert text == "Nothing found in 7 files.\n"
    elif name in ("json", "gitlab"):
        assert text == "[]\n"
    elif name in ("concise", "github"):
        assert text == ""


def test_the_terminal_gets_no_control_characters(tmp_path: Path) -> None:
    source = Source("a.py", "x = '\x1b[31m\u202e\x07\u2028'\n")
    finding = Diagnostic("masked-load", "error", "m", Location("a.py", Span(0, len(source.text) - 1)))
    text = formats.render(Report((finding,), Places(lambda path: source), 1), "full")
    assert not set(text) & {"\x1b", "\u202e", "\x07", "\u2028"}
