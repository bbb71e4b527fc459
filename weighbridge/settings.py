"""Everything that can be set, read once at the start and frozen.

Precedence: flags, then the settings file, then ``WEIGHBRIDGE_*`` in the environment, then the defaults
below. A name that is not known here is an error that tells the nearest known one.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

from weighbridge.quantities import Address, AddressSetting, ByteSize, Seconds

ENV_PREFIX = "WEIGHBRIDGE_"
ENV_DELIMITER = "__"
DEFAULT_FILE = Path("weighbridge.toml")
_SERVICE_LINK = re.compile(r"_(SERVICE_HOST|SERVICE_PORT\w*|PORT(_\d+_(TCP|UDP|SCTP)\w*)?)$")
"""What Kubernetes puts into every container's environment for a Service named like the program."""


class SettingsError(Exception):
    """A setting is unknown or has no usable value; the message is one line for the user."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RetentionSettings(_Section):
    """How long and how much the store keeps; the oldest go first."""

    max_age: Seconds = Field(
        7 * 86400.0, gt=0, description="Spans, decisions and roll-ups older than this are deleted."
    )
    max_size: ByteSize = Field(
        2 * 2**30, ge=16 * 2**20, description="The store's files stay below this size."
    )
    interval: Seconds = Field(
        30.0, ge=0.1, le=86400.0, description="How often the store is checked against both limits."
    )


class StorageSettings(_Section):
    """How the store writes."""

    synchronous: Literal["full", "normal"] = Field(
        "full",
        description="full: an acknowledged span survives a power loss; normal: a crash of the process.",
    )


class IntakeSettings(_Section):
    """What the collector accepts."""

    max_request_size: ByteSize = Field(
        64 * 2**20, ge=2**10, description="Largest request after decompression."
    )
    max_waiting_size: ByteSize = Field(
        256 * 2**20,
        ge=2**20,
        description="Bytes of requests that may wait; beyond it senders are told to retry.",
    )
    max_waiting_requests: int = Field(
        256, ge=1, le=100_000, description="Requests that may wait; beyond it senders are told to retry."
    )
    bearer_token: SecretStr | None = Field(
        None, description="When set, senders must send `Authorization: Bearer <token>`."
    )
    cors_origins: tuple[str, ...] = Field(
        (), description="Web origins whose pages may send OTLP/HTTP from a browser."
    )


class RuleSettings(_Section):
    """One drift rule: Page-Hinkley on the 1 s roll-up of every node weight it matches."""

    name: str = Field(min_length=1, max_length=100, description="Name of the alert.")
    policy: str = Field("*", description="Policies watched, as a glob.")
    service: str = Field("*", description="Services watched, as a glob.")
    node: str = Field("*", description="Nodes watched, as a glob.")
    delta: float = Field(0.5, ge=0, description="Drift below this many standard deviations is ignored.")
    threshold: float = Field(
        80.0,
        gt=0,
        allow_inf_nan=False,
        description="Page-Hinkley threshold in standard deviations; docs/alerts.md tells its false alarms.",
    )
    min_samples: int = Field(60, ge=10, description="Seconds of weights seen before a node can alert.")
    min_change: float = Field(
        0.1, ge=0, le=10, description="Least shift worth an alert, as a share of the weight before it."
    )
    hold_for: Seconds = Field(0.0, ge=0, description="How long a shift must last before the alert opens.")
    resolve_after: Seconds = Field(60.0, gt=0, description="Quiet time after which the alert resolves.")
    severity: str = Field("warning", description="Value of the label `severity`.")
    labels: Mapping[str, str] = Field(default_factory=dict, description="More labels, all strings.")
    annotations: Mapping[str, str] = Field(default_factory=dict, description="More annotations, all strings.")


class DestinationSettings(_Section):
    """One webhook."""

    name: str = Field(min_length=1, max_length=100, description="Name shown on the alerts page.")
    url: str = Field(pattern=r"^https?://", description="Where to post.")
    secret: SecretStr | None = Field(
        None, description="Signing secret, `whsec_` and base64 of 24 to 64 bytes."
    )
    previous_secret: SecretStr | None = Field(
        None, description="Signs as well, while receivers change to the new secret."
    )
    format: Literal["alertmanager", "standard"] = Field("alertmanager", description="Body format.")
    allow_private: bool = Field(
        False, description="Allow an address that is private, link-local or loopback."
    )


class AlertsSettings(_Section):
    """Which drifts raise an alert and who is told."""

    rules: tuple[RuleSettings, ...] = Field(
        (RuleSettings(name="weight-drift"),),
        max_length=100,
        description="Drift rules; without any, one that watches all.",
    )
    destinations: tuple[DestinationSettings, ...] = Field(
        (), max_length=20, description="Webhooks, each told of every alert."
    )
    external_url: str | None = Field(
        None, description="Address of the dashboard as people reach it, for links in alerts."
    )


class DemoSettings(_Section):
    """The simulated cluster of `weighbridge demo`."""

    nodes: int = Field(64, ge=2, le=1000, description="Nodes in the cluster.")
    speed: float = Field(1.0, gt=0, le=100, description="Simulated seconds per second.")
    rate: float = Field(100.0, gt=0, le=5000, description="Decisions per simulated second.")
    seed: int = Field(7, ge=0, description="Seed of everything random in the simulation.")


class Settings(BaseSettings):
    """All settings of one process."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
        env_ignore_empty=True,
    )

    data_dir: Path = Field(
        Path("weighbridge-data"), description="Folder of the SQLite store, made when missing."
    )
    database: str | None = Field(
        None, description="Store as a SQLAlchemy URL; default: weighbridge.db in the data folder."
    )
    otlp_grpc: AddressSetting = Field(Address("127.0.0.1", 4317), description="Where OTLP/gRPC is received.")
    otlp_http: AddressSetting = Field(Address("127.0.0.1", 4318), description="Where OTLP/HTTP is received.")
    web: AddressSetting = Field(
        Address("127.0.0.1", 8050), description="Where the dashboard and the API are served."
    )
    web_hosts: tuple[str, ...] = Field(
        (),
        max_length=100,
        description="Host names it answers to on loopback, besides localhost and addresses.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="Least severe message logged."
    )
    storage: StorageSettings = Field(default_factory=StorageSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    intake: IntakeSettings = Field(default_factory=IntakeSettings)
    alerts: AlertsSettings = Field(default_factory=AlertsSettings)
    demo: DemoSettings = Field(default_factory=DemoSettings)

    @property
    def database_url(self) -> str:
        """The store's address: the one given, or the SQLite file in the data folder."""
        return self.database or f"sqlite:///{self.data_dir.expanduser().absolute() / 'weighbridge.db'}"

    @property
    def owns_store(self) -> bool:
        """Whether the store is the project's own SQLite file, which `up` may migrate by itself."""
        return self.database is None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags and file arrive as constructor arguments; the environment comes after them."""
        return init_settings, env_settings


def load(flags: Mapping[str, Any], file: Path | None = None) -> Settings:
    """Read the settings once.

    ``flags`` holds dotted names that were given on the command line; ``file`` defaults to
    ``weighbridge.toml`` in the current folder, when there is one. Raises SettingsError.
    """
    given = _read_file(file)
    _check_known(given, "in the settings file")
    _check_environment(os.environ)
    for name, value in flags.items():
        _put(given, name.split("."), value)
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError("; ".join(_say(e) for e in error.errors(include_url=False))) from None
    except SourceError as error:
        raise SettingsError(f"{error} of the environment: expected JSON") from None


def known_names() -> dict[str, str]:
    """Every setting as a dotted name with its description, tables of tables as ``alerts.rules[].name``."""
    return dict(_walk(Settings, ""))


def _walk(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, _Section):
            yield from _walk(annotation, f"{prefix}{name}.")
            continue
        items = [a for a in get_args(annotation) if isinstance(a, type) and issubclass(a, _Section)]
        if items:
            yield from _walk(items[0], f"{prefix}{name}[].")
        else:
            yield f"{prefix}{name}", info.description or ""


def _read_file(file: Path | None) -> dict[str, Any]:
    path = file or DEFAULT_FILE
    if file is None and not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"the settings file {path} does not exist") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error}") from None


def _check_known(given: Any, where: str, prefix: str = "") -> None:
    known = known_names()
    for name, value in given.items():
        dotted = f"{prefix}{name}"
        tables = value if isinstance(value, list) and value and isinstance(value[0], dict) else None
        if isinstance(value, dict) and any(k.startswith(f"{dotted}.") for k in known):
            _check_known(value, where, f"{dotted}.")
        elif tables is not None and any(k.startswith(f"{dotted}[].") for k in known):
            for table in tables:
                _check_known(table, where, f"{dotted}[].")
        elif dotted not in known and not any(k.startswith((f"{dotted}.", f"{dotted}[].")) for k in known):
            raise SettingsError(f"unknown setting {dotted!r} {where}{_nearest(dotted, known)}")


def _check_environment(environ: Mapping[str, str]) -> None:
    known = {env_name(name) for name in known_names() if "[]" not in name}
    known |= {ENV_PREFIX + "ALERTS__RULES", ENV_PREFIX + "ALERTS__DESTINATIONS"}
    sections = {name.rpartition(ENV_DELIMITER)[0] for name in known if ENV_DELIMITER in name}
    for name in sorted(environ):
        if name.startswith(ENV_PREFIX) and name not in known | sections and not _SERVICE_LINK.search(name):
            raise SettingsError(f"unknown setting {name} in the environment{_nearest(name, known)}")


def env_name(dotted: str) -> str:
    """Environment variable of a dotted setting name."""
    return ENV_PREFIX + dotted.upper().replace(".", ENV_DELIMITER)


def _nearest(name: str, known: Mapping[str, str] | set[str]) -> str:
    leaves = {k.rpartition(".")[2]: k for k in known}
    close = difflib.get_close_matches(name, list(known), 1, 0.5)
    close = close or [
        leaves[c] for c in difflib.get_close_matches(name.rpartition(".")[2], list(leaves), 1, 0.5)
    ]
    return (
        f"; the nearest known one is {close[0].replace('[]', '')!r}"
        if close
        else "; `weighbridge check-config --list` lists them all"
    )


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def _say(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    return f"{name}: {error['msg'].removeprefix('Value error, ')}"
