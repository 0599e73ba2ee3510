# The late command: captures what other processes wrote while a restore was at work, from the files that the
# restore put aside. The capture is the known state of each repository with these files as they are now. With
# DONE, the capture of that tag is durable, so what it holds need not be kept here.
# shellcheck shell=bash

# places_of PATH: PLACES becomes the places with files of this repository.
places_of() {
  local place path
  PLACES=()
  for place in "$HOME_DIR/aside-$SESSION"/*/*; do
    holds "$place" && [ -f "$place/path" ] && IFS= read -r -d '' path <"$place/path" && [ "$path" = "$1" ] || continue
    PLACES+=("$place")
  done
}

# storable PLACE: lists in $OUT.take the late files of a place that a checkpoint can hold.
storable() {
  local place=$1 path
  local -A late=() big=()
  late_in "$place" && find "$place/files" -type f -size +"$MAX_BYTES"c -printf '%P\0' >"$OUT.big" || return
  while IFS= read -r -d '' path; do big[$path]=1; done <"$OUT.big"
  for path in "${!late[@]}"; do
    [ -n "${late[$path]}" ] || continue
    # A repository or special file that stood in the way is only kept where it is.
    [ -L "$place/files/$path" ] || [ -f "$place/files/$path" ] || continue
    case /${path,,}/ in */.git/*) continue ;; esac
    if [ -n "${big[$path]-}" ]; then
      emit skip-path "$path" && emit skip-reason "larger than $MAX_BYTES bytes; it is kept in $place/files"
    else
      printf '%s\0' "$path" >&3
    fi
  done 3>"$OUT.unsorted" && sort -z "$OUT.unsorted" >"$OUT.take"
}

# overlay_place PLACE: adds the late files of a place to the index. The second version of a file gets a number
# in its name. The array `taken` has the names that are used already.
overlay_place() {
  local place=$1 entry path name number attempt status
  storable "$place" || return
  [ -s "$OUT.take" ] || return 0
  for attempt in 1 2 3; do
    status=0
    rm -f -- "$OUT.part" "$OUT.part.lock" || return
    # A file that is being written may change during the first try.
    (cd -- "$place/files" && GIT_WORK_TREE=$place/files GIT_INDEX_FILE=$OUT.part git update-index --add --replace -z --stdin <"$OUT.take") 2>>"$OUT.err" || status=$?
    [ $status != 0 ] || break
  done
  [ $status = 0 ] || return $status
  GIT_INDEX_FILE=$OUT.part git ls-files -s -z >"$OUT.entries" || return
  printf '%s\0' "$TAG" >"$place/storing.part" || return
  while IFS= read -r -d '' entry; do
    path=${entry#*$'\t'} name=$path number=0
    while [ -n "${taken[$name]-}" ]; do
      number=$((number + 1)) && name=$path.$number
    done
    taken[$name]=1
    set -- ${entry%%$'\t'*}
    printf '%s %s\t%s\0' "$1" "$2" "$name" >&3
    printf '%s %s\0' "$2" "$path" >&4
    emit late-path "$name"
  done <"$OUT.entries" 3>>"$OUT.info" 4>>"$place/storing.part"
  mv -f -- "$place/storing.part" "$place/storing"
}

# overlay PATH: TREE becomes the known tree with the late files of this repository.
overlay() {
  local place
  local -A taken=()
  line_of "${PLACES[0]}/format" && FORMAT=$TEXT && scratch "$1" || return
  : >"$OUT.info"
  for place in "${PLACES[@]}"; do overlay_place "$place" || return; done
  [ -s "$OUT.info" ] || return 0
  export GIT_INDEX_FILE=$OUT.late
  git read-tree "$TREE" && git update-index --replace -z --index-info <"$OUT.info" && TREE=$(exec git write-tree)
}

late_one() {
  local path=$1 known_tree=${KNOWN_TREE[INDEX]}
  OUT=$RUN/$INDEX REPOSITORY=$path CHAIN='' HEAD_COMMIT='' BASE='' PARTIAL_FLAG=''
  TREE=$known_tree META=${KNOWN_META[INDEX]} COMMIT=${KNOWN_COMMIT[INDEX]}
  : >"$OUT.err"
  places_of "$path"
  if [ ${#PLACES[@]} -gt 0 ]; then
    overlay "$path" 2>>"$OUT.err" || return
    [ "$TREE" = "$known_tree" ] || link_chain append "$COMMIT" "${KNOWN_BASE_COMMIT[INDEX]}" || return
  fi
  record_changes "$known_tree" ''
  emit state captured && emit commit "$COMMIT" && emit tree "$TREE" && emit meta "$META" || return
  if [ -n "$CHAIN" ]; then emit changed 1 && emit chain "$CHAIN" || return; fi
  if [ "$CHAIN" != rebase ] && [ -n "${KNOWN_BASE[INDEX]}" ]; then emit base "${KNOWN_BASE[INDEX]}" && emit base-commit "${KNOWN_BASE_COMMIT[INDEX]}"; fi
}

late_job() {
  local status=0
  emit repo "$1" >"$RUN/$INDEX.head"
  late_one "$1" >"$RUN/$INDEX.out" || status=$?
  [ -z "$LOST" ] || fault "the answer could not be written"
  [ $status != 0 ] || return 0
  ! ended $status || fault "$1: a process was ended by a signal ($status); the sandbox may be short of memory"
  said_in "$OUT.err"
  rm -f -- "$BULK/$INDEX.link" || return
  { emit state failed && emit fail-path . && emit fail-reason "${SAID:-what was written late could not be captured}"; } >"$RUN/$INDEX.out"
}

# forget_stored: what the capture of tag DONE holds need not be kept.
forget_stored() {
  local place entries
  for place in "$HOME_DIR/aside-$SESSION"/*/*; do
    [ -f "$place/storing" ] && mapfile -d '' -t entries <"$place/storing" && [ "${entries[0]}" = "$DONE" ] || continue
    { pass_on "$place/stored" && printf '%s\0' "${entries[@]:1}"; } >"$place/stored.part" && mv -f -- "$place/stored.part" "$place/stored" \
      && rm -f -- "$place/storing" || fault "what is stored could not be noted"
  done
  settle_asides
}

main() {
  local parts=()
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Cannot write to $HOME_DIR. Free some disk space, then call again."
  count_processors
  if [ -n "$DONE" ]; then
    forget_stored
    exec 9>&-
    emit end '' | finish
    close_run
    return
  fi
  for INDEX in "${!KNOWN_PATH[@]}"; do
    (late_job "${KNOWN_PATH[INDEX]}") || fault "what was written late in ${KNOWN_PATH[INDEX]} could not be captured"
    parts+=("$RUN/$INDEX.head" "$RUN/$INDEX.out")
  done
  : >"$RUN/first"
  send_capture "$RUN/first" "${parts[@]}"
}

main
