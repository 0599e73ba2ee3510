# The capture command. capture-command.ts describes the variables set before it.
# shellcheck shell=bash

# name_stash: the newest entries, for the report of a capture.
name_stash() {
  local id
  read_stash $STASH_MOST
  for id in "${STASH[@]}"; do emit stash "$id" || return; done
}

describe_host() {
  emit head-kind "$HEAD_KIND"
  [ -z "$HEAD_REF" ] || emit branch "${HEAD_REF#refs/heads/}"
  [ -z "$HEAD_COMMIT" ] || emit head "$HEAD_COMMIT"
  emit format "$FORMAT"
  emit shallow "${SHALLOW:-0}"
  emit partial "${PARTIAL:-0}"
  name_stash
}

# missing_target I: whether the sandbox lacks that target. This is a quick look; restore checks
# every object before it writes.
missing_target() {
  local answer commit=${TARGET_COMMIT[$1]} tree=${TARGET_TREE[$1]} meta=${TARGET_META[$1]}
  [ "$commit" != "$COMMIT" ] || return 1
  if [ "$meta" = "$META" ]; then
    # The trees of target and now were compared, so the target's tree is here.
    [ "$tree" != "$TREE" ] && { ! line_of "$SHADOW/changes.of" || [[ $TEXT != *" $tree "*' end' ]]; } || return 1
  fi
  answer=$(exec git cat-file --batch-check <<<"$commit"$'\n'"$tree"$'\n'"$meta" 2>/dev/null)
  [[ $answer != *' commit '*' tree '*' commit '* ]]
}

# read_host TARGET: reads the state of the host's repository. HOST_PROBLEM describes what could not be
# read.
read_host() {
  local before=${known_commit:-$1}
  HOST_CONFIG='' SHALLOW=0 PARTIAL=0 BASE='' HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES='' HOST_PROBLEM='' BROKEN=()
  if find_host; then
    read_settings
    # Tried twice, because a git process that was killed says nothing about the repository.
    read_head || { BROKEN=() && read_head; } || {
      host_refused
      HOST_PROBLEM="HEAD or the branches of the host repository cannot be read${SAID:+: $SAID}"
    }
    [ ! -f "$PWD/.agent-shadow/session-$SESSION/no-history" ] || still_lost || return
    base_name || return
  else
    HG='' HC='' FORMAT=sha1 HEAD_KIND=none
    # Without a .git, the format is that of the last capture, or of the target that will come back.
    [ ${#before} != 64 ] || FORMAT=sha256
    [ ! -e .git ] || HOST_PROBLEM="the .git of this repository is not usable, so branch, HEAD and index are not captured${WAITS:+: $WAITS $WAITS_WHY}"
  fi
  PARTIAL_FLAG=''
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
}

# lost_history: whether a commit that HEAD or a branch comes from cannot be read. No bundle can be made then. SAID
# becomes git's message. A note tells a restore, and the captures that follow.
lost_history() {
  local status=0 line ids=()
  [ -n "$HC" ] && [ -n "$HEAD_COMMIT$BRANCHES" ] || return
  lines_in "$HEAD_COMMIT"$'\n'"$BRANCHES"
  for line in "${SPLIT[@]%% *}"; do [ "$line" = symref ] || ids+=("$line"); done
  printf '%s\n' "${ids[@]}" >"$OUT.tips" || return
  "${HOST_GIT[@]}" -c core.commitGraph=false --git-dir="$HG" rev-list --quiet --ignore-missing --stdin <"$OUT.tips" >/dev/null 2>"$OUT.history" || status=$?
  ! ended $status && [ $status != 0 ] && said_in "$OUT.history" && printf '%s' "$HEAD_COMMIT $BRANCHES" >"$SHADOW/no-history"
}

# still_lost: looks again, where a capture found that.
still_lost() {
  local SHADOW=$PWD/.agent-shadow/session-$SESSION
  if lost_history; then
    without_history && HOST_PROBLEM="the history of HEAD or of a branch cannot be read: $SAID"
  else
    rm -f -- "$SHADOW/no-history"
  fi
}

# host_refused: SAID becomes the reason why the host's repository cannot be read: the file that git would wait
# for, or git's own message, for example about its settings. Empty when git says nothing.
host_refused() {
  SAID=${WAITS:+$WAITS $WAITS_WHY}
  [ -z "$SAID" ] || return 0
  "${HOST_GIT[@]}" --git-dir="$HG" rev-parse --git-dir >"$OUT.refused" 2>&1 || said_in "$OUT.refused"
}

# of_format ID: whether this can be the id of an object in this repository. An empty id can.
of_format() { [ -z "$1" ] || [ ${#1} = ${#FORMAT_IDS[$FORMAT]} ]; }
declare -A FORMAT_IDS=([sha1]=$EMPTY_SHA1 [sha256]=$EMPTY_SHA256)

# base_serves BASE NOW: whether the stored base BASE can be built upon, when the base made now would be NOW.
# Its history must end at the same commits, and it must not come from a partial clone when the clone is
# complete now. An empty name always passes.
base_serves() {
  local one=''
  [ -n "$1" ] && [ -n "$2" ] || return 0
  # A base of a partial clone that an older release stored may lack objects that were fetched later.
  [[ $1 != *-p ]] && [[ $1 != *-p* || $2 == *-p* ]] || return
  [[ ! $1 =~ -s[0-9a-f]{16} ]] || one=${BASH_REMATCH[0]}
  if [[ $2 =~ -s[0-9a-f]{16} ]]; then [ "$one" = "${BASH_REMATCH[0]}" ]; else [ -z "$one" ]; fi
}

# capture_now TARGET NEXT: COMMIT is the capture of the repository as it is. With CHAIN set, its
# bundles are made.
capture_now() {
  COMMIT='' CHAIN='' IN_THE_WAY=''
  : >"$OUT.err"
  : >"$OUT.report"
  STEP='reading HEAD and branches'
  read_host "$1" || return
  # The repository was made again in another object format, so nothing from before can be built upon or
  # compared.
  of_format "$known_commit" || { known_commit='' known_tree='' known_meta='' known_base='' known_base_commit='' && set -- "$1" rebase; }
  of_format "$1" || set -- '' "$2"
  # Commits that came below the boundary of a shallow clone are in no bundle, although they are ancestors of
  # the base.
  base_serves "$known_base" "$BASE" || set -- "$1" rebase
  open_shadow "$FORMAT" 2>>"$OUT.err" || return
  STEP='looking at the files'
  begin_look || return
  last_look || return
  # A chain begins with a look at everything.
  [ "$2" = append ] || WHOLE=1
  snapshot "$1" >"$OUT.report" 2>>"$OUT.err" || return
  note_look "${1:--}" || return
  if [ "$TREE" = "$known_tree" ] && [ "$META" = "$known_meta" ]; then
    COMMIT=$known_commit
    return
  fi
  STEP='making the bundle'
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
    [ ! -s "$OUT.barred" ] || { slurp "$OUT.barred" && IN_THE_WAY=${TEXT%$'\n'}; }
    [ $status != 0 ] && [ -z "$IN_THE_WAY" ] && ! out_of_space || break
    [ $attempt != 1 ] || ended $status || ! lost_history || continue
    # The shadow holds nothing that is not elsewhere. So a broken shadow is made anew, once, from
    # the files alone. This does not apply to a process that was killed, since that says nothing
    # about the shadow. One that crashed may have read a damaged pack.
    if [ $attempt = 2 ] && { ! ended $status || { crashed $status && damaged_packs; }; }; then
      UNSEEDED=1
      rm -rf -- "$SHADOW" || :
    fi
  done
  if [ $status != 0 ]; then
    ! ended $status || fault "$path: a process of the capture was ended by a signal ($status); the sandbox may be short of memory"
    emit state failed && emit fail-path . && emit fail-reason "$(first_reason)"
    rm -f -- "$BULK/$INDEX.link" "$BULK/$INDEX.base" "$OUT.report"
    return
  fi
  [ ! -s "$OUT.err" ] || heed
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
  if [ "$k" -ge 0 ] && [ -z "${KNOWN_GONE[k]}" ]; then record_changes "$known_tree" "$known_meta" here; else record_changes '' ''; fi
  if [ -n "$target" ] && of_format "$target" && missing_target "$t"; then emit missing-target 1; fi
  tag_capture 2>/dev/null
  note_tree_id "$TREE" || :
  pack_grown >/dev/null 2>&1 || :
}

# heed: fails the capture when a git command other than add gave an unknown warning. Problems with directories
# or rules in a walk were met and named by add too (hear).
heed() {
  local line
  local -A heard=()
  while IFS= read -r line; do
    case $line in
      "warning: could not open directory '"* | "warning: unable to access '"*) continue ;;
      'warning: '*) ;;
      *) continue ;;
    esac
    [ -z "${heard[$line]-}" ] && ! harmless "$line" || continue
    heard[$line]=1
    emit fail-path . && emit fail-reason "git warned of what Walkback does not know: ${line#warning: }"
  done <"$OUT.err"
}

# first_reason: the reason why a capture failed, for a person: an obstacle if there is one, else missing room,
# else the last message.
first_reason() {
  local file line last='' before='' full=''
  if [ -n "$IN_THE_WAY" ]; then
    printf '%s' "$IN_THE_WAY"
    return
  fi
  for file in "$OUT.add" "$OUT.err" "$OUT.find"; do
    [ -f "$file" ] || continue
    while IFS= read -r line; do
      if no_room "$line"; then full=$line; elif [[ $line == fatal* || $line == error* || $line == *denied* ]]; then before=$last last=$line; fi
    done <"$file"
  done
  # What git says after this is a consequence.
  line=${full:-$before${before:+ }$last}
  [ -n "$line" ] || line="git could not capture the repository, and did not say why${STEP:+, while $STEP}"
  printf '%s' "${line:0:300}"
}

# capture_job PATH KNOWN TARGET: captures a repository in its own shell. The file `finished` shows
# that the shell ended properly with a complete report. Otherwise the report holds the reason.
capture_job() {
  capture_one "$@" >"$RUN/$INDEX.out" 2>"$RUN/$INDEX.log" || return
  [ -z "$LOST" ] || return
  # An empty file needs no room. This byte makes a full disk noticeable, whatever was written before it.
  printf . >"$RUN/$INDEX.finished"
}

# tag_capture: tags every checkpoint, so that a person in the sandbox finds it with plain git. The tag is
# written directly, because this is our own git directory. Packing objects opens every tag, so from time to
# time the tags become one file. An earlier capture that is reused as this one may be gone, together with the
# shadow that had it.
tag_capture() {
  local tags=$SHADOW/refs/tags/chkpt
  local -a loose=("$tags"/*)
  [ -f "$SHADOW/objects/${COMMIT:0:2}/${COMMIT:2}" ] || has_object "$COMMIT" || return
  [ ${#loose[@]} -lt 64 ] || git pack-refs --all || :
  { [ -d "$tags" ] || mkdir -p -- "$tags"; } && printf '%s\n' "$COMMIT" >"$tags/$TAG" || :
}

# capture_all [full]: captures every root, some at once (count_processors). Sets COUNT and
# the roots SEEN.
capture_all() {
  local path i
  local -A root=() known=() target=()
  discover "$RUN/find" "${1-}" || fault "the repositories could not be looked for: find or the shell ended with $?"
  # A repository that the session knows stays a root as long as its directory exists, even when
  # its .git is gone. So does one that is about to be restored: the files in its place are
  # captured before anything is written there.
  TARGET_ROOTS=("${TARGET_PATH[@]}")
  for path in "${ROOTS[@]}"; do root[/$path]=1; done
  for path in "${KNOWN_PATH[@]}" "${TARGET_PATH[@]}"; do
    [ -z "${root[/$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path" || continue
    root[/$path]=1
    ROOTS+=("$path")
  done
  for i in "${!KNOWN_PATH[@]}"; do known[/${KNOWN_PATH[i]}]=$i; done
  for i in "${!TARGET_PATH[@]}"; do target[/${TARGET_PATH[i]}]=$i; done
  find_held || fault "the git directories of the repositories could not be looked for"
  COUNT=0 STARTED=0
  [ ${#KNOWN_PATH[@]} -gt 0 ] || PARALLEL=$FEW
  declare -gA SEEN=()
  for path in "${ROOTS[@]}"; do
    SEEN[$path]=1 INDEX=$COUNT
    capture_job "$path" "${known[/$path]:--1}" "${target[/$path]:--1}" &
    COUNT=$((COUNT + 1))
    jobs_limit
  done
  wait
  # A shell that was killed says nothing about its repository. It is tried once more, alone, when
  # there may be more memory.
  for ((INDEX = 0; INDEX < COUNT; INDEX++)); do
    path=${ROOTS[INDEX]}
    [ -s "$RUN/$INDEX.finished" ] || (capture_job "$path" "${known[/$path]:--1}" "${target[/$path]:--1}") && [ -s "$RUN/$INDEX.finished" ] && continue
    slurp "$RUN/$INDEX.log"
    TEXT=${TEXT%$'\n'}
    [ -n "$TEXT" ] || has_room "$RUN/$INDEX" || TEXT="there is no room left in $RUN"
    fault "${TEXT:-the shell that captured $path was ended}"
  done
}

main() {
  local path i parts=()
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run quick || die SandboxUnavailable "Cannot write to $HOME_DIR. Free some disk space, then call again."
  count_processors
  read_umask
  read_user_config
  read_mounts
  find_mapped || fault "the files that processes have mapped could not be looked for"
  capture_all
  if [ -f "$RUN/rescan" ]; then
    rm -f -- "$BULK"/[0-9]*.* "$RUN"/[0-9]*.* "$RUN/rescan" || fault "the files of the first look could not be removed"
    capture_all full
  fi
  { { [ -d "$HOME_DIR/taken-$SESSION" ] || mkdir -- "$HOME_DIR/taken-$SESSION"; } && note_beside "$HOME_DIR/taken-$SESSION/$TAG" "${ROOTS[@]}"; } 2>/dev/null || :
  parts=("$RUN/first")
  passed_over >"$RUN/first"
  for ((i = 0; i < COUNT; i++)); do
    parts+=("$RUN/$i.head" "$RUN/$i.report" "$RUN/$i.out")
  done
  # This goes on in the background: send_capture waits for it.
  keep_tree_ids ROOTS
  {
    for path in "${KNOWN_PATH[@]}" "${MENTIONED_PATH[@]}"; do [ -n "${SEEN[$path]-}" ] || { emit repo "$path" && emit state absent; }; done
  } >"$RUN/absent"
  send_capture "${parts[@]}" "$RUN/absent"
}

main
