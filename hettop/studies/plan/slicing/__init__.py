"""Which layers of a model to run on which device: cost tables, the best plan, what it is compared with, estimators.

Pure: numbers in, numbers out. After Han et al., "MOSAIC: Heterogeneity-, Communication-, and Constraint-Aware Model
Slicing and Execution for Accurate and Efficient Inference", PACT 2019.
"""
