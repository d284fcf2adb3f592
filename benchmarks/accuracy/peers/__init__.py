"""
One adapter a peer, run in the peer's own environment: JSON lines of a code and a message in, JSON
lines of what the peer says out. They need nothing but the standard library and that one package.
"""
