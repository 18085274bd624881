"""Scorers, and running them over a run."""
