# The restore command: check everything, then write, then verify; or put everything back. Variables: restore-command.ts.
# shellcheck shell=bash

# problem KIND MESSAGE: recorded for the repository being worked on.
problem() { { emit problem "$1" && emit problem-message "$2"; } >>"$OUT.problems"; }

git_said() { cat "$OUT.move" "$OUT.err" 2>/dev/null | grep -v '^$' | head -20 | cut -c1-300 | tr '\n' ' '; }

# fetch_bundles: large ones come by presigned GET; all are checked before git sees them.
fetch_bundles() {
  [ -d "$IN" ] || return 0
  cd -- "$IN" || return 1
  if [ -f sources ]; then
    curl --disable -K sources 2>"$RUN/fetch.log" || die SandboxUnavailable "A bundle could not be fetched into the sandbox: $(head -c 300 "$RUN/fetch.log"). Check that the sandbox may reach the bucket, then call again."
    rm -f -- sources
  fi
  local name files=(*)
  [ ${#files[@]} -gt 0 ] || { cd -- "$ROOT" && return 0; }
  for name in "${files[@]}"; do printf '%s  %s\n' "${name%%.*}" "$name"; done | sha256sum --quiet --strict -c - >"$RUN/sums" 2>&1 \
    || die SandboxUnavailable "A bundle that arrived in the sandbox does not have its SHA-256: $(head -1 "$RUN/sums"). Call again."
  cd -- "$ROOT" || return 1
}

# open_repository I [COMMIT]: enters it, finds host and shadow, sets what the other functions read. EXISTS says whether it
# is there. COMMIT is the host's HEAD for a caller that needs no more of it than that.
open_repository() {
  local i=$1
  INDEX=$i OUT=$RUN/$i REPOSITORY=${R_PATH[i]}
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  cd -- "$ROOT" || return 1
  EXISTS='' CREATED='' HG='' HC='' HOST_CONFIG='' FORMAT=${R_FORMAT[i]} HEAD_KIND=none HEAD_REF='' HEAD_COMMIT='' BRANCHES='' PARTIAL_FLAG=${R_PARTIAL[i]:+1} SHALLOW=0 PARTIAL=0 TREE='' META=''
  if [ "$FORMAT" = sha256 ]; then EMPTY=$EMPTY_SHA256 NEW_FORMAT=sha256 EMPTY_BLOB=$EMPTY_BLOB_SHA256; else EMPTY=$EMPTY_SHA1 NEW_FORMAT='' EMPTY_BLOB=$EMPTY_BLOB_SHA1; fi
  ZERO_ID=${EMPTY//?/0}
  [ -d "${R_PATH[i]}" ] && [ ! -L "${R_PATH[i]}" ] && { [ -e "${R_PATH[i]}/.git" ] || [ -n "${R_NOW_TREE[i]}" ]; } || return 0
  EXISTS=1
  cd -- "${R_PATH[i]}" || return 1
  look_at_host "${2-}"
}

look_at_host() {
  HG='' HC='' HOST_CONFIG='' HEAD_KIND=none HEAD_REF='' HEAD_COMMIT='' BRANCHES=''
  if ! find_host; then
    HG='' HC=''
    return 0
  fi
  host_format
  if [ -n "${1-}" ]; then HEAD_COMMIT=$1; else read_head || :; fi
  base_name
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
}

# stand I TARGET: TREE and META of the repository as it is at this moment.
stand() {
  REPOSITORY=${R_PATH[$1]}
  nested_below "$REPOSITORY"
  open_shadow "$FORMAT" && snapshot "$2" >"$OUT.report"
}

# bring_objects I: unpacks the bundles of one repository; the base goes to the host it creates, links to the shadow.
bring_objects() {
  local i=$1 entry kind
  for entry in ${R_BUNDLES[i]}; do
    kind=${entry%%:*} entry=${entry#*:}
    if [ "$kind" = base ] && [ -n "$CREATED" ]; then
      GIT_DIR=$HG unpack "$IN/$entry.bundle" "$kind" ${PARTIAL_FLAG:+--promisor} 2>>"$OUT.err" || return 1
    else
      unpack "$IN/$entry.bundle" "$kind" 2>>"$OUT.err" || return 1
    fi
  done
}

# check_one I: is the repository where the caller thinks it is, and can the target be restored? Writes nothing of the user's.
check_one() {
  local i=$1
  : >"$OUT.problems"
  : >"$OUT.err"
  if [ -n "$EXISTS" ]; then
    stand "$i" "${R_TREE[i]}" 2>>"$OUT.err" || {
      problem failed "the repository can not be read as it is now: $(first_reason)"
      return 0
    }
    if [ "$TREE" != "${R_NOW_TREE[i]}" ] || { [ "$META" != "${R_NOW_META[i]}" ] && [ "$FILES_ONLY" = 0 ]; }; then
      problem changed "files or host state changed after the capture; stop what still works in this repository"
      return 0
    fi
  elif [ -n "${R_NOW_TREE[i]}" ]; then
    problem changed "the repository vanished after the capture"
    return 0
  fi
  if [ -z "${R_TREE[i]}" ]; then
    [ -z "$EXISTS" ] || readable "$TREE" || return 0
    emit plan parked >"$OUT.plan"
    [ -z "$EXISTS" ] || plan_paths "$TREE" "$EMPTY"
    return 0
  fi
  if [ -n "$EXISTS" ]; then
    [ -z "${R_BUNDLES[i]}" ] || bring_objects "$i" || {
      problem missing-objects "a bundle does not fit: $(git_said)"
      return 0
    }
    objects_present "${R_TREE[i]}" "${R_META[i]}" "$TREE" "$META" || {
      problem missing-objects "$(head -c 300 "$OUT.missing")"
      return 0
    }
    goal_tree "${R_TREE[i]}" || return 1
    printf '%s\n' "$GOAL" >"$OUT.goal"
    readable "$TREE" && readable "$GOAL" && free_paths || return 0
    [ "$DRY_RUN" = 0 ] || move_files "$TREE" "$GOAL" -n || {
      problem conflict "$(git_said)"
      return 0
    }
    emit plan restored >"$OUT.plan"
    plan_paths "$TREE" "$GOAL"
    keep_tree_id
  else
    local parent=${R_PATH[i]}
    if symlink_above "$parent/x" || { [ -e "$parent" ] && [ ! -d "$parent" ]; }; then
      problem unsafe-path "a file or a symlink stands where this repository was"
      return 0
    fi
    if [ -n "$(find "$parent" -mindepth 1 -maxdepth 1 ! -name .agent-shadow -print -quit 2>/dev/null)" ]; then
      problem changed "a directory with files appeared where this repository was"
      return 0
    fi
    emit plan created >"$OUT.plan"
  fi
}

# goal_tree TREE: GOAL is what of a tree is this repository's: not what lies in a repository inside it that the same
# target has. A capture holds such files twice, where a rollback was about to overwrite them.
goal_tree() {
  local index=$OUT.goal.index
  GOAL=$1
  [ ${#INNER[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "${INNER[@]/%//}" >"$OUT.inner" || return 1
  [ -s "$OUT.inner" ] || return 0
  rm -f -- "$index"
  GIT_INDEX_FILE=$index git read-tree "$1" && GIT_INDEX_FILE=$index git update-index --force-remove -z --stdin <"$OUT.inner" || return 1
  GOAL=$(GIT_INDEX_FILE=$index git write-tree)
}

# readable TREE: whether the look at the repository could read everything that a tree has. What it could not read is in
# no capture, whatever the index still says about it.
readable() {
  local i pairs=() paths=()
  mapfile -d '' -t pairs <"$OUT.report"
  for ((i = 0; i + 1 < ${#pairs[@]}; i += 2)); do
    [ "${pairs[i]}" != fail-path ] || [ "${pairs[i + 1]}" = . ] || paths+=("${pairs[i + 1]%/}")
  done
  [ ${#paths[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "${paths[@]}" >"$OUT.unread" 2>>"$OUT.err"
  [ -s "$OUT.unread" ] || return 0
  problem conflict "can not be read, so not captured, and would be overwritten or deleted: $(head -z -n 5 "$OUT.unread" | tr '\0' ' ')"
  return 1
}

# free_paths: nothing uncaptured stands where the target writes: no ignored file, no symlink above, no directory with
# other content. git itself would overwrite what is ignored, so it is not asked.
free_paths() {
  local path
  collisions "$GOAL" || return 1
  if [ -s "$OUT.forced" ]; then
    problem conflict "not captured and in the way: $(head -z -n 5 "$OUT.forced" | tr '\0' ' ')"
    return 1
  fi
  [ -s "$OUT.added" ] || [ -s "$OUT.typed" ] || return 0
  while IFS= read -r -d '' path; do
    [ -d "$path" ] && [ ! -L "$path" ] || continue
    find "./$path" ! -type d -printf '%P\0' | sed -z "s#^#$(sed_quote "$path")/#" | sort -z >"$OUT.inside"
    git --literal-pathspecs ls-files -z -c -- "$path" | sort -z | comm -z -13 - "$OUT.inside" >"$OUT.foreign"
    [ -s "$OUT.foreign" ] || continue
    problem conflict "$path is a file in the target and a directory now, which holds files that are not captured: $(head -z -n 5 "$OUT.foreign" | tr '\0' ' ')"
    return 1
  done < <(cat -- "$OUT.added" "$OUT.typed")
}

sed_quote() { printf '%s' "$1" | sed -e 's/[\\#&]/\\&/g' -e 's/$/\\/' -e '$s/\\$//'; }

# plan_paths FROM TO: numbers, and the first paths of the plan for a preview.
plan_paths() {
  local status path shown=0
  changes "$1" "$2" || return 1
  { emit written "$WRITTEN" && emit deleted "$REMOVED"; } >>"$OUT.plan"
  [ "$DRY_RUN" = 1 ] || return 0
  while [ $shown -lt 200 ] && IFS= read -r -d '' status && IFS= read -r -d '' path; do
    shown=$((shown + 1))
    emit plan-path "$path" && emit plan-change "$([ "$status" = D ] && echo delete || echo write)"
  done <"$OUT.changes" >>"$OUT.plan"
}

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

# came_back TREE: the proof where only working files were to change, and modes and empty directories there are none. The
# rest of the repository was looked at under this lock before the first write. git compares every captured file with the
# tree, and reads what was written too recently for its times to tell; what is gone, and the directories in which something
# was written or deleted, are looked at here. Anything in doubt is left to a capture.
came_back() {
  local path where=() prune=()
  local -A seen=()
  plain "$META" && [ "$RULES_DIFFER" = 0 ] || return 1
  git diff-index --quiet "$1" 2>>"$OUT.err" || return 1
  while IFS= read -r -d '' path; do
    [ ! -e "$path" ] && [ ! -L "$path" ] || return 1
  done <"$OUT.removed"
  if [ $((WRITTEN + REMOVED)) -le 100 ]; then
    where=(.)
    while IFS= read -r -d '' _ && IFS= read -r -d '' path; do
      while [[ $path == */* ]]; do
        path=${path%/*}
        [ -z "${seen[$path]-}" ] || break
        seen[$path]=1
        if [ -d "$path" ] && [ ! -L "$path" ]; then where+=("./$path"); fi
      done
    done <"$OUT.changes"
  fi
  known_ignored
  find_odd "${where[@]}"
  sort_odd
  drop_ignored "$OUT.modes" 1
  drop_ignored "$OUT.empty" 0
  plain "$META"
}

# verify I META: captures again; what came back is what was captured (C4).
verify() {
  local i=$1 meta=$2 name
  look_at_host
  unseen_of "$i"
  unseen_rules
  stand "$i" "$GOAL" 2>>"$OUT.err" || return 1
  UNSEEN_RULES=''
  [ "$TREE" = "$GOAL" ] || explained "$i" || return 1
  [ "$META" != "$meta" ] || return 0
  for name in modes empty; do
    same_part "$META" "$meta" $name || { [ -n "$BACK" ] && holds_part "$META" "$meta" $name; } || {
      printf 'verification failed: %s differ\n' "$name" >>"$OUT.err"
      return 1
    }
  done
  [ "$FILES_ONLY" = 0 ] || return 0
  load_state "$meta"
  [ "$T_KIND" != none ] && [ "$T_KIND" != unreadable ] || return 0
  for name in host index stage1 stage2 stage3 index-flags state; do
    same_part "$META" "$meta" $name || {
      printf 'verification failed: the host state (%s) differs\n' "$name" >>"$OUT.err"
      return 1
    }
  done
}

# holds_part META META NAME: whether the first has every line that the second has.
holds_part() { [ -z "$(comm -z -13 <(part "$1" "$3" | sort -z) <(part "$2" "$3" | sort -z) | head -c 1 | tr '\0' x)" ]; }

# unseen_of I: $OUT.unseen is what was ignored in this repository and in those inside it that are gone.
unseen_of() {
  local j below=${R_PATH[$1]}/ file=$OUT.unseen
  [ "$below" != ./ ] || below=''
  [ -f "$file" ] || : >"$file"
  for j in "${!R_PATH[@]}"; do
    [ "$j" != "$1" ] && [ -z "${R_TREE[j]}" ] && [[ ${R_PATH[j]} == "$below"* ]] && [ -s "$RUN/$j.unseen" ] || continue
    sed -z "s#^#$(sed_quote "${R_PATH[j]#"$below"}")/#" "$RUN/$j.unseen" >>"$file"
  done
}

# explained I: whether what differs from GOAL was there before, ignored by rules that are gone, or, on the way back,
# appeared meanwhile.
explained() {
  local status path dir odd=()
  local -A known=()
  git diff-tree -r -z --no-renames --name-status "$GOAL" "$TREE" >"$OUT.astray" || return 1
  while IFS= read -r -d '' path; do known[$path]=1; done < <(cat -- "$OUT.unseen" "$OUT.late")
  while IFS= read -r -d '' status && IFS= read -r -d '' path; do
    if [ "$status" = A ]; then
      [ -z "${known[$path]-}" ] || continue
      dir=$path
      while [[ $dir == */* ]]; do
        dir=${dir%/*}
        [ -z "${known[$dir/]-}" ] || continue 2
      done
      if [ -n "$BACK" ] && ! git cat-file -e "${R_TREE[$1]:-$EMPTY}:$path" 2>/dev/null; then
        printf '%s\0' "$path" >>"$OUT.late"
        continue
      fi
    fi
    odd+=("$path")
  done <"$OUT.astray"
  [ ${#odd[@]} -gt 0 ] || return 0
  printf 'verification failed: not what was captured: %s\n' "${odd[*]:0:5}" >>"$OUT.err"
  return 1
}

# each FUNCTION I...: runs it for these repositories, as many at once as there are processors.
each() {
  local i how=$1
  shift
  STARTED=0
  for i; do
    ("$how" "$i") 2>>"$RUN/$i.log" &
    jobs_limit
  done
  wait
}

# in_order up|down FUNCTION I...: the same, those deepest in the directories first, or last.
in_order() {
  local direction=$1 how=$2 i slashes depth
  local -a levels=() now
  shift 2
  [ $# -gt 0 ] || return 0
  for i; do
    slashes=${R_PATH[i]//[!\/]/}
    depth=$((${#slashes} + 1))
    [ "${R_PATH[i]}" != . ] || depth=0
    levels[depth]+="$i "
  done
  now=(${!levels[@]})
  [ "$direction" = down ] || mapfile -t now < <(printf '%s\n' "${now[@]}" | sort -rn)
  for depth in "${now[@]}"; do each "$how" ${levels[depth]}; done
}

checked() {
  open_repository "$1" && check_one "$1"
  printf '%s %s %s\n' "${TREE:--}" "${META:--}" "${HEAD_COMMIT:--}" >"$OUT.stand"
}

applied() {
  local i=$1 tree meta head
  read -r tree meta head <"$RUN/$i.stand"
  open_repository "$i" "${head#-}" || return 1
  [ "$tree" = - ] || TREE=$tree META=$meta
  nested_below "${R_PATH[i]}"
  if [ -n "$EXISTS" ] && [ -n "$TREE" ]; then open_shadow "$FORMAT" || return 1; fi
  : >"$OUT.touched"
  if reach "$i" "${R_TREE[i]}" "${R_META[i]}"; then : >"$OUT.done"; fi
}

# checked_again I: a repository around one that was made after it came back.
checked_again() {
  local i=$1
  rm -f -- "$RUN/$i.done"
  open_repository "$i" && open_shadow "$FORMAT" && nested_below "${R_PATH[i]}" && goal_tree "${R_TREE[i]}" || return 1
  if verify "$i" "${R_META[i]}"; then : >"$OUT.done"; fi
}

put_back() {
  local i=$1
  open_repository "$i" || return 1
  [ -f "$OUT.touched" ] || return 0
  nested_below "${R_PATH[i]}"
  cp -- "$OUT.err" "$OUT.why" 2>/dev/null
  cp -- "$OUT.move" "$OUT.why.move" 2>/dev/null
  : >"$OUT.move"
  if [ -n "$EXISTS" ] && [ -d ".agent-shadow/session-$SESSION" ]; then open_shadow "$FORMAT" || return 1; fi
  if reach "$i" "${R_UNDO_TREE[i]}" "${R_UNDO_META[i]}"; then : >"$OUT.back"; fi
}

# roots_of HOW: ROOTS as they are while HOW is at work: what a target has, and what no restore touches.
roots_of() {
  local i
  local -A ours=()
  local -n trees=$1
  TARGET_ROOTS=() ROOTS=()
  for i in "${!R_PATH[@]}"; do
    ours[${R_PATH[i]}]=1
    [ -z "${trees[i]}" ] || TARGET_ROOTS+=("${R_PATH[i]}")
    # With filesOnly the .git of one that the target does not have stays, so git sees it as one.
    if [ -n "${trees[i]}" ] || { [ "$FILES_ONLY" = 1 ] && [ -n "${R_NOW_TREE[i]}" ]; }; then ROOTS+=("${R_PATH[i]}"); fi
  done
  for i in "${FOUND[@]}"; do [ -n "${ours[$i]-}" ] || ROOTS+=("$i"); done
}

# all_are MARK I...: whether each of these repositories has it.
all_are() {
  local i mark=$1
  shift
  for i; do [ -f "$RUN/$i.$mark" ] || return 1; done
}

# go_there: first what the target does not have, then what both have, then what is to be made: what a path belongs to is
# settled by then. Nothing more is written after a failure.
go_there() {
  local i path gone=() stay=() come=() around=()
  for i in "${!R_PATH[@]}"; do
    if [ -z "${R_TREE[i]}" ]; then gone+=($i); elif [ -n "${R_NOW_TREE[i]}" ]; then stay+=($i); else come+=($i); fi
  done
  BACK=''
  roots_of R_TREE
  in_order up applied "${gone[@]}" && all_are done "${gone[@]}" || return 1
  each applied "${stay[@]}" && all_are done "${stay[@]}" || return 1
  in_order down applied "${come[@]}" && all_are done "${come[@]}" || return 1
  for i in "${!R_PATH[@]}"; do
    [ -n "${R_TREE[i]}" ] || continue
    for path in "${come[@]}"; do
      path=${R_PATH[path]}
      [ "$path" != "${R_PATH[i]}" ] && { [ "${R_PATH[i]}" = . ] || [[ $path == "${R_PATH[i]}"/* ]]; } && around+=($i) && break
    done
  done
  each checked_again "${around[@]}" && all_are done "${around[@]}"
}

# go_back: the same the other way round, for what was touched.
go_back() {
  local i gone=() stay=() come=()
  for i in "${!R_PATH[@]}"; do
    [ -f "$RUN/$i.touched" ] || continue
    if [ -z "${R_UNDO_TREE[i]}" ]; then gone+=($i); elif [ -n "${R_TREE[i]}" ]; then stay+=($i); else come+=($i); fi
  done
  BACK=1
  roots_of R_UNDO_TREE
  in_order up put_back "${gone[@]}"
  each put_back "${stay[@]}"
  in_order down put_back "${come[@]}"
  all_are back "${gone[@]}" "${stay[@]}" "${come[@]}"
}

main() {
  local i outcome bad=0
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Can not write to $HOME_DIR. Free some disk space, then call again."
  IN=$HOME_DIR/in-$SESSION/$CALL
  BACK='' UNSEEN_RULES=''
  count_processors
  read_umask
  read_user_config
  discover "$RUN/find"
  FOUND=("${ROOTS[@]}")
  # The roots as the capture just made knew them.
  roots_of R_TREE
  local targets=("${TARGET_ROOTS[@]}")
  roots_of R_NOW_TREE
  TARGET_ROOTS=("${targets[@]}")
  local -A seen=()
  for i in "${ROOTS[@]}"; do seen[$i]=1; done
  for i in "${FOUND[@]}"; do [ -n "${seen[$i]-}" ] || ROOTS+=("$i"); done
  [ "$FRESH" = 0 ] || make_room || die SandboxUnavailable "What the template of the sandbox holds below the projects root can not be put aside. Check its permissions."
  fetch_bundles
  each checked "${!R_PATH[@]}"
  for i in "${!R_PATH[@]}"; do [ ! -s "$RUN/$i.problems" ] && [ -f "$RUN/$i.plan" ] || bad=1; done
  if [ $bad = 1 ]; then
    outcome=refused
  elif [ "$DRY_RUN" = 1 ]; then
    outcome=planned
  elif go_there; then
    outcome=applied
  elif go_back; then
    outcome=reverted
  else
    outcome=broken
  fi
  {
    emit outcome "$outcome"
    for i in "${!R_PATH[@]}"; do
      emit repo "${R_PATH[i]}"
      pass_on "$RUN/$i.plan" "$RUN/$i.problems"
      [ -s "$RUN/$i.problems" ] || [ -f "$RUN/$i.plan" ] || { emit problem failed && emit problem-message "$(tail -3 "$RUN/$i.log" | tr '\n' ' ' | cut -c1-300)"; }
      if [ "$outcome" = reverted ] || [ "$outcome" = broken ]; then
        if [ -f "$RUN/$i.touched" ] || [ -s "$RUN/$i.log" ]; then failed "$i"; fi
      fi
      [ ! -s "$RUN/$i.warn" ] || emit warning "$(tr '\n' ' ' <"$RUN/$i.warn")"
    done
    emit end ''
  } >"$RUN/report"
  [ ! -e "$IN" ] || rm -rf -- "$IN"
  exec 9>&-
  finish <"$RUN/report"
  rm -rf -- "$RUN"
}

# failed I: what went wrong in a repository, and what became of it.
failed() {
  local i=$1
  [ -f "$RUN/$i.done" ] || { emit problem failed && emit problem-message "$(cat "$RUN/$i.why" "$RUN/$i.why.move" "$RUN/$i.log" 2>/dev/null | grep -v '^$' | head -8 | tr '\n' ' ' | cut -c1-500)"; }
  [ -f "$RUN/$i.back" ] || [ ! -f "$RUN/$i.touched" ] || { emit problem failed && emit problem-message "could not be put back: $(cat "$RUN/$i.move" "$RUN/$i.err" 2>/dev/null | head -5 | tr '\n' ' ' | cut -c1-400)"; }
  [ ! -s "$RUN/$i.late" ] || { emit problem failed && emit problem-message "kept, because it appeared meanwhile: $(head -z -n 5 "$RUN/$i.late" | tr '\0' ' ')"; }
}

main
