"""What a person controls: the live view, replay, settings, screen pictures, checks of this machine."""
