# One repository to its target, or back.
# shellcheck shell=bash

# own I: what of the files that stand here this restore may overwrite or delete: those that the target, or the capture it
# started from, has at that path with that content. All others appeared meanwhile, and leave the plan: they are in
# $OUT.late, FROM_TREE and GOAL are without them. In a repository that was set aside, the one around it has written.
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
    # Neither the repository around it nor this directory in it need be there.
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

# half_written TREE: a file that git could not write to its end, on a full disk, is nobody's but ours.
half_written() {
  local path size tree=$1
  [ -s "$OUT.late" ] && [ -n "$tree" ] || return 0
  is_here "$tree" || return
  [ -n "$HERE" ] || return 0
  while IFS= read -r -d '' path; do
    is_here "$tree:$path" || return
    if [ -n "$HERE" ] && [ -f "$path" ] && [ ! -L "$path" ]; then
      git cat-file blob "$tree:$path" >"$OUT.whole" 2>>"$OUT.err" && size=$(stat -c %s -- "$path") || return
      # The beginning of it, and not all: what ends there alike and goes on in the target.
      head -c "$size" "$OUT.whole" >"$OUT.part" || return
      if cmp -s -- "$OUT.part" "$path"; then continue; elif [ $? -gt 1 ]; then return 2; fi
    fi
    printf '%s\0' "$path"
  done <"$OUT.late" >"$OUT.late.kept"
  mv -f -- "$OUT.late.kept" "$OUT.late"
}

# reach I TREE META: brings the repository to a state, from wherever it stands, and proves it. Used for the target and,
# when anything failed, for the way back (BACK).
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
    # In a shadow that is there, the state says whether there was a .git at all.
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
  # Where the sidecar starts from: what the repository was captured with, and on the way back what it was to get.
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
  # There already, as a capture in this very call found.
  [ "$TREE" != "$GOAL" ] || [ "$META" != "$meta" ] || return 0
  [ -n "$HG" ] || load_state "$meta" || return
  if [ -z "$HG" ] && [ "$T_KIND" != none ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    # The working tree is there, its .git is not.
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

# lacks WHAT: objects turned out to be damaged or missing while the restore was under way. Said so that they are brought again.
lacks() {
  : >"$SHADOW/damaged"
  printf '%s\n' "$1" >"$OUT.lacks"
}

# leave I: takes a repository away that the target does not have. Only captured files go, and of those only what the
# target did not have there either.
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

# drop_begun PATH: what is left of a repository that was to come and never did: our own directory in an empty one.
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

# spare_older I: where no repository of the target is around, nothing captured says what was there before somebody made a
# repository of a directory. Files older than the target were, and stay, without it. Those of a renamed repository,
# which is as old itself and whose old place is filled again, go. Where the sandbox does not remember when the target
# was captured, all go: they are in the undo point.
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

# times_of LIST: into $OUT.times, when each of these was made and last changed, and its path.
times_of() {
  : >"$OUT.times"
  [ ! -s "$1" ] || xargs -0 stat --printf '%.6W %.6Z\0%n\0' -- <"$1" >"$OUT.times"
}

# born "BIRTH CHANGE": BORN in microseconds; the last change where the file system knows no birth.
born() {
  local birth=${1% *} change=${1#* }
  birth=${birth/./} change=${change/./}
  [[ $birth == *[1-9]* ]] || birth=$change
  BORN=$((10#$birth))
}

# spare I: files of a repository that goes which stay: those that a repository around it has in the target, and brings
# back itself, and those it ignored then, which nobody saw.
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
  # A git directory of its own, because the one of the outer repository ignores this one.
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
