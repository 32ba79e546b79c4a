"""Type stubs of the installed package: what a type checker can't read from its sources."""
