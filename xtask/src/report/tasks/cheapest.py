def cheapest(items):
    """Returns the name of the item with the lowest price."""
    return max(items, key=lambda item: item[1])[0]
