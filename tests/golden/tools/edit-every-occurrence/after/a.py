def total(xs):
    return sum(xs)

def average(xs):
    return sum(xs) / len(xs)
