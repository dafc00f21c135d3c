while :; do printf "\rmoving"; sleep 0.02; done
