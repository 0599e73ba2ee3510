# Files that the other side does not have, but may have had unseen. That they are missing there is not a
# change of that side.
# shellcheck shell=bash

# with_unseen BASE THEIRS BASE_META META: RESULT becomes the tree THEIRS plus those files of BASE that its
# capture may not have seen. KEPT has the paths of these files, and of the directories that hold nothing else.
# With ONLY, only such paths are kept.
#
# A file that the base's index had and the other's does not have was deleted on purpose, so a merge removes
# it. This does not hold when going back to an index that did not have the file yet.
with_unseen() {
  local i path mode id entries=() removed=() goes=() added=() above=()
  local -A stays=() included=() entry=() here=() WANTED=()
  local -x GIT_INDEX_FILE=$OUT.unseen-index GIT_WORK_TREE=$RUN/nothing
  RESULT=$2 KEPT=()
  [ "$1" != "$2" ] || return 0
  git diff-tree -r -z --raw --no-renames --diff-filter=AD "$1" "$2" >"$OUT.differ" && mapfile -d '' -t entries <"$OUT.differ" || return
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    path=${entries[i + 1]}
    if [[ ${entries[i]} == *A ]]; then added+=("$path") && continue; fi
    removed+=("$path")
    ! chosen "./$path" || goes+=("$path")
    read -r mode _ id _ <<<"${entries[i]#:}" || return
    entry[$path]="$mode $id"
  done
  [ ${#goes[@]} -gt 0 ] || return 0
  list_into "$OUT.removed" "${removed[@]}" && list_into "$OUT.goes" "${goes[@]}" && list_into "$OUT.added" "${added[@]}" || return
  mkdir -p -- "$GIT_WORK_TREE" && rm -f -- "$GIT_INDEX_FILE" && git read-tree "$1" && rules_of_now || return
  part "$4" empty "$OUT.list" && while IFS= read -r -d '' path; do WANTED[$path]=1; done <"$OUT.list" && find_included || return
  if [ "$REASON" = merge ]; then tracked_by "$3" included || return; fi
  too_large_then "$4" && ignored_then "$2" "$4" "$OUT.removed" && unsaid "$1" && staying "$OUT.added" "$OUT.goes" "$OUT.kept" "$OUT.warn.kept" || return
  [ -s "$OUT.kept" ] || return 0
  kept_warnings "$OUT.warn.kept" || return
  while IFS= read -r -d '' path; do
    printf '%s\t%s\0' "${entry[$path]}" "$path" || return
    KEPT[./$path]=1
    while [[ $path == */* ]] && path=${path%/*} && [ -z "${KEPT[./$path]-}" ]; do KEPT[./$path]=1 && above+=("$path"); done
  done <"$OUT.kept" >"$OUT.returning"
  entries_of "$2" here "${above[@]}" || return
  for path in "${!here[@]}"; do KEPT[$path]=''; done
  rm -f -- "$GIT_INDEX_FILE" && git read-tree "$2" && git update-index -z --index-info <"$OUT.returning" && RESULT=$(exec git write-tree)
}

# unsaid BASE: gives no warning about files in the array `stays` that have gone since, or that are not
# captured now.
unsaid() {
  local path
  [ ${#stays[@]} -gt 0 ] || return 0
  git --literal-pathspecs diff-tree -r -z --name-only --no-renames --diff-filter=D "$1" "$TREE" -- "${ONLY[@]}" >"$OUT.gone" || return
  while IFS= read -r -d '' path; do [ -z "${stays[$path]-}" ] || stays[$path]=' '; done <"$OUT.gone"
}

# rules_of_now: makes the scratch ignore what the last look at the repository ignored by other rules than its
# rules files. No capture holds these rules.
rules_of_now() {
  local rules='' shadow=${GIT_OBJECT_DIRECTORY-}
  [ -n "$shadow" ] || return 0
  shadow=${shadow%/objects}
  slurp "$shadow/info/exclude-global" && rules=$TEXT && slurp "$shadow/info/exclude" || return
  printf '%s\n%s\n' "$rules" "$TEXT" >"$GIT_DIR/info/exclude"
}
