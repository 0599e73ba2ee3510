# The compose command: makes captures from existing captures, without looking at the working files: it merges
# one side's changes into the state of now, or takes them out of it. Only the shadow is written.
# compose-command.ts describes the variables set before it.
# shellcheck shell=bash

# bring I: unpacks the bundles of one repository into the object store that GIT_DIR reads.
bring() {
  local entry kind cuts file
  for entry in ${C_BUNDLES[$1]}; do
    IFS=: read -r kind entry cuts <<<"$entry" || return
    file=$IN/$entry.bundle
    unpack "$file" "$kind" 2>>"$OUT.err" && continue
    [ "$kind" = small ] || [ "$kind" = many ] || return
    if [ -n "$cuts" ]; then each_link "$file" "$IN/$cuts.cuts" 2>>"$OUT.err"; else unpack "$file" link 2>>"$OUT.err"; fi || return
  done
}

# all_here TREE... -- META...: whether the object store has all of these. One process answers this, and gives
# the entries of the host states too (part_id).
all_here() {
  local id name i asked=() parts=()
  local -A seen=()
  for id; do
    shift
    [ "$id" != -- ] || break
    asked+=("$id^{tree}")
  done
  for id; do
    [ -z "${PARTS[$id]-}${seen[$id]-}" ] || continue
    seen[$id]=1 asked+=("$id^{tree}")
    for name in "${PART_NAMES[@]}"; do asked+=("$id:$name"); done
  done
  printf '%s\n' "${asked[@]}" >"$OUT.asked" && git cat-file --batch-check='%(objectname)' <"$OUT.asked" >"$OUT.ids" 2>>"$OUT.err" && mapfile -t parts <"$OUT.ids" || return
  [ ${#parts[@]} = ${#asked[@]} ] || return 2
  for i in "${!asked[@]}"; do
    id=${asked[i]} name=${parts[i]}
    if [[ $name == *' missing' ]]; then
      # Every host state has an entry `host`; if it is missing, the tree cannot be read.
      [[ $id != *'^{tree}' && $id != *:host ]] || { MISSING=1 && return 1; }
    elif [[ $id == *:* ]]; then
      PARTS[${id%:*}/${id#*:}]=$name
    fi
  done
  for id; do PARTS[$id]='read'; done
}
PART_NAMES=(host modes empty left-out index stage1 stage2 stage3 index-flags state shallow remotes sparse settings attributes)

# host_text META: TEXT becomes the part of a capture that is about the host's repository.
host_text() {
  local name text=''
  for name in host index stage1 stage2 stage3 index-flags state shallow remotes sparse settings attributes; do
    part_id "$1" $name || return
    text+="$name $ID"$'\n'
  done
  TEXT=$text
}

# merge_host BASE OURS THEIRS: HOST becomes the capture whose HEAD, branches and index the result has. The two
# sides are never mixed: when ours still has those of the base, the result takes all of theirs.
merge_host() {
  local base ours
  HOST=$2
  [ "$3" != "$2" ] && [ ${#ONLY[@]} = 0 ] || return 0
  host_text "$1" && base=$TEXT && host_text "$2" && ours=$TEXT && host_text "$3" || return
  if [ "$TEXT" = "$base" ] || [ "$TEXT" = "$ours" ]; then return 0; fi
  # A link on its chain cannot hold what lies below the boundary of a shallow clone.
  same_part "$2" "$3" shallow && part_id "$2" shallow || return
  if [ "$ours" = "$base" ] && { [ -n "$SAME" ] || [ -z "$ID" ]; }; then
    HOST=$3
    emit host-taken 1
    return
  fi
  emit host-kept 1
}

# merge_meta BASE OURS THEIRS OURS_TREE BASE_TREE: RESULT_META becomes the capture of everything but the
# files.
merge_meta() {
  local tree text
  merge_host "$1" "$2" "$3" && merge_lists "$1" "$2" "$3" "$4" "$5" || return
  RESULT_META=$HOST
  part_id "$2" left-out || return
  text=$ID
  part_id "$HOST" left-out || return
  if [ "$text" = "$ID" ]; then
    part_id "$HOST" modes || return
    if [ "$ID" = "$MODES_ID" ]; then
      part_id "$HOST" empty || return
      [ "$ID" != "$EMPTY_ID" ] || return 0
    fi
  fi
  tree=$({
    git ls-tree "$HOST" | sed '/\t\(modes\|empty\|left-out\)$/d' \
      && printf '100644 blob %s\tmodes\n100644 blob %s\tempty\n' "$MODES_ID" "$EMPTY_ID" \
      && { [ -z "$text" ] || printf '100644 blob %s\tleft-out\n' "$text"; }
  } | git mktree --missing) || return
  git cat-file commit "$HOST" >"$OUT.commit" || return
  RESULT_META=$({ printf 'tree %s\n' "$tree" && tail -n +2 "$OUT.commit"; } | git hash-object -t commit -w --stdin)
}

# one_step S: changes TREE and META by one three-way merge.
one_step() {
  local base=${S_BASE_TREE[$1]} theirs=${S_THEIRS_TREE[$1]} base_meta=${S_BASE_META[$1]} theirs_meta=${S_THEIRS_META[$1]}
  all_here "$TREE" "$base" "$theirs" -- "$META" "$base_meta" "$theirs_meta" || return
  with_unseen "$base" "$theirs" "$base_meta" "$theirs_meta" 2>>"$OUT.err" && theirs=$RESULT || return
  if [ ${#ONLY[@]} -gt 0 ]; then only_paths "$base" "$theirs" 2>>"$OUT.err" && theirs=$RESULT || return; fi
  [ -z "$NO_MARKERS" ] || left_markers "$base" "$theirs" || return
  merge_trees "$base" "$TREE" "$theirs" && merge_meta "$base_meta" "$META" "$theirs_meta" "$TREE" "$base" 2>>"$OUT.err" || return
  [ "$CONFLICTS" = 0 ] || [ "$MARKERS" = 1 ] || return 0
  TREE=$RESULT META=$RESULT_META
}

# look_for_paths STEP...: names the requested paths that no state has, neither as a file, nor as a directory,
# nor as an empty directory (which trees do not hold).
look_for_paths() {
  local s path
  local -A at=() hollows=() above=()
  [ ${#ONLY[@]} -gt 0 ] || return 0
  entries_of "$TREE" at "${ONLY[@]}" || return
  for s; do entries_of "${S_BASE_TREE[s]}" at "${ONLY[@]}" && entries_of "${S_THEIRS_TREE[s]}" at "${ONLY[@]}" || return; done
  for path in "${ONLY[@]}"; do
    [ -z "${at[./$path]-}" ] || continue
    if [ ${#above[@]} = 0 ]; then
      for s; do empties_in "${S_BASE_META[s]}" "$OUT.list" hollows && empties_in "${S_THEIRS_META[s]}" "$OUT.list" hollows || return; done
      empties_in "$META" "$OUT.list" hollows || return
      above[.]=1
      for s in "${!hollows[@]}"; do mark_up "$s" above; done
    fi
    [ -n "${above[./$path]-}" ] || emit unknown-path "$path" || return
  done
}

compose_one() {
  local i=$1 s now=${KNOWN_TREE[$1]} last='' steps=() ONLY=() INSIDE=() RESULT=''
  INDEX=$i OUT=$RUN/$i REPOSITORY=${KNOWN_PATH[i]} CHAIN='' MISSING='' UNSUPPORTED='' CONFLICTS=0
  FORMAT=${C_FORMAT[i]} PARTIAL_FLAG=${C_PARTIAL[i]:+1} COMMIT=${KNOWN_COMMIT[i]} TREE=${KNOWN_TREE[i]} META=${KNOWN_META[i]}
  BASE='' HEAD_COMMIT='' PARTS=()
  local -A KEPT=() ASKED=()
  if [ "$FORMAT" = sha256 ]; then EMPTY=$EMPTY_SHA256 EMPTY_BLOB=$EMPTY_BLOB_SHA256; else EMPTY=$EMPTY_SHA1 EMPTY_BLOB=$EMPTY_BLOB_SHA1; fi
  : >"$OUT.err"
  for s in "${!S_REPO[@]}"; do [ "${S_REPO[s]}" != "$i" ] || steps+=("$s"); done
  for s in "${C_PATHS[@]}"; do [ "${s%%:*}" != "$i" ] || { ONLY+=("${s#*:}") && ASKED[./${s#*:}]=1; }; done
  for s in "${C_INSIDE[@]}"; do [ "${s%%:*}" != "$i" ] || INSIDE+=("${s#*:}"); done
  scratch "$REPOSITORY" bare && cd -- "$RUN" || return
  printf '* -text -filter -ident -working-tree-encoding -eol -crlf merge\n' >"$GIT_DIR/info/attributes" || return
  bring "$i" || return
  # A repository that is not here yet is stored as a whole, on the base that it stands on.
  if [ "${C_NEW[i]}" = 1 ]; then
    BASE=${KNOWN_BASE[i]} HEAD_COMMIT=${KNOWN_BASE_COMMIT[i]} now=''
    all_here "$TREE" -- "$META" || return
    [ -z "$NO_MARKERS" ] || left_markers "$EMPTY" "$TREE" || return
    [ "${C_AROUND[i]}" = - ] || occupied "$i" || return
  fi
  for s in "${steps[@]}"; do one_step "$s" 2>>"$OUT.err" && last=${S_THEIRS_TREE[s]} || return; done
  [ -z "$MISSING$UNSUPPORTED" ] && look_for_paths "${steps[@]}" 2>>"$OUT.err" && in_two "${RESULT:-$TREE}" "$now" "$last" || return
  if [ "$EXPORT" = 1 ] && { [ "$CONFLICTS" = 0 ] || [ "$MARKERS" = 1 ]; }; then
    if [ "${C_NEW[i]}" = 1 ]; then
      link_chain rebase '' '' && { [ -z "$HEAD_COMMIT" ] || base_bundle; } || return
      record_changes '' ''
    elif [ "$TREE" != "${KNOWN_TREE[i]}" ] || [ "$META" != "${KNOWN_META[i]}" ]; then
      link_chain "${KNOWN_NEXT[i]}" "$COMMIT" "${KNOWN_BASE_COMMIT[i]}" || return
      record_changes "${KNOWN_TREE[i]}" "${KNOWN_META[i]}"
    fi
  fi
  # What was captured and is not in the result is removed, ignored or not (absent_then).
  [ -z "${GIT_OBJECT_DIRECTORY-}" ] || printf '%s %s\n' "$TAG" "${KNOWN_TREE[i]}" >>"${GIT_OBJECT_DIRECTORY%/objects}/sought" || return
  emit state captured && emit commit "$COMMIT" && emit tree "$TREE" && emit meta "$META" || return
  if [ -n "$CHAIN" ]; then emit changed 1 && emit chain "$CHAIN" || return; fi
  if { [ "$CHAIN" != rebase ] || [ "${C_NEW[i]}" = 1 ]; } && [ -n "${KNOWN_BASE[i]}" ]; then
    emit base "${KNOWN_BASE[i]}" && emit base-commit "${KNOWN_BASE_COMMIT[i]}"
  fi
}

compose_job() {
  local status=0
  emit repo "${KNOWN_PATH[$1]}" >"$RUN/$1.head"
  compose_one "$1" >"$RUN/$1.out" || status=$?
  [ -z "$LOST" ] || fault "the answer could not be written"
  if [ $status != 0 ]; then
    ! ended $status || fault "${KNOWN_PATH[$1]}: a process was ended by a signal ($status); the sandbox may be short of memory"
    ! out_of_space || fault "there is no space left on the disk of the sandbox"
    said_in "$OUT.err"
    case $SAID in *'bad object'* | *'unable to read'* | *'not a tree'* | *'bad tree'* | *'lacks these prerequisite'* | *'is corrupt'* | *'unresolved delta'* | *'Could not read'* | *'invalid object'*) MISSING=1 ;; esac
    # Brought again, they would not be written where their names are taken.
    if [ -z "$UNSUPPORTED" ] && [ -n "${GIT_OBJECT_DIRECTORY-}" ]; then
      SHADOW=${GIT_OBJECT_DIRECTORY%/objects}
      drop_damaged || return
      [ ${#DROPPED[@]} = 0 ] || MISSING=1
    fi
    rm -f -- "$BULK/$1.link" "$BULK/$1.base" || return
    {
      emit state failed
      if [ -n "$MISSING" ]; then emit missing-target 1; elif [ -n "$UNSUPPORTED" ]; then emit unsupported 1; fi
      emit fail-path . && emit fail-reason "${SAID:-its states could not be merged}"
    } >"$RUN/$1.out"
  fi
  printf . >"$RUN/$1.finished"
}

main() {
  local i parts
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Cannot write to $HOME_DIR. Free some disk space, then call again."
  IN=$HOME_DIR/in-$SESSION/$CALL
  count_processors
  MERGES=0
  git_merges || MERGES=$?
  fetch_bundles || die SandboxUnavailable "The bundles that were brought into the sandbox cannot be read. Call again."
  parts=("$RUN/first")
  : >"$RUN/first"
  for i in "${!KNOWN_PATH[@]}"; do
    compose_job "$i" &
    parts+=("$RUN/$i.head" "$RUN/$i.out")
    jobs_limit
  done
  wait
  for i in "${!KNOWN_PATH[@]}"; do
    [ -s "$RUN/$i.finished" ] || (compose_job "$i") && [ -s "$RUN/$i.finished" ] || fault "the states of ${KNOWN_PATH[i]} could not be merged"
  done
  note_composed 2>/dev/null || :
  [ ! -e "$IN" ] || rm -rf -- "$IN"
  send_capture "${parts[@]}"
}

main
