"""Names that no other object has."""

from ..base.unique_name import generate, generate_with_ignorable_key, guard, switch

__all__ = ["generate", "switch", "guard"]
_ = generate_with_ignorable_key
