# All checks of a restore before the first write.
# shellcheck shell=bash

# problem KIND MESSAGE: records a problem of the repository being worked on.
problem() { { emit problem "$1" && emit problem-message "$2"; } >>"$OUT.problems"; }

# refused STATUS KIND MESSAGE: the same for a command that failed. A command that was ended by a signal, or
# for lack of memory, refused nothing and must be tried again.
refused() {
  local kind=$2 what=$3
  said_in "$OUT.missing" "$OUT.move" "$OUT.err" "$OUT.add" "$OUT.find"
  ! cut_off "$1" "$SAID" || kind=interrupted what="a process of the restore was ended from outside"
  or_step "$1"
  problem "$kind" "$what: $SAID"
}

# cut_off STATUS TEXT: whether a process was ended from outside. More than 128 is a signal, which
# xargs reports as 125. Git itself exits with 128 on a fatal error, and with 129 on wrong usage.
cut_off() {
  ended "$1" || [[ $2 == *'ut of memory'* || $2 == *'annot allocate memory'* || $2 == *'Resource temporarily unavailable'* ]]
}

# barred PATH: whether something that is not a real directory stands in the place of this directory below the
# projects root, or of one above it. BAR is its path. A capture does not go through a link either.
barred() {
  BAR=$1
  while :; do
    if [ -L "$BAR" ] || { [ -e "$BAR" ] && [ ! -d "$BAR" ]; }; then return 0; fi
    [[ $BAR == */* ]] || return
    BAR=${BAR%/*}
  done
}

# bar_goes I: whether BAR is a file or a symlink of the outer repository that its target does not have. Then
# it is gone before this repository comes. If the outer repository's target is not here yet, this is checked
# when it is.
bar_goes() {
  local path=$BAR entry
  enclosing "$1"
  [ -n "$OUTER" ] && [ -n "${R_NOW_TREE[OUTER]}" ] || return
  if [ "${R_PATH[OUTER]}" != . ]; then
    [[ $BAR == "${R_PATH[OUTER]}"/* ]] || return
    path=${BAR#"${R_PATH[OUTER]}"/}
  fi
  local -x GIT_DIR=$ROOT/${R_PATH[OUTER]}/.agent-shadow/session-$SESSION
  entry=$(git --literal-pathspecs ls-tree "${R_NOW_TREE[OUTER]}" -- "$path" 2>/dev/null) && [[ $entry == *' blob '* ]] || return
  entry=$(git --literal-pathspecs ls-tree "${R_TREE[OUTER]}" -- "$path" 2>/dev/null) || return 0
  [[ $entry != *' blob '* ]]
}

# open_repository I [COMMIT]: enters the repository, finds host and shadow, and sets the variables that the
# other functions read. EXISTS says whether it is there; it may have no .git, when a capture found it so.
# COMMIT is the host's HEAD, for a caller that needs nothing else about the host.
open_repository() {
  local i=$1
  INDEX=$i OUT=$RUN/$i REPOSITORY=${R_PATH[i]}
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  cd -- "$ROOT" || return
  HELD_THEN=()
  EXISTS='' CREATED='' HG='' HC='' HOST_CONFIG='' FORMAT=${R_FORMAT[i]} HEAD_KIND=none HEAD_REF='' HEAD_COMMIT='' BRANCHES='' PARTIAL_FLAG=${R_PARTIAL[i]:+1} SHALLOW=0 PARTIAL=0 TREE='' META=''
  if [ "$FORMAT" = sha256 ]; then EMPTY=$EMPTY_SHA256 NEW_FORMAT=sha256 EMPTY_BLOB=$EMPTY_BLOB_SHA256; else EMPTY=$EMPTY_SHA1 NEW_FORMAT='' EMPTY_BLOB=$EMPTY_BLOB_SHA1; fi
  ZERO_ID=${EMPTY//?/0}
  [ -d "${R_PATH[i]}" ] && ! barred "${R_PATH[i]}" && { [ -e "${R_PATH[i]}/.git" ] || [ -n "${R_NOW_TREE[i]}" ] || [ -f "$OUT.made" ]; } || return 0
  EXISTS=1
  cd -- "${R_PATH[i]}" || return
  look_at_host "${2-}"
}

look_at_host() {
  HG='' HC='' HOST_CONFIG='' HEAD_KIND=none HEAD_REF='' HEAD_COMMIT='' BRANCHES=''
  if ! find_host; then
    HG='' HC=''
    return 0
  fi
  read_settings
  if [ -n "${1-}" ]; then HEAD_COMMIT=$1; else { read_head || survived $?; } && { without_history || :; }; fi
  base_name
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
}

# stand I TARGET: sets TREE and META of the repository as it is now.
stand() {
  REPOSITORY=${R_PATH[$1]}
  nested_below "$REPOSITORY"
  open_shadow "$FORMAT" || return
  local status=0
  snapshot "$2" >"$OUT.report" || status=$?
  [ $status != 0 ] && ! ended $status && [ -f "$SHADOW/index" ] || return $status
  # It may name contents that the shadow has lost since. Without it, everything is read.
  rm -f -- "$SHADOW/index" && : >"$OUT.err" && snapshot "$2" >"$OUT.report"
}

# bring_objects I: unpacks the bundles of one repository: the base into the host that it creates,
# links into the shadow. Where the shadow holds damaged objects, everything goes into a separate
# store first, because git does not write objects that it seems to have, and reads packs before
# single objects.
bring_objects() {
  local i=$1 entry kind cuts file objects='' status
  if [ -f "$SHADOW/damaged" ]; then
    objects=$BULK/$i.objects
    rm -rf -- "$objects" && mkdir -p -- "$objects/pack" || return
  fi
  for entry in ${R_BUNDLES[i]}; do
    IFS=: read -r kind entry cuts <<<"$entry" || return
    file=$IN/$entry.bundle status=0
    if [ -n "$objects" ]; then
      if [ -n "$cuts" ]; then GIT_OBJECT_DIRECTORY=$objects each_link "$file" "$IN/$cuts.cuts"; else GIT_OBJECT_DIRECTORY=$objects unpack "$file" link; fi 2>>"$OUT.err" || return
    elif [ "$kind" = base ] && [ -n "$CREATED" ]; then
      GIT_DIR=$HG unpack "$file" "$kind" ${PARTIAL_FLAG:+--promisor} 2>>"$OUT.err" || return
    else
      unpack "$file" "$kind" 2>>"$OUT.err" || status=$?
      [ $status != 0 ] || continue
      # Links were joined or made into loose objects for speed. Git may still accept them in their
      # original form.
      [ "$kind" = small ] || [ "$kind" = many ] || return $status
      if [ -n "$cuts" ]; then each_link "$file" "$IN/$cuts.cuts" 2>>"$OUT.err" || return; else unpack "$file" link 2>>"$OUT.err" || return; fi
    fi
  done
  [ -n "$objects" ] || return 0
  # The index of a pack comes last, because git does not see a pack without it.
  mv -f -- "$objects"/pack/*.pack "$SHADOW/objects/pack/" && mv -f -- "$objects"/pack/*.idx "$SHADOW/objects/pack/" && rm -f -- "$SHADOW/damaged"
}

# with_now_mended I PRESENT...: whether the objects are there (PRESENT) once those of the present state, which
# the shadow may have lost, were made again from its files. Git reports both losses in the same way. All
# objects are checked, because objects that both states share may be gone.
with_now_mended() {
  local was="$TREE $META"
  : >"$OUT.missing"
  bring_damaged "$1" && read_lost && stand "$1" "${R_TREE[$1]}" && [ "$TREE $META" = "$was" ] && "${@:2}"
} 2>>"$OUT.err"

# with_boundary TREE META: whether they are there up to the boundary of a shallow clone, which the target has and
# the host's repository has lost. $OUT.boundary is that boundary, which comes back then.
with_boundary() {
  [ -n "$HC" ] && [ ! -s "$HC/shallow" ] && part "$2" shallow "$OUT.boundary" && [ -s "$OUT.boundary" ] && cat -- "$OUT.boundary" >"$SHADOW/shallow" || return
  objects_present "$1" "$2" || { rm -f -- "$OUT.boundary" "$SHADOW/shallow" && return 1; }
} 2>>"$OUT.err"

# not_there STATUS I MESSAGE: refuses what with_now_mended could not mend. MESSAGE is used when the process
# says nothing about objects.
not_there() {
  said_in "$OUT.missing"
  if [ -z "$SAID" ] || cut_off "$1" "$SAID"; then refused "$1" failed "$3"; else lacking "$2" "$SAID"; fi
}

# lacking I: some objects of the target cannot be read. The next call brings them, and does not
# trust the ones here.
lacking() {
  : >"$SHADOW/damaged"
  problem missing-objects "$2"
}

# check_one I: checks that the repository is where the caller thinks it is, and that the target
# can be restored. Writes nothing of the user's.
check_one() {
  local i=$1 status=0
  : >"$OUT.problems"
  : >"$OUT.err"
  : >"$OUT.warn"
  : >"$OUT.company"
  if [ -n "$EXISTS" ] && [ -n "${R_TREE[i]}" ] && [ "$FORMAT" != "${R_FORMAT[i]}" ]; then
    problem unsafe-path "it was made again in the object format $FORMAT, and was ${R_FORMAT[i]} at the checkpoint: move it away"
    return 0
  fi
  if [ -n "$EXISTS" ]; then
    stand "$i" "${R_TREE[i]}" 2>>"$OUT.err" || {
      refused $? failed "the repository cannot be read as it is now"
      return 0
    }
    STEP='making the plan'
    if [ "$TREE" != "${R_NOW_TREE[i]}" ] || { [ "$META" != "${R_NOW_META[i]}" ] && [ "$FILES_ONLY" = 0 ]; }; then
      only_content "$i" || {
        status=$?
        if [ $status = 1 ]; then
          problem changed "files or host state changed after the capture; stop what still works in this repository"
        else
          refused $status failed "what changed after the capture cannot be told"
        fi
        return 0
      }
    fi
  elif [ -n "${R_NOW_TREE[i]}" ]; then
    problem changed "the repository vanished after the capture"
    return 0
  fi
  if [ -z "${R_TREE[i]}" ]; then
    [ -z "$EXISTS" ] || { readable "$TREE" && tell_unread; } || return 0
    emit plan parked >"$OUT.plan"
    [ -z "$EXISTS" ] || plan_paths "$TREE" "$EMPTY"
    return
  fi
  if [ -n "$EXISTS" ]; then
    [ -z "${R_BUNDLES[i]}" ] || bring_objects "$i" || {
      status=$?
      : >"$SHADOW/damaged"
      refused $status missing-objects "a bundle does not fit"
      return 0
    }
    objects_present "${R_TREE[i]}" "${R_META[i]}" "$TREE" "$META" || with_boundary "${R_TREE[i]}" "${R_META[i]}" || with_now_mended "$i" objects_present "${R_TREE[i]}" "${R_META[i]}" || {
      not_there $? "$i" "the objects of the checkpoint cannot be looked at"
      return 0
    }
    if [ "$FILES_ONLY" = 0 ]; then
      same_host "${R_META[i]}" || {
        status=$?
        if [ $status = 1 ]; then
          problem unsafe-path "it is a linked worktree of another repository than the one of the checkpoint: remove it with git worktree remove"
        else
          refused $status failed "the repository that this worktree belongs to cannot be read"
        fi
        return 0
      }
      [ "$META" = "${R_META[i]}" ] || [ -z "$HG" ] || ! refs_wait refs/{heads,bisect,remotes,tags} logs/refs/heads || {
        problem unsafe-path "$WAITS $WAITS_WHY: remove it"
        return 0
      }
      [ "$META" = "${R_META[i]}" ] || [ -z "$HG" ] || stays_here || {
        problem unsafe-path "$LINK"
        return 0
      }
      note_goal "$i" "${R_META[i]}" || return
    fi
    tell_held "${R_TREE[i]}" "${R_META[i]}" && goal_tree "${R_TREE[i]}" && printf '%s\n' "$GOAL" >"$OUT.goal" || return
    readable "$TREE" && readable "$GOAL" && free_paths && tell_unread || return 0
    [ "$FILES_ONLY" = 1 ] || tell_lost_stash "$i" || return
    emit plan restored >"$OUT.plan"
    [ "$FILES_ONLY" = 1 ] || [ "$META" = "${R_META[i]}" ] || plan_host "$META" "${R_META[i]}" ${HG:+plan_refs} >>"$OUT.plan" || return
    plan_paths "$TREE" "$GOAL"
  else
    local parent=${R_PATH[i]} inside
    inside=("$parent"/*)
    if barred "$parent"; then
      bar_goes "$i" || {
        problem unsafe-path "$BAR is a file or a symlink, where this repository was or a directory above it: move it away"
        return 0
      }
    elif [ -d "$parent" ] && { [ ! -r "$parent" ] || [ ${#inside[@]} -gt 1 ] || { [ ${#inside[@]} = 1 ] && [ "${inside[0]}" != "$parent/.agent-shadow" ]; }; }; then
      problem changed "a directory with files appeared where this repository was"
      return 0
    fi
    tell_lost_stash "$i" && emit plan created >"$OUT.plan"
  fi
}

# only_content I: whether the caller allows other processes to write, and only the content of
# captured files changed since the capture. Those files go to $OUT.company, are put aside like all
# others, and are reported.
only_content() {
  local i=$1 at entries=()
  [ "$COMPANY" = 1 ] || return
  [ "$META" = "${R_NOW_META[i]}" ] || [ "$FILES_ONLY" = 1 ] || return 1
  git diff-tree -r -z --no-renames --name-status "${R_NOW_TREE[i]}" "$TREE" >"$OUT.since" 2>>"$OUT.err" || return 2
  mapfile -d '' -t entries <"$OUT.since" || return 2
  for ((at = 0; at + 1 < ${#entries[@]}; at += 2)); do
    [ "${entries[at]}" = M ] || return 1
    printf '%s\0' "${entries[at + 1]}"
  done >"$OUT.company"
}

# goal_tree TREE: GOAL becomes the part of a tree that belongs to this repository: without files in a git
# directory, and without files in an inner repository that the same target has. A capture holds the latter
# twice when it was made because a rollback was about to overwrite them.
goal_tree() {
  local index=$OUT.goal.index inside=("${INNER[@]/%//}" "${HELD[@]/%//}")
  GOAL=$1
  [ ${#inside[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "${inside[@]}" >"$OUT.inner" || return
  [ -s "$OUT.inner" ] || return 0
  rm -f -- "$index" || return
  GIT_INDEX_FILE=$index git read-tree "$1" && GIT_INDEX_FILE=$index git update-index --force-remove -z --stdin <"$OUT.inner" || return
  GOAL=$(GIT_INDEX_FILE=$index git write-tree)
}

# readable TREE: whether the look at the repository could read every path of a tree. An unreadable
# path is in no capture, whatever the index still shows.
readable() {
  local i pairs=() paths=()
  mapfile -d '' -t pairs <"$OUT.report" || return
  for ((i = 0; i + 1 < ${#pairs[@]}; i += 2)); do
    [ "${pairs[i]}" = fail-path ] || continue
    case ${pairs[i + 1]} in . | .git | .git/*) ;; *) paths+=("${pairs[i + 1]%/}") ;; esac
  done
  list_into "$OUT.not-read" "${paths[@]}" || return
  [ ${#paths[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "${paths[@]}" >"$OUT.unread" 2>>"$OUT.err" || {
    refused $? failed "what could not be read cannot be compared"
    return 1
  }
  [ -s "$OUT.unread" ] || return 0
  first_paths "$OUT.unread"
  problem conflict "cannot be read, so not captured, and would be overwritten or deleted: $FIRST"
  return 1
}

# tell_unread: warns of what could not be captured and is not in the target. A restore leaves it as it is.
tell_unread() {
  local path
  while IFS= read -r -d '' path; do printf '%s stays as it is, because it could not be captured\0' "$path"; done <"$OUT.not-read" >"$OUT.warn.unread"
}

# first_paths LIST: FIRST becomes the first five paths, for a person.
first_paths() {
  local path count=0
  FIRST=''
  while [ $count -lt 5 ] && IFS= read -r -d '' path; do FIRST+="$path " && count=$((count + 1)); done <"$1"
}

# counted DELETED: reports how many files are written and deleted. The last report counts.
counted() { emit written "$WRITTEN" >"$OUT.counted" && emit deleted "$1" >>"$OUT.counted"; }
