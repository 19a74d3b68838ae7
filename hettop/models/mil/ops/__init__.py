"""The translations, a module per family of operations; each module's OPS says which function translates which.

A function gets one Call and returns the tensors of its outputs; it knows nothing of files, ports or other operations.
"""
