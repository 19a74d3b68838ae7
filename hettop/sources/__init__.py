"""What events come from: engine processes, power, competing load and the machine itself."""
