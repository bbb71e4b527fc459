"""Versions of the store's schema; ``storage.migrate`` runs them."""
