a
return 1
b
