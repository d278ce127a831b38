throw new RangeError("no configuration");
