"""Which attempt a call is, and what became of the advice before it."""
