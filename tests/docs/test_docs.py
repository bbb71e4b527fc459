"""The documentation is complete: every setting, attribute, metric and command stands in it."""

import re
from pathlib import Path

import click

from engine import semconv
from weighbridge.cli import cli
from weighbridge.settings import Settings, env_name, known_names, load

DOCS = Path(__file__).parents[2] / "docs"
ROOT = DOCS.parent


def test_every_setting_is_documented_and_nothing_else() -> None:
    """The table in configuration.md has a row for each known setting and no other."""
    rows = set(re.findall(r"^\| `([a-z_.\[\]]+)` \|", (DOCS / "configuration.md").read_text(), re.MULTILINE))
    assert rows == set(known_names())


def test_every_command_and_option_is_documented() -> None:
    """commands.md names each command with each of its visible options."""
    text = (DOCS / "commands.md").read_text()
    assert set(re.findall(r"^\| `weighbridge ([a-z-]+)", text, re.MULTILINE)) == set(cli.commands)
    for command in cli.commands.values():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in text, (command.name, option.opts)


def test_every_attribute_is_documented() -> None:
    """attributes.md has each constant of the wire contract."""
    text = (DOCS / "attributes.md").read_text()
    names = {
        v
        for k, v in vars(semconv).items()
        if k.isupper() and isinstance(v, str) and "." in v and not k.startswith("SCOPE")
    }
    assert names
    missing = {name for name in names if f"`{name}`" not in text}
    assert not missing


def test_the_settings_example_is_accepted(tmp_path: Path) -> None:
    """The file printed in configuration.md loads."""
    example = re.search(r"```toml\n(.*?)```", (DOCS / "configuration.md").read_text(), re.DOTALL)
    assert example
    (tmp_path / "weighbridge.toml").write_text(example[1])
    assert load({}, tmp_path / "weighbridge.toml").alerts.rules[0].node == "gpu-*"


def test_an_environment_variable_is_named_after_its_setting() -> None:
    """The rule that configuration.md states."""
    assert env_name("retention.max_age") == "WEIGHBRIDGE_RETENTION__MAX_AGE"
    assert isinstance(Settings(), Settings)


def test_local_links_of_the_documentation_lead_somewhere() -> None:
    """No page links to a file that is not there."""
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)
