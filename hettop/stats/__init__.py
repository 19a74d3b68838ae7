"""Numbers from arrays: quantiles, intervals, spikes, modes, histograms, comparisons. Independent of hettop."""
