"""The live view, the replay, settings, screenshots, and checks of this machine."""
