"""What does a provider's response say? One file a dialect."""
