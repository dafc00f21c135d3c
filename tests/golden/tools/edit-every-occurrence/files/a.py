def total(items):
    return sum(items)

def average(items):
    return sum(items) / len(items)
