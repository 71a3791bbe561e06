def discounted(price, percent):
    """Returns the price, less so many percent of it."""
    return price + price * percent / 100
