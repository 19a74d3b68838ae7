"""One stream of inputs, served by several units at once: work stealing, a reorder buffer, and what it gains.

`dispatch` is a process of its own, so are the workers; numbers and rules (`reorder`, `stealing`, `blocks`, `tally`,
`result`) know neither processes nor frameworks.
"""
