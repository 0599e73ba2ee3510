# Everything a restore looks at before the first write.
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

# unpack FILE KIND [OPTION]: brings a bundle's objects into the object store GIT_DIR points at. The pack begins behind the
# first empty line, where reading lines leaves the file. What is large stays a pack; a `small` one becomes loose objects, as
# with git's own fetch: 64 packs would make every later command slower.
unpack() {
  local line how=(index-pack --stdin --fix-thin ${3-})
  [ "$2" != small ] || how=(unpack-objects -q)
  {
    while IFS= read -r line && [ -n "$line" ]; do :; done
    git "${how[@]}" >/dev/null
  } <"$1"
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

# each_link FILE CUTS: the links of a joined bundle, each as the pack it was, as git's own fetch would take them.
each_link() {
  local offset size start trailer
  while read -r offset size start trailer; do
    { printf "$start" && dd if="$1" bs=64K iflag=skip_bytes,count_bytes skip="$offset" count="$size" status=none && printf "$trailer"; } >"$OUT.pack" || return 1
    git index-pack --stdin --fix-thin <"$OUT.pack" >/dev/null || return 1
  done <"$2"
}

# bring_objects I: unpacks the bundles of one repository; the base goes to the host it creates, links to the shadow.
bring_objects() {
  local i=$1 entry kind cuts file
  for entry in ${R_BUNDLES[i]}; do
    IFS=: read -r kind entry cuts <<<"$entry"
    file=$IN/$entry.bundle
    if [ "$kind" = base ] && [ -n "$CREATED" ]; then
      GIT_DIR=$HG unpack "$file" "$kind" ${PARTIAL_FLAG:+--promisor} 2>>"$OUT.err" || return 1
    elif ! unpack "$file" "$kind" 2>>"$OUT.err"; then
      # Links that were joined, or made loose objects, for speed: git may still take them as they were made.
      [ "$kind" = small ] || return 1
      if [ -n "$cuts" ]; then each_link "$file" "$IN/$cuts.cuts" 2>>"$OUT.err" || return 1; else unpack "$file" link 2>>"$OUT.err" || return 1; fi
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
