"""Layers whose parameters are cut over a process group."""
