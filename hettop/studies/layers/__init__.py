"""Time, work and bytes of each layer of a model, and the roofs of the machine that it runs on.

What is measured is measured in a process of its own (`worker`); the numbers and what follows from them (`rows`) know
neither processes nor frameworks.
"""
