# Captures one repository: working files, sidecar and host state become one commit in the shadow (docs/design.md).
# shellcheck shell=bash

# snapshot: TREE becomes the working files as they are now, META the rest. A restore looks at a repository
# with it, before it writes and after.
snapshot() {
  local target=$1
  RULES_NEW='' HOST_INDEX_NEW='' FORCED='' LEFT_OUT=()
  [ -f "$SHADOW/rules-seen" ] && [ ! -s "$SHADOW/rules-seen" ] && [ ! -e "$SHADOW/whole-seconds" ] || RULES_NEW=1
  # When git tracks our own files, a command such as git reset --hard gives them other times.
  [ ! -e "$SHADOW/tracked-ignored.own" ] || RULES_NEW=1
  write_excludes "${NESTED[@]}" "${HELD[@]}" || return
  if [ -n "$HG" ]; then
    borrow_host && copy_host_index || return
  else
    drop_host_index && rm -f -- "$SHADOW/objects/info/alternates" || return
  fi
  begin_borrowed
  sound_index && look && mend_borrowed || return
  # A rules file that is written from now on is newer than this marker. The marker gets its final name when
  # everything was done by these rules.
  [ -z "$RULES_NEW" ] || : >"$SHADOW/rules-seen.part" || return
  : >"$OUT.left-out" || return
  [ ${#BIG[@]} = 0 ] || leave_out_big || return
  [ ${#FORBIDDEN[@]} = 0 ] || leave_forbidden || return
  [ ! -s "$OUT.special" ] || leave_special || return
  add_all || return
  add_ignored || return
  [ ${#NESTED[@]} = 0 ] && [ ${#HELD[@]} = 0 ] || { leave_nested && leave_held; } || return
  read_tree_id || return
  if [ -n "$target" ]; then
    force_collisions "$target" || return
  fi
  drop_lost "$OUT.modes" && drop_ignored "$OUT.modes" 1 && drop_ignored "$OUT.empty" 0 || return
  host_state || return
  # Forced files are captured only this once.
  if [ -n "$FORCED" ]; then
    forget_rules || return
  elif [ -n "$RULES_NEW" ]; then
    mv -f -- "$SHADOW/rules-seen.part" "$SHADOW/rules-seen" || return
  fi
  [ -z "$LOST" ]
}

# read_tree_id: the tree of the index. Git is asked only when the index was written since the last
# answer. Git replaces the file each time, and the second name of the old file keeps its inode
# from being used again. Timestamps are not reliable here.
read_tree_id() { known_index_tree || TREE=$(exec git write-tree 2>>"$OUT.err"); }

known_index_tree() {
  [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && an_id "$TEXT" && TREE=$TEXT
}

# note_tree_id TREE: notes the tree of the index, which nothing changes any more in this call. While the
# second name still belongs to an older index, the note does not count. keep_tree_ids sets that name.
note_tree_id() {
  [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && [ "$TEXT" = "$1" ] || { printf '%s\n' "$1" >"$SHADOW/tree.id" && printf '%s\n' "$SHADOW/index" >"$OUT.tree-noted"; }
}

# keep_tree_ids PATHS: gives the indexes of the repositories in this array their second name where a tree was
# noted, and notes how large all of them are (room_in_memory). One process in the background does it. On a
# file system without hard links, git is asked for the tree each time.
keep_tree_ids() {
  local i noted=() indexes=()
  local -n paths=$1
  for i in "${!paths[@]}"; do
    indexes+=("$ROOT/${paths[i]}/.agent-shadow/session-$SESSION/index")
    [[ ! -s $RUN/$i.tree-noted ]] || { slurp "$RUN/$i.tree-noted" && noted+=("${TEXT%$'\n'}"); }
  done
  [ ${#noted[@]} -gt 0 ] || return 0
  if type -P perl >/dev/null; then
    perl -e 'for (splice @ARGV, 1, shift) { unlink "$_.known"; link $_, "$_.known" }
      my ($note, $sum) = (shift, 0); $sum += -s $_ || 0 for @ARGV; open my $out, ">", $note or exit 1; print $out "$sum\n"' \
      ${#noted[@]} "$HOME_DIR/index-bytes-$SESSION" "${noted[@]}" "${indexes[@]}" 2>/dev/null &
  else
    for i in "${noted[@]}"; do ln -f -- "$i" "$i.known" 2>/dev/null || :; done &
  fi
}

# changes FROM TO: writes every difference into $SHADOW/changes, as `git diff-tree --raw -z` does. The
# paths alone go into changes.added, changes.removed and changes.typed (files that become links and
# the reverse). WRITTEN and REMOVED count them; RULES_DIFFER and ATTRIBUTES_DIFFER tell that a
# .gitignore or a .gitattributes is among them. Trees do not change, so what a capture was told
# also serves the restore after it.
changes() {
  line_of "$SHADOW/changes.of" || :
  if [[ $TEXT =~ ^"$1 $2 "([0-9]+)' '([0-9]+)' '([01])' '([01])' end'$ ]]; then
    WRITTEN=${BASH_REMATCH[1]} REMOVED=${BASH_REMATCH[2]} RULES_DIFFER=${BASH_REMATCH[3]} ATTRIBUTES_DIFFER=${BASH_REMATCH[4]}
    [ "$1" = "$2" ] || whole_changes || list_changes "$1" "$2"
  else
    list_changes "$1" "$2"
  fi
}

# whole_changes: whether the lists are as they were written. They are read once in a call.
whole_changes() {
  [ "$CHANGES_WHOLE" != "$SHADOW" ] || return 0
  sums_of_changes >"$OUT.sums" 2>/dev/null && cmp -s -- "$OUT.sums" "$SHADOW/changes.sums" || { survived $? && return 1; }
  CHANGES_WHOLE=$SHADOW
}
CHANGES_WHOLE=''

sums_of_changes() { (cd -- "$SHADOW" && exec sha256sum -- changes changes.{added,removed,typed}); }

# list_changes FROM TO: the same, by asking git.
list_changes() {
  local i count path entries=() added=() removed=() typed=() all IFS=$'\n' pair="$1 $2" file=$SHADOW/changes
  : >"$file.of" && : >"$file" || return
  [ "$1" = "$2" ] || git diff-tree -r -z --raw --no-renames "$1" "$2" >"$file" || return
  mapfile -d '' -t entries <"$file" || return
  count=$((${#entries[@]} / 2)) RULES_DIFFER=0 ATTRIBUTES_DIFFER=0
  # Checked as one string, because most restores only change existing files, and then nothing
  # needs to be looked at one by one.
  all=$IFS${entries[*]}$IFS
  if [[ $all == *.git* ]]; then
    [[ $all != *[/$IFS].gitignore$IFS* ]] || RULES_DIFFER=1
    [[ $all != *[/$IFS].gitattributes$IFS* ]] || ATTRIBUTES_DIFFER=1
  fi
  [[ $all =~ ' '[ADT]$IFS ]] || entries=()
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    path=${entries[i + 1]}
    case ${entries[i]} in
      *D) removed+=("$path") ;;
      *A)
        # An older release captured our own files when git was told to track them.
        [[ $path != .agent-shadow/* ]] || { printf 'the checkpoint holds files of .agent-shadow, which are in use\n' >&2 && return 1; }
        added+=("$path")
        ;;
      *T) typed+=("$path") ;;
    esac
  done
  WRITTEN=$((count - ${#removed[@]})) REMOVED=${#removed[@]}
  list_into "$file.added" "${added[@]}" && list_into "$file.removed" "${removed[@]}" && list_into "$file.typed" "${typed[@]}" || return
  [ "$1" = "$2" ] || sums_of_changes >"$file.sums" || return
  CHANGES_WHOLE=$SHADOW
  printf '%s %s %s %s %s end\n' "$pair" $WRITTEN $REMOVED $RULES_DIFFER $ATTRIBUTES_DIFFER >"$file.of"
}

# collisions TREE: lists in $OUT.forced the uncaptured paths that a restore of TREE would
# overwrite: files, links, special files, and directories that cannot be looked into.
collisions() {
  : >"$OUT.forced"
  changes "$TREE" "$1" || return
  [ ! -s "$SHADOW/changes.added" ] || in_place_of_added
}

in_place_of_added() {
  local path parent rest inner
  local -A seen=()
  # From the top down, because anything below a symlink is not ours to look at. Each directory is
  # looked at once.
  while IFS= read -r -d '' path; do
    for inner in "${INNER[@]}" "${HELD[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
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
    if [ -d "$path" ] && [ ! -L "$path" ]; then
      # A file of the target takes the directory's place. A file in it that was captured before it was ignored
      # is captured once more. A file that was never stored stands in the way.
      outlawed_below "$path"
    elif [ -L "$path" ] || [ -e "$path" ]; then
      printf '%s\0' "$path"
    fi
  done <"$SHADOW/changes.added" | sort -zu >"$OUT.forced.all" || return
  # A captured file above a wanted path is no collision: its removal is part of the plan.
  [ ! -s "$OUT.forced.all" ] || { xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.forced.all" | sort -zu | comm -z -13 - "$OUT.forced.all" >"$OUT.forced"; }
}

# outlawed_below DIRECTORY: the files below it that were once captured and are now ignored.
outlawed_below() {
  local path
  [ ! -s "$SHADOW/outlawed" ] || while IFS= read -r -d '' path; do [[ $path != "$1"/* ]] || printf '%s\0' "$path"; done <"$SHADOW/outlawed" | existing
}

# force_collisions TREE: captures the files that a restore of TREE would overwrite, even if a rule
# ignores them (C2). A file that cannot be read stays out, and the restore finds it in its way.
force_collisions() {
  local path objects='' status=0
  collisions "$1" 2>"$OUT.collisions" || status=$?
  if [ $status != 0 ]; then
    slurp "$OUT.collisions"
    [ $status = 128 ] && [[ $TEXT == *'bad object'* || $TEXT == *'unable to read'* || $TEXT == *'not a tree'* || $TEXT == *'bad tree'* || $TEXT == *'is corrupt'* ]] || return $status
    # The shadow that has the target may be parked, with everything that it borrows. A target that is not here
    # yet cannot be compared. It is brought in first, and then the collisions are checked again.
    parking_place "$REPOSITORY" || return
    for path in "$PARKING"/*/{shadow,git}/objects; do alternate "$path" && objects+=${objects:+:}$TEXT; done
    [ -n "$objects" ] && GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects collisions "$1" 2>"$OUT.collisions" || return 0
  fi
  [ -s "$OUT.forced" ] || {
    note_sought "$1"
    return
  }
  FORCED=1
  # A path that cannot be read, or is neither file nor link, stays a collision, and the restore is
  # refused.
  existing <"$OUT.forced" | while IFS= read -r -d '' path; do
    if [ -L "$path" ] || [ -r "$path" ]; then printf '%s\0' "$path"; fi
  done >"$OUT.forced.held" && git update-index --add --replace -z --stdin <"$OUT.forced.held" 2>>"$OUT.err" || return
  ! cmp -s -- "$OUT.forced" "$OUT.forced.held" || note_sought "$1" || return
  TREE=$(git write-tree 2>>"$OUT.err")
}

# note_sought TREE: notes that what this tree has and the capture does not have was not there, ignored or not
# (absent_then).
note_sought() { [ -z "${TAG-}" ] || [ ! -s "$SHADOW/changes.added" ] || printf '%s %s\n' "$TAG" "$1" >>"$SHADOW/sought"; }
