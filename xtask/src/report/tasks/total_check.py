from shop import total

assert total([]) == 0
assert total([3, 4, 5]) == 12, total([3, 4, 5])
print("ok")
