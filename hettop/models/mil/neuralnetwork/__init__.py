"""Models of Core ML's older kinds, translated to ONNX: NeuralNetworks, pipelines, linear models and tree ensembles."""
