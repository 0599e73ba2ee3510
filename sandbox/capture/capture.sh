# The capture command. Variables set before it: see capture-command.ts.
# shellcheck shell=bash

# bundle FILE TIP REF PREREQUISITE: git's bundle format, written here because `git bundle create` can not leave out
# objects a partial clone never had, and starts three processes where one is enough.
bundle() {
  local file=$1 tip=$2 ref=$3 prerequisite=$4 missing=$5
  {
    if [ "$FORMAT" = sha256 ]; then printf '# v3 git bundle\n@object-format=sha256\n'; else printf '# v2 git bundle\n'; fi
    [ -z "$prerequisite" ] || printf -- '-%s\n' "$prerequisite"
    printf '%s %s\n\n' "$tip" "$ref"
    git pack-objects --revs --thin --stdout --delta-base-offset -q ${missing:+--missing=allow-any} 2>>"$OUT.err" <<<"$tip${prerequisite:+$'\n'^$prerequisite}"
  } >"$file" 2>>"$OUT.err"
}

# link_chain: makes the capture commit and its bundle. Append, else restart, else rebase: whatever the sandbox still has.
link_chain() {
  local next=$1 previous=$2 base_commit=$3 parent='' prerequisite='' text
  while :; do
    parent='' prerequisite=''
    case $next in
      append)
        parent=$previous prerequisite=$previous
        ;;
      restart)
        if [ -n "$base_commit" ] && has_object "$base_commit^{tree}"; then
          prerequisite=$base_commit
        elif [ -n "$base_commit" ] || [ -n "$HEAD_COMMIT" ]; then
          next=rebase
          continue
        fi
        ;;
      rebase)
        prerequisite=$HEAD_COMMIT
        ;;
    esac
    printf -v text 'tree %s\n%sparent %s\nauthor Walkback <capture@walkback.invalid> %s +0000\ncommitter Walkback <capture@walkback.invalid> %s +0000\n\n%s\n\nSession: %s\nMessage: %s\nTool-Execution: %s' \
      "$TREE" "${parent:+parent $parent$'\n'}" "$META" "$NOW" "$NOW" "$REASON" "$SESSION" "$MESSAGE" "$TAG"
    COMMIT=$(exec git hash-object -t commit -w --stdin 2>>"$OUT.err" <<<"$text") || return 1
    # What the sandbox no longer has, packing finds out.
    if bundle "$RUN/$INDEX.link" "$COMMIT" "refs/walkback/capture" "$prerequisite" "$PARTIAL_FLAG"; then
      CHAIN=$next
      return 0
    fi
    grep -q 'No space left on device' "$OUT.err" && return 1
    case $next in append) next=restart ;; restart) [ -n "$HEAD_COMMIT" ] || return 1; next=rebase ;; rebase) return 1 ;; esac
  done
}

# base_bundle: the host commit with its history, unless the store has it.
base_bundle() {
  local known
  for known in "${KNOWN_BASES[@]}"; do [ "$known" = "$BASE" ] && return 0; done
  bundle "$RUN/$INDEX.base" "$HEAD_COMMIT" "refs/walkback/base" '' "$PARTIAL_FLAG"
}

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

capture_one() {
  local path=$1 k=$2 t=$3 target='' attempt ref
  [ "$t" -lt 0 ] || target=${TARGET_TREE[t]}
  OUT=$RUN/$INDEX REPOSITORY=$path
  emit repo "$path" >"$OUT.head"
  cd -- "$ROOT/$path" 2>"$OUT.err" || {
    emit state failed && emit fail-path . && emit fail-reason "the directory can not be entered"
    return 0
  }
  local known_commit='' known_tree='' known_meta='' known_base='' known_base_commit='' next=rebase
  if [ "$k" -ge 0 ]; then
    known_commit=${KNOWN_COMMIT[k]} known_tree=${KNOWN_TREE[k]} known_meta=${KNOWN_META[k]}
    known_base=${KNOWN_BASE[k]} known_base_commit=${KNOWN_BASE_COMMIT[k]} next=${KNOWN_NEXT[k]}
  fi
  HOST_CONFIG='' SHALLOW=0 PARTIAL=0 BASE='' HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES='' COMMIT='' CHAIN=''
  local host_problem='' UNSEEDED='' BROKEN=()
  if find_host; then
    host_format
    read_head || host_problem="HEAD or the branches of the host repository can not be read"
    base_name
  else
    HG='' HC='' FORMAT=sha1 HEAD_KIND=none
    [ ! -e .git ] || host_problem="the .git of this repository is not usable, so branch, HEAD and index are not captured"
  fi
  PARTIAL_FLAG=''
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
  nested_below "$path"
  for attempt in 1 2; do
    : >"$OUT.err"
    : >"$OUT.report"
    if open_shadow "$FORMAT" 2>>"$OUT.err" && snapshot "$target" >"$OUT.report" 2>>"$OUT.err"; then
      if [ "$TREE" = "$known_tree" ] && [ "$META" = "$known_meta" ]; then
        COMMIT=$known_commit
        break
      fi
      if link_chain "$next" "$known_commit" "$known_base_commit"; then
        [ "$CHAIN" != rebase ] || [ -z "$HEAD_COMMIT" ] || base_bundle || { COMMIT=''; CHAIN=''; }
        [ -z "$COMMIT" ] || break
      fi
    fi
    COMMIT=''
    grep -q 'No space left on device' "$OUT.err" "$OUT.add" 2>/dev/null && break
    # Whatever is wrong with the shadow, it holds nothing that is not elsewhere: make it anew, once, from the files alone.
    UNSEEDED=1
    [ $attempt = 2 ] || rm -rf -- "$SHADOW"
  done
  if [ -z "$COMMIT" ]; then
    emit state failed && emit fail-path . && emit fail-reason "$(first_reason)"
    rm -f -- "$RUN/$INDEX.link" "$RUN/$INDEX.base"
    return 0
  fi
  [ -z "$host_problem" ] || { emit fail-path .git && emit fail-reason "$host_problem"; }
  for ref in "${BROKEN[@]}"; do emit fail-path ".git/$ref" && emit fail-reason "the branch can not be read, so it is not captured"; done
  emit state captured
  emit commit "$COMMIT"
  emit tree "$TREE"
  emit meta "$META"
  if [ -n "$CHAIN" ]; then
    emit changed 1
    emit chain "$CHAIN"
    [ "$CHAIN" = rebase ] && known_base=$BASE known_base_commit=$HEAD_COMMIT
  fi
  [ -z "$known_base" ] || { emit base "$known_base" && emit base-commit "$known_base_commit"; }
  describe_host
  if [ -n "$target" ] && missing_target "$t"; then emit missing-target 1; fi
  tag_capture 2>/dev/null
  keep_tree_id
}

# tag_capture: for a person in the sandbox: plain git finds every checkpoint. Written straight, it is our own git directory.
# Packing objects opens every tag, so from time to time they become one file.
tag_capture() {
  local tags=$SHADOW/refs/tags/chkpt
  local -a loose=("$tags"/*)
  [ ${#loose[@]} -lt 64 ] || git pack-refs --all || :
  { [ -d "$tags" ] || mkdir -p -- "$tags"; } && printf '%s\n' "$COMMIT" >"$tags/$TAG" || :
}

# upload_all: sends the large bundles to the addresses that the caller writes into a file. They are secret, and only the
# contents of files are not logged by the sandbox's daemon; that is why this command waits for one.
upload_all() {
  local waited=0 status=0
  until [ -f "$RUN/uploads" ] && [ "$(tail -c 6 "$RUN/uploads" 2>/dev/null)" = '# end' ]; do
    if [ $waited -ge $((UPLOAD_WAIT * 20)) ]; then
      emit upload "nobody said where to upload to within $UPLOAD_WAIT seconds"
      return 0
    fi
    sleep 0.05
    waited=$((waited + 1))
  done
  (cd "$RUN" && if grep -q '^url' uploads; then curl --disable -K uploads >upload.out 2>upload.log; fi) || status=$?
  rm -f -- "$RUN/uploads"
  # curl's own words name the host at most; the address itself is not in them.
  if [ $status = 0 ]; then emit upload ok; else emit upload "curl ended with $status: $(head -c 300 "$RUN/upload.log")"; fi
}

# capture_all [full]: every root, as many at once as there are processors. Sets COUNT and the roots SEEN.
capture_all() {
  local path k i target
  discover "$RUN/find" "${1-}"
  # A repository the session knows stays one as long as its directory is there, also when its .git is gone. So does one
  # that is about to be restored: what stands in its place is captured before anything is written there.
  TARGET_ROOTS=("${TARGET_PATH[@]}")
  for path in "${KNOWN_PATH[@]}" "${TARGET_PATH[@]}"; do
    [ -d "$path" ] && [ ! -L "$path" ] || continue
    for i in "${!ROOTS[@]}"; do [ "${ROOTS[i]}" != "$path" ] || continue 2; done
    [ "$path" = . ] || [ "$(cd -P -- "$path" && pwd)" = "$ROOT/$path" ] || continue
    ROOTS+=("$path")
  done
  COUNT=0 STARTED=0
  declare -gA SEEN=()
  for path in "${ROOTS[@]}"; do
    SEEN[$path]=1 k=-1 target=-1
    for i in "${!KNOWN_PATH[@]}"; do [ "${KNOWN_PATH[i]}" != "$path" ] || { k=$i; break; }; done
    for i in "${!TARGET_PATH[@]}"; do [ "${TARGET_PATH[i]}" != "$path" ] || { target=$i; break; }; done
    INDEX=$COUNT
    capture_one "$path" "$k" "$target" >"$RUN/$COUNT.out" 2>"$RUN/$COUNT.log" &
    COUNT=$((COUNT + 1))
    jobs_limit
  done
  wait
}

main() {
  local path i total=0 name size
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Can not write to $HOME_DIR. Free some disk space, then call again."
  count_processors
  read_umask
  read_user_config
  capture_all
  if [ -f "$RUN/rescan" ]; then
    rm -f -- "$RUN"/[0-9]*.* "$RUN/rescan"
    capture_all full
  fi
  # When this was, by the clock the files are dated with: a restore tells by it what was there already.
  { { [ -d "$HOME_DIR/taken-$SESSION" ] || mkdir -- "$HOME_DIR/taken-$SESSION"; } && : >"$HOME_DIR/taken-$SESSION/$TAG"; } 2>/dev/null || :
  local parts=("$RUN/first")
  passed_over >"$RUN/first"
  for ((i = 0; i < COUNT; i++)); do parts+=("$RUN/$i.head" "$RUN/$i.report" "$RUN/$i.out"); done
  for path in "${KNOWN_PATH[@]}"; do [ -n "${SEEN[$path]-}" ] || { emit repo "$path" && emit state absent; }; done >"$RUN/last"
  local bundles=("$RUN"/*.link "$RUN"/*.base) carried=() waiting=() files=()
  if [ ${#bundles[@]} -gt 0 ]; then
    local sums=() sizes=()
    mapfile -t sums < <(exec sha256sum -- "${bundles[@]}")
    mapfile -t sizes < <(exec stat -c %s -- "${bundles[@]}")
    [ ${#sums[@]} = ${#bundles[@]} ] && [ ${#sizes[@]} = ${#bundles[@]} ] || die SandboxUnavailable "The bundles of this capture can not be read back. Check the disk of the sandbox."
    for size in "${sizes[@]}"; do [ "$size" -gt "$CARRY_EACH" ] || total=$((total + size)); done
    for i in "${!bundles[@]}"; do
      name=${bundles[i]##*/}
      emit bundle "$name" && emit size "${sizes[i]}" && emit sha256 "${sums[i]%% *}"
      if [ "${sizes[i]}" -gt "$CARRY_EACH" ]; then
        emit carry upload
        waiting+=("${bundles[i]}")
      elif [ "$total" -gt "$CARRY_TOTAL" ]; then
        emit carry file
        files+=("${bundles[i]}")
      else
        emit carry inline
        carried+=("${bundles[i]}")
      fi
    done >>"$RUN/last"
    # One file, so that it is one read however many there are.
    if [ ${#files[@]} -gt 0 ]; then
      cat -- "${files[@]}" >"$RUN/bundles" || die SandboxUnavailable "Can not write to $RUN. Free some disk space, then call again."
      rm -f -- "${files[@]}"
    fi
  fi
  emit end '' >>"$RUN/last"
  # The lock goes before the answer does: an answer nobody reads must not keep the next command waiting.
  exec 9>&-
  parts+=("$RUN/last")
  if [ ${#carried[@]} -gt 0 ]; then
    finish < <(exec cat -- "${parts[@]}" "${carried[@]}" 2>/dev/null)
  else
    finish < <(pass_on "${parts[@]}")
  fi
  [ ${#waiting[@]} -eq 0 ] || upload_all | finish
  [ ${#files[@]} -gt 0 ] || rm -rf -- "$RUN"
}

main
