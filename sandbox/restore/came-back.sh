# The proof that the captured state is restored (C4), without a capture, when only little had to change.
# shellcheck shell=bash

# came_back TREE: the proof for the case that only working files had to change, without modes or empty
# directories. The rest of the repository was checked under this lock before the first write. git reads every
# file that was written (of many files, also those whose times changed), and compares the index with the tree.
# Deleted paths, and the directories in which something was written or deleted, are checked here. CAME is set
# when it is proved. Any doubt is left to a capture. A few files that each replaced a file (EXCHANGED) are
# left to prove_placed: $OUT.placed has their entries.
came_back() {
  local path same='' few='' moved=()
  CAME=''
  plain "$META" && [ "$RULES_DIFFER" = 0 ] && [ ! -s "$OUT.kept" ] || return 0
  # New files have another change time than when git wrote them. They are read here, once. When files only
  # replaced files, the index has the entries of this tree. Then the only question is whether the files have
  # their content.
  [ "$REMOVED" != 0 ] || [ -s "$SHADOW/changes.added" ] || same=1
  if [ $((WRITTEN + REMOVED)) -le 100 ]; then
    few=1
    while IFS= read -r -d '' _ && IFS= read -r -d '' path; do moved+=("$path"); done <"$SHADOW/changes"
    if [ -n "$EXCHANGED" ]; then
      while IFS= read -r -d '' path; do
        if [[ $path == 100755* ]]; then printf '%s ' "$EXEC_MODE"; else printf '%s ' "$FILE_MODE"; fi
        printf '%s\0' "${path#* }"
      done <"$OUT.info" >"$OUT.placed" && CAME=1
      return
    fi
  fi
  git_proves "$1"
}

# git_proves TREE: the same, by asking git. `moved` are the files, when there are only a few, and `same` is
# set when the index has this tree.
git_proves() {
  local path status=0 where=()
  local -A seen=()
  if [ -n "$few" ]; then
    if [ -n "$same" ]; then
      TEXT=$(exec git --literal-pathspecs add --refresh -v -- "${moved[@]}" 2>"$OUT.refresh") || status=$?
      ! ended $status || return $status
      [ $status = 0 ] && [ -z "$TEXT" ] && [ ! -s "$OUT.refresh" ] || return 0
    else
      git update-index --remove -z --stdin <"$OUT.new" 2>"$OUT.refresh" || status=$?
    fi
  else
    git update-index --refresh >/dev/null 2>"$OUT.refresh" || status=$?
  fi
  ! ended $status || return $status
  [ $status = 0 ] || return 0
  [ -n "$same" ] || git diff-index --cached --quiet "$1" 2>>"$OUT.err" || status=$?
  [ $status -le 1 ] || return $status
  [ $status = 0 ] || return 0
  while IFS= read -r -d '' path; do
    [ ! -e "$path" ] && [ ! -L "$path" ] || return 0
  done <"$SHADOW/changes.removed"
  if [ ${#moved[@]} -gt 0 ]; then
    where=(.)
    for path in "${moved[@]}"; do
      while [[ $path == */* ]]; do
        path=${path%/*}
        [ -z "${seen[$path]-}" ] || break
        seen[$path]=1
        if [ -d "$path" ] && [ ! -L "$path" ]; then where+=("./$path"); fi
      done
    done
  fi
  known_ignored && find_odd "${where[@]}" && sort_odd && drop_ignored "$OUT.modes" 1 && drop_ignored "$OUT.empty" 0 || return 0
  ! plain "$META" || CAME=1
}

# prove_placed I...: checks content and mode of the files that came_back left to prove, with one process for
# each of the two. A repository in which one is wrong or could not be read is looked at.
prove_placed() {
  local i n entry path odd=() paths=() modes=()
  local -A formats=() mode=()
  for i; do
    [ -s "$RUN/$i.placed" ] || continue
    formats[${R_FORMAT[i]}]=1
    while IFS= read -r -d '' entry; do
      path=$ROOT/${R_PATH[i]}/${entry#*$'\t'}
      [ ! -f "$path" ] || [ -L "$path" ] || { paths+=("$path") && printf '%s\0' "$path"; }
    done <"$RUN/$i.placed" >>"$RUN/sum.${R_FORMAT[i]}" || return
  done
  [ ${#formats[@]} -gt 0 ] || return 0
  # A value that could not be read equals nothing.
  [ ${#paths[@]} -eq 0 ] || with_paths stat -c %a -- >"$RUN/modes" 2>>"$RUN/aside.log" && mapfile -t modes <"$RUN/modes" && [ ${#modes[@]} = ${#paths[@]} ] || modes=()
  for n in "${!modes[@]}"; do mode[${paths[n]}]=${modes[n]}; done
  for i in "${!formats[@]}"; do sum_files "$i" || :; done
  for i; do
    [ -s "$RUN/$i.placed" ] || continue
    while IFS= read -r -d '' entry; do
      # MODE ID<TAB>PATH
      path=$ROOT/${R_PATH[i]}/${entry#*$'\t'}
      [ "${mode[$path]-} ${SUMS[$path]-}" != "${entry%%$'\t'*}" ] || continue
      odd+=("$i")
      break
    done <"$RUN/$i.placed"
  done
  each checked_again "${odd[@]}" && all_are 'done' "${odd[@]}"
}
