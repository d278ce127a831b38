NAME = "courier"
