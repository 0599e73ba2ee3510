# Brings modes and empty directories from one capture to another: what git's trees do not hold.
# shellcheck shell=bash

# old_part META NAME STRIP: writes the modes or empty directories to remove into $OUT.NAME.old.
# Paths that the rules ignore by now stay as they are: the capture that does not have them may not have seen them. Those behind a
# symlink that came are gone, and git cannot be asked about them.
old_part() { free_part "$1" "$2" "$OUT.$2.of" && not_behind "$3" <"$OUT.$2.of" >"$OUT.$2.old" && drop_ignored "$OUT.$2.old" "$3"; }

# not_behind STRIP: passes on the entries ("mode/path" or "path") that are behind no symlink.
not_behind() {
  local entry path
  while IFS= read -r -d '' entry; do
    path=$entry
    [ "$1" = 0 ] || path=${entry#*/}
    symlink_above "$path" || printf '%s\0' "$entry"
  done
}

# want_empty META: WANTED names the directories that a capture has empty.
want_empty() {
  local path
  declare -gA WANTED=()
  ! plain "$1" || return 0
  free_part "$1" empty "$OUT.empty-of" || return
  while IFS= read -r -d '' path; do WANTED[$path]=1; done <"$OUT.empty-of"
}

# drop_empty META: removes the empty directories of a capture, and the directories above that held
# nothing else. rmdir removes only empty ones. The global WANTED names the ones to keep.
drop_empty() {
  local path
  [ -n "$1" ] || return 0
  old_part "$1" empty 0 || return
  [ -s "$OUT.empty.old" ] || return 0
  sort -zr "$OUT.empty.old" >"$OUT.empty.sorted" || return
  while IFS= read -r -d '' path; do
    symlink_above "$path" && continue
    while [ -z "${WANTED[$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && is_empty "$path"; do
      : >"$RUN/dropped"
      rmdir -- "$path" 2>>"$OUT.err" || return
      [[ $path == */* ]] || break
      path=${path%/*}
    done
  done <"$OUT.empty.sorted"
}

# is_empty DIRECTORY: whether it is empty, as far as can be seen.
is_empty() {
  local inside=("$1"/*)
  [ -r "$1" ] && [ ${#inside[@]} -eq 0 ]
}

# loosen META: gives directories that were captured without write permission that permission
# during the restore. Afterwards the target's sidecar sets their modes. Those of another user cannot be given it.
loosen() {
  local entry mode
  ! plain "$1" || return 0
  free_part "$1" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == D* ]] || continue
    mode=${entry%%/*} entry=${entry#*/}
    [ $((8#${mode#D} & 0300)) = 192 ] || [ -L "$entry" ] || symlink_above "$entry" || [ ! -d "$entry" ] || [ ! -O "$entry" ] || chmod u+rwx -- "$entry" 2>>"$OUT.err" || return
  done <"$OUT.modes-of"
}

# move_sidecar FROM_META TO_META I: applies modes and empty directories, by the difference of two
# captures. WANTED belongs to the target. A directory gets its mode with five digits or more: with fewer, chmod leaves its
# set-group-ID bit as it is.
move_sidecar() {
  local from=$1 to=$2 entry path mode paths=() plain=$1
  local -A keep=() now=() wrong=()
  [ -z "$VACATED" ] && [ ! -g . ] || plain=''
  [ "$from" != "$to" ] || [ -n "$VACATED" ] || [ -g . ] || ! plain "$to" || return 0
  for path in modes empty; do
    part_id "$from" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
    part_id "$to" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
  done
  [ -z "$plain" ] || return 0
  drop_empty "$from" || return
  for path in "${!WANTED[@]}"; do
    symlink_above "$path" || [ -d "$path" ] || mkdir -p -- "$path" 2>>"$OUT.err" || return
  done
  free_part "$to" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == U* ]] || keep[${entry#*/}]=${entry%%/*}
  done <"$OUT.modes-of"
  if [ -n "$VACATED" ]; then modes_here "$3"; else old_part "$from" modes 1; fi || return
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    if [[ $entry == U* ]] || [ -n "${keep[$path]-}" ] || [ -L "$path" ] || symlink_above "$path"; then continue; fi
    if [ -d "$path" ]; then
      chmod "0000$EXEC_MODE" -- "$path" || return
    elif [ -f "$path" ]; then
      if [ -x "$path" ]; then chmod "$EXEC_MODE" -- "$path"; else chmod "$FILE_MODE" -- "$path"; fi || return
    fi
  done <"$OUT.modes.old"
  take_handed_down "$from" "$3" || return
  [ ${#keep[@]} -gt 0 ] || return 0
  # What has its mode is left alone. It may be another user's.
  paths=("${!keep[@]}")
  with_paths stat --printf='%a/%n\0' -- >"$OUT.modes-now" 2>/dev/null || survived $?
  while IFS= read -r -d '' entry; do now[${entry#*/}]=${entry%%/*}; done <"$OUT.modes-now"
  for path in "${paths[@]}"; do [ "${now[$path]-}" = "${keep[$path]:1}" ] || wrong[$path]=${keep[$path]}; done
  [ ${#wrong[@]} -gt 0 ] || return 0
  # Files first, then directories from the deepest up, because a directory may lose the bit needed
  # to pass through it.
  for path in "${!wrong[@]}"; do
    mode=${wrong[$path]}
    if [[ $mode == F* ]] && [ -f "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#F}" -- "$path" || return; fi
  done
  printf '%s\0' "${!wrong[@]}" >"$OUT.keep" && sort -zr "$OUT.keep" >"$OUT.keep.sorted" || return
  while IFS= read -r -d '' path; do
    mode=${wrong[$path]}
    if [[ $mode == D* ]] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "0000${mode#D}" -- "$path" || return; fi
  done <"$OUT.keep.sorted"
}

# take_handed_down FROM_META I: a directory that is made in one with the set-group-ID bit gets that bit. Those that the target,
# whose modes are in `keep`, has without it lose it again.
take_handed_down() {
  local entry path modes=("${keep[@]}")
  if [ ! -g . ]; then
    free_part "$1" modes "$OUT.modes-of" || return
    while IFS= read -r -d '' entry; do modes+=("${entry%%/*}"); done <"$OUT.modes-of"
    [[ " ${modes[*]} " == *' D'[2367]???' '* ]] || return 0
  fi
  modes_here "$2" || return
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    [[ $entry == D[2367]???/* ]] && [ -z "${keep[$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path" || continue
    chmod g-s -- "$path" || return
  done <"$OUT.modes.old"
}

# apply_umask META: gives new files the modes that the capture took as the default and did not
# list.
apply_umask() {
  local entry
  umask 022
  UMASK=0022
  new_file_modes
  ! plain "$1" || return 0
  part "$1" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    case $entry in U*) umask "${entry:1:$((${#entry} - 2))}" ;; esac
  done <"$OUT.modes-of"
  read_umask
}
