"""What stands between a receiver and the store."""
