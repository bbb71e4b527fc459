"""The embeddable scheduling engine: filter, score, pick, record."""
