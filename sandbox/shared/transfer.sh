# Sends and fetches bundles by presigned addresses.
# shellcheck shell=bash

# transfer LOG: makes the transfers in TEXT (curl.ts), all of its lists at once, in the current directory. The exit is
# not 0 when one failed. LOG gets what curl says: it names at most the host, not the address itself.
transfer() {
  local rest=${TEXT#$'# list\n'} list log=$1 pid pids=() status=0
  : >"$log" || return
  [[ $TEXT == *'# end'$'\n' ]] || { printf 'the list of transfers is not whole\n' >"$log" && return 1; }
  while [[ $'\n'$rest == *$'\nurl '* ]]; do
    list=${rest%%$'\n# list\n'*}
    rest=${rest:${#list}}
    rest=${rest#$'\n# list\n'}
    # Addresses are secret, and arguments are seen by all.
    curl --disable -K - >/dev/null 2>>"$log" <<<"$list" &
    pids+=($!)
  done
  # Each by its number: `wait -n` passes over one that ended before it was called.
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  return $status
}
