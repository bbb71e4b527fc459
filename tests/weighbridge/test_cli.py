"""The command: help that teaches, settings that are checked, one line for what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from weighbridge.cli import cli


def _run(*arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "weighbridge", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_explains_itself_with_its_defaults(command: str) -> None:
    """A sentence, and each visible option with what it means."""
    result = CliRunner().invoke(cli, [command, "--help"])
    assert result.exit_code == 0
    assert cli.commands[command].help
    for option in cli.commands[command].params:
        if getattr(option, "hidden", False):
            continue
        assert getattr(option, "help", "") or option.name == "name", option.name


def test_the_first_help_tells_the_first_steps() -> None:
    """What to type and what to open."""
    text = CliRunner().invoke(cli, ["--help"]).output
    assert "weighbridge demo" in text
    assert "http://127.0.0.1:8050" in text


def test_check_config_prints_what_is_in_force_with_secrets_masked(tmp_path: Path) -> None:
    """As text and as JSON; the secret shows in neither."""
    (tmp_path / "weighbridge.toml").write_text(
        'web = "127.0.0.1:9999"\n[intake]\nbearer_token = "hush-hush"\n'
        '[[alerts.destinations]]\nname = "a"\nurl = "https://h.example"\nsecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"\n'
    )
    said = _run("check-config", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "web = 127.0.0.1:9999" in said.stdout
    told = _run("check-config", "--json", "--web", "127.0.0.1:1", cwd=tmp_path)
    assert json.loads(told.stdout)["web"] == "127.0.0.1:1"
    for output in (said.stdout, told.stdout):
        assert "hush" not in output
        assert "MfKQ" not in output


def test_a_webhook_secret_that_cannot_sign_is_found_at_the_start(tmp_path: Path) -> None:
    """One line, code 2, and the secret itself is not repeated."""
    (tmp_path / "weighbridge.toml").write_text(
        '[[alerts.destinations]]\nname = "a"\nurl = "https://h.example"\nsecret = "not-a-secret"\n'
    )
    for command in ("check-config", "collect"):
        said = _run(command, "--data-dir", str(tmp_path / "d"), cwd=tmp_path)
        assert said.returncode == 2
        assert "whsec_" in said.stderr
        assert "not-a-secret" not in said.stderr
        assert len(said.stderr.strip().splitlines()) == 1


def test_migrate_makes_the_store_and_says_its_schema(tmp_path: Path) -> None:
    """Twice is harmless."""
    for _ in range(2):
        said = _run("migrate", "--data-dir", str(tmp_path / "data"))
        assert said.returncode == 0, said.stderr
        assert "has schema" in said.stdout
    assert (tmp_path / "data" / "weighbridge.db").exists()


def test_an_unknown_benchmark_names_those_there_are() -> None:
    """One line and code 2."""
    said = _run("bench", "nothing")
    assert said.returncode == 2
    assert "intake" in said.stderr
    assert "Traceback" not in said.stderr
