"""Cuts an ONNX model into slices that run on devices of their own, for `hettop plan MODEL`.

`graph` says where a model can be cut and `costs` makes the table to plan by, both pure; `survey` and `running` measure,
in a process of their own (`worker`).
"""
