"""What goes wrong on purpose, when, and what does the agent see of it?

One trial has at most one planned fault, its variant. The injector strikes at tool calls and records what it did; it
never decides whether the agent recovered.
"""
