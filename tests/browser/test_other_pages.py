"""Experiments, alerts and health of a running demo."""

import re

import pytest
from chromium import Window
from playwright.sync_api import expect
from running import Running

pytestmark = pytest.mark.browser


def test_an_experiment_compares_two_arms_by_an_interval(demo: Running, window: Window) -> None:
    """Both arms have their share, and the difference comes with an interval and a verdict."""
    page = window.page
    page.goto(f"{demo.web}/ui/experiments")
    expect(page.locator(".eh h2")).to_be_visible()
    arms = page.locator("section", has=page.get_by_role("heading", name="Arms", exact=True)).locator(
        "tbody tr"
    )
    expect(arms).to_have_count(2)
    expect(arms.first).to_contain_text("control")
    expect(arms.nth(1)).to_contain_text("treatment")
    latency = page.locator(".fr .r", has_text="Outcome latency")
    expect(latency).to_contain_text(re.compile(r"[−+]?\d[\d.]* to [−+]?\d[\d.]* %"), timeout=45_000)
    expect(latency.locator(".band")).to_have_count(1)
    expect(latency).to_contain_text(re.compile("better|worse|equal|settling|undecided"))
    window.shoot("experiments")


def test_an_open_alert_shows_its_evidence_and_its_delivery(demo: Running, window: Window) -> None:
    """The rail counts it, the page names the node, and the webhook took it."""
    page = window.page
    page.goto(f"{demo.web}/ui/alerts")
    entry = page.locator(".all li").first
    expect(entry).to_contain_text("Weight drifted on gpu-", timeout=60_000)
    expect(page.locator("#wb-alert-count")).to_have_text(re.compile(r"\d+\+?"))
    oldest = page.locator(".all li a").last
    address, title = oldest.get_attribute("href"), oldest.locator(".med").inner_text()
    oldest.click()
    page.wait_for_url(f"**{address}")
    expect(page.locator(f".all li a[href='{address}'][aria-current=true]")).to_have_count(1)
    expect(page.locator(".ah h2")).to_have_text(title)
    node = re.search(r"gpu-\w+-\d\d", title)[0]
    expect(page.locator(".ah")).to_contain_text("firing")
    deliveries = page.get_by_role("table", name="Deliveries")
    expect(deliveries).to_contain_text("on-call")
    expect(deliveries).to_contain_text("delivered")
    expect(deliveries).to_contain_text("204")
    window.shoot("alerts")
    page.get_by_role("link", name="Decisions of this node").click()
    page.wait_for_url(lambda url: f"node={node}" in url and "from=" in url)
    expect(page.locator(".chip", has_text=node)).to_be_visible()  # it may never have been chosen


def test_health_counts_what_each_source_sends(demo: Running, window: Window) -> None:
    """A row a source with its rate, figures that move by themselves, and every process beating."""
    page = window.page
    page.goto(f"{demo.web}/ui/health")
    gateway = page.locator("table.src tbody tr", has_text="llm-gateway")
    expect(gateway).to_have_count(1)
    expect(gateway.locator("td").nth(0)).to_have_text(re.compile(r"[1-9][\d,.]*"))
    accepted = gateway.locator("td").nth(2).inner_text()
    assert int(accepted.replace(",", "")) > 0
    expect(gateway.locator("td").nth(2)).not_to_have_text(accepted)
    expect(page.locator("body")).to_contain_text("Nothing has been rejected.")
    expect(page.get_by_role("table", name="Processes")).to_contain_text("collect")
    expect(page.locator("body")).to_contain_text(demo.addresses["otlp-grpc"])
    window.shoot("health")
