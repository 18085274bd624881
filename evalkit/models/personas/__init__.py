"""The scripted agents, one a file; `evalkit.models.scripted` knows them all by name."""
