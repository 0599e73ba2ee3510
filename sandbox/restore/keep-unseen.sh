# Files that the target does not have but that stay all the same: files that it may not have seen, and files
# that the present rules ignore.
# shellcheck shell=bash

# leave_alone LIST: removes paths from the plan: they leave the index, and stay on disk. FROM_TREE becomes the
# remaining tree.
leave_alone() {
  [ -s "$1" ] || return 0
  git update-index --force-remove -z --stdin <"$1" && FROM_TREE=$(exec git write-tree)
}

# find_kept FROM TO: lists in $OUT.kept the files that the target does not have but that stay: those that it
# may not have seen, and those that the present rules ignore. An ignored file still goes if it was captured on
# purpose, because the host tracks it or the session asks for it by name.
find_kept() {
  : >"$OUT.kept"
  changes "$1" "$2" || return
  [ ! -s "$SHADOW/changes.removed" ] || kept_of_removed "$2"
}

kept_of_removed() {
  local path above
  local -A goes=() stays=() included=()
  for path in "${R_SKIPPED[@]}"; do [ "${path%%:*}" != "$INDEX" ] || stays[${path#*:}]='was too large for it'; done
  # The host state lists all of these, the request only the first ones.
  too_large_then "${R_META[INDEX]}" || return
  if [ ${#HELD_THEN[@]} -gt 0 ]; then
    while IFS= read -r -d '' path; do
      # The warning comes once for the whole directory (tell_held).
      for above in "${HELD_THEN[@]}"; do [[ $path != "$above"/* ]] || stays[$path]=' '; done
    done <"$SHADOW/changes.removed"
  fi
  check_ignore "$SHADOW/changes.removed" "$OUT.kept.now" || return
  if [ "$RULES_DIFFER" = 1 ] || [ -s "$OUT.kept.now" ]; then
    find_included && ignored_then "$1" "${R_META[INDEX]}" "$SHADOW/changes.removed" && absent_then || return
  fi
  if [ -s "$OUT.kept.now" ]; then
    [ ! -f "$SHADOW/tracked-ignored.list" ] || while IFS= read -r -d '' path; do goes[$path]=1; done <"$SHADOW/tracked-ignored.list"
    while IFS= read -r -d '' path; do [ -n "${goes[$path]-}${included[$path]-}" ] || stays[$path]='the rules of now ignore it'; done <"$OUT.kept.now"
  fi
  staying "$SHADOW/changes.added" "$SHADOW/changes.removed" "$OUT.kept" "$OUT.warn.kept"
}

# absent_then: a file does not stay when the target would have captured it, ignored or not. The capture before
# a rollback looks for whatever the rollback will write (force_collisions), so its undo removes everything
# that the rollback brought. A composed state is made from everything that was captured (compose_one).
absent_then() {
  local tag tree path
  [ ${#stays[@]} -gt 0 ] && [ -n "$TARGET_TAG" ] && [ -f "$SHADOW/sought" ] || return 0
  while read -r tag tree; do
    [ "$tag" = "$TARGET_TAG" ] && git ls-tree -r -z --name-only "$tree" >"$OUT.sought" 2>/dev/null || continue
    while IFS= read -r -d '' path; do [ "${stays[$path]-}" != "$IGNORED_THEN" ] || stays[$path]=''; done <"$OUT.sought"
  done <"$SHADOW/sought"
}

# keep_unseen FROM TO: removes these files from the plan and from the proof.
keep_unseen() {
  FROM_TREE=$1
  find_kept "$1" "$2" || return
  [ -s "$OUT.kept" ] || return 0
  pass_on "$OUT.kept" >>"$OUT.unseen" && leave_alone "$OUT.kept"
}

# list_ignored FILE: lists the paths that the present rules ignore. A directory that a rule names is one line
# that ends with a slash; a directory that holds nothing else may be one too.
list_ignored() {
  local status=0
  git_since 2 32 || status=$?
  if [ $status = 1 ]; then
    # In these releases, ls-files passes over ignored files in a directory that holds nothing else.
    git status --porcelain -z -uall --ignored=matching --no-renames --ignore-submodules=all >"$1.status" && perhaps grep -z '^!! ' "$1.status" >"$1.marked" && cut -z -c4- "$1.marked" >"$1"
    return
  fi
  [ $status = 0 ] && git ls-files -z -o -i --exclude-standard --directory >"$1"
}

# list_unseen: lists, before older rules come back, the paths that only the present rules ignore. They are not
# part of the target, and the restore does not touch them. A directory that holds nothing else is one line
# that ends with a slash.
list_unseen() {
  list_ignored "$OUT.unseen.all" 2>>"$OUT.err" || return
  sed -z '/^\.agent-shadow\/$/d' "$OUT.unseen.all" >"$OUT.unseen"
}

# unseen_rules: UNSEEN_RULES becomes patterns for these paths, so that the proof of the target does not read
# all of them.
unseen_rules() {
  local path paths=()
  UNSEEN_RULES=''
  mapfile -d '' -t paths <"$OUT.unseen" || return
  [ ${#paths[@]} -le 2000 ] || return 0
  for path in "${paths[@]}"; do
    pattern_for "${path%/}"
    [ "$path" = "${path%/}" ] || PATTERN+=/
    UNSEEN_RULES+=$PATTERN$'\n'
  done
}
