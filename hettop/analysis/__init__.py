"""What measurements mean: the verdict, the comparison of recordings, the table of conditions. Pure."""
