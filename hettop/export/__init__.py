"""Recordings in the formats of other programs: one module a format, all of them functions of an opened recording."""
