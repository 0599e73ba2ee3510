# What the target does not have, and stays all the same: files that it may not have seen, and those that the present rules
# ignore.
# shellcheck shell=bash

# ignored_by TREE META LIST KEPT [GIT_DIR]: writes the paths of a list that a capture's rules ignore
# into another list. What its index tracks is not ignored; without META that is not asked. GIT_DIR
# has the rules beside the tree, where they are not those of the repository being worked on.
ignored_by() {
  local rules=$OUT.rules path found=()
  rm -rf -- "$rules" "$rules.index" && mkdir -p -- "$rules" || return
  GIT_INDEX_FILE=$rules.index git read-tree "$1" && git ls-tree -r -z --name-only "$1" >"$rules.names" || return
  while IFS= read -r -d '' path; do [[ /$path != */.gitignore ]] || found+=("$path"); done <"$rules.names"
  if [ ${#found[@]} -gt 0 ]; then
    printf '%s\0' "${found[@]}" >"$rules.names" && GIT_INDEX_FILE=$rules.index git checkout-index -f -z --stdin --prefix="$rules/" <"$rules.names" || return
  fi
  (cd -- "$rules" && GIT_DIR=${5-$GIT_DIR} GIT_WORK_TREE=$rules GIT_INDEX_FILE=$rules.index check_ignore "$3" "$4") || return
  [ -s "$4" ] || return 0
  part_id "$2" index || return
  [ -n "$ID" ] || return 0
  local -A tracked=()
  git ls-tree -r -z --name-only "$ID" >"$rules.names" || return
  while IFS= read -r -d '' path; do tracked[$path]=1; done <"$rules.names"
  while IFS= read -r -d '' path; do [ -n "${tracked[$path]-}" ] || printf '%s\0' "$path"; done <"$4" >"$4.untracked" || return
  mv -f -- "$4.untracked" "$4"
}

# check_ignore LIST KEPT: writes the paths of a list that git's rules ignore into another list. An
# exit of 1 means that they ignore nothing, where git read them all: a file of rules that its own
# commands do not read either is no loss (harmless).
check_ignore() {
  local line status=0
  sed -z 's#^#./#' -- "$1" >"$2.asked" || return
  git check-ignore --no-index -z --stdin <"$2.asked" >"$2.found" 2>"$2.said" || status=$?
  if [ $status != 0 ]; then
    [ $status = 1 ] && [ ! -s "$2.found" ] || { cat -- "$2.said" >&2 && return $status; }
    while IFS= read -r line; do
      harmless "$line" || { printf '%s\n' "$line" >&2 && return $status; }
    done <"$2.said"
  fi
  sed -z 's#^\./##' -- "$2.found" >"$2"
}

# leave_alone LIST: takes paths off the plan: they leave the index, and stay on disk. FROM_TREE is
# the remaining tree.
leave_alone() {
  [ -s "$1" ] || return 0
  git update-index --force-remove -z --stdin <"$1" && FROM_TREE=$(exec git write-tree)
}

# find_kept FROM TO: lists in $OUT.kept the files that the target does not have but that stay. A
# file that the target's own rules ignore, or that was too large for it, may have existed then,
# unseen. A file that the present rules ignore must not be deleted. The exception is a file that
# was captured although it is ignored, because the host tracks it or the session asks for it by
# name.
find_kept() {
  local path
  local above
  local -A goes=() stays=() added=()
  : >"$OUT.kept"
  changes "$1" "$2" || return
  [ -s "$SHADOW/changes.removed" ] || return 0
  for path in "${R_SKIPPED[@]}"; do [ "${path%%:*}" != "$INDEX" ] || stays[${path#*:}]='was too large for it'; done
  # The host state has all of them, the request only the first.
  part "${R_META[INDEX]}" left-out "$OUT.left.then" || return
  while IFS= read -r -d '' path; do stays[$path]='was too large for it'; done <"$OUT.left.then"
  if [ ${#HELD_THEN[@]} -gt 0 ]; then
    while IFS= read -r -d '' path; do
      for above in "${HELD_THEN[@]}"; do [[ $path != "$above"/* ]] || stays[$path]=held; done
    done <"$SHADOW/changes.removed"
  fi
  if [ "$RULES_DIFFER" = 1 ]; then
    ignored_by "$2" "${R_META[INDEX]}" "$SHADOW/changes.removed" "$OUT.kept.then" || return
    while IFS= read -r -d '' path; do stays[$path]='its rules ignore it'; done <"$OUT.kept.then"
  fi
  check_ignore "$SHADOW/changes.removed" "$OUT.kept.now" || return
  if [ -s "$OUT.kept.now" ]; then
    [ ! -f "$SHADOW/tracked-ignored" ] || while IFS= read -r -d '' path; do goes[$path]=1; done <"$SHADOW/tracked-ignored"
    if [ ${#INCLUDE[@]} -gt 0 ]; then
      git --glob-pathspecs ls-files -z -c -- "${INCLUDE[@]}" >"$OUT.included" || return
      while IFS= read -r -d '' path; do goes[$path]=1; done <"$OUT.included"
    fi
    while IFS= read -r -d '' path; do [ -n "${goes[$path]-}" ] || stays[$path]='the rules of now ignore it'; done <"$OUT.kept.now"
  fi
  [ ${#stays[@]} -gt 0 ] || return 0
  # A path in the way of the target was captured for this purpose: a file where the target has a
  # directory, or the reverse.
  while IFS= read -r -d '' path; do
    added[$path]=1
    while [[ $path == */* ]]; do path=${path%/*} && stays[$path]=''; done
  done <"$SHADOW/changes.added"
  while IFS= read -r -d '' path; do
    [ -n "${stays[$path]-}" ] || continue
    above=$path
    while [[ $above == */* ]]; do above=${above%/*} && [ -z "${added[$above]-}" ] || continue 2; done
    printf '%s\0' "$path" >&3
    # Said once for the whole directory (tell_held).
    [ "${stays[$path]}" != held ] || continue
    printf '%s stays, although the checkpoint does not have it: %s\0' "$path" "${stays[$path]}"
  done <"$SHADOW/changes.removed" 3>"$OUT.kept" >"$OUT.warn.kept"
}

# keep_unseen FROM TO: takes these files off the plan and out of the proof.
keep_unseen() {
  FROM_TREE=$1
  find_kept "$1" "$2" || return
  [ -s "$OUT.kept" ] || return 0
  pass_on "$OUT.kept" >>"$OUT.unseen"
  leave_alone "$OUT.kept"
}

# list_ignored FILE: lists the paths that the present rules ignore. A directory that they name is one line, which ends with a
# slash; so may be one that holds nothing else.
list_ignored() {
  local status=0
  git_since 2 32 || status=$?
  if [ $status = 1 ]; then
    # Here ls-files passes over what is ignored in a directory that holds nothing else.
    git status --porcelain -z -uall --ignored=matching --no-renames --ignore-submodules=all >"$1.status" && perhaps grep -z '^!! ' "$1.status" >"$1.marked" && cut -z -c4- "$1.marked" >"$1"
    return
  fi
  [ $status = 0 ] && git ls-files -z -o -i --exclude-standard --directory >"$1"
}

# list_unseen: lists, before older rules come, the paths that only the present rules ignore. They
# are not part of the target, and the restore does not touch them. A directory that holds nothing
# else is one line, which ends with a slash.
list_unseen() {
  list_ignored "$OUT.unseen.all" 2>>"$OUT.err" || return
  sed -z '/^\.agent-shadow\/$/d' "$OUT.unseen.all" >"$OUT.unseen"
}

# unseen_rules: UNSEEN_RULES are patterns for these paths, so that the proof of the target does
# not read all of them.
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
