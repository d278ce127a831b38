raise LookupError("no configuration")
