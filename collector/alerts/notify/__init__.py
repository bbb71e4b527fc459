"""Tells the world of alerts: one destination kind per file."""
