"""The version of hettop, for the package, its pages and every recording."""

__version__ = "0.2.0"
