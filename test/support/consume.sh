#!/usr/bin/env bash
# Leases messages and acknowledges them, fifty at a time, until it is killed. Notes their ids in the file PROCESSED.
call() {
  curl -s --fail-with-body --max-time 30 "$SLUICE$1" \
    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d "$2"
}
while :; do
  leased=$(call /messages/lease '{"max":50,"seconds":2,"wait":1}') || { sleep 0.2; continue; }
  leases=$(grep -oE '"(id|leaseToken)":"[^"]*"' <<< "$leased" | paste -d, - - | sed 's/.*/{&}/' | paste -sd,)
  [ -n "$leases" ] || continue
  grep -o 'msg_[0-9a-z]*' <<< "$leases" >> "$PROCESSED"
  call /messages/ack "{\"leases\":[$leases]}" > /dev/null
done
