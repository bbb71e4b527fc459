"""The collector: OTLP in, durable decisions out, and an honest answer to each sender."""
