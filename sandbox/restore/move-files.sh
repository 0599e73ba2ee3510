# Brings working files, their modes and empty directories from one capture to another. Every write is planned from two
# captures, never from a directory walk (C2).
# shellcheck shell=bash

# symlink_above PATH: whether a directory above PATH is a symlink: nothing is written or deleted through one.
symlink_above() {
  local parent=$1
  while [[ $parent == */* ]]; do
    parent=${parent%/*}
    [ ! -L "$parent" ] || return 0
  done
  return 1
}

# move_files FROM TO: working files from one tree to the other, on the index that was just brought to FROM. git checks
# every path before it writes the first: nothing changed since, nothing uncaptured in the way, no symlink above.
# $3 is -n to check only. The move is a checkout between two commits made for it: read-tree would do the same, but forgets
# which trees the index knows, and works all of them out again.
move_files() {
  local tree status commits=()
  if [ -n "$3" ]; then
    git -c core.sparseCheckout=false read-tree -m -u "$3" "$1" "$2" 2>"$OUT.move"
    return
  fi
  for tree in "$1" "$2"; do
    printf 'tree %s\nauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nmove\n' "$tree" "$ZERO_TIME" "$ZERO_TIME" >"$OUT.tree-$tree" || return 1
  done
  mapfile -t commits < <(exec git hash-object -t commit -w --no-filters --stdin-paths 2>"$OUT.move" <<<"$OUT.tree-$1"$'\n'"$OUT.tree-$2")
  [ ${#commits[@]} = 2 ] || return 1
  printf '%s\n' "${commits[0]}" >"$SHADOW/HEAD" || return 1
  git -c core.sparseCheckout=false -c core.logAllRefUpdates=false checkout -q --no-overwrite-ignore --detach "${commits[1]}" 2>"$OUT.move"
  status=$?
  printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" && return $status
}

# old_part META NAME STRIP: prints modes or empty directories that are to go. Not those of what rules of the target
# ignore: it stays as it is.
old_part() {
  part "$1" "$2" >"$OUT.$2.old"
  [ "${RULES_DIFFER-0}" = 0 ] || drop_ignored "$OUT.$2.old" "$3"
  cat -- "$OUT.$2.old"
}

# drop_empty META: removes the empty directories of a capture, and those above that held nothing else. rmdir takes only
# empty ones. The global WANTED names the ones to keep.
drop_empty() {
  local path
  [ -n "$1" ] || return 0
  while IFS= read -r -d '' path; do
    symlink_above "$path" && continue
    while [ -z "${WANTED[$path]-}" ] && [ ! -L "$path" ] && rmdir -- "$path" 2>/dev/null && [[ $path == */* ]]; do path=${path%/*}; done
  done < <(old_part "$1" empty 0 | sort -zr)
}

# ignored_by TREE [GIT_DIR]: passes on the paths that the rules in a tree ignore. GIT_DIR has the rules beside the tree,
# where they are not those of the repository being worked on.
ignored_by() {
  local rules=$OUT.rules
  rm -rf -- "$rules" "$rules.index" && mkdir -p -- "$rules" || return 1
  GIT_INDEX_FILE=$rules.index git read-tree "$1" || return 1
  git ls-tree -r -z --name-only "$1" | { grep -zE '(^|/)\.gitignore$' || :; } | GIT_INDEX_FILE=$rules.index git checkout-index -f -z --stdin --prefix="$rules/" || return 1
  (cd -- "$rules" && GIT_DIR=${2-$GIT_DIR} GIT_WORK_TREE=$rules GIT_INDEX_FILE=$rules.index git check-ignore --no-index -z --stdin)
  [ $? -le 1 ]
}

# leave_alone LIST: takes paths off the plan: they leave the index, and stay on disk. FROM_TREE is what is left.
leave_alone() {
  [ -s "$1" ] || return 0
  git update-index --force-remove -z --stdin <"$1" && FROM_TREE=$(git write-tree)
}

# keep_ignored FROM TO: what the target's own rules ignore may have been there then, unseen. It is taken off the plan, so
# that rolling back over a change of .gitignore deletes nothing that the older rules protect.
keep_ignored() {
  FROM_TREE=$1
  changes "$1" "$2" || return 1
  [ "$RULES_DIFFER" = 1 ] && [ -s "$OUT.removed" ] || return 0
  ignored_by "$2" <"$OUT.removed" >"$OUT.kept" && leave_alone "$OUT.kept"
}

# list_unseen: what the rules of now ignore, before older ones come, that do not. It is no part of the target, and the
# restore does not touch it. A directory that holds nothing else is one line, which ends with a slash.
list_unseen() {
  git ls-files -z -o -i --exclude-standard --directory >"$OUT.unseen" 2>>"$OUT.err" || return 1
  { grep -zvx '.agent-shadow/' "$OUT.unseen" || :; } >"$OUT.unseen.part"
  mv -f -- "$OUT.unseen.part" "$OUT.unseen"
}

# unseen_rules: UNSEEN_RULES are patterns for it, so that proving the target does not read all of it.
unseen_rules() {
  local path paths=()
  UNSEEN_RULES=''
  mapfile -d '' -t paths <"$OUT.unseen"
  [ ${#paths[@]} -le 2000 ] || return 0
  for path in "${paths[@]}"; do
    pattern_for "${path%/}"
    [ "$path" = "${path%/}" ] || PATTERN+=/
    UNSEEN_RULES+=$PATTERN$'\n'
  done
}

# loosen META: directories that a capture found without the right to write get it for the time of the restore; the
# sidecar of the target says what they have after it.
loosen() {
  local entry mode
  ! plain "$1" || return 0
  part_id "$1" modes
  [ -n "$ID" ] && [ "$ID" != "$EMPTY_BLOB" ] || return 0
  while IFS= read -r -d '' entry; do
    mode=${entry%%/*} entry=${entry#*/}
    [ $((8#${mode#D} & 0300)) = 192 ] || [ -L "$entry" ] || symlink_above "$entry" || [ ! -d "$entry" ] || chmod u+rwx -- "$entry" 2>/dev/null
  done < <(part "$1" modes | { grep -z '^D' || :; })
}

# move_sidecar FROM_META TO_META: modes and empty directories, by the difference of two captures.
move_sidecar() {
  local from=$1 to=$2 entry path mode plain=$1
  local -A keep=()
  declare -gA WANTED=()
  [ "$from" != "$to" ] || ! plain "$to" || return 0
  for path in modes empty; do
    part_id "$from" $path
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
    part_id "$to" $path
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
  done
  [ -z "$plain" ] || return 0
  while IFS= read -r -d '' entry; do WANTED[$entry]=1; done < <(part "$to" empty)
  drop_empty "$from"
  for path in "${!WANTED[@]}"; do
    symlink_above "$path" || mkdir -p -- "$path" 2>/dev/null || return 1
  done
  while IFS= read -r -d '' entry; do
    [[ $entry == U* ]] || keep[${entry#*/}]=${entry%%/*}
  done < <(part "$to" modes)
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    if [[ $entry == U* ]] || [ -n "${keep[$path]-}" ] || [ -L "$path" ] || symlink_above "$path"; then continue; fi
    if [ -d "$path" ]; then
      chmod "$EXEC_MODE" -- "$path"
    elif [ -f "$path" ]; then
      if [ -x "$path" ]; then chmod "$EXEC_MODE" -- "$path"; else chmod "$FILE_MODE" -- "$path"; fi
    fi
  done < <(old_part "$from" modes 1)
  # Files first, then directories from the deepest up: a directory may lose the bit we need to pass through it.
  for path in "${!keep[@]}"; do
    mode=${keep[$path]}
    if [[ $mode == F* ]] && [ -f "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#F}" -- "$path" || return 1; fi
  done
  while IFS= read -r -d '' path; do
    mode=${keep[$path]}
    if [[ $mode == D* ]] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#D}" -- "$path" || return 1; fi
  done < <([ ${#keep[@]} -eq 0 ] || printf '%s\0' "${!keep[@]}" | sort -zr)
}

# apply_umask META: new files get the modes the capture took for granted, without a line for each.
apply_umask() {
  local entry
  umask 022
  UMASK=0022
  new_file_modes
  ! plain "$1" || return 0
  part_id "$1" modes
  [ "$ID" != "$EMPTY_BLOB" ] || return 0
  while IFS= read -r -d '' entry; do
    case $entry in U*) umask "${entry:1:$((${#entry} - 2))}" ;; esac
  done < <(part "$1" modes | grep -z '^U' || :)
  read_umask
}
