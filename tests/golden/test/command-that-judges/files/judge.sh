if grep -q '"tickets"'; then echo '{"status": "pass", "message": "it looked at the tickets"}'; else echo '{"status": "fail"}'; fi
