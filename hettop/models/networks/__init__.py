"""Networks that hettop builds itself: their architectures, and the files that are written of them."""
