# Brings modes and empty directories, which git's trees do not hold, from one capture to another.
# shellcheck shell=bash

# old_part META NAME STRIP: writes the modes or empty directories to remove into $OUT.NAME.old. Paths that the
# rules ignore now stay as they are, because a capture that lacks them may not have seen them. Paths behind a
# new symlink are gone, and git cannot be asked about them.
old_part() { seen_part "$1" "$2" "$OUT.$2.of" && not_behind "$3" <"$OUT.$2.of" >"$OUT.$2.old" && drop_ignored "$OUT.$2.old" "$3"; }

# not_behind STRIP: passes on the entries ("mode/path" or "path") that do not lie behind a symlink.
not_behind() {
  local entry path
  while IFS= read -r -d '' entry; do
    path=$entry
    [ "$1" = 0 ] || path=${entry#*/}
    symlink_above "$path" || printf '%s\0' "$entry"
  done
}

# want_empty META: WANTED becomes the directories that a capture has empty.
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
  local path paths=() next=()
  [ -n "$1" ] || return 0
  old_part "$1" empty 0 && mapfile -d '' -t next <"$OUT.empty.old" || return
  while [ ${#next[@]} -gt 0 ]; do
    local -A seen=()
    paths=()
    for path in "${next[@]}"; do
      [ -z "${WANTED[$path]-}${seen[$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && is_empty "$path" && ! symlink_above "$path" || continue
      seen[$path]=1
      paths+=("$path")
    done
    next=()
    [ ${#paths[@]} -gt 0 ] || return 0
    : >"$RUN/dropped"
    with_paths rmdir -- 2>>"$OUT.err" || return
    for path in "${paths[@]}"; do [[ $path != */* ]] || next+=("${path%/*}"); done
  done
}

# is_empty DIRECTORY: whether it is empty, as far as can be seen.
is_empty() {
  local inside=("$1"/*)
  [ -r "$1" ] && [ ${#inside[@]} -eq 0 ]
}

# loosen META: gives directories that were captured without write permission that permission during the
# restore. Afterwards the target's sidecar sets their modes. Directories of another user cannot be changed.
loosen() { plain "$1" || open_closed "$1"; }

open_closed() {
  local entry mode closed=() hidden=() paths=()
  seen_part "$1" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == D* ]] || continue
    mode=${entry%%/*}
    [ $((8#${mode#D} & 0300)) = 192 ] || closed+=("${entry#*/}")
  done <"$OUT.modes-of"
  # A closed directory inside another may be visible only when the outer one is open.
  while [ ${#closed[@]} -gt 0 ]; do
    paths=() hidden=()
    for entry in "${closed[@]}"; do
      if [ ! -d "$entry" ] || [ -L "$entry" ] || symlink_above "$entry"; then
        hidden+=("$entry")
      elif [ -O "$entry" ]; then
        paths+=("$entry")
      fi
    done
    [ ${#paths[@]} -gt 0 ] || return 0
    touch_it && with_paths chmod u+rwx -- 2>>"$OUT.err" || return
    closed=("${hidden[@]}")
  done
}

# move_sidecar FROM_META TO_META I: applies the difference between two captures' modes and empty directories.
# WANTED belongs to the target.
move_sidecar() {
  local from=$1 to=$2 path plain=$1
  [ -z "$VACATED" ] && [ ! -g . ] || plain=''
  [ "$from" != "$to" ] || [ -n "$VACATED" ] || [ -g . ] || ! plain "$to" || return 0
  for path in modes empty; do
    part_id "$from" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
    part_id "$to" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
  done
  [ -n "$plain" ] || change_sidecar "$@"
}

change_sidecar() {
  local from=$1 to=$2 entry path mode paths=()
  local -A keep=() now=() wrong=() stay=()
  drop_empty "$from" || return
  for path in "${!WANTED[@]}"; do
    symlink_above "$path" || [ -d "$path" ] || paths+=("$path")
  done
  [ ${#paths[@]} -eq 0 ] || with_paths mkdir -p -- 2>>"$OUT.err" || return
  free_part "$to" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == U* ]] || keep[${entry#*/}]=${entry%%/*}
  done <"$OUT.modes-of"
  if [ -n "$VACATED" ]; then modes_here "$3"; else old_part "$from" modes 1; fi || return
  # A file that stays although the target does not have it keeps its mode: with the usual mode, everybody
  # could read it.
  while IFS= read -r -d '' path; do stay[$path]=1; done <"$OUT.kept"
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    if [[ $entry == U* ]] || [ -n "${keep[$path]-}${stay[$path]-}" ] || [ -L "$path" ] || symlink_above "$path"; then continue; fi
    if [ -d "$path" ]; then
      wrong[$path]=D$EXEC_MODE
    elif [ -f "$path" ]; then
      if [ -x "$path" ]; then wrong[$path]=F$EXEC_MODE; else wrong[$path]=F$FILE_MODE; fi
    fi
  done <"$OUT.modes.old"
  set_modes || return
  take_handed_down "$from" "$3" || return
  [ ${#keep[@]} -gt 0 ] || return 0
  # A path with the right mode is left alone. It may belong to another user.
  paths=("${!keep[@]}") wrong=()
  with_paths stat --printf='%a/%n\0' -- >"$OUT.modes-now" 2>/dev/null || survived $?
  while IFS= read -r -d '' entry; do now[${entry#*/}]=${entry%%/*}; done <"$OUT.modes-now"
  for path in "${!keep[@]}"; do
    mode=${keep[$path]}
    [ "${now[$path]-}" != "${mode:1}" ] && [ ! -L "$path" ] && ! symlink_above "$path" || continue
    if { [[ $mode == F* ]] && [ -f "$path" ]; } || { [[ $mode == D* ]] && [ -d "$path" ]; }; then wrong[$path]=$mode; fi
  done
  set_modes
}

# set_modes: gives each path of `wrong` its mode: first files, then directories from the deepest up, because a
# directory may lose the permission to enter it.
set_modes() {
  local path mode last='' paths=()
  [ ${#wrong[@]} -gt 0 ] || return 0
  for path in "${!wrong[@]}"; do
    mode=${wrong[$path]}
    if [[ $mode == F* ]]; then printf '%s/%s\0' "$mode" "$path" >&3; else printf '%s\0' "$path"; fi
  done >"$OUT.wrong" 3>"$OUT.wrong.files"
  sort -z -o "$OUT.wrong.files" "$OUT.wrong.files" && sort -zr -o "$OUT.wrong" "$OUT.wrong" || return
  while IFS= read -r -d '' path; do set_mode "${path%%/*}" "${path#*/}" || return; done <"$OUT.wrong.files"
  while IFS= read -r -d '' path; do set_mode "${wrong[$path]}" "$path" || return; done <"$OUT.wrong"
  set_mode ''
}

# set_mode MODE PATH: collects consecutive paths of one mode, and sets the mode when another one follows. The
# number has at least five digits: with fewer, chmod leaves the set-group-ID bit of a directory as it is.
set_mode() {
  if [ "$1" != "$last" ] && [ ${#paths[@]} -gt 0 ]; then
    with_paths chmod "0000${last:1}" -- || return
    paths=()
  fi
  last=$1
  paths+=("${@:2}")
}

# take_handed_down FROM_META I: a directory that is made inside one with the set-group-ID bit gets that bit.
# Directories that the target has without it (their modes are in `keep`) lose it again.
take_handed_down() {
  local entry path paths=() modes=("${keep[@]}")
  if [ ! -g . ]; then
    free_part "$1" modes "$OUT.modes-of" || return
    while IFS= read -r -d '' entry; do modes+=("${entry%%/*}"); done <"$OUT.modes-of"
    [[ " ${modes[*]} " == *' D'[2367]???' '* ]] || return 0
  fi
  modes_here "$2" || return
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    [[ $entry == D[2367]???/* ]] && [ -z "${keep[$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path" || continue
    paths+=("$path")
  done <"$OUT.modes.old"
  [ ${#paths[@]} -eq 0 ] || with_paths chmod g-s --
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
