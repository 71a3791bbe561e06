from shop import cheapest

assert cheapest([("tea", 3), ("jam", 2), ("rye", 5)]) == "jam"
print("ok")
