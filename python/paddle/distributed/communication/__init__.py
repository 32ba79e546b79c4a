"""Process groups and the collectives of eager tensors."""
