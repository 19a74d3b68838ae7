"""Child processes: started, spoken to, watched and ended."""
