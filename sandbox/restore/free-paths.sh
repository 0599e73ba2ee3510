# Checks whether something that no capture holds stands where a target is to be written.
# shellcheck shell=bash

# free_paths: checks that nothing uncaptured stands where the target writes: no ignored file, no symlink
# above, no directory with other content, no file where an empty directory is to be. Git is not asked, because
# it would overwrite ignored files.
free_paths() {
  local path list paths=()
  collisions "$GOAL" 2>>"$OUT.err" || { with_now_mended "$INDEX" && collisions "$GOAL" 2>>"$OUT.err"; } || {
    not_there $? "$INDEX" "what stands in the way cannot be looked at"
    return 1
  }
  if [ -s "$OUT.forced" ]; then
    first_paths "$OUT.forced"
    problem conflict "not captured and in the way: $FIRST"
    return 1
  fi
  # The empty directories of the present state are empty already, and their list may be lost.
  declare -gA WANTED=()
  [ "$META" = "${R_META[INDEX]}" ] || { want_empty "${R_META[INDEX]}" && blocked_directories; } 2>>"$OUT.err" || {
    refused $? failed "what stands in the way cannot be looked at"
    return 1
  }
  if [ -s "$OUT.forced" ]; then
    first_paths "$OUT.forced"
    problem conflict "not captured and in the way of a directory: $FIRST"
    return 1
  fi
  for list in "$SHADOW/changes.added" "$SHADOW/changes.typed"; do
    [ -s "$list" ] || continue
    # What is seen through a link lies elsewhere. The link itself was checked.
    while IFS= read -r -d '' path; do [ ! -d "$path" ] || [ -L "$path" ] || symlink_above "$path" || paths+=("$path"); done <"$list"
  done
  [ ${#paths[@]} -eq 0 ] || no_foreign
}

# find_leaving: `leaving` becomes the repositories inside this one that the target does not have. Their
# content is handled with them (plan_leave).
find_leaving() {
  local i below=$REPOSITORY/
  [ "$below" != ./ ] || below=''
  for i in "${!R_PATH[@]}"; do
    [ -n "${R_TREE[i]}" ] || [[ ${R_PATH[i]} != "$below"?* ]] || leaving+=("${R_PATH[i]#"$below"}")
  done
}

# blocked_directories: writes into $OUT.forced, which is empty, what stands in the way of directories that the
# target has empty.
blocked_directories() {
  local path
  local -A blocking=()
  for path in "${!WANTED[@]}"; do
    while [ ! -d "$path" ] || [ -L "$path" ]; do
      if [ -L "$path" ] || [ -e "$path" ]; then blocking[$path]=1; fi
      [[ $path == */* ]] || break
      path=${path%/*}
    done
  done
  [ ${#blocking[@]} -gt 0 ] || return 0
  printf '%s\0' "${!blocking[@]}" | sort -z >"$OUT.blocking" && xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.blocking" | sort -zu | comm -z -13 - "$OUT.blocking" >"$OUT.forced" || return
  [ ! -s "$OUT.forced" ] || leave_to_leaving
}

# leave_to_leaving: removes from the list $OUT.forced what leaving repositories have captured.
leave_to_leaving() {
  local path inner shadow theirs leaving=()
  find_leaving
  for inner in "${leaving[@]}"; do
    theirs=() shadow=$PWD/$inner/.agent-shadow/session-$SESSION
    while IFS= read -r -d '' path; do [[ $path != "$inner"/* ]] || theirs+=("${path#"$inner"/}"); done <"$OUT.forced"
    [ ${#theirs[@]} -gt 0 ] && [ -d "$shadow" ] || continue
    printf '%s\0' "${theirs[@]}" | GIT_DIR=$shadow GIT_INDEX_FILE=$shadow/index xargs -0 git --literal-pathspecs ls-files -z -c -- >"$OUT.captured" || return
    while IFS= read -r -d '' path; do printf '%s\0' "$inner/$path"; done <"$OUT.captured" | sort -zu | comm -z -13 - "$OUT.forced" >"$OUT.blocking" && mv -f -- "$OUT.blocking" "$OUT.forced" || return
  done
}

# no_foreign: whether the directories in `paths` hold nothing but captured files, and files of a leaving
# repository.
no_foreign() {
  local path dir inner leaving=() specs=()
  local -A captured=()
  find_leaving
  # Git compares each file with each pathspec, so they are given only when they are few.
  [ ${#paths[@]} -gt 100 ] || specs=(-- "${paths[@]}")
  printf './%s\0' "${paths[@]}" >"$OUT.directories-here" && {
    xargs -0 sh -c 'exec find "$@" ! -type d -printf "%p\0"' find <"$OUT.directories-here" >"$OUT.inside" && git --literal-pathspecs ls-files -z -c "${specs[@]}" >"$OUT.captured"
  } 2>>"$OUT.err" || {
    refused $? failed "what stands in the way cannot be looked at"
    return 1
  }
  while IFS= read -r -d '' path; do captured[$path]=1; done <"$OUT.captured"
  while IFS= read -r -d '' path; do
    path=${path#./}
    [ -z "${captured[$path]-}" ] || continue
    for inner in "${leaving[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    printf '%s\0' "$path" || return
  done <"$OUT.inside" >"$OUT.foreign"
  IFS= read -r -d '' inner <"$OUT.foreign" || return 0
  for dir in "${paths[@]}"; do [[ $inner != "$dir"/* ]] || break; done
  while IFS= read -r -d '' path; do [[ $path != "$dir"/* ]] || printf '%s\0' "$path"; done <"$OUT.foreign" >"$OUT.foreign-first"
  first_paths "$OUT.foreign-first"
  problem conflict "$dir is a file in the target and a directory now, which holds files that are not captured: $FIRST"
  return 1
}
