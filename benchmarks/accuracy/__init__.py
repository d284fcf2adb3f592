"""How often waypost is right, and other libraries, on the same rows in the same run."""
