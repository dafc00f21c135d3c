printf '\033(0lqqk\r\nx\033(B\033[1;31mok\033[0m\033(0x\r\nmqqj\033(B\r\n'
printf 'pin \033[8m1234\033[28m! ⠙, v2'
