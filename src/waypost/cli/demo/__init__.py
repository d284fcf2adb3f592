"""The sample host and the sample server: an order office whose tools really fail."""
