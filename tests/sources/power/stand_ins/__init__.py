"""Programs that behave like sudo, powermetrics and macmon, for machines that have none of them.

Each is a script of its own, run as a process; STAND_IN_* in its environment tells it how to behave.
"""
