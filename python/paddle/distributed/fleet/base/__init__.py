"""What fleet is made of: strategy, topology, roles."""
