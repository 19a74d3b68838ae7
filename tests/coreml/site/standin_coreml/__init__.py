"""A stand-in for Core ML's native binding: coremltools' own Python code runs, and only what is native is replaced.

Test equipment; nothing in hettop knows it. Imports nothing until coremltools is imported.
"""
