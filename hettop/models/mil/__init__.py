"""Core ML model files read anywhere, and translated to ONNX so that any machine can run them.

Depends on `hettop.errors` only. `package` opens files and describes their ports;
`translate` turns a program into an ONNX model; `supported` lists the operations that can be turned.
"""
