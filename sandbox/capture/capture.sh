# The capture command. Variables set before it: see capture-command.ts.
# shellcheck shell=bash

describe_host() {
  emit head-kind "$HEAD_KIND"
  [ -z "$HEAD_REF" ] || emit branch "${HEAD_REF#refs/heads/}"
  [ -z "$HEAD_COMMIT" ] || emit head "$HEAD_COMMIT"
  emit format "$FORMAT"
  emit shallow "${SHALLOW:-0}"
  emit partial "${PARTIAL:-0}"
}

# missing_target I: whether the sandbox lacks that target. A quick look; restore checks every object before it writes.
missing_target() {
  local answer commit=${TARGET_COMMIT[$1]} tree=${TARGET_TREE[$1]} meta=${TARGET_META[$1]}
  [ "$commit" != "$COMMIT" ] || return 1
  [ "$tree" != "$TREE" ] || [ "$meta" != "$META" ] || return 1
  answer=$(exec git cat-file --batch-check <<<"$commit"$'\n'"$tree"$'\n'"$meta" 2>/dev/null)
  [[ $answer != *' commit '*' tree '*' commit '* ]]
}

# read_host: what the host's repository says of itself; HOST_PROBLEM what it does not.
read_host() {
  HOST_CONFIG='' SHALLOW=0 PARTIAL=0 BASE='' HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES='' HOST_PROBLEM='' BROKEN=()
  if find_host; then
    host_format
    # Twice, because a git that was ended says nothing of the repository.
    read_head || { BROKEN=() && read_head; } || HOST_PROBLEM="HEAD or the branches of the host repository cannot be read"
    base_name || return
  else
    HG='' HC='' FORMAT=sha1 HEAD_KIND=none
    [ ! -e .git ] || HOST_PROBLEM="the .git of this repository is not usable, so branch, HEAD and index are not captured"
  fi
  PARTIAL_FLAG=''
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
}

# capture_now TARGET NEXT: COMMIT is the capture of the repository as it is; with CHAIN set, its bundles are made.
capture_now() {
  COMMIT='' CHAIN='' IN_THE_WAY=''
  : >"$OUT.err"
  : >"$OUT.report"
  read_host && open_shadow "$FORMAT" 2>>"$OUT.err" && snapshot "$1" >"$OUT.report" 2>>"$OUT.err" || return
  if [ "$TREE" = "$known_tree" ] && [ "$META" = "$known_meta" ]; then
    COMMIT=$known_commit
    return
  fi
  link_chain "$2" "$known_commit" "$known_base_commit" || return
  [ "$CHAIN" != rebase ] || [ -z "$HEAD_COMMIT" ] || base_bundle
}

capture_one() {
  local path=$1 k=$2 t=$3 target='' attempt ref status=0
  [ "$t" -lt 0 ] || target=${TARGET_TREE[t]}
  OUT=$RUN/$INDEX REPOSITORY=$path
  emit repo "$path" >"$OUT.head"
  cd -- "$ROOT/$path" 2>"$OUT.err" || {
    emit state failed && emit fail-path . && emit fail-reason "the directory cannot be entered"
    return 0
  }
  local known_commit='' known_tree='' known_meta='' known_base='' known_base_commit='' next=rebase UNSEEDED=''
  if [ "$k" -ge 0 ]; then
    known_commit=${KNOWN_COMMIT[k]} known_tree=${KNOWN_TREE[k]} known_meta=${KNOWN_META[k]}
    known_base=${KNOWN_BASE[k]} known_base_commit=${KNOWN_BASE_COMMIT[k]} next=${KNOWN_NEXT[k]}
  fi
  nested_below "$path"
  for attempt in 1 2 3; do
    status=0
    capture_now "$target" "$next" || status=$?
    [ $status != 0 ] && [ -z "$IN_THE_WAY" ] && ! out_of_space || break
    # Whatever is wrong with the shadow, it holds nothing that is not elsewhere: make it anew, once, from the files alone.
    # Not for a process that was ended: that says nothing of the shadow.
    if [ $attempt = 2 ] && ! ended $status; then
      UNSEEDED=1
      rm -rf -- "$SHADOW" || :
    fi
  done
  if [ $status != 0 ]; then
    ! ended $status || fault "$path: a process of the capture was ended by a signal ($status); the sandbox may be short of memory"
    emit state failed && emit fail-path . && emit fail-reason "$(first_reason)"
    rm -f -- "$RUN/$INDEX.link" "$RUN/$INDEX.base" "$OUT.report"
    return
  fi
  [ -z "$HOST_PROBLEM" ] || { emit fail-path .git && emit fail-reason "$HOST_PROBLEM"; }
  for ref in "${BROKEN[@]}"; do emit fail-path ".git/$ref" && emit fail-reason "the branch cannot be read, so it is not captured"; done
  emit state captured
  emit commit "$COMMIT"
  emit tree "$TREE"
  emit meta "$META"
  if [ -n "$CHAIN" ]; then
    emit changed 1
    emit chain "$CHAIN"
    [ "$CHAIN" != rebase ] || known_base=$BASE known_base_commit=$HEAD_COMMIT
  fi
  [ -z "$known_base" ] || { emit base "$known_base" && emit base-commit "$known_base_commit"; }
  describe_host
  if [ -n "$target" ] && missing_target "$t"; then emit missing-target 1; fi
  tag_capture 2>/dev/null
  keep_tree_id || :
}

# capture_job PATH KNOWN TARGET: a repository in a shell of its own. The file `finished` says that it came to its end, with
# all that it had to say; what is in it is why not.
capture_job() {
  capture_one "$@" >"$RUN/$INDEX.out" 2>"$RUN/$INDEX.log" || return
  [ -z "$LOST" ] || return
  : >"$RUN/$INDEX.finished"
}

# tag_capture: for a person in the sandbox: plain git finds every checkpoint. Written straight, it is our own git directory.
# Packing objects opens every tag, so from time to time they become one file.
tag_capture() {
  local tags=$SHADOW/refs/tags/chkpt
  local -a loose=("$tags"/*)
  [ ${#loose[@]} -lt 64 ] || git pack-refs --all || :
  { [ -d "$tags" ] || mkdir -p -- "$tags"; } && printf '%s\n' "$COMMIT" >"$tags/$TAG" || :
}

# capture_all [full]: every root, as many at once as there are processors. Sets COUNT and the roots SEEN.
capture_all() {
  local path k i target
  discover "$RUN/find" "${1-}" || fault "the repositories could not be looked for: find or the shell ended with $?"
  # A repository the session knows stays one as long as its directory is there, also when its .git is gone. So does one
  # that is about to be restored: what stands in its place is captured before anything is written there.
  TARGET_ROOTS=("${TARGET_PATH[@]}")
  for path in "${KNOWN_PATH[@]}" "${TARGET_PATH[@]}"; do
    [ -d "$path" ] && [ ! -L "$path" ] || continue
    for i in "${!ROOTS[@]}"; do [ "${ROOTS[i]}" != "$path" ] || continue 2; done
    if [ "$path" != . ]; then
      straight "$path" || fault "the directory $path could not be looked at"
      [ "$TEXT" = "$ROOT/$path" ] || continue
    fi
    ROOTS+=("$path")
  done
  COUNT=0 STARTED=0
  local known=() targets=()
  declare -gA SEEN=()
  for path in "${ROOTS[@]}"; do
    SEEN[$path]=1 k=-1 target=-1
    for i in "${!KNOWN_PATH[@]}"; do [ "${KNOWN_PATH[i]}" != "$path" ] || { k=$i; break; }; done
    for i in "${!TARGET_PATH[@]}"; do [ "${TARGET_PATH[i]}" != "$path" ] || { target=$i; break; }; done
    known[COUNT]=$k targets[COUNT]=$target INDEX=$COUNT
    capture_job "$path" "$k" "$target" &
    COUNT=$((COUNT + 1))
    jobs_limit
  done
  wait
  # A shell that was ended says nothing of its repository: once more, alone, when there may be more memory.
  for ((INDEX = 0; INDEX < COUNT; INDEX++)); do
    [ -f "$RUN/$INDEX.finished" ] || (capture_job "${ROOTS[INDEX]}" "${known[INDEX]}" "${targets[INDEX]}") && [ -f "$RUN/$INDEX.finished" ] && continue
    slurp "$RUN/$INDEX.log"
    TEXT=${TEXT%$'\n'}
    fault "${TEXT:-the shell that captured ${ROOTS[INDEX]} was ended}"
  done
}

main() {
  local path i parts=() full="Free some disk space, then call again."
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Cannot write to $HOME_DIR. $full"
  count_processors
  read_umask
  read_user_config
  capture_all
  if [ -f "$RUN/rescan" ]; then
    rm -f -- "$RUN"/[0-9]*.* "$RUN/rescan" || fault "the files of the first look could not be removed"
    capture_all full
  fi
  # When this was, by the clock the files are dated with: a restore tells by it what was there already.
  { { [ -d "$HOME_DIR/taken-$SESSION" ] || mkdir -- "$HOME_DIR/taken-$SESSION"; } && : >"$HOME_DIR/taken-$SESSION/$TAG"; } 2>/dev/null || :
  parts=("$RUN/first")
  passed_over >"$RUN/first"
  for ((i = 0; i < COUNT; i++)); do parts+=("$RUN/$i.head" "$RUN/$i.report" "$RUN/$i.out"); done
  {
    for path in "${KNOWN_PATH[@]}" "${MENTIONED_PATH[@]}"; do [ -n "${SEEN[$path]-}" ] || { emit repo "$path" && emit state absent; }; done
  } >"$RUN/absent"
  announce >"$RUN/announced" || die SandboxUnavailable "The bundles of this capture cannot be written or read back. $full"
  emit end '' >"$RUN/end"
  parts+=("$RUN/absent" "$RUN/announced" "$RUN/end")
  pass_on "${parts[@]}" >"$RUN/answer" && { [ ${#CARRIED[@]} -eq 0 ] || cat -- "${CARRIED[@]}" >>"$RUN/answer"; } && [ -z "$LOST" ] || die SandboxUnavailable "Cannot write to $RUN. $full"
  # The lock goes before the answer does: an answer nobody reads must not keep the next command waiting.
  exec 9>&-
  finish <"$RUN/answer" || fault "the answer could not be written"
  [ ${#WAITING[@]} -eq 0 ] || upload_all | finish
  [ ${#FILES[@]} -gt 0 ] || rm -rf -- "$RUN"
}

main
