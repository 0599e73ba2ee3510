# Takes away a repository that the target does not have: which of its files go, and which stay.
# shellcheck shell=bash

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
  declare -gA WANTED=() THERE=()
  if [ -z "$BACK" ]; then spare "$i" 2>>"$OUT.err" && leave_alone "$OUT.spared" 2>>"$OUT.err" || return; fi
  loosen "$META" || return
  if [ -z "$BACK" ] && [ "$FROM_TREE" != "$TREE" ]; then
    emit plan parked >"$OUT.plan"
    plan_paths "$FROM_TREE" "$EMPTY" || return
  fi
  move_files "$FROM_TREE" "$EMPTY" && touch_it && { [ -z "$BACK" ] || drop_made "$i" 2>>"$OUT.err"; } || return
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
  # Another repository may remove a directory around both just now.
  rmdir -p --ignore-fail-on-non-empty -- "$1" 2>>"$OUT.err" || [ ! -e "$1" ]
}

# enclosing I: OUTER becomes the number of the nearest repository of the target around this one, and BELOW the
# path of this one in it.
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

# spare I: lists in $OUT.spared the files that stay when their repository goes: those that the outer
# repository has in the target and brings back itself, and those that the outer repository may have had then,
# unseen. WANTED becomes the empty directories that stay.
spare() {
  local i=$1 path
  local -A stays=()
  : >"$OUT.spared"
  enclosing "$i"
  if [ -z "$OUTER" ]; then
    spare_beside "$i"
    return
  fi
  git ls-tree -r -z --name-only "$FROM_TREE" >"$OUT.mine" || return
  while IFS= read -r -d '' path; do printf '%s\0' "$BELOW/$path" || return; done <"$OUT.mine" >"$OUT.below"
  unseen_around "$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION" && staying "$OUT.theirs" "$OUT.below" "$OUT.below-stays" "$OUT.below-said" || return
  # The proof of the outer repository ignores them (unseen_of).
  while IFS= read -r -d '' path; do printf '%s\0' "${path#"$BELOW"/}" || return; done <"$OUT.below-stays" >"$OUT.spared" && pass_on "$OUT.spared" >>"$OUT.unseen" || return
  while IFS= read -r -d '' path; do printf '%s\0' "${path#"$BELOW"/}" || return; done <"$OUT.below-said" >"$OUT.warn.kept"
}

# in_empty: whether this repository was made where nothing was, so that all of its files came with it or later:
# by git worktree add, by git clone, or by a restore.
in_empty() {
  [ -n "$HG" ] || return
  [ "$HG" = "$HC" ] && [ ! -f "$SHADOW/in-empty" ] || return 0
  line_of "$HG/logs/HEAD" && [[ $TEXT == *$'\tclone: from '* ]]
}

# unseen_around SHADOW: marks these files in the array `stays`, by their paths in the outer repository. This
# needs a git directory of its own, because the git directory of the outer repository ignores this one.
unseen_around() {
  local path objects HIDING='' rules=$OUT.outer
  local -A included=()
  rm -rf -- "$rules" "$rules.mine" && mkdir -p -- "$rules"/{objects,refs,info} && printf 'ref: refs/heads/none\n' >"$rules/HEAD" && cp -- "$1/config" "$rules/config" || return
  # What the last look there ignored by other rules than rules files, without the repositories in it.
  slurp "$1/info/exclude"
  TEXT=$'\n'$TEXT
  printf '%s\n' "${TEXT%$'\n/.agent-shadow/\n'*}" >"$rules/info/exclude" || return
  alternate "$SHADOW/objects" && objects=$TEXT && alternate "$1/objects"
  local -x GIT_DIR=$rules GIT_INDEX_FILE=$rules.mine GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects:$TEXT
  # A tree of another object format cannot be read.
  if line_of "$1/format" && [ "$TEXT" = "$FORMAT" ]; then
    git read-tree --prefix="$BELOW/" "$FROM_TREE" && HIDING=1 && find_included || return
  fi
  in_empty || { too_large_then "${R_META[OUTER]}" && ignored_then "${R_TREE[OUTER]}" "${R_META[OUTER]}" "$OUT.below"; } || return
  git ls-tree -r -z --name-only "${R_TREE[OUTER]}" >"$OUT.theirs" || return
  while IFS= read -r -d '' path; do stays[$path]=' '; done <"$OUT.theirs"
}

# spare_beside I: the same when no repository of the target is around it. The directory was then in no
# capture. The files whose names were noted stay, with their present content. If nothing was noted, all files
# stay.
spare_beside() {
  local i=$1 path count=0 below='' unseen='' why='they were there before it was a repository, and the checkpoint does not hold their content'
  [ "${R_PATH[i]}" = . ] || below=${R_PATH[i]}/
  git ls-tree -r -z --name-only "$FROM_TREE" >"$OUT.mine" && part "$META" empty "$OUT.empty-of" || return
  there_then || return
  if [ -z "$NOTED" ]; then
    unseen=1 why='nothing says what this directory held when the checkpoint was taken; delete what should not stay'
  elif under_unseen "${R_PATH[i]}"; then
    unseen=1
  fi
  [ -z "$unseen" ] || THERE[${R_PATH[i]}]=d
  while IFS= read -r -d '' path; do
    [ -n "$unseen" ] || [ "${THERE[$below$path]-}" = f ] || under_unseen "$below$path" || continue
    count=$((count + 1))
    printf '%s\0' "$path" || return
  done <"$OUT.mine" >"$OUT.spared"
  while IFS= read -r -d '' path; do
    [ -z "$unseen" ] && [ "${THERE[$below$path]-}" != d ] && ! under_unseen "$below$path" || WANTED[$path]=1
  done <"$OUT.empty-of"
  for path in "${!THERE[@]}"; do [ "${THERE[$path]}" != d ] || [[ $path != "$below"?* ]] || WANTED[${path#"$below"}]=1; done
  case $count in
    0) ;;
    1) printf '1 file stays, because %s\n' "$why" ;;
    *) printf '%s files stay, because %s\n' $count "$why" ;;
  esac >>"$OUT.warn"
}

# there_then: THERE says for each path that lay in no repository what it was when the target was taken: d, f,
# or o for a directory that was not looked into. If the target was taken in another sandbox, THERE holds what
# was here when the session came to this sandbox. NOTED is empty when this is not known.
there_then() {
  local entry entries=() file=$HOME_DIR/taken-$SESSION/$TARGET_TAG
  declare -gA THERE=()
  NOTED='' UNSEEN_THERE=''
  [ -n "$TARGET_TAG" ] && [ -f "$file" ] || file=$HOME_DIR/taken-$SESSION/.came
  [ -f "$file" ] || return 0
  mapfile -d '' -t entries <"$file" || return
  [ ${#entries[@]} -gt 0 ] && [ "${entries[-1]}" = e ] || return 0
  NOTED=1
  for entry in "${entries[@]}"; do
    [ "${entry:1:2}" = ./ ] || continue
    THERE[${entry:3}]=${entry:0:1}
    [[ $entry != o* ]] || UNSEEN_THERE=1
  done
}

# under_unseen PATH: whether PATH lies in a directory that was not looked into then.
under_unseen() {
  local above=$1
  [ -n "$UNSEEN_THERE" ] || return 1
  while [[ $above == */* ]]; do
    above=${above%/*}
    [ "${THERE[$above]-}" != o ] || return 0
  done
  return 1
}
