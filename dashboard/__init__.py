"""The dashboard: pages, the read API and the live feed over the store's read side."""
