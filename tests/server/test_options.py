"""An editor's settings over the project's."""

from __future__ import annotations

from pallas_lsp.server.options import Options, read_options
from pallas_lsp.settings import Settings


def test_the_keys_an_editor_may_set() -> None:
    select, ignore = ["store-scalar-to-vmem"], ["load-vector-from-smem"]
    chosen = {"select": select, "ignore": ignore, "jaxVersion": "0.10.2", "target": "v5e", "interpreter": "python3"}
    options, problems = read_options(chosen)
    assert problems == []
    assert options == Options(frozenset(select), frozenset(ignore), "0.10.2", "v5e", "python3")


def test_what_is_not_set_is_no_choice() -> None:
    for section in (None, {}, {"select": [], "ignore": [], "jaxVersion": "", "target": "", "interpreter": None}):
        assert read_options(section) == (Options(), [])


def test_what_is_wrong_is_told_and_left_out() -> None:
    options, problems = read_options(
        {"select": ["store-scalar-to-vmen"], "target": "v9", "jaxVersion": 10, "ignore": "load-vector-from-smem", "jaxVersio": "0.10.2"}
    )
    assert options == Options()
    assert len(problems) == 5
    assert any("did you mean 'store-scalar-to-vmem'" in problem for problem in problems)
    assert any("did you mean 'jaxVersion'" in problem for problem in problems)
    assert read_options("all")[1] != []


def test_the_editors_choice_stands_before_the_projects() -> None:
    project = Settings(select=None, ignore=frozenset({"a", "b"}), jax_version="0.9.0", target="v4")
    assert Options().over(project) == project
    over = Options(select=frozenset({"a"}), ignore=frozenset({"c"}), jax_version="0.10.2").over(project)
    assert over == Settings(select=frozenset({"a"}), ignore=frozenset({"b", "c"}), jax_version="0.10.2", target="v4")
