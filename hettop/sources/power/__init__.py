"""Power of CPU, GPU and Neural Engine: parsers for what measures it, behind one protocol."""
