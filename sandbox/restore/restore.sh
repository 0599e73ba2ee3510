# The restore command: checks everything, then writes, then verifies. If anything fails, it puts everything
# back. restore-command.ts describes the variables.
# shellcheck shell=bash

# each FUNCTION I...: runs it for these repositories, several at once (count_processors). Each exit status
# goes into a file of its own, with the STEP that was reached. A process that was ended from outside leaves
# that file empty.
each() {
  local i how=$1
  shift
  STARTED=0
  for i; do
    : >"$RUN/$i.status"
    (
      STEP='opening the repository'
      "$how" "$i"
      printf '%s %s\n' $? "$STEP" >"$RUN/$i.status"
    ) 2>>"$RUN/$i.log" &
    jobs_limit
  done
  wait
  for i; do
    line_of "$RUN/$i.status" || { TEXT='137 ' && printf 'the process that worked on it was ended from outside\n' >>"$RUN/$i.log"; }
    # The first failure is the one to report.
    [ "${TEXT%% *}" = 0 ] || [ -s "$RUN/$i.ended" ] || printf '%s\n' "$TEXT" >"$RUN/$i.ended"
  done
}

# in_order up|down FUNCTION I...: the same, with the deepest directories first, or last.
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
  now=("${!levels[@]}")
  if [ "$direction" = up ]; then
    now=()
    for depth in "${!levels[@]}"; do now=("$depth" "${now[@]}"); done
  fi
  for depth in "${now[@]}"; do each "$how" ${levels[depth]}; done
}

checked() {
  open_repository "$1" && check_whole "$1" check_one || return
  printf '%s %s %s\n' "${TREE:--}" "${META:--}" "${HEAD_COMMIT:--}" >"$OUT.stand"
}

# touch_it: notes that this repository is written from here on, so that a failure puts it back. A repository
# that fails before this is unchanged.
touch_it() { [ -f "$OUT.touched" ] || : >"$OUT.touched"; }

applied() {
  local i=$1 tree meta head
  read -r tree meta head <"$RUN/$i.stand" || return
  open_repository "$i" "${head#-}" || return
  [ "$tree" = - ] || TREE=$tree META=$meta
  nested_below "${R_PATH[i]}"
  if [ -n "$EXISTS" ] && [ -n "$TREE" ]; then open_shadow "$FORMAT" || return; fi
  reach "$i" "${R_TREE[i]}" "${R_META[i]}" && tell_filters && : >"$OUT.done"
}

# checked_again I: checks a repository again, because one inside it was made after it came back, or
# because a file that was written is not what it should be.
checked_again() {
  local i=$1
  rm -f -- "$RUN/$i.done" && : >"$RUN/$i.tree-noted" || return
  open_repository "$i" && open_shadow "$FORMAT" && held_then "${R_META[i]}" && nested_below "${R_PATH[i]}" && goal_tree "${R_TREE[i]}" && apply_umask "${R_META[i]}" || return
  verify "$i" "${R_META[i]}" && : >"$OUT.done"
}

put_back() {
  local i=$1
  open_repository "$i" || return
  nested_below "${R_PATH[i]}"
  : >"$OUT.tree-noted"
  [ -f "$OUT.why" ] || said_in "$OUT.err" "$OUT.move" && printf '%s\n' "$SAID" >"$OUT.why"
  : >"$OUT.move"
  if [ -n "$EXISTS" ] && [ -d ".agent-shadow/session-$SESSION" ]; then
    open_shadow "$FORMAT" || return
    # The repositories that came back may have written there.
    held_then "${R_META[i]}" || HELD_THEN=()
    nested_below "${R_PATH[i]}"
  fi
  reach "$i" "${R_UNDO_TREE[i]}" "${R_UNDO_META[i]}" && : >"$OUT.back"
}

# roots_of HOW: ROOTS while HOW: the repositories that a target has, and those that no restore touches.
roots_of() {
  local i
  local -A ours=()
  local -n trees=$1
  TARGET_ROOTS=() ROOTS=()
  for i in "${!R_PATH[@]}"; do
    ours[${R_PATH[i]}]=1
    [ -z "${trees[i]}" ] || TARGET_ROOTS+=("${R_PATH[i]}")
    # With filesOnly the .git of a repository that the target does not have stays, so git still
    # sees a repository.
    if [ -n "${trees[i]}" ] || { [ "$FILES_ONLY" = 1 ] && [ -n "${R_NOW_TREE[i]}" ]; }; then ROOTS+=("${R_PATH[i]}"); fi
  done
  for i in "${FOUND[@]}"; do [ -n "${ours[$i]-}" ] || ROOTS+=("$i"); done
}

# all_are MARK I...: whether each of these repositories has this mark.
all_are() {
  local i mark=$1
  shift
  for i; do [ -f "$RUN/$i.$mark" ] || return 1; done
}

# go_there: first removes the repositories that the target does not have, then moves those that
# both have, then makes the new ones. By then it is settled which repository a path belongs to.
# Nothing more is written after a failure.
go_there() {
  local i path gone=() stay=() come=() around=()
  for i in "${!R_PATH[@]}"; do
    if [ -z "${R_TREE[i]}" ]; then gone+=("$i"); elif [ -n "${R_NOW_TREE[i]}" ]; then stay+=("$i"); else come+=("$i"); fi
  done
  BACK='' GONE=("${gone[@]}")
  roots_of R_TREE
  in_order up applied "${gone[@]}" && all_are 'done' "${gone[@]}" || return 1
  aside_places "${stay[@]}"
  each applied "${stay[@]}" && all_are 'done' "${stay[@]}" && prove_placed "${stay[@]}" || return 1
  PARALLEL=$FEW in_order down applied "${come[@]}" && all_are 'done' "${come[@]}" || return 1
  for i in "${!R_PATH[@]}"; do
    [ -n "${R_TREE[i]}" ] || continue
    for path in "${come[@]}"; do
      path=${R_PATH[path]}
      [ "$path" != "${R_PATH[i]}" ] && { [ "${R_PATH[i]}" = . ] || [[ $path == "${R_PATH[i]}"/* ]]; } && around+=("$i") && break
    done
  done
  each checked_again "${around[@]}" && all_are 'done' "${around[@]}"
}

# go_back: the same in reverse order, for the repositories that were touched.
go_back() {
  local i gone=() stay=() come=()
  for i in "${!R_PATH[@]}"; do
    [ -f "$RUN/$i.touched" ] || continue
    if [ -z "${R_UNDO_TREE[i]}" ]; then gone+=("$i"); elif [ -n "${R_TREE[i]}" ]; then stay+=("$i"); else come+=("$i"); fi
  done
  BACK=1
  roots_of R_UNDO_TREE
  in_order up put_back "${gone[@]}"
  each put_back "${stay[@]}"
  PARALLEL=$FEW in_order down put_back "${come[@]}"
  all_are back "${gone[@]}" "${stay[@]}" "${come[@]}"
}

# roots_now: the roots that the capture just made knew.
roots_now() {
  local i targets
  local -A seen=()
  roots_of R_TREE
  targets=("${TARGET_ROOTS[@]}")
  roots_of R_NOW_TREE
  TARGET_ROOTS=("${targets[@]}")
  for i in "${ROOTS[@]}"; do seen[$i]=1; done
  for i in "${FOUND[@]}"; do [ -n "${seen[$i]-}" ] || ROOTS+=("$i"); done
}

main() {
  local i outcome bad=0
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  if [ -n "$MEND" ]; then open_run; else open_run quick; fi || die SandboxUnavailable "Cannot write to $HOME_DIR. Free some disk space, then call again."
  hold_room || bad=1
  IN=$HOME_DIR/in-$SESSION/$CALL
  BACK='' UNSEEN_RULES=''
  count_processors
  read_umask
  read_user_config
  discover "$RUN/find" || die SandboxUnavailable "The repositories below $ROOT cannot be looked for. Call again."
  FOUND=("${ROOTS[@]}")
  find_held || die SandboxUnavailable "The git directories of the repositories below $ROOT cannot be looked for. Call again."
  roots_now
  [ "$FRESH" = 0 ] || arrive
  fetch_bundles || die SandboxUnavailable "The bundles that were brought into the sandbox cannot be read. Call again."
  MENDED=''
  [ $bad = 1 ] || [ -z "$MEND" ] || mend || MENDED='' bad=1
  [ $bad = 1 ] || [ "$MENDED" = none ] || each checked "${!R_PATH[@]}"
  plan_gone
  for i in "${!R_PATH[@]}"; do [ ! -s "$RUN/$i.problems" ] && [ -f "$RUN/$i.plan" ] && [ -f "$RUN/$i.stand" ] || bad=1; done
  if [ "$MENDED" = none ]; then
    outcome=applied
  elif [ $bad = 1 ]; then
    give_room
    outcome=refused
  elif [ "$DRY_RUN" = 1 ]; then
    outcome=planned
  elif go_there; then
    outcome=applied
  elif give_room && go_back; then
    outcome=reverted
  else
    outcome=broken
  fi
  [ "$outcome" != applied ] || { mend_cleared && forget_cleared; } || die SandboxUnavailable "What is parked in $HOME_DIR cannot be brought back. Check its permissions, then call again."
  # The answer needs room too.
  : >"$BULK/room"
  # This goes on in the background: nothing below reads what it writes.
  keep_tree_ids R_PATH
  settle_asides
  report "$outcome" >"$RUN/report" && [ -z "$LOST" ] || die SandboxUnavailable "Cannot write to $RUN. Free some disk space, then call again."
  [ ! -e "$IN" ] || rm -rf -- "$IN"
  wait
  exec 9>&-
  finish <"$RUN/report"
  close_run
}

# report OUTCOME: writes the answer.
report() {
  local i text name
  emit outcome "$1"
  [ -z "$MENDED" ] || mend_report
  gone_from_under
  pass_on "$RUN/aside" || LOST=1
  for i in "${!R_PATH[@]}"; do
    emit repo "${R_PATH[i]}"
    pass_on "$RUN/$i.plan" "$RUN/$i.counted" "$RUN/$i.problems" "$RUN/$i.verified" || LOST=1
    [ -s "$RUN/$i.problems" ] || { [ -f "$RUN/$i.plan" ] && [ -f "$RUN/$i.stand" ]; } || went_wrong "$i" "$RUN/$i.log"
    if [ "$1" = reverted ] || [ "$1" = broken ]; then
      # On a full disk, nothing may have been noted.
      if [ -f "$RUN/$i.touched" ] || [ -s "$RUN/$i.ended" ] || [ -s "$RUN/$i.log" ] || { [ -n "$FULL" ] && [ ! -f "$RUN/$i.done" ]; }; then failed "$i"; fi
    fi
    for name in warn warn.exposed; do
      [ ! -f "$RUN/$i.$name" ] || while IFS= read -r text; do [ -z "$text" ] || emit warning "$text"; done <"$RUN/$i.$name"
    done
    [ ! -f "$RUN/$i.warn.stash" ] || { slurp "$RUN/$i.warn.stash" && emit warning "$TEXT"; }
    for name in held kept unread; do [ ! -f "$RUN/$i.warn.$name" ] || kept_warnings "$RUN/$i.warn.$name"; done
  done
  emit end ''
}

# went_wrong I FILE...: records that the work on a repository could not be finished, with its
# message, or else its exit status.
went_wrong() {
  local status=1 i=$1 kind=failed
  shift
  ! line_of "$RUN/$i.ended" || { status=${TEXT%% *} && STEP=${TEXT#* }; }
  said_in "$@"
  # On a full disk, it may have ended without a note of it.
  [ -z "$FULL" ] || [ "$status" != 137 ] || status=1 SAID=$FULL
  ! cut_off "$status" "$SAID" || kind=interrupted
  if [ -s "$RUN/$i.lacks" ]; then
    kind=missing-objects
    line_of "$RUN/$i.lacks" && SAID=$TEXT
  fi
  or_step "$status"
  emit problem $kind && emit problem-message "$SAID"
}

# failed I: reports the error of a repository, and its state after it.
failed() {
  local i=$1
  local said=("$RUN/$i.why" "$RUN/$i.log")
  # Nothing had to be put back, so its first messages are still there.
  [ -f "$RUN/$i.touched" ] || said=("$RUN/$i.err" "$RUN/$i.move" "$RUN/$i.log")
  [ -f "$RUN/$i.done" ] || went_wrong "$i" "${said[@]}"
  if [ ! -f "$RUN/$i.back" ] && [ -f "$RUN/$i.touched" ]; then
    said_in "$RUN/$i.move" "$RUN/$i.err"
    [ -n "$SAID" ] || said_in "$RUN/$i.log"
    line_of "$RUN/$i.status" && STEP=${TEXT#* } && or_step "${TEXT%% *}"
    emit problem failed && emit problem-message "could not be put back: $SAID"
  fi
  if [ -s "$RUN/$i.late" ]; then
    first_paths "$RUN/$i.late"
    emit problem failed && emit problem-message "kept, because it appeared meanwhile: $FIRST"
  fi
}

main
