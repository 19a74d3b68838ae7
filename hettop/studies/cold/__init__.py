"""Start-up: what the first answer costs on each unit, and after how many calls a slower start pays off."""
