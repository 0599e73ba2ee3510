# The directories command: entries of some directories, without what git ignores.
# shellcheck shell=bash

# list_one PATH: lists one directory. A missing directory has no entries.
list_one() {
  local path=$1 shown=0 name
  emit directory "$path"
  cd -- "$ROOT/$path" 2>/dev/null || return 0
  entries || return
  while IFS= read -r -d '' name; do
    shown=$((shown + 1))
    if [ $shown -gt "$MAX_ENTRIES" ]; then
      emit truncated 1
      return 0
    fi
    emit entry "$name"
  done <"$RUN/entries"
}

# entries: writes the entries of the directory at $PWD, sorted, into a file. Where git cannot
# tell, it lists all files.
entries() {
  local status try
  # Tried twice, because a process that was killed says nothing about the repository.
  for try in 1 2; do
    find_host && ! look_waits || break
    status=0
    "${HOST_GIT[@]}" --git-dir="$HG" --work-tree="$PWD" ls-files -z -c -o --exclude-standard 2>/dev/null | sed -z 's#/.*#/#' | sort -zu >"$RUN/entries" || status=$?
    [ $status != 0 ] || return 0
    ! ended $status || [ $try = 1 ] || return $status
  done
  find . -mindepth 1 -maxdepth 1 -not -name .agent-shadow \( -type d -printf '%P/\0' -o -printf '%P\0' \) >"$RUN/found" 2>"$RUN/find"
  walked $? "$RUN/find" || return
  [ ! -s "$RUN/find" ] || emit truncated 1
  sort -z "$RUN/found" >"$RUN/entries"
}

main() {
  local path
  RUN=$(mktemp -d) || die SandboxUnavailable "Cannot write to the temporary directory of the sandbox. Free some disk space, then call again."
  trap 'rm -rf -- "$RUN"' EXIT
  for path in "${PATHS[@]}"; do
    list_one "$path" && [ -z "$LOST" ] || fault "the entries of $path could not be told: a process ended with $?"
  done >"$RUN/answer"
  emit end '' >>"$RUN/answer"
  finish <"$RUN/answer" || fault "the answer could not be written"
}

main
