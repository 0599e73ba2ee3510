# Notes the names of files and directories that lie in no repository. No capture holds these. But when such a
# directory becomes a repository, a restore of an earlier capture must know what was in it before.
# shellcheck shell=bash

# With more than this, nothing is noted, and a restore leaves everything where it is.
BESIDE_BYTES=$((4 << 20))

# note_beside FILE ROOT...: writes names into FILE, each ended by NUL: `d./PATH` for a directory, `f./PATH`
# for anything else, `o./PATH` for a directory that was not looked into. The last one is `e`; a FILE without
# it says only that the names are not known. Equal lists share one file.
note_beside() {
  local file=$1 list=$BULK/beside latest=$HOME_DIR/beside-$SESSION entry names=() start=() odd=() skip=()
  local -A root=()
  shift
  # The file may be shared with others, so it is not truncated.
  [ ! -e "$file" ] || rm -f -- "$file" || return
  : >"$file" || return
  for entry; do root[$entry]=1; done
  if [ -z "${root[.]-}" ]; then
    for entry in *; do
      [ "$entry" != .agent-shadow ] && [ -z "${root[$entry]-}" ] || continue
      if [ -d "$entry" ] && [ ! -L "$entry" ]; then start+=("./$entry"); else names+=("f./$entry"); fi
    done
  fi
  if [ $((${#start[@]} + ${#names[@]})) -lt 50 ] && [ ${#start[@]} = 0 ]; then
    printf '%s\0' d. "${names[@]}" e >"$file"
    return
  fi
  printf '%s\0' d. "${names[@]}" >"$list" || return
  for entry; do
    # Roots directly below the projects root are not starting points.
    [[ $entry == */* ]] || continue
    [ ${#skip[@]} -lt 900 ] || return 0
    glob_quote "$entry"
    skip+=(-o -path "./$TEXT")
  done
  for entry in "${DEPENDENCY_DIRS[@]}"; do odd+=(-o -name "$entry"); done
  walk_beside >>"$list" || return
  cmp -s -- "$list" "$latest" || mv -f -- "$list" "$latest" || return
  ln -f -- "$latest" "$file" 2>/dev/null || cp -- "$latest" "$file"
}

# walk_beside: prints what lies below `start`, and the end mark when nothing is missing.
walk_beside() {
  local status=0
  [ ${#start[@]} -gt 0 ] || { printf 'e\0' && return; }
  {
    find "${start[@]}" \( -false "${skip[@]}" \) -prune -o -type d \( -name .git "${odd[@]}" \) -prune -printf 'o%p\0' -o -type d -printf 'd%p\0' -o -printf 'f%p\0' 2>"$list.said" || status=$?
    walked $status "$list.said" && unread_beside && printf 'e\0'
  } | head -c "$BESIDE_BYTES"
  # The walk is cut off when there is too much. Then the end mark is missing.
  [ "${PIPESTATUS[1]}" = 0 ]
}

# unread_beside: prints the directories that could not be looked into.
unread_beside() {
  local line
  while IFS= read -r line; do
    named "$line"
    printf 'o./%s\0' "$TEXT"
  done <"$list.said"
}
