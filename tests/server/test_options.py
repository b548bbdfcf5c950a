"""An editor's settings over the project's."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pallas_lsp.pages import repeats_type_checkers
from pallas_lsp.server.options import KEYS, Options, read_options
from pallas_lsp.settings import Settings

README = Path(__file__).parents[2] / "editors/README.md"


def test_the_keys_an_editor_may_set() -> None:
    select, ignore = ["store-scalar-to-vmem"], ["load-vector-from-smem"]
    chosen = {"select": select, "ignore": ignore, "jaxVersion": "0.10.2", "target": "v5e", "interpreter": "python3"}
    shown = {"inlayHints": {"refs": False, "values": True}, "codeLens": False, "logLevel": "debug", "typeCheckerRules": True}
    options, problems = read_options({**chosen, **shown})
    assert problems == []
    assert options == Options(frozenset(select), frozenset(ignore), "0.10.2", "v5e", "python3", True, False, True, False, "debug")
    assert read_options({"inlayHints.refs": False}) == (Options(ref_hints=False), [])


def test_every_setting_is_in_the_documentation_with_its_value_where_it_is_not_set() -> None:
    documented = dict(re.findall(r"^\| `([\w.]+)` \|.*\| (.+) \|$", README.read_text(), re.MULTILINE))
    assert documented.keys() == KEYS.keys()
    defaults = {key: getattr(Options(), name) for key, (name, _) in KEYS.items()}
    for key, value in defaults.items():
        if isinstance(value, bool | str):
            assert documented[key] == f"`{json.dumps(value)}`"


def test_the_settings_of_an_editors_extension_are_no_mistakes() -> None:
    section = {"enable": True, "importStrategy": "useBundled", "path": ["pallas-lsp"], "trace": {"server": "off"}}
    assert read_options(section) == (Options(), [])


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


def test_values_of_another_kind_are_told() -> None:
    options, problems = read_options({"codeLens": "yes", "logLevel": "loud", "inlayHints": {"refs": 1, "types": True}})
    assert options == Options() and len(problems) == 4


def test_rules_that_repeat_a_type_checker_are_left_out_unless_rules_are_chosen() -> None:
    repeated = repeats_type_checkers()
    assert "pallas-call-signature" in repeated
    assert Options().over(Settings()).ignore == repeated
    assert Options(type_checker_rules=True).over(Settings()).ignore == frozenset()
    assert Options(select=frozenset({"pallas-call-signature"})).over(Settings()).ignore == frozenset()
    assert Options().over(Settings(select=frozenset({"pallas-call-signature"}))).ignore == frozenset()


def test_the_editors_choice_stands_before_the_projects() -> None:
    project = Settings(select=None, ignore=frozenset({"a", "b"}), jax_version="0.9.0", target="v4")
    plain = Options(type_checker_rules=True)
    assert plain.over(project) == project
    over = Options(select=frozenset({"a"}), ignore=frozenset({"c"}), jax_version="0.10.2").over(project)
    assert over == Settings(select=frozenset({"a"}), ignore=frozenset({"b", "c"}), jax_version="0.10.2", target="v4")
