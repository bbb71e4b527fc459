"""The store: what was decided, kept durably and found again by intent."""
