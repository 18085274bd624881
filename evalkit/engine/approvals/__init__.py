"""Boundaries: which tool calls may run, decided before they do."""
