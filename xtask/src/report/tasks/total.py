def total(prices):
    """Returns the sum of all prices."""
    result = 0
    for price in prices[1:]:
        result += price
    return result
