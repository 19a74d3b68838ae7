"""ONNX Runtime's execution providers as units: which are known, which are here, and which devices they list."""
