"""What waypost costs, each time against a floor that is measured in the same process."""
