"""The experiments of EmBench (Almeida et al., EMDL 2019) on this machine."""
