"""The translations, a module per family of operations; each module's OPS says which function translates which.

A function gets one Call and returns the tensors of its outputs; without access to files, ports or other operations.
"""
