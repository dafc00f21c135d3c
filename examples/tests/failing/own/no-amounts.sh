# Reads the trace, and judges it: no call may have an amount.
if grep -q '"amount"'; then
  echo '{"status": "fail", "message": "a call has an amount"}'
else
  echo '{"status": "pass", "message": "no call has an amount"}'
fi
