# Merges the sidecar three ways for each path: modes that git's trees do not hold, and empty directories. The
# result is what a look at the merged files will find; otherwise the merge is refused.
# shellcheck shell=bash

# modes_in META FILE ARRAY: reads a capture's modes by path, each as its letter and number. The line of the
# umask has the empty path.
modes_in() {
  local line
  local -n into=$3
  part "$1" modes "$2" || return
  while IFS= read -r -d '' line; do into[./${line#*/}]=${line%%/*}; done <"$2"
}

# empties_in META FILE ARRAY: reads a capture's empty directories.
empties_in() {
  local line
  local -n into_empty=$3
  part "$1" empty "$2" || return
  while IFS= read -r -d '' line; do into_empty[./$line]=1; done <"$2"
}

# mark_up PATH ARRAY: marks a path and each directory above it.
mark_up() {
  local path=$1
  local -n marked=$2
  while [ -z "${marked[$path]-}" ]; do
    marked[$path]=1
    [[ $path == ./*/* ]] || return 0
    path=${path%/*}
  done
}

# chosen PATH: whether a path is one of ONLY, lies below one, or everything is asked for. ASKED has the paths
# of ONLY.
chosen() {
  local path=$1
  [ ${#ONLY[@]} -gt 0 ] || return 0
  while [ -z "${ASKED[$path]-}" ]; do
    [[ $path == ./*/* ]] || return 1
    path=${path%/*}
  done
}

# merge_map BASE OURS THEIRS INTO: merges each key three ways; with ONLY, other keys stay as they are. A key
# that has three different values is recorded as a conflict. An empty value means that the key is absent.
merge_map() {
  local key base ours theirs
  local -n of_base=$1 of_ours=$2 of_theirs=$3 into_map=$4
  for key in "${!of_ours[@]}"; do into_map[$key]=${of_ours[$key]}; done
  for key in "${!of_base[@]}" "${!of_theirs[@]}"; do
    chosen "$key" || continue
    base=${of_base[$key]-} ours=${of_ours[$key]-} theirs=${of_theirs[$key]-}
    if [ "$theirs" = "$base" ] || [ "$theirs" = "$ours" ]; then continue; fi
    if [ "$ours" != "$base" ]; then
      [ -n "${CLASHED[$key]-}" ] || conflict "${key#./}" mode "the mode was changed on both sides: ${ours:-the usual} and ${theirs:-the usual}" || return
      CLASHED[$key]=1
      continue
    fi
    into_map[$key]=$theirs
  done
}

# entries_of TREE ARRAY PATH...: reads mode and type of what a tree has at these paths. A path that the tree
# lacks gets no entry. Without -t, git leaves out a directory when something in it is asked for as well.
entries_of() {
  local line tree=$1
  local -n of_entries=$2
  shift 2
  [ $# -gt 0 ] || return 0
  printf '%s\0' "$@" >"$OUT.operands" && xargs -0 git --literal-pathspecs ls-tree -t -z "$tree" -- <"$OUT.operands" >"$OUT.entries" 2>>"$OUT.err" || return
  while IFS= read -r -d '' line; do of_entries[./${line#*$'\t'}]=${line%% *}; done <"$OUT.entries"
}

# merge_lists BASE_META OURS_META THEIRS_META OURS_TREE BASE_TREE: MODES_ID and EMPTY_ID are the blobs of the
# merged lists, for files in the tree RESULT.
merge_lists() {
  local name same=1 one
  for name in modes empty; do
    part_id "$2" $name && one=$ID || return
    [ $name = empty ] || MODES_ID=$one
    [ $name = modes ] || EMPTY_ID=$one
    [ "$one" = "$EMPTY_BLOB" ] || same=''
    part_id "$3" $name || return
    [ "$ID" = "$one" ] || same=''
  done
  # Neither side has any such list.
  [ -z "$same" ] || return 0
  local -A base_modes=() ours_modes=() theirs_modes=() modes=() base_empty=() ours_empty=() theirs_empty=() empty=() CLASHED=()
  modes_in "$1" "$OUT.list" base_modes && modes_in "$2" "$OUT.list" ours_modes && modes_in "$3" "$OUT.list" theirs_modes || return
  empties_in "$1" "$OUT.list" base_empty && empties_in "$2" "$OUT.list" ours_empty && empties_in "$3" "$OUT.list" theirs_empty || return
  # A mode that is missing on the other side is no change when that side may not have seen the file
  # (with_unseen).
  for one in "${!KEPT[@]}"; do [ -z "${KEPT[$one]}" ] || [ -n "${theirs_modes[$one]-}" ] || theirs_modes[$one]=${base_modes[$one]-}; done
  merge_map base_modes ours_modes theirs_modes modes && merge_map base_empty ours_empty theirs_empty empty || return
  fit_lists "$4" "$5" && write_lists
}

# fit_lists OURS_TREE BASE_TREE: removes entries for which the merged files leave no room.
fit_lists() {
  local path parent
  local -a paths=()
  local -A wanted=() here=() before=() base_here=() hollow=()
  for path in "${!modes[@]}" "${!empty[@]}"; do [ "$path" = ./ ] || mark_up "$path" wanted; done
  paths=("${!wanted[@]}") && paths=("${paths[@]#./}")
  entries_of "$RESULT" here "${paths[@]}" && entries_of "$1" before "${paths[@]}" && entries_of "$2" base_here "${paths[@]}" || return
  for path in "${!empty[@]}"; do
    [ -n "${empty[$path]}" ] || continue
    if [ -n "${here[$path]-}" ]; then empty[$path]='' && continue; fi
    parent=$path
    while [ "${parent%/*}" != . ]; do
      parent=${parent%/*}
      # This directory is not empty, because an empty one lies below it; or a file is in its place.
      [ -z "${empty[$parent]-}" ] || empty[$parent]=''
      if [ -n "${here[$parent]-}" ] && [ "${here[$parent]}" != 040000 ]; then empty[$path]='' && break; fi
    done
  done
  for path in "${!empty[@]}"; do [ -z "${empty[$path]}" ] || mark_up "$path" hollow; done
  for path in "${!modes[@]}"; do
    [ "$path" != ./ ] && [ -n "${modes[$path]}" ] || continue
    fit_mode "$path" || return
  done
}

# fit_mode PATH: the same for one line of the modes. When one side changed the mode of a file and the other
# side deleted or renamed it, git would not carry the mode along. So this is a conflict.
fit_mode() {
  local mode=${modes[$1]} entry=${here[$1]-}
  if [[ $mode == F* ]]; then
    case $entry in
      100755) [ $((8#${mode#F} & 0100)) != 0 ] || clash "$1" ;;
      100644) [ $((8#${mode#F} & 0100)) = 0 ] || clash "$1" ;;
      *)
        if [ "$mode" != "${base_modes[$1]-}" ] && [ -n "${base_here[$1]-}" ]; then
          conflict "${1#./}" mode "one side changed its mode to ${mode#F}, on the other it is gone or renamed" || return
        fi
        modes[$1]=''
        ;;
    esac
    return
  fi
  if [ "$entry" = 040000 ]; then return 0; fi
  if [ -z "$entry" ]; then
    [ -z "${hollow[$1]-}" ] || return 0
    # The directory holds only what no capture has.
    [ -z "${before[$1]-}${ours_empty[$1]-}" ] && [ -n "${ours_modes[$1]-}" ] && return 0
  fi
  modes[$1]=''
}

clash() {
  if [ -z "${CLASHED[$1]-}" ]; then conflict "${1#./}" mode "one side made it executable or not, the other changed its mode to ${modes[$1]#F}" || return; fi
  modes[$1]=''
}

# write_lists: stores the lists in the order in which a look at the files writes them.
write_lists() {
  local path
  : >"$OUT.list"
  for path in "${!modes[@]}"; do [ "$path" = ./ ] || [ -z "${modes[$path]}" ] || printf '%s/%s\0' "${modes[$path]}" "${path#./}" || return; done >"$OUT.unsorted"
  sort -z "$OUT.unsorted" >"$OUT.list" || return
  [ -z "${modes[./]-}" ] || printf '%s/\0' "${modes[./]}" >>"$OUT.list" || return
  MODES_ID=$(exec git hash-object -w --no-filters -- "$OUT.list") || return
  for path in "${!empty[@]}"; do [ -z "${empty[$path]}" ] || printf '%s\0' "${path#./}" || return; done >"$OUT.unsorted"
  sort -z "$OUT.unsorted" >"$OUT.list" && EMPTY_ID=$(exec git hash-object -w --no-filters -- "$OUT.list")
}
