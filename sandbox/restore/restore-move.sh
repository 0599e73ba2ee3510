# Moves one repository to its target, or back.
# shellcheck shell=bash

# own I: finds the files here that this restore may overwrite or delete: those with the same path and content
# in the target, or in the capture from which it started. All other files appeared meanwhile and are not
# touched: they are listed in $OUT.late, and FROM_TREE and GOAL are without them. If the repository was set
# aside, the outer one wrote them.
own() {
  local i=$1 tree entry index=$OUT.goal.index
  local -A ours=()
  : >"$OUT.ours"
  for tree in "${R_NOW_TREE[i]}" "${R_UNDO_TREE[i]}" "${R_TREE[i]}"; do
    [ -n "$tree" ] || continue
    is_here "$tree" || return
    [ -z "$HERE" ] || git ls-tree -r -z "$tree" >>"$OUT.ours" || return
  done
  enclosing "$i"
  if [ -n "$OUTER" ]; then
    # The outer repository may be missing, and so may this directory in it.
    (
      GIT_DIR=$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION
      [ -d "$GIT_DIR" ] || exit 0
      is_here "${R_TREE[OUTER]}:$BELOW" || exit
      [ -z "$HERE" ] || git ls-tree -r -z "${R_TREE[OUTER]}:$BELOW" >>"$OUT.ours"
    ) || return
  fi
  # MODE TYPE ID<TAB>PATH, and MODE ID STAGE<TAB>PATH
  while IFS= read -r -d '' entry; do
    tree=${entry%%$'\t'*}
    ours[${tree%% *} ${tree##* }$'\t'${entry#*$'\t'}]=1
  done <"$OUT.ours"
  git ls-files -s -z >"$OUT.here" || return
  while IFS= read -r -d '' entry; do
    tree=${entry%%$'\t'*}
    [ -n "${ours[${tree% *}$'\t'${entry#*$'\t'}]-}" ] || printf '%s\0' "${entry#*$'\t'}" || return
  done <"$OUT.here" >"$OUT.late"
  half_written "${R_TREE[i]}" || return
  FROM_TREE=$TREE
  [ -s "$OUT.late" ] || return 0
  if [ -z "$BACK" ]; then
    first_paths "$OUT.late"
    printf 'these appeared meanwhile: %s\n' "$FIRST" >>"$OUT.err"
    return 1
  fi
  leave_alone "$OUT.late" || return
  [ "$GOAL" != "$EMPTY" ] || return 0
  rm -f -- "$index" || return
  GIT_INDEX_FILE=$index git read-tree "$GOAL" && GIT_INDEX_FILE=$index git update-index --force-remove -z --stdin <"$OUT.late" || return
  GOAL=$(GIT_INDEX_FILE=$index git write-tree)
}

# half_written TREE: finds files that git could not write completely on a full disk. Nobody but this restore
# wrote them.
half_written() {
  local path size tree=$1
  [ -s "$OUT.late" ] && [ -n "$tree" ] || return 0
  is_here "$tree" || return
  [ -n "$HERE" ] || return 0
  while IFS= read -r -d '' path; do
    is_here "$tree:$path" || return
    if [ "$HERE" = blob ] && [ -f "$path" ] && [ ! -L "$path" ]; then
      git cat-file blob "$tree:$path" >"$BULK/$INDEX.whole" 2>>"$OUT.err" && size=$(stat -c %s -- "$path") || return
      # It is an incomplete copy: the same beginning, and the target goes on after it.
      head -c "$size" "$BULK/$INDEX.whole" >"$BULK/$INDEX.part" || return
      if cmp -s -- "$BULK/$INDEX.part" "$path"; then continue; elif [ $? -gt 1 ]; then return 2; fi
    fi
    printf '%s\0' "$path" || return
  done <"$OUT.late" >"$OUT.late.kept"
  mv -f -- "$OUT.late.kept" "$OUT.late"
}

# reach I TREE META: brings the repository to a state, from any state, and proves it. Used for the
# target, and for the way back (BACK) when anything failed.
reach() {
  local i=$1 tree=$2 meta=$3 from_tree from_meta was status made='' vacant=''
  : >"$OUT.err"
  : >"$OUT.warn"
  : >"$OUT.late"
  : >"$OUT.new"
  : >"$OUT.old"
  : >"$OUT.kept"
  : >"$OUT.placed"
  [ ! -e "$OUT.rules-stay" ] || rm -f -- "$OUT.rules-stay" || return
  if [ -z "$tree" ]; then
    STEP='taking it away'
    leave "$i"
    return
  fi
  if [ -z "$HG" ] && { [ "$FILES_ONLY" = 0 ] || [ -z "$EXISTS" ]; }; then
    # If the shadow exists, the host state says whether there was a .git at all.
    [ -z "${GIT_DIR-}" ] || load_state "$meta" || return
    if [ -z "${GIT_DIR-}" ] || [ "$T_KIND" != none ]; then
      unpark "${R_PATH[i]}" "$meta" 2>>"$OUT.err" || return
      [ -z "$HG" ] || look_at_host
    fi
  fi
  if [ -z "$EXISTS" ]; then
    touch_it || return
    T_META='' PARTS=()
    if [ -n "$HG" ]; then
      open_shadow "$FORMAT" 2>>"$OUT.err" && borrow_host && bring_objects "$i" || return
    else
      make_host "$i" "$meta" 2>>"$OUT.err" || return
      made=1
    fi
    EXISTS=1
    look_at_host
    # On the way back, files that were put aside return to their places (stage_aside).
    [ -n "$BACK" ] || ! vacant || { vacant=1 && : >"$SHADOW/in-empty"; } || return
    : >"$OUT.made" || return
  fi
  # The start for the sidecar: the captured one, and on the way back the one that was being
  # applied.
  was=$META
  if [ -n "$TREE" ]; then
    line_of "$OUT.goal" && GOAL=$TEXT || return
    FROM_TREE=$TREE
  else
    [ -z "$BACK" ] || was=${R_META[i]}
    if [ "$made$vacant" = 11 ]; then
      TREE=$EMPTY META='' && nested_below "${R_PATH[i]}"
    else
      # Files that were captured although they are ignored must be looked at again, because they belong to the
      # state to come back to.
      stand "$i" "${BACK:+$tree}" 2>>"$OUT.err" || return
    fi
    objects_present "$tree" "$meta" || {
      status=$?
      said_in "$OUT.missing"
      [ -z "$SAID" ] || cut_off $status "$SAID" || lacks "$SAID"
      return $status
    }
    goal_tree "$tree" 2>>"$OUT.err" || return
    if [ -n "$vacant" ]; then FROM_TREE=$TREE; else own "$i" 2>>"$OUT.err" || return; fi
  fi
  # It is already there, as a capture in this same call found.
  vacated "$i"
  [ "$TREE" != "$GOAL" ] || [ "$META" != "$meta" ] || [ -n "$VACATED" ] || {
    note_verified "$i" "$meta"
    return
  }
  [ -n "$HG" ] || load_state "$meta" || return
  if [ -z "$HG" ] && [ "$T_KIND" != none ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    # The working tree exists, but its .git does not.
    touch_it || return
    make_host "$i" "$meta" 2>>"$OUT.err" || return
    look_at_host
  fi
  from_meta=$META
  apply_umask "$meta" && leave_held_then "$meta" 2>>"$OUT.err" || return
  from_tree=$FROM_TREE
  STEP='looking for files that stay'
  if [ -n "$vacant" ]; then
    STEP='writing and deleting files' VACATED=''
    want_empty "$meta" && fill "$GOAL"
  else
    want_empty "$meta" && spare_unseen && STEP='writing and deleting files' && loosen "$from_meta" && move_files "$FROM_TREE" "$GOAL"
  fi || {
    status=$?
    said_in "$OUT.move"
    case $SAID in *'is corrupt'* | *'is empty'* | *'unable to read'* | *'inflate:'* | *'bad object'* | *'Could not read'* | *"$SHADOW/objects/pack/"*) cut_off $status "$SAID" || lacks "$SAID" ;; esac
    return $status
  }
  touch_it && { [ -z "$BACK" ] || drop_made "$i" 2>>"$OUT.err"; } && move_sidecar "$was" "$meta" "$i" 2>>"$OUT.err" || return
  if [ "$from_meta" != "$meta" ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    STEP='moving HEAD, branches and index'
    move_host "$meta" "$from_meta" "${R_PATH[i]}" 2>>"$OUT.err" || return
  fi
  # Otherwise its index has just been written.
  [ -z "$HG" ] || { [ "$from_meta" != "$meta" ] && [ "$FILES_ONLY" = 0 ]; } || refresh_index 2>>"$OUT.err" || return
  STEP='proving it'
  if [ "$from_meta" = "$meta" ]; then
    if [ -z "$CREATED$BACK$VACATED" ]; then
      came_back "$GOAL" || return
      if [ -n "$CAME" ]; then
        note_tree_id "$GOAL" && TREE=$GOAL note_verified "$i" "$meta"
        return
      fi
    fi
  fi
  verify "$i" "$meta"
}

# spare_unseen: removes from the plan the files that the target does not have but that stay.
spare_unseen() {
  changes "$from_tree" "$GOAL" || return
  : >"$OUT.unseen"
  if [ "$RULES_DIFFER" = 1 ]; then list_unseen || return; fi
  [ -z "$BACK" ] || return 0
  keep_unseen "$from_tree" "$GOAL" 2>>"$OUT.err" || return
  [ "$FROM_TREE" = "$TREE" ] || count_again 2>>"$OUT.err"
}

# count_again: reports the real numbers of written and deleted files, when some files stay.
count_again() {
  local WRITTEN REMOVED RULES_DIFFER ATTRIBUTES_DIFFER
  changes "$FROM_TREE" "$GOAL" && counted "$REMOVED"
}

# lacks WHAT: objects turned out to be damaged or missing during the restore. Reported so that
# they are brought again.
lacks() {
  mend_packs && : >"$SHADOW/damaged"
  printf '%s\n' "$1" >"$OUT.lacks"
}
