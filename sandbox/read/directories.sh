# The directories command: entries of some directories, without what git ignores.
# shellcheck shell=bash

list_one() {
  local path=$1 shown=0 name
  emit directory "$path"
  cd -- "$ROOT/$path" 2>/dev/null || return 0
  while IFS= read -r -d '' name; do
    shown=$((shown + 1))
    if [ $shown -gt "$MAX_ENTRIES" ]; then
      emit truncated 1
      return 0
    fi
    emit entry "$name"
  done < <(
    if find_host; then
      { "${HOST_GIT[@]}" --git-dir="$HG" --work-tree="$PWD" ls-files -z -c -o --exclude-standard 2>/dev/null | sed -z 's#/.*#/#'; } | sort -zu
    else
      find . -mindepth 1 -maxdepth 1 -not -name .agent-shadow \( -type d -printf '%P/\0' -o -printf '%P\0' \) 2>/dev/null | sort -z
    fi
  )
}

main() {
  local path
  { for path in "${PATHS[@]}"; do list_one "$path"; done; emit end ''; } | finish
}

main
