c
return 2
