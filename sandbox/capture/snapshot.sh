# Captures one repository: working files, sidecar and host state become one commit in the shadow (docs/design.md).
# shellcheck shell=bash

# snapshot: TREE is the working files as they are now, META the rest. The one way to look at a repository: used by
# capture, and by restore before it writes and after.
snapshot() {
  local target=$1
  RULES_NEW=''
  [ -f "$SHADOW/index.forced" ] || RULES_NEW=1
  write_excludes "${NESTED[@]}" || return 1
  if [ -n "$HG" ]; then
    borrow_host && copy_host_index || return 1
    [ -f "$SHADOW/index" ] || [ ! -f "$SHADOW/host-index" ] || [ -n "${UNSEEDED-}" ] || seed_index
  else
    rm -f -- "$SHADOW/objects/info/alternates" "$SHADOW/host-index" "$SHADOW/host-index.part"
  fi
  look || return 1
  [ -z "$RULES_NEW" ] || : >"$SHADOW/index.forced"
  leave_out_big || return 1
  add_all || return 1
  add_ignored || return 1
  leave_nested || return 1
  read_tree_id || return 1
  if [ -n "$target" ]; then
    force_collisions "$target" || return 1
  fi
  drop_ignored "$OUT.modes" 1
  drop_ignored "$OUT.empty" 0
  host_state
}

# read_tree_id: the tree of the index. Asked of git only when the index was written since the last answer: git puts another
# file there each time, and the name kept for the one before keeps its inode from being used again. Clocks say nothing here.
read_tree_id() {
  if [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && [ -n "$TEXT" ]; then
    TREE=$TEXT
    return 0
  fi
  TREE=$(exec git write-tree 2>>"$OUT.err") && keep_tree_id
}

# keep_tree_id: TREE is the tree of the index. The text goes first: with an older index of that name it is not believed.
keep_tree_id() {
  if [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && [ "$TEXT" = "$TREE" ]; then return 0; fi
  printf '%s\n' "$TREE" >"$SHADOW/tree.id" || return 1
  # Where the file system has no second names, git is asked each time.
  ln -f -- "$SHADOW/index" "$SHADOW/index.known" 2>/dev/null || :
}

# changes FROM TO: into $OUT.changes, status and path of every difference, each ended by NUL; the paths alone into
# $OUT.added, $OUT.removed and $OUT.typed (files that become links and the reverse). WRITTEN and REMOVED count;
# RULES_DIFFER says that a .gitignore is among them. Trees do not change, so the same question is asked of git once a call.
changes() {
  local i count path entries=() all IFS=$'\n' pair="$1 $2"
  line_of "$OUT.changes.of" || :
  if [ "${TEXT% * * *}" = "$pair" ]; then
    IFS=' ' read -r WRITTEN REMOVED RULES_DIFFER <<<"${TEXT#"$pair "}"
    return 0
  fi
  : >"$OUT.changes.of"
  : >"$OUT.changes"
  [ "$1" = "$2" ] || git diff-tree -r -z --no-renames --name-status "$1" "$2" >"$OUT.changes" || return 1
  mapfile -d '' -t entries <"$OUT.changes" || return 1
  count=$((${#entries[@]} / 2)) REMOVED=0 RULES_DIFFER=0
  # In one word, because most restores only change what is there: then there is nothing to look at one by one.
  all=$IFS${entries[*]}$IFS
  [[ $all != *[/$IFS].gitignore$IFS* ]] || RULES_DIFFER=1
  [[ $all == *$IFS[ADT]$IFS* ]] || entries=()
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    path=${entries[i + 1]}
    case ${entries[i]} in
      D) REMOVED=$((REMOVED + 1)) && printf '%s\0' "$path" >&4 ;;
      A) printf '%s\0' "$path" >&3 ;;
      T) printf '%s\0' "$path" >&5 ;;
    esac
  done 3>"$OUT.added" 4>"$OUT.removed" 5>"$OUT.typed"
  WRITTEN=$((count - REMOVED))
  printf '%s %s %s %s\n' "$pair" $WRITTEN $REMOVED $RULES_DIFFER >"$OUT.changes.of"
}

# collisions TREE: into $OUT.forced, what is on disk uncaptured where a restore of TREE would write: files, links, what is
# neither, and directories that can not be looked into.
collisions() {
  local path parent rest inner
  local -A seen=()
  : >"$OUT.forced"
  changes "$TREE" "$1" || return 1
  [ -s "$OUT.added" ] || return 0
  # From the top down: what is below a symlink is not ours to look at. A directory is looked at once.
  while IFS= read -r -d '' path; do
    for inner in "${INNER[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    parent='' rest=$path
    while [[ $rest == */* ]]; do
      parent+=${rest%%/*} rest=${rest#*/}
      if [ -z "${seen[$parent]-}" ]; then
        seen[$parent]=stop
        if [ -d "$parent" ] && [ -x "$parent" ] && [ ! -L "$parent" ]; then
          seen[$parent]=go
        elif [ -L "$parent" ] || [ -e "$parent" ]; then
          printf '%s\0' "$parent"
        fi
      fi
      [ "${seen[$parent]}" = go ] || continue 2
      parent+=/
    done
    if [ -L "$path" ] || { [ -e "$path" ] && [ ! -d "$path" ]; }; then printf '%s\0' "$path"; fi
  done <"$OUT.added" | sort -zu >"$OUT.forced.all"
  # A captured file above a wanted path is no collision: its removal is part of the plan.
  [ ! -s "$OUT.forced.all" ] || { xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.forced.all" | sort -zu | comm -z -13 - "$OUT.forced.all" >"$OUT.forced"; }
}

# force_collisions TREE: what a restore of TREE would overwrite although a rule ignores it is captured too (C2). What can not be
# read stays out, and the restore finds it in its way.
force_collisions() {
  local path
  # A target that is not here yet has nothing to compare with.
  collisions "$1" 2>/dev/null || return 0
  [ -s "$OUT.forced" ] || return 0
  # What can not be read, and what is neither file nor link, stays a collision, and the restore is refused.
  existing <"$OUT.forced" | while IFS= read -r -d '' path; do
    if [ -L "$path" ] || [ -r "$path" ]; then printf '%s\0' "$path"; fi
  done | git update-index --add --replace -z --stdin 2>>"$OUT.err" || return 1
  TREE=$(git write-tree 2>>"$OUT.err")
}

# first_reason: the last thing git said, for a person.
first_reason() {
  local text
  text=$(cat "$OUT.add" "$OUT.err" "$OUT.find" 2>/dev/null | grep -E '^(fatal|error)|No space|denied' | tail -2 | tr '\n' ' ' | cut -c1-300)
  printf '%s' "${text:-git could not capture the repository}"
}
