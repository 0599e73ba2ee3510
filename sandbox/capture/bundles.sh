# Writes a capture as bundles, announces them, and sends them.
# shellcheck shell=bash

# bundle FILE TIP REF PREREQUISITE [FILES...]: writes git's bundle format. `git bundle create` is
# not used, because it cannot leave out objects that a partial clone never had, and it starts three
# processes where one is enough.
bundle() {
  local file=$1 tip=$2 ref=$3 prerequisite=$4
  shift 4
  {
    if [ "$FORMAT" = sha256 ]; then printf '# v3 git bundle\n@object-format=sha256\n'; else printf '# v2 git bundle\n'; fi
    [ -z "$prerequisite" ] || printf -- '-%s\n' "$prerequisite"
    printf '%s %s\n\n' "$tip" "$ref"
    if [ -n "$PARTIAL_FLAG" ]; then
      objects_of_partial "$tip" "$prerequisite" "$@" | git pack-objects --stdout --delta-base-offset -q 2>>"$OUT.err"
    else
      git pack-objects --revs --thin --stdout --delta-base-offset -q 2>>"$OUT.err" <<<"$tip${prerequisite:+$'\n'^$prerequisite}"
    fi
  } >"$file" 2>>"$OUT.err"
}

# objects_of_partial TIP PREREQUISITE [FILES...]: the objects of a bundle of a partial clone, as far as they
# are here. What the clone fetched since the prerequisite was stored is in no bundle, although the
# prerequisite names it. So FILES are listed separately: the tree of the working files, and the tree before it
# that the store has complete.
objects_of_partial() {
  git rev-list --objects --missing=allow-any "$1" ${2:+"^$2"} || return
  [ $# -lt 3 ] || git rev-list --objects "${@:3}"
}

# has_object ID: whether the shadow can read the object.
has_object() { git cat-file -e "$1" 2>/dev/null; }

# link_chain: makes the capture commit and its bundle: append, else restart, else rebase,
# whichever the objects in the sandbox still allow.
link_chain() {
  local next=$1 previous=$2 base_commit=$3 parent='' prerequisite='' text status files
  while :; do
    parent='' prerequisite='' files=("$TREE")
    case $next in
      append)
        parent=$previous prerequisite=$previous files+=("^$previous^{tree}")
        ;;
      restart)
        status=0
        [ -n "$base_commit" ] && has_object "$base_commit^{tree}" || status=$?
        ! ended $status || return $status
        if [ $status = 0 ]; then
          prerequisite=$base_commit
        elif [ -n "$base_commit" ] || [ -n "$HEAD_COMMIT" ]; then
          next=rebase
          continue
        fi
        ;;
      rebase)
        prerequisite=$HEAD_COMMIT
        # A base that is made now contains everything that is here.
        base_stored || files=()
        ;;
    esac
    printf -v text 'tree %s\n%sparent %s\nauthor Walkback <capture@walkback.invalid> %s +0000\ncommitter Walkback <capture@walkback.invalid> %s +0000\n\n%s\n\nSession: %s\nMessage: %s\nTool-Execution: %s' \
      "$TREE" "${parent:+parent $parent$'\n'}" "$META" "$NOW" "$NOW" "$REASON" "$SESSION" "$MESSAGE" "$TAG"
    COMMIT=$(exec git hash-object -t commit -w --stdin 2>>"$OUT.err" <<<"$text") || return
    # Packing shows which objects the sandbox no longer has.
    status=0
    bundle "$BULK/$INDEX.link" "$COMMIT" "refs/walkback/capture" "$prerequisite" "${files[@]}" || status=$?
    if [ $status = 0 ]; then
      CHAIN=$next
      return 0
    fi
    ! ended $status && ! out_of_space || return $status
    case $next in append) next=restart ;; restart) [ -n "$HEAD_COMMIT" ] || return $status; next=rebase ;; rebase) return $status ;; esac
  done
}

# base_stored: whether the store has the host commit with its history.
base_stored() {
  local known
  for known in "${KNOWN_BASES[@]}"; do [ "$known" != "$BASE" ] || return 0; done
  return 1
}

# base_bundle: the host commit with its history, unless the store has it.
base_bundle() {
  base_stored || bundle "$BULK/$INDEX.base" "$HEAD_COMMIT" "refs/walkback/base" ''
}

# out_of_space: whether the disk was full while this repository was captured, or is full now. Then its
# messages may have found no room either.
out_of_space() {
  local file
  for file in "$OUT.err" "$OUT.add"; do
    slurp "$file"
    ! no_room "$TEXT" || return 0
  done
  ! has_room "$OUT"
}

# announce: lists the bundles, and how each travels: CARRIED in the answer, FILES in one file that
# is read out, WAITING until the caller gives an upload address. The caller holds the carried ones
# in memory, so their sum is limited: the smallest are carried.
announce() {
  local bundles=("$BULK"/*.link "$BULK"/*.base) records=("$BULK"/*.changes) sums=() sizes=() upload=() i size total=0
  CARRIED=() WAITING=() FILES=() RECORDS=() FILED=()
  [ ${#bundles[@]} -gt 0 ] || return 0
  stat -c %s -- "${bundles[@]}" "${records[@]}" >"$RUN/sizes" &
  # Runs in their directory: sha256sum begins the line of a name with a backslash differently, and our own
  # file names have none.
  TEXT=$(cd -- "$BULK" && exec sha256sum -- "${bundles[@]##*/}") && lines_in "$TEXT" && sums=("${SPLIT[@]}") && wait $! && mapfile -t sizes <"$RUN/sizes" || return
  [ ${#sums[@]} = ${#bundles[@]} ] && [ ${#sizes[@]} = $((${#bundles[@]} + ${#records[@]})) ] || return 1
  RECORD_SIZES=("${sizes[@]:${#bundles[@]}}") sizes=("${sizes[@]:0:${#bundles[@]}}")
  for size in "${sizes[@]}"; do total=$((total + size)); done
  if [ "$total" -gt "$CARRY_MOST" ]; then
    for i in "${!sizes[@]}"; do printf '%s %s\n' "${sizes[i]}" "$i"; done >"$RUN/order" && sort -n -o "$RUN/order" -- "$RUN/order" || return
    total=0
    while read -r size i; do
      if [ $((total + size)) -gt "$CARRY_MOST" ]; then upload[i]=1; else total=$((total + size)); fi
    done <"$RUN/order"
  fi
  for i in "${!bundles[@]}"; do
    emit bundle "${bundles[i]##*/}" && emit size "${sizes[i]}" && emit sha256 "${sums[i]%% *}"
    if [ -n "${upload[i]-}" ]; then
      emit carry upload
      WAITING+=("${bundles[i]}")
    elif [ "$total" -gt "$CARRY_TOTAL" ]; then
      emit carry file
      FILES+=("${bundles[i]}")
    else
      emit carry inline
      CARRIED+=("${bundles[i]}")
    fi
  done
  # One file, so that one read fetches any number of bundles. Only one bundle at a time takes room twice.
  [ ${#FILES[@]} -eq 0 ] || mv -- "${FILES[0]}" "$BULK/bundles" || return
  for i in "${FILES[@]:1}"; do cat -- "$i" >>"$BULK/bundles" && rm -f -- "$i" || return; done
  records_of_changes
}

# records_of_changes: announces what changed, after the bundles. When this fails, nothing of it is sent, and
# the answer says so.
records_of_changes() {
  local plain=1 lost=$LOST
  [ ${#FILES[@]} -eq 0 ] || plain=''
  if announce_changes "$plain" >"$RUN/announced-changes" 2>/dev/null && [ "$LOST" = "$lost" ]; then
    pass_on "$RUN/announced-changes"
  else
    LOST=$lost RECORDS=() FILED=()
    emit changes-lost 1
  fi
}

# upload_all: sends the large bundles to the addresses that the caller writes into a file. The
# addresses are secret, and the contents of files are the only input that the sandbox's daemon
# does not log. So this command waits for a file.
upload_all() {
  local waited=0 status=0
  until slurp "$BULK/uploads" && [[ $TEXT == *'# end'$'\n' ]]; do
    if [ $waited -ge $((UPLOAD_WAIT * 20)) ]; then
      emit upload "nobody said where to upload to within $UPLOAD_WAIT seconds"
      emit end ''
      return
    fi
    sleep 0.05
    waited=$((waited + 1))
  done
  rm -f -- "$BULK/uploads"
  cd -- "$BULK" && transfer upload.log || status=$?
  # curl's messages name at most the host, not the address itself.
  slurp "$BULK/upload.log"
  if [ $status = 0 ]; then emit upload ok; else emit upload "curl ended with $status: ${TEXT:0:300}"; fi
  emit end ''
}

# send_capture PART...: answers these parts and the bundles.
send_capture() {
  local full="Free some disk space, then call again."
  announce >"$RUN/announced" || die SandboxUnavailable "The bundles of this capture cannot be written or read back. $full"
  emit end '' >"$RUN/end"
  pass_on "$@" "$RUN/announced" "$RUN/end" >"$RUN/answer" && { [ $((${#CARRIED[@]} + ${#RECORDS[@]})) -eq 0 ] || cat -- "${CARRIED[@]}" "${RECORDS[@]}" >>"$RUN/answer"; } && [ -z "$LOST" ] || die SandboxUnavailable "Cannot write to $RUN. $full"
  # The lock goes before the answer: an answer that no one reads must not block the next command.
  wait
  exec 9>&-
  finish <"$RUN/answer" || fault "the answer could not be written"
  [ ${#WAITING[@]} -eq 0 ] || upload_all | finish
  if [ $((${#FILES[@]} + ${#FILED[@]})) -gt 0 ]; then close_run bulk; else close_run; fi
}
