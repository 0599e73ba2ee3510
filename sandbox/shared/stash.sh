# The stash of the host's repository. It is in no capture, because its entries may hold files that git
# ignores. A capture names the newest entries, so that a restore can say which of them are missing now.
# shellcheck shell=bash

# Most entries that a capture names: each takes 43 bytes of the checkpoint.
STASH_MOST=10

# read_stash [MOST]: STASH becomes the commits of all entries, or of the newest MOST, newest first. Git keeps
# the list as the log of the stash ref.
read_stash() {
  local i line lines=()
  STASH=()
  if [ -n "$HC" ] && [ -d "$HC/reftable" ]; then
    line=$(env -u GIT_INDEX_FILE GIT_WORK_TREE="$HC" "${HOST_GIT[@]}" --git-dir="$HC" rev-list -g ${1:+-n "$1"} refs/stash -- 2>/dev/null) && lines_in "$line" && STASH=("${SPLIT[@]}")
    return 0
  fi
  [ -n "$HC" ] && [ -f "$HC/logs/refs/stash" ] || return 0
  { mapfile -t lines <"$HC/logs/refs/stash"; } 2>/dev/null || return 0
  for ((i = ${#lines[@]} - 1; i >= 0 && ${#STASH[@]} < ${1:-${#lines[@]}}; i--)); do
    line=${lines[i]#* }
    STASH+=("${line%% *}")
  done
}
