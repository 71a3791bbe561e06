from shop import discounted

assert discounted(200, 10) == 180, discounted(200, 10)
assert discounted(50, 0) == 50
print("ok")
