# Moves one repository to its target, or back.
# shellcheck shell=bash

# own I: finds the files here that this restore may overwrite or delete: those with the same path
# and content in the target, or in the capture from which it started. All others appeared
# meanwhile and leave the plan: they are in $OUT.late, and FROM_TREE and GOAL are without them. If
# the repository was set aside, the one around it wrote them.
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
    # The repository around it may be missing, and so may this directory in it.
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
    [ -n "${ours[${tree% *}$'\t'${entry#*$'\t'}]-}" ] || printf '%s\0' "${entry#*$'\t'}"
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

# half_written TREE: finds files that git could not write completely, on a full disk. They are
# only ours.
half_written() {
  local path size tree=$1
  [ -s "$OUT.late" ] && [ -n "$tree" ] || return 0
  is_here "$tree" || return
  [ -n "$HERE" ] || return 0
  while IFS= read -r -d '' path; do
    is_here "$tree:$path" || return
    if [ -n "$HERE" ] && [ -f "$path" ] && [ ! -L "$path" ]; then
      git cat-file blob "$tree:$path" >"$OUT.whole" 2>>"$OUT.err" && size=$(stat -c %s -- "$path") || return
      # It is an incomplete copy: the same beginning, and the target goes on after it.
      head -c "$size" "$OUT.whole" >"$OUT.part" || return
      if cmp -s -- "$OUT.part" "$path"; then continue; elif [ $? -gt 1 ]; then return 2; fi
    fi
    printf '%s\0' "$path"
  done <"$OUT.late" >"$OUT.late.kept"
  mv -f -- "$OUT.late.kept" "$OUT.late"
}

# reach I TREE META: brings the repository to a state, from any state, and proves it. Used for the
# target, and for the way back (BACK) when anything failed.
reach() {
  local i=$1 tree=$2 meta=$3 from_tree from_meta was status
  : >"$OUT.err"
  : >"$OUT.warn"
  : >"$OUT.late"
  : >"$OUT.new"
  : >"$OUT.old"
  : >"$OUT.kept"
  if [ -z "$tree" ]; then
    leave "$i"
    return
  fi
  if [ -z "$HG" ] && { [ "$FILES_ONLY" = 0 ] || [ -z "$EXISTS" ]; }; then
    # If the shadow exists, the state tells whether there was a .git at all.
    [ -z "${GIT_DIR-}" ] || load_state "$meta" || return
    if [ -z "${GIT_DIR-}" ] || [ "$T_KIND" != none ]; then
      unpark "${R_PATH[i]}" "$meta" 2>>"$OUT.err" || return
      [ -z "$HG" ] || look_at_host
    fi
  fi
  if [ -z "$EXISTS" ]; then
    T_META='' PARTS=()
    if [ -n "$HG" ]; then
      open_shadow "$FORMAT" 2>>"$OUT.err" && borrow_host && bring_objects "$i" || return
    else
      make_host "$i" "$meta" 2>>"$OUT.err" || return
    fi
    EXISTS=1
    look_at_host
  fi
  # The start for the sidecar: the captured one, and on the way back the one that was being
  # applied.
  was=$META
  if [ -n "$TREE" ]; then
    line_of "$OUT.goal" && GOAL=$TEXT || return
    FROM_TREE=$TREE
  else
    [ -z "$BACK" ] || was=${R_META[i]}
    stand "$i" '' 2>>"$OUT.err" || return
    objects_present "$tree" "$meta" || {
      status=$?
      said_in "$OUT.missing"
      [ -z "$SAID" ] || cut_off $status "$SAID" || lacks "$SAID"
      return $status
    }
    goal_tree "$tree" 2>>"$OUT.err" && own "$i" 2>>"$OUT.err" || return
  fi
  # It is there already, as a capture in this same call found.
  [ "$TREE" != "$GOAL" ] || [ "$META" != "$meta" ] || return 0
  [ -n "$HG" ] || load_state "$meta" || return
  if [ -z "$HG" ] && [ "$T_KIND" != none ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    # The working tree exists, but its .git does not.
    make_host "$i" "$meta" 2>>"$OUT.err" || return
    look_at_host
  fi
  from_tree=$FROM_TREE from_meta=$META
  apply_umask "$meta" && changes "$from_tree" "$GOAL" || return
  : >"$OUT.unseen"
  if [ "$RULES_DIFFER" = 1 ]; then list_unseen || return; fi
  [ -n "$BACK" ] || keep_unseen "$from_tree" "$GOAL" 2>>"$OUT.err" || return
  want_empty "$meta" && loosen "$from_meta" || return
  move_files "$FROM_TREE" "$GOAL" || {
    status=$?
    said_in "$OUT.move"
    case $SAID in *'is corrupt'* | *'is empty'* | *'unable to read'* | *'inflate:'* | *'bad object'* | *'Could not read'*) cut_off $status "$SAID" || lacks "$SAID" ;; esac
    return $status
  }
  move_sidecar "$was" "$meta" 2>>"$OUT.err" || return
  if [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; then
    move_host "$meta" "$from_meta" "${R_PATH[i]}" 2>>"$OUT.err" || return
  fi
  if [ "$from_meta" = "$meta" ]; then
    [ -z "$HG" ] || refresh_index 2>>"$OUT.err" || return
    if [ -z "$CREATED$BACK" ]; then
      came_back "$GOAL" || return
      if [ -n "$CAME" ]; then
        TREE=$GOAL
        keep_tree_id
        return
      fi
    fi
  fi
  verify "$i" "$meta"
}

# lacks WHAT: objects turned out to be damaged or missing during the restore. Reported so that
# they are brought again.
lacks() {
  : >"$SHADOW/damaged"
  printf '%s\n' "$1" >"$OUT.lacks"
}

# leave I: removes a repository that the target does not have. Only captured files go, and of
# those only files that the target did not have there either.
leave() {
  local i=$1 meta
  if [ -z "$EXISTS" ]; then
    [ -z "$BACK" ] || drop_begun "${R_PATH[i]}"
    return
  fi
  GOAL=$EMPTY FROM_TREE=$TREE
  [ -n "$TREE" ] || { stand "$i" '' && own "$i"; } 2>>"$OUT.err" || return
  list_unseen || return
  declare -gA WANTED=()
  [ -n "$BACK" ] || spare "$i" 2>>"$OUT.err" || return
  loosen "$META" || return
  if [ -z "$BACK" ] && [ "$FROM_TREE" != "$TREE" ]; then
    emit plan parked >"$OUT.plan"
    plan_paths "$FROM_TREE" "$EMPTY" || return
  fi
  move_files "$FROM_TREE" "$EMPTY" || return
  meta=$META
  if [ -n "$BACK" ]; then
    meta=${R_META[i]} HERE=''
    [ -z "$meta" ] || is_here "$meta" || return
    [ -n "$HERE" ] || meta=''
  fi
  drop_empty "$meta" || return
  [ "$FILES_ONLY" = 0 ] || return 0
  park "${R_PATH[i]}" "$META" 2>>"$OUT.err"
}

# drop_begun PATH: removes the remains of a repository that was begun but never finished: our own
# directory in an empty one.
drop_begun() {
  local inside=("$1"/*) ours=$1/.agent-shadow
  [ ${#inside[@]} = 1 ] && [ "${inside[0]}" = "$ours" ] && [ ! -L "$ours" ] || [ ${#inside[@]} = 0 ] || return 0
  [ -d "$1" ] && [ ! -L "$1" ] || return 0
  if [ -d "$ours" ]; then
    rm -rf -- "$ours/session-$SESSION" || return
    inside=("$ours"/*)
    [ ${#inside[@]} = 0 ] || [ "${inside[*]}" = "$ours/.gitignore" ] || return 0
    rm -rf -- "$ours" || return
  fi
  rmdir -p --ignore-fail-on-non-empty -- "$1"
}

# enclosing I: OUTER is the number of the nearest repository of the target around this one, BELOW this one's path in it.
enclosing() {
  local j path=${R_PATH[$1]} best=''
  OUTER='' BELOW=''
  for j in "${!R_PATH[@]}"; do
    [ -n "${R_TREE[j]}" ] && [ "$j" != "$1" ] || continue
    if [ "${R_PATH[j]}" = . ]; then
      [ -n "$best" ] || { OUTER=$j && BELOW=$path; }
    elif [[ $path == "${R_PATH[j]}"/* ]] && [ ${#R_PATH[j]} -gt ${#best} ]; then
      best=${R_PATH[j]} OUTER=$j BELOW=${path#"$best"/}
    fi
  done
}

# spare_older I: handles a repository made from a plain directory, with no repository of the
# target around it. No capture shows which files were there before. Files older than the target
# existed then, so they stay, without the repository. The files of a renamed repository go: it is
# as old as they are, and its old place is filled again. If the sandbox does not remember when the
# target was captured, all files go. They are in the undo point.
spare_older() {
  local i=$1 j path time comes=''
  : >"$OUT.spared"
  [ -n "$TARGET_TAG" ] && [ -f "$HOME_DIR/taken-$SESSION/$TARGET_TAG" ] || return 0
  time=$(stat -c '0 %.6Y' -- "$HOME_DIR/taken-$SESSION/$TARGET_TAG") || return
  born "$time"
  local limit=$BORN
  for j in "${!R_PATH[@]}"; do [ -z "${R_TREE[j]}" ] || [ -n "${R_NOW_TREE[j]}" ] || comes=1; done
  if [ -n "$comes" ]; then
    stat --printf '%.6W %.6Z\0' -- .git .git/* >"$OUT.times" || return
    while IFS= read -r -d '' time; do
      born "$time"
      [ "$BORN" -ge "$limit" ] || return 0
    done <"$OUT.times"
  fi
  git ls-tree -r -z --name-only "$FROM_TREE" >"$OUT.mine" && times_of "$OUT.mine" || return
  while IFS= read -r -d '' time && IFS= read -r -d '' path; do
    born "$time"
    [ "$BORN" -ge "$limit" ] || printf '%s\0' "$path"
  done <"$OUT.times" >"$OUT.spared"
  part "$META" empty "$OUT.empty-of" && times_of "$OUT.empty-of" || return
  while IFS= read -r -d '' time && IFS= read -r -d '' path; do
    born "$time"
    [ "$BORN" -ge "$limit" ] || WANTED[$path]=1
  done <"$OUT.times"
  leave_alone "$OUT.spared"
}

# times_of LIST: writes into $OUT.times when each file was made and last changed, and its path.
times_of() {
  : >"$OUT.times"
  [ ! -s "$1" ] || xargs -0 stat --printf '%.6W %.6Z\0%n\0' -- <"$1" >"$OUT.times"
}

# born "BIRTH CHANGE": BORN in microseconds, or the last change where the file system records no
# birth.
born() {
  local birth=${1% *} change=${1#* }
  birth=${birth/./} change=${change/./}
  [[ $birth == *[1-9]* ]] || birth=$change
  BORN=$((10#$birth))
}

# spare I: finds files that stay when their repository goes: those that a repository around it has
# in the target, and brings back itself, and those that it ignored then, which no capture saw.
spare() {
  local i=$1 shadow path rules=$OUT.outer
  local -A mine=() both=()
  enclosing "$i"
  if [ -z "$OUTER" ]; then
    spare_older "$i"
    return
  fi
  shadow=$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION
  git ls-tree -r -z --name-only "$FROM_TREE" >"$OUT.mine" || return
  while IFS= read -r -d '' path; do printf '%s\0' "$BELOW/$path"; done <"$OUT.mine" >"$OUT.below"
  # This needs its own git directory, because that of the outer repository ignores this one.
  rm -rf -- "$rules" && mkdir -p -- "$rules/objects" "$rules/refs" "$rules/info" && printf 'ref: refs/heads/none\n' >"$rules/HEAD" || return
  slurp "$ROOT/${R_PATH[OUTER]}/.git/info/exclude"
  printf '%s' "$TEXT" >"$rules/info/exclude" || return
  (
    export GIT_DIR=$shadow
    git ls-tree -r -z --name-only "${R_TREE[OUTER]}" >"$OUT.theirs" && ignored_by "${R_TREE[OUTER]}" "$OUT.below" "$OUT.theirs-ignored" "$rules"
  ) || return
  while IFS= read -r -d '' path; do mine[$path]=1; done <"$OUT.below"
  while IFS= read -r -d '' path; do [ -z "${mine[$path]-}" ] || both[${path#"$BELOW"/}]=1; done <"$OUT.theirs"
  while IFS= read -r -d '' path; do both[${path#"$BELOW"/}]=1; done <"$OUT.theirs-ignored"
  [ ${#both[@]} -gt 0 ] || return 0
  printf '%s\0' "${!both[@]}" >"$OUT.spared" && leave_alone "$OUT.spared"
}
