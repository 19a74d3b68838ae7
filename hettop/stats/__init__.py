"""Numbers from arrays: quantiles, intervals, spikes, modes, histograms, comparisons. It knows nothing of hettop."""
