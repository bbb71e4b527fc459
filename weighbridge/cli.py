"""The command `weighbridge`: options become settings, settings become running parts."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from weighbridge import __version__
from weighbridge.errors import UsageError
from weighbridge.settings import Settings, SettingsError, known_names, load

F = TypeVar("F", bound=Callable[..., Any])
USAGE_ERROR = 2

_COMMON = [
    click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Settings file [default: weighbridge.toml, when there is one].",
    ),
    click.option(
        "--data-dir",
        metavar="DIR",
        help="Folder of the SQLite store, made when missing [default: weighbridge-data].",
    ),
    click.option(
        "--database",
        metavar="URL",
        help="Store as a SQLAlchemy URL [default: weighbridge.db in the data folder].",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        help="Least severe message logged [default: warning].",
    ),
]
_INTAKE = [
    click.option(
        "--otlp-grpc", metavar="HOST:PORT", help="Where OTLP/gRPC is received [default: 127.0.0.1:4317]."
    ),
    click.option(
        "--otlp-http", metavar="HOST:PORT", help="Where OTLP/HTTP is received [default: 127.0.0.1:4318]."
    ),
]
_WEB = [
    click.option(
        "--web",
        metavar="HOST:PORT",
        help="Where the dashboard and the API are served [default: 127.0.0.1:8050].",
    )
]
_DEMO = [
    click.option(
        "--nodes", "demo_nodes", type=int, metavar="N", help="Nodes in the simulated cluster [default: 64]."
    ),
    click.option(
        "--speed", "demo_speed", type=float, metavar="X", help="Simulated seconds per second [default: 1]."
    ),
    click.option(
        "--rate", "demo_rate", type=float, metavar="N", help="Decisions per simulated second [default: 100]."
    ),
    click.option(
        "--seed",
        "demo_seed",
        type=int,
        metavar="N",
        help="Seed of everything random in the simulation [default: 7].",
    ),
]
_SUPERVISED = [click.option("--supervised", is_flag=True, hidden=True)]


def _options(*groups: list[Callable[[F], F]]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed([o for group in groups for o in group]):
            function = option(function)
        return function

    return decorate


def _load(options: Mapping[str, Any]) -> Settings:
    """Settings from the options that were given. Ends the program with one line when they are wrong."""
    given = {k: v for k, v in options.items() if v is not None and k not in ("config", "supervised")}
    flags = {k.replace("demo_", "demo."): v for k, v in given.items()}
    return load(flags, options.get("config"))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="weighbridge")
def cli() -> None:
    """See why weighted schedulers and routers decide as they do.

    \b
    First steps:
      weighbridge demo        a simulated cluster, its decisions and the dashboard
      weighbridge up          the collector and the dashboard, for your own senders
    Then open http://127.0.0.1:8050 in a browser.

    Settings come from options, then weighbridge.toml, then WEIGHBRIDGE_* in the environment;
    `weighbridge check-config --list` lists them all.
    """


@cli.command()
@_options(_COMMON, _INTAKE, _WEB)
def up(**options: Any) -> None:
    """Run the collector and the dashboard on one SQLite file, as two supervised processes.

    Prints one line per listening address, then `ready`. SIGTERM or Ctrl-C ends it in order; a second
    one ends it at once.
    """
    from weighbridge.together import run_together

    sys.exit(run_together(_load(options), options.get("config"), demo=False, say=_say))


@cli.command()
@_options(_COMMON, _INTAKE, _WEB, _DEMO)
def demo(**options: Any) -> None:
    """Run `up` and a simulated cluster of LLM nodes that sends its decisions to it.

    The cluster is driven by a public request trace; every decision is made by the real engine and
    travels over OTLP/gRPC. Senders of your own may send to the same addresses meanwhile.
    """
    from weighbridge.together import run_together

    sys.exit(run_together(_load(options), options.get("config"), demo=True, say=_say))


@cli.command()
@_options(_COMMON, _INTAKE, _WEB, _SUPERVISED)
def collect(**options: Any) -> None:
    """Run the collector alone: OTLP in, alerts out, retention.

    The --web address is only used for links in alerts; alerts.external_url goes before it.
    """
    from weighbridge.collect import run_collect

    sys.exit(run_collect(_load(options), supervised=options["supervised"], say=_say))


@cli.command()
@_options(_COMMON, _INTAKE, _WEB, _SUPERVISED)
def serve(**options: Any) -> None:
    """Run the dashboard and the API alone, on a store that a collector fills.

    The --otlp-* addresses are only shown on the Set up page.
    """
    from weighbridge.serve import run_serve

    sys.exit(run_serve(_load(options), supervised=options["supervised"], say=_say))


@cli.command()
@_options(_COMMON, _INTAKE, _DEMO, _SUPERVISED)
def simulate_cluster(**options: Any) -> None:
    """Run the simulated cluster alone and send to --otlp-grpc."""
    from weighbridge.cluster import run_cluster

    sys.exit(run_cluster(_load(options), supervised=options["supervised"], say=_say))


@cli.command()
@_options(_COMMON)
def migrate(**options: Any) -> None:
    """Bring the store's schema up to date; harmless when it is."""
    from weighbridge.wiring.store import migrate_store

    _say(migrate_store(_load(options)))


@cli.command("check-config")
@_options(_COMMON, _INTAKE, _WEB)
@click.option("--list", "list_all", is_flag=True, help="List every setting and what it means.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def check_config(list_all: bool, as_json: bool, **options: Any) -> None:
    """Say whether the settings are right and print those in force, secrets masked."""
    import orjson

    if list_all:
        names = known_names()
        _say(
            orjson.dumps(names, option=orjson.OPT_INDENT_2).decode()
            if as_json
            else "\n".join(f"{n:34} {d}" for n, d in names.items())
        )
        return
    from weighbridge.wiring.intake import alerts_config

    settings = _load(options)
    alerts_config(settings)
    if as_json:
        _say(orjson.dumps(settings.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode())
        return
    for name, value in _flatten(settings.model_dump(mode="json")):
        _say(f"{name} = {value}")
    _say(f"settings are right; the store is {settings.database_url}")


@cli.command()
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--seconds", type=float, default=None, metavar="S", help="Length of each measured load.")
def bench(name: str, as_json: bool, seconds: float | None) -> None:
    """Measure a figure of docs/performance.md: intake, live, demo, or all.

    \b
    intake   durable spans a second on SQLite, CPU a span, beside bare protobuf parsing
    live     decision end to painted cell in a real Chromium, with 20 more viewers
    demo     CPU and memory of `weighbridge demo` at 64 nodes and 100 decisions a second
    """
    from weighbridge.bench import run_bench

    _say(run_bench(name, seconds=seconds, as_json=as_json, progress=lambda line: click.echo(line, err=True)))


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in tree.items():
        rows += _flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return rows


def _say(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()


def main() -> None:
    """Run the command; a wrong use or an unusable surrounding ends with one line and code 2."""
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(USAGE_ERROR)
    except click.Abort:
        sys.exit(130)
    except (SettingsError, UsageError) as error:
        click.echo(f"weighbridge: {error}", err=True)
        sys.exit(USAGE_ERROR)
