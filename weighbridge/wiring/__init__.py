"""Builds the parts from the settings: one module per process, so that each imports only what it runs."""
