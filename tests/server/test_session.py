"""The session: which files are analysed when, and which findings are shown where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from server.fake_analysis import Analyzer

from pallas_lsp.server.documents import Document, Report
from pallas_lsp.server.options import Options
from pallas_lsp.server.session import Session

PALLAS = "from jax.experimental import pallas\n"
OPS = PALLAS + "import kernels\n"
KERNELS = PALLAS + "WORSE\n"


class Editor:
    """A session, and what an editor would show: the last report of each file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.analyzer = Analyzer()
        self.logged: list[str] = []
        self.traced: list[str] = []
        self.session = Session(self.analyzer, self.logged.append, self.logged.append, self.traced.append)  # type: ignore[arg-type]
        self.session.configure({str(root): Options()}, Options())
        self.shown: dict[str, list[str]] = {}
        self.told: list[Report] = []
        self.analysed: list[str] = []

    def path(self, name: str) -> str:
        return os.path.join(str(self.root), name)

    def edit(self, name: str, text: str, version: int = 1) -> Document:
        document = Document(f"file://{self.path(name)}", self.path(name), version, text)
        self.session.open(document)
        self.refresh(name)
        return document

    def close(self, name: str) -> None:
        self.session.close(self.path(name))
        self.refresh(name)

    def refresh(self, name: str, steps: int | None = None) -> None:
        for number, update in enumerate(self.session.refresh(self.path(name))):
            if number == steps:
                return  # superseded: what this step found is not delivered
            self.analysed.append(os.path.basename(update.analysed or ""))
            for report in update.reports:
                self.session.delivered(report)
                self.told.append(report)
                self.shown[os.path.basename(report.path)] = [report.sources[report.path].slice(f.location.span) for f in report.findings]


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path)


def test_findings_follow_the_text_and_its_version(editor: Editor) -> None:
    editor.edit("a.py", PALLAS + "BAD\n", 1)
    assert editor.shown == {"a.py": ["BAD"]}
    editor.edit("a.py", PALLAS + "BAD BAD\n", 2)
    assert editor.shown == {"a.py": ["BAD", "BAD"]}
    editor.edit("a.py", PALLAS, 3)
    assert editor.shown == {"a.py": []}
    assert [report.version for report in editor.told] == [1, 2, 3]


def test_closing_clears(editor: Editor) -> None:
    editor.edit("a.py", PALLAS + "BAD\n")
    editor.close("a.py")
    assert editor.shown == {"a.py": []}
    assert editor.told[-1].version is None


def test_a_file_without_the_word_pallas_is_not_analysed(editor: Editor) -> None:
    editor.edit("plain.py", "BAD\n")
    assert editor.analyzer.asked == []
    assert editor.shown == {"plain.py": []}


def test_it_is_analysed_where_a_kernel_file_reads_it(editor: Editor) -> None:
    editor.edit("kernels.py", "WORSE\n")
    editor.edit("ops.py", OPS)
    assert editor.shown == {"kernels.py": ["WORSE"], "ops.py": []}
    editor.edit("kernels.py", "fine\n", 2)
    assert editor.shown == {"kernels.py": [], "ops.py": []}
    assert editor.analyzer.asked[-2:] == ["kernels.py?", "ops.py"]


def test_a_finding_in_another_file_is_shown_there_once(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    editor.edit("ops.py", OPS)
    assert editor.shown == {"ops.py": [], "kernels.py": ["WORSE"]}
    editor.edit("ops2.py", OPS)
    assert editor.shown["kernels.py"] == ["WORSE"]
    editor.close("ops.py")
    assert editor.shown["kernels.py"] == ["WORSE"]
    editor.close("ops2.py")
    assert editor.shown["kernels.py"] == []


def test_editing_the_kernels_file_refreshes_what_its_caller_says_of_it(editor: Editor) -> None:
    editor.edit("kernels.py", KERNELS)
    editor.edit("ops.py", OPS)
    before = len(editor.told)
    editor.edit("kernels.py", "\n\n" + KERNELS, 2)
    new = editor.told[before:]
    assert [(os.path.basename(report.path), report.version) for report in new] == [("kernels.py", 2)], "one report, nothing misplaced"
    assert editor.shown["kernels.py"] == ["WORSE"]


def test_a_caller_that_is_not_open_is_found(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OPS + "BAD\n")
    editor.edit("kernels.py", KERNELS)
    assert editor.shown == {"kernels.py": ["WORSE"]}, "what is wrong with the caller itself is not shown while nobody looks at it"
    editor.edit("kernels.py", PALLAS, 2)
    assert editor.shown == {"kernels.py": []}


def test_what_installed_packages_define_is_looked_up_after_the_first_findings(editor: Editor) -> None:
    editor.edit("a.py", PALLAS + "BAD UNRESOLVED\n", 1)
    assert editor.analyzer.asked == ["a.py?", "a.py"]
    assert [report.version for report in editor.told] == [1], "once is enough where nothing new was found"
    editor.edit("a.py", PALLAS + "BAD UNRESOLVED\n\n", 2)
    editor.edit("b.py", PALLAS)
    assert editor.analyzer.asked[2:] == ["a.py", "b.py?"], "what was looked up is known from then on"


def test_an_analysis_of_an_older_text_stops(editor: Editor) -> None:
    document = Document("", editor.path("a.py"), 1, PALLAS + "BAD\n")
    editor.session.open(document)
    steps = editor.session.refresh(document.path)
    editor.analyzer.before = lambda: editor.session.open(Document("", document.path, 2, PALLAS))
    assert list(steps) == []
    editor.analyzer.before = None
    editor.refresh("a.py")
    assert editor.shown == {"a.py": []} and editor.told[-1].version == 2


def test_a_job_that_was_superseded_loses_no_report(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    editor.edit("ops.py", OPS)
    document = Document("file:///ops.py", editor.path("ops.py"), 2, PALLAS)
    editor.session.open(document)
    editor.refresh("ops.py", steps=0)
    assert editor.shown["kernels.py"] == ["WORSE"]
    editor.edit("ops.py", PALLAS + "\n", 3)
    assert editor.shown["kernels.py"] == []


def test_a_result_that_is_out_of_date_is_not_shown(editor: Editor) -> None:
    editor.edit("kernels.py", KERNELS)
    editor.edit("ops.py", OPS)
    editor.session.open(Document("", editor.path("kernels.py"), 2, "\n" + KERNELS))
    editor.refresh("kernels.py", steps=0)  # its caller has not been analysed again
    assert editor.shown["kernels.py"] == ["WORSE"]
    assert editor.told[-1].version == 1
    editor.edit("other.py", PALLAS)
    assert all(report.version != 2 for report in editor.told if report.path.endswith("kernels.py"))
    editor.refresh("kernels.py")
    assert editor.told[-1].version == 2


def test_the_last_findings_stay_while_the_text_is_mostly_lost(editor: Editor) -> None:
    good = PALLAS + "x = 1\n" * 20 + "BAD\n"
    editor.edit("a.py", good, 1)
    document = editor.edit("a.py", 'def f():\n    """' + good, 2)
    assert editor.shown == {"a.py": ["BAD"]} and editor.told[-1].version == 1
    assert editor.session.analysis_of(document) is None
    editor.edit("a.py", good, 3)
    assert editor.told[-1].version == 3


def test_an_analysis_that_crashes_is_logged_and_the_rest_goes_on(editor: Editor) -> None:
    editor.edit("a.py", PALLAS + "BAD\n", 1)
    editor.edit("a.py", PALLAS + "BAD CRASH\n", 2)
    assert "the fake was told to crash" in editor.logged[0]
    assert editor.told[-1].version == 1
    editor.edit("b.py", PALLAS + "BAD\n")
    assert editor.shown["b.py"] == ["BAD"]
    editor.edit("a.py", PALLAS, 3)
    assert editor.shown["a.py"] == []


def test_the_analysis_of_a_document_is_that_of_its_newest_text(editor: Editor) -> None:
    old = editor.edit("a.py", PALLAS + "BAD\n", 1)
    known = editor.session.analysis_of(old)
    assert known is not None and known.source.text == old.text
    new = editor.edit("a.py", PALLAS + "\nBAD\n", 2)
    assert editor.session.analysis_of(old) is None
    known = editor.session.analysis_of(new)
    assert known is not None and [finding.message for finding in known.diagnostics] == ["this is bad"]


def test_it_knows_what_other_files_say_of_the_file(editor: Editor) -> None:
    kernels = editor.edit("kernels.py", KERNELS)
    editor.edit("ops.py", OPS)
    known = editor.session.analysis_of(kernels)
    assert known is not None and [finding.message for finding in known.diagnostics] == ["worse when called"]


def test_a_step_says_which_document_it_analysed(editor: Editor) -> None:
    editor.edit("kernels.py", KERNELS)
    editor.edit("ops.py", OPS)
    editor.analysed.clear()
    editor.edit("kernels.py", "\n" + KERNELS, 2)
    assert editor.analysed == ["kernels.py", "ops.py"]


def test_what_was_done_is_traced(editor: Editor) -> None:
    editor.edit("a.py", PALLAS + "BAD\n", 7)
    (line,) = editor.traced
    assert editor.path("a.py") in line and "version 7" in line and "1 found" in line


def test_a_text_can_be_tried_without_being_kept(editor: Editor) -> None:
    document = editor.edit("a.py", PALLAS + "BAD\n")
    assert editor.session.with_text(document.path, PALLAS).diagnostics == []
    known = editor.session.analysis_of(document)
    assert known is not None and len(known.diagnostics) == 1
    assert editor.session.sources([document.path], document.path)[document.path].text == document.text


def test_the_configuration_is_read_again_when_it_changes(editor: Editor, tmp_path: Path) -> None:
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.pallas-lsp]\nignore = ["store-scalar-to-vmem"]\n')
    editor.edit("a.py", PALLAS + "BAD\n", 1)
    assert editor.shown == {"a.py": []}
    config.write_text('[tool.pallas-lsp]\nignore = []\n')
    assert editor.session.reread({str(config)}) == [editor.path("a.py")]
    editor.refresh("a.py")
    assert editor.shown == {"a.py": ["BAD"]}
    config.write_text('[tool.pallas-lsp]\nper-file-ignores = {"a.py" = ["store-scalar-to-vmem"]}\n')
    editor.edit("a.py", PALLAS + "BAD\n", 2)
    assert editor.shown == {"a.py": []}
    config.write_text('[tool.pallas-lsp]\nexclude = ["a.py"]\n')
    editor.edit("a.py", PALLAS + "BAD\n", 3)
    assert editor.shown == {"a.py": []}
    config.write_text("[tool.pallas-lsp]\nexclud = []\n")
    editor.edit("a.py", PALLAS + "BAD\n", 4)
    assert editor.shown == {"a.py": ["BAD"]} and "exclud" in editor.logged[-1]
    editor.edit("a.py", PALLAS + "BAD\n", 5)
    assert len(editor.logged) == 1, "a wrong configuration is told once"


def test_the_editors_settings_count(editor: Editor, tmp_path: Path) -> None:
    editor.edit("a.py", PALLAS + "BAD\n", 1)
    editor.session.configure({str(tmp_path): Options(ignore=frozenset({"store-scalar-to-vmem"}))}, Options())
    editor.refresh("a.py")
    assert editor.shown == {"a.py": []}
    editor.session.configure({str(tmp_path / "elsewhere"): Options(ignore=frozenset({"store-scalar-to-vmem"}))}, Options())
    editor.refresh("a.py")
    assert editor.shown == {"a.py": ["BAD"]}


def test_a_file_changed_on_disk_concerns_the_documents_that_read_it(editor: Editor, tmp_path: Path) -> None:
    kernels = tmp_path / "kernels.py"
    kernels.write_text(KERNELS)
    editor.edit("ops.py", OPS)
    editor.edit("other.py", PALLAS)
    kernels.write_text(PALLAS)
    assert editor.session.reread({str(kernels)}) == [editor.path("ops.py")]
    editor.refresh("ops.py")
    assert editor.shown["kernels.py"] == []
    assert editor.session.reread({str(tmp_path / "unrelated.py")}) == []


def test_a_changed_caller_that_is_not_open_concerns_the_kernels_it_calls(editor: Editor, tmp_path: Path) -> None:
    ops = tmp_path / "ops.py"
    ops.write_text(OPS)
    editor.edit("kernels.py", KERNELS)
    assert editor.shown["kernels.py"] == ["WORSE"]
    ops.write_text(PALLAS)
    assert editor.session.reread({str(ops)}) == [editor.path("kernels.py")]
    editor.refresh("kernels.py")
    assert editor.shown["kernels.py"] == []


def test_nothing_is_reported_in_installed_packages_or_outside_the_workspace(editor: Editor, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    editor.session.configure({str(tmp_path / "workspace"): Options()}, Options())
    (outside / "kernels.py").write_text(KERNELS)
    editor.edit("elsewhere/ops.py", OPS)
    assert editor.shown == {"ops.py": []}
    editor.edit("elsewhere/kernels.py", KERNELS)
    assert editor.shown["kernels.py"] == ["WORSE"]


def test_a_file_that_changed_unseen_is_noticed_when_another_is_saved(editor: Editor, tmp_path: Path) -> None:
    kernels = tmp_path / "kernels.py"
    kernels.write_text(KERNELS)
    editor.edit("ops.py", OPS)
    editor.edit("other.py", PALLAS)
    assert editor.session.reread({editor.path("other.py")}) == [editor.path("other.py")]
    kernels.write_text(PALLAS + "all is well here\n")
    assert editor.session.reread({editor.path("other.py")}) == [editor.path("ops.py"), editor.path("other.py")]
    editor.refresh("ops.py")
    assert editor.shown["kernels.py"] == []
    assert editor.session.reread(set()) == []


def test_a_caller_whose_text_on_the_disk_counts_again_concerns_the_kernels_it_calls(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OPS)
    editor.edit("kernels.py", KERNELS)
    assert editor.shown == {"kernels.py": ["WORSE"]}
    editor.edit("ops.py", PALLAS)
    assert editor.shown["kernels.py"] == []
    editor.close("ops.py")
    assert editor.shown["kernels.py"] == ["WORSE"]


def test_a_new_caller_on_the_disk_concerns_the_kernels_it_calls(editor: Editor, tmp_path: Path) -> None:
    editor.edit("kernels.py", KERNELS)
    (tmp_path / "ops.py").write_text(OPS)
    assert editor.session.reread({editor.path("ops.py")}) == [editor.path("kernels.py")]
    editor.refresh("kernels.py")
    assert editor.shown == {"kernels.py": ["WORSE"]}


def test_the_first_findings_are_told_before_the_rest(editor: Editor) -> None:
    early: list[Report] = []
    editor.edit("a.py", PALLAS + "BAD BAD\n", 1)
    for version, text in ((2, "EARLY BAD BAD\n"), (3, "EARLY BAD\n")):
        path = editor.path("a.py")
        editor.session.open(Document(f"file://{path}", path, version, PALLAS + text))
        (update,) = editor.session.refresh(path, lambda update: early.extend(update.reports))
        assert [(report.version, len(report.findings)) for report in early] == [(version, 1)]
        assert [len(report.findings) for report in update.reports] == [2] * (version == 2), "what is the same is not told again"
        early.clear()


def test_first_findings_that_never_arrived_are_told_again(editor: Editor) -> None:
    editor.edit("a.py", PALLAS, 1)
    path = editor.path("a.py")
    editor.session.open(Document(f"file://{path}", path, 2, PALLAS + "EARLY BAD\n"))
    (dropped,) = editor.session.refresh(path, lambda update: None)  # a newer job was asked for, so that nothing is delivered
    assert dropped.reports == []
    editor.refresh("a.py")
    assert (editor.told[-1].version, editor.shown["a.py"]) == (2, ["BAD"])


def test_where_others_have_a_say_only_all_findings_are_told(editor: Editor) -> None:
    early: list[Report] = []
    editor.edit("kernels.py", PALLAS + "WORSE\n")
    editor.edit("ops.py", PALLAS + "import kernels\n")
    assert editor.shown["kernels.py"] == ["WORSE"]
    path = editor.path("kernels.py")
    editor.session.open(Document(f"file://{path}", path, 2, PALLAS + "EARLY BAD WORSE\n"))
    list(editor.session.refresh(path, lambda update: early.extend(update.reports)))
    assert not early
