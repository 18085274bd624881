"""Evidence of tampering, as far as the record shows it."""
