# Sends and fetches bundles by presigned addresses.
# shellcheck shell=bash

# transfer LOG: makes the transfers in TEXT (curl.ts), all of its lists at once, in the current directory. The
# exit status is not 0 when one failed. LOG gets curl's messages: they name at most the host, never the
# address itself.
transfer() {
  local rest=${TEXT#$'# list\n'} list log=$1 pid pids=() status=0
  : >"$log" || return
  [[ $TEXT == *'# end'$'\n' ]] || { printf 'the list of transfers is not whole\n' >"$log" && return 1; }
  while [[ $'\n'$rest == *$'\nurl '* ]]; do
    list=${rest%%$'\n# list\n'*}
    rest=${rest:${#list}}
    rest=${rest#$'\n# list\n'}
    # Addresses are secret, and arguments of a process are visible to everybody.
    curl --disable -K - >/dev/null 2>>"$log" <<<"$list" &
    pids+=($!)
  done
  # Waits for each by its number: `wait -n` misses one that ended before it was called.
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  return $status
}
