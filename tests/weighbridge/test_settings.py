"""Settings: precedence, nearest names, quantities."""

from pathlib import Path

import pytest

from weighbridge.quantities import Address, parse_duration, parse_size
from weighbridge.settings import SettingsError, load


def _file(folder: Path, text: str) -> Path:
    path = folder / "weighbridge.toml"
    path.write_text(text)
    return path


def test_a_flag_beats_the_file_and_the_file_beats_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order that the documentation states."""
    monkeypatch.setenv("WEIGHBRIDGE_WEB", "127.0.0.1:1")
    monkeypatch.setenv("WEIGHBRIDGE_OTLP_HTTP", "127.0.0.1:2")
    monkeypatch.setenv("WEIGHBRIDGE_RETENTION__MAX_AGE", "3h")
    file = _file(tmp_path, 'web = "127.0.0.1:3"\notlp_grpc = "127.0.0.1:4"\n')
    settings = load({"otlp_grpc": "127.0.0.1:5"}, file)
    assert (settings.web.port, settings.otlp_http.port, settings.otlp_grpc.port) == (3, 2, 5)
    assert settings.retention.max_age == 3 * 3600


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ('otlp_grcp = "x"', "otlp_grpc"),
        ('[retention]\nmax_agee = "3d"', "retention.max_age"),
        ('[[alerts.rules]]\nname = "x"\nnod = "*"', "alerts.rules.node"),
        ('[retentoin]\nmax_age = "3d"', "retention"),
        ("max_size = 3", "retention.max_size"),
    ],
)
def test_an_unknown_setting_names_the_nearest_known_one(tmp_path: Path, text: str, nearest: str) -> None:
    """A typing error is found at the start and told with its remedy."""
    with pytest.raises(SettingsError, match=nearest):
        load({}, _file(tmp_path, text))


def test_an_unknown_name_in_the_environment_names_the_nearest_known_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A typing error there is found as well."""
    monkeypatch.setenv("WEIGHBRIDGE_RETENTION__MAX_AGEE", "3h")
    with pytest.raises(SettingsError, match="WEIGHBRIDGE_RETENTION__MAX_AGE'"):
        load({})


@pytest.mark.parametrize(
    "name",
    [
        "WEIGHBRIDGE_SERVICE_HOST",
        "WEIGHBRIDGE_SERVICE_PORT_OTLP_GRPC",
        "WEIGHBRIDGE_PORT",
        "WEIGHBRIDGE_PORT_4317_TCP_ADDR",
        "WEIGHBRIDGE_COLLECTOR_SERVICE_PORT",
    ],
)
def test_what_kubernetes_says_of_a_service_of_the_same_name_is_no_setting(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A Service named weighbridge must not keep the program from starting."""
    monkeypatch.setenv(name, "10.0.0.1")
    assert load({}).web.port == 8050


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('otlp_grpc = "4317"', "otlp_grpc: expected HOST:PORT"),
        ('[retention]\nmax_age = "soon"', "retention.max_age: expected a duration"),
        ('[retention]\nmax_size = "1KiB"', "retention.max_size"),
        ('[[alerts.destinations]]\nname = "x"\nurl = "ftp://h"', "alerts.destinations.0.url"),
        ("web = [", "cannot be read"),
        ("demo = 3", "demo"),
    ],
)
def test_a_value_that_cannot_be_used_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    """One line with the setting's name and what is expected."""
    with pytest.raises(SettingsError) as error:
        load({}, _file(tmp_path, text))
    assert said in str(error.value)
    assert "\n" not in str(error.value).strip()


@pytest.mark.parametrize(
    "text",
    [
        "[retention]\nmax_age = inf",
        '[retention]\nmax_age = "999999999999d"',
        '[retention]\nmax_size = "999999999999GB"',
        "[retention]\ninterval = 1e-300",
        "[retention]\ninterval = 1e300",
        "[intake]\nmax_waiting_requests = 99999999999",
        '[[alerts.rules]]\nname = "x"\nthreshold = inf',
        '[[alerts.rules]]\nname = "x"\nresolve_after = nan',
    ],
)
def test_a_number_beyond_all_use_is_refused_at_the_start(tmp_path: Path, text: str) -> None:
    """It would fail later and elsewhere: an endless age has no nanoseconds, and retention would never run."""
    with pytest.raises(SettingsError):
        load({}, _file(tmp_path, text))


def test_a_settings_file_that_was_named_must_exist(tmp_path: Path) -> None:
    """Only the default file may be absent."""
    with pytest.raises(SettingsError, match="does not exist"):
        load({}, tmp_path / "none.toml")


def test_secrets_do_not_show_when_settings_are_printed(tmp_path: Path) -> None:
    """`check-config` masks them."""
    file = _file(
        tmp_path,
        '[intake]\nbearer_token = "hush"\n[[alerts.destinations]]\nname = "a"\nurl = "https://h"\nsecret = "whsec_hush"',
    )
    assert "hush" not in load({}, file).model_dump_json()


@pytest.mark.parametrize(
    ("text", "seconds"), [("250ms", 0.25), ("90s", 90), ("5 m", 300), ("12h", 43200), ("7d", 604800)]
)
def test_durations_are_read_as_seconds(text: str, seconds: float) -> None:
    """Each unit."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("10", 10), ("500 MB", 500_000_000), ("2GiB", 2**31), ("1.5kib", 1536)]
)
def test_sizes_are_read_as_bytes(text: str, size: int) -> None:
    """Each unit."""
    assert parse_size(text) == size


def test_addresses_take_ipv6_in_brackets() -> None:
    """And print as they are written."""
    assert Address.parse("[::1]:4317") == Address("::1", 4317)
    assert str(Address("::1", 4317)) == "[::1]:4317"
    for bad in ("4317", ":4317", "h:", "h:99999", "h:-1", ""):
        with pytest.raises(ValueError, match="HOST:PORT"):
            Address.parse(bad)
