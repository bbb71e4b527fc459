"""From the attributes of a source's dialect to decisions: one file per dialect."""
