# One repository to its target, or back.
# shellcheck shell=bash

# own I: what of the files that stand here this restore may overwrite or delete: those that the target, or the capture it
# started from, has at that path with that content. All others appeared meanwhile, and leave the plan: they are in
# $OUT.late, FROM_TREE and GOAL are without them. In a repository that was set aside, the one around it has written.
own() {
  local i=$1 tree index=$OUT.goal.index
  {
    for tree in "${R_NOW_TREE[i]}" "${R_UNDO_TREE[i]}" "${R_TREE[i]}"; do
      [ -z "$tree" ] || git ls-tree -r -z "$tree" 2>/dev/null
    done
    enclosing "$i"
    [ -z "$OUTER" ] || GIT_DIR=$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION git ls-tree -r -z "${R_TREE[OUTER]}:$BELOW" 2>/dev/null
    true
  } | sed -z 's/^\([0-7]*\) [a-z]* /\1 /' | sort -zu >"$OUT.ours"
  git ls-files -s -z | sed -z 's/^\([0-7]* [0-9a-f]*\) [0-3]\t/\1\t/' | sort -z | comm -z -23 - "$OUT.ours" | cut -z -f2- >"$OUT.late" || return 1
  half_written "${R_TREE[i]}"
  FROM_TREE=$TREE
  [ -s "$OUT.late" ] || return 0
  if [ -z "$BACK" ]; then
    printf 'these appeared meanwhile: %s\n' "$(head -z -n 5 "$OUT.late" | tr '\0' ' ')" >>"$OUT.err"
    return 1
  fi
  leave_alone "$OUT.late" || return 1
  [ "$GOAL" != "$EMPTY" ] || return 0
  rm -f -- "$index"
  GIT_INDEX_FILE=$index git read-tree "$GOAL" && GIT_INDEX_FILE=$index git update-index --force-remove -z --stdin <"$OUT.late" || return 1
  GOAL=$(GIT_INDEX_FILE=$index git write-tree)
}

# half_written TREE: a file that git could not write to its end, on a full disk, is nobody's but ours.
half_written() {
  local path size
  [ -s "$OUT.late" ] && [ -n "$1" ] || return 0
  while IFS= read -r -d '' path; do
    size=$([ -L "$path" ] || stat -c %s -- "$path" 2>/dev/null)
    if [ -z "$size" ] || ! git cat-file blob "$1:$path" 2>/dev/null | head -c "$size" | cmp -s - "$path"; then
      printf '%s\0' "$path"
    fi
  done <"$OUT.late" >"$OUT.late.kept"
  mv -f -- "$OUT.late.kept" "$OUT.late"
}

# reach I TREE META: brings the repository to a state, from wherever it stands, and proves it. Used for the target and,
# when anything failed, for the way back (BACK).
reach() {
  local i=$1 tree=$2 meta=$3 from_tree from_meta was
  : >"$OUT.err"
  : >"$OUT.warn"
  : >"$OUT.late"
  if [ -z "$tree" ]; then
    leave "$i"
    return
  fi
  if [ -z "$HG" ] && { [ "$FILES_ONLY" = 0 ] || [ -z "$EXISTS" ]; }; then
    # In a shadow that is there, the state says whether there was a .git at all.
    [ -z "${GIT_DIR-}" ] || load_state "$meta"
    if [ -z "${GIT_DIR-}" ] || [ "$T_KIND" != none ]; then
      unpark "${R_PATH[i]}" "$meta" 2>>"$OUT.err" || return 1
      [ -z "$HG" ] || look_at_host
    fi
  fi
  if [ -z "$EXISTS" ]; then
    [ -n "$HG" ] || make_host "${R_PATH[i]}" "$NEW_FORMAT" 2>>"$OUT.err" || return 1
    EXISTS=1
    open_shadow "$FORMAT" 2>>"$OUT.err" && borrow_host || return 1
    bring_objects "$i" && furnish_host "$meta" || return 1
    look_at_host
    T_META='' PARTS=()
  fi
  # Where the sidecar starts from: what the repository was captured with, and on the way back what it was to get.
  was=$META
  if [ -n "$TREE" ]; then
    line_of "$OUT.goal" && GOAL=$TEXT || return 1
    FROM_TREE=$TREE
  else
    [ -z "$BACK" ] || was=${R_META[i]}
    stand "$i" '' 2>>"$OUT.err" && objects_present "$tree" "$meta" && goal_tree "$tree" 2>>"$OUT.err" && own "$i" 2>>"$OUT.err" || return 1
  fi
  # There already, as a capture in this very call found.
  [ "$TREE" != "$GOAL" ] || [ "$META" != "$meta" ] || return 0
  [ -n "$HG" ] || load_state "$meta"
  if [ -z "$HG" ] && [ "$T_KIND" != none ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    # The working tree is there, its .git is not.
    make_host "${R_PATH[i]}" "$NEW_FORMAT" 2>>"$OUT.err" && furnish_host "$meta" || return 1
    look_at_host
  fi
  from_tree=$FROM_TREE from_meta=$META
  apply_umask "$meta"
  changes "$from_tree" "$GOAL" || return 1
  if [ "$RULES_DIFFER" = 1 ]; then list_unseen || return 1; fi
  [ -n "$BACK" ] || keep_ignored "$from_tree" "$GOAL" 2>>"$OUT.err" || return 1
  loosen "$from_meta"
  move_files "$FROM_TREE" "$GOAL" '' || return 1
  move_sidecar "$was" "$meta" 2>>"$OUT.err" || return 1
  if [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; then
    move_host "$meta" "$from_meta" "${R_PATH[i]}" 2>>"$OUT.err" || return 1
  fi
  if [ "$from_meta" = "$meta" ] && [ -z "$CREATED$BACK" ] && came_back "$GOAL"; then
    TREE=$GOAL
    keep_tree_id
    return 0
  fi
  verify "$i" "$meta"
}

# leave I: takes a repository away that the target does not have. Only captured files go, and of those only what the
# target did not have there either.
leave() {
  local i=$1
  [ -n "$EXISTS" ] || return 0
  GOAL=$EMPTY FROM_TREE=$TREE
  [ -n "$TREE" ] || { stand "$i" '' && own "$i"; } 2>>"$OUT.err" || return 1
  list_unseen || return 1
  declare -gA WANTED=()
  [ -n "$BACK" ] || spare "$i" 2>>"$OUT.err" || return 1
  loosen "$META"
  if [ -z "$BACK" ] && [ "$FROM_TREE" != "$TREE" ]; then
    emit plan parked >"$OUT.plan"
    plan_paths "$FROM_TREE" "$EMPTY"
  fi
  move_files "$FROM_TREE" "$EMPTY" '' || return 1
  if [ -n "$BACK" ]; then drop_empty "${R_META[i]}"; else drop_empty "$META"; fi
  [ "$FILES_ONLY" = 0 ] || return 0
  park "${R_PATH[i]}" "$META" 2>>"$OUT.err"
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
  time=$([ -z "$TARGET_TAG" ] || stat -c '0 %.6Y' -- "$HOME_DIR/taken-$SESSION/$TARGET_TAG" 2>/dev/null) && [ -n "$time" ] || return 0
  born "$time"
  local limit=$BORN
  for j in "${!R_PATH[@]}"; do [ -z "${R_TREE[j]}" ] || [ -n "${R_NOW_TREE[j]}" ] || comes=1; done
  while [ -n "$comes" ] && IFS= read -r -d '' time; do
    born "$time"
    [ "$BORN" -ge $limit ] || return 0
  done < <(stat --printf '%.6W %.6Z\0' -- .git .git/* 2>/dev/null)
  while IFS= read -r -d '' time && IFS= read -r -d '' path; do
    born "$time"
    [ "$BORN" -ge $limit ] || printf '%s\0' "$path"
  done < <(git ls-tree -r -z --name-only "$FROM_TREE" | xargs -0 -r stat --printf '%.6W %.6Z\0%n\0' -- 2>/dev/null) >"$OUT.spared"
  while IFS= read -r -d '' time && IFS= read -r -d '' path; do
    born "$time"
    [ "$BORN" -ge $limit ] || WANTED[$path]=1
  done < <(part "$META" empty | xargs -0 -r stat --printf '%.6W %.6Z\0%n\0' -- 2>/dev/null)
  leave_alone "$OUT.spared"
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
  local i=$1 shadow rules=$OUT.outer
  enclosing "$i"
  if [ -z "$OUTER" ]; then
    spare_older "$i"
    return
  fi
  shadow=$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION
  git ls-tree -r -z --name-only "$FROM_TREE" | sed -z "s#^#$(sed_quote "$BELOW")/#" | sort -z >"$OUT.mine"
  # A git directory of its own, because the one of the outer repository ignores this one.
  rm -rf -- "$rules" && mkdir -p -- "$rules/objects" "$rules/refs" "$rules/info" && printf 'ref: refs/heads/none\n' >"$rules/HEAD" || return 1
  cp -- "$ROOT/${R_PATH[OUTER]}/.git/info/exclude" "$rules/info/exclude" 2>/dev/null
  (
    export GIT_DIR=$shadow
    git ls-tree -r -z --name-only "${R_TREE[OUTER]}" | sort -z | comm -z -12 - "$OUT.mine" && ignored_by "${R_TREE[OUTER]}" "$rules" <"$OUT.mine"
  ) | sort -zu | cut -z -c$((${#BELOW} + 2))- >"$OUT.spared" && leave_alone "$OUT.spared"
}
