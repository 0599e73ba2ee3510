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
  INDEX=$i OUT=$RUN/$i
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
  find_host || return 0
  host_format
  if [ -n "${1-}" ]; then HEAD_COMMIT=$1; else read_head || :; fi
  base_name
  [ "$PARTIAL" = 0 ] || PARTIAL_FLAG=1
}

# stand I: TREE and META of the repository as it is at this moment.
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
    free_paths || return 0
    [ "$DRY_RUN" = 0 ] || move_files "$TREE" "${R_TREE[i]}" -n || {
      problem conflict "$(git_said)"
      return 0
    }
    emit plan restored >"$OUT.plan"
    plan_paths "$TREE" "${R_TREE[i]}"
  else
    local parent=${R_PATH[i]}
    if symlink_above "$parent/x" || { [ -e "$parent" ] && [ ! -d "$parent" ]; }; then
      problem unsafe-path "a file or a symlink stands where this repository was"
      return 0
    fi
    emit plan created >"$OUT.plan"
  fi
}

# free_paths: nothing uncaptured stands where the target writes: no ignored file, no symlink above, no directory with
# other content. git itself would overwrite what is ignored, so it is not asked.
free_paths() {
  local path target=${R_TREE[INDEX]}
  collisions "$target" || return 1
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

# reach I TREE META: brings the repository to a state, from wherever it stands, and proves it. Used for the target and,
# when anything failed, for the way back.
reach() {
  local i=$1 tree=$2 meta=$3 from_tree from_meta
  : >"$OUT.err"
  : >"$OUT.warn"
  if [ -z "$tree" ]; then
    [ -n "$EXISTS" ] || return 0
    [ -n "$TREE" ] || stand "$i" '' 2>>"$OUT.err" || return 1
    move_files "$TREE" "$EMPTY" '' && { declare -gA WANTED=() && { [ -z "$META" ] || drop_empty "$META"; }; } && park "${R_PATH[i]}" 2>>"$OUT.err"
    return
  fi
  if [ -z "$EXISTS" ]; then
    make_host "${R_PATH[i]}" "$meta" "$NEW_FORMAT" 2>>"$OUT.err" || return 1
    EXISTS=1
    open_shadow "$FORMAT" 2>>"$OUT.err" && borrow_host || return 1
    bring_objects "$i" && furnish_host "$meta" || return 1
    look_at_host
    stand "$i" '' 2>>"$OUT.err" || return 1
    objects_present "$tree" "$meta" || return 1
  elif [ -z "$TREE" ]; then
    stand "$i" "$tree" 2>>"$OUT.err" || return 1
  fi
  # There already, as a capture in this very call found.
  [ "$TREE" != "$tree" ] || [ "$META" != "$meta" ] || return 0
  [ -n "$HG" ] || load_state "$meta"
  if [ -z "$HG" ] && [ "$T_KIND" != none ] && { [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; }; then
    # The working tree is there, its .git is not.
    make_host "${R_PATH[i]}" "$meta" "$NEW_FORMAT" 2>>"$OUT.err" && furnish_host "$meta" || return 1
    look_at_host
  fi
  from_tree=$TREE from_meta=$META
  apply_umask "$meta"
  keep_ignored "$from_tree" "$tree" 2>>"$OUT.err" || return 1
  move_files "$FROM_TREE" "$tree" '' || return 1
  move_sidecar "$from_meta" "$meta" 2>>"$OUT.err" || return 1
  if [ "$FILES_ONLY" = 0 ] || [ -n "$CREATED" ]; then
    move_host "$meta" "$from_meta" "${R_PATH[i]}" 2>>"$OUT.err" || return 1
  fi
  verify "$i" "$tree" "$meta"
}

# apply_umask META: new files get the modes the capture took for granted, without a line for each.
apply_umask() {
  local entry
  umask 022
  UMASK=0022
  new_file_modes
  part_id "$1" modes
  [ "$ID" != "$EMPTY_BLOB" ] || return 0
  while IFS= read -r -d '' entry; do
    case $entry in U*) umask "${entry:1:$((${#entry} - 2))}" ;; esac
  done < <(part "$1" modes | grep -z '^U' || :)
  read_umask
}

# verify I TREE META: captures again; what came back is what was captured (C4).
verify() {
  local i=$1 tree=$2 meta=$3 name
  look_at_host
  stand "$i" "$tree" 2>>"$OUT.err" || return 1
  if [ "$TREE" != "$tree" ]; then
    printf 'verification failed: the working files are %s, not %s\n' "$TREE" "$tree" >>"$OUT.err"
    return 1
  fi
  [ "$META" != "$meta" ] || return 0
  for name in modes empty; do
    same_part "$META" "$meta" $name || {
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

# each FUNCTION: runs it for every repository, as many at once as there are processors.
each() {
  local i
  STARTED=0
  for i in "${!R_PATH[@]}"; do
    ("$@" "$i") 2>>"$RUN/$i.log" &
    jobs_limit
  done
  wait
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
  if [ -n "$EXISTS" ] && [ -n "$TREE" ]; then
    nested_below "${R_PATH[i]}"
    open_shadow "$FORMAT" || return 1
  fi
  : >"$OUT.touched"
  if reach "$i" "${R_TREE[i]}" "${R_META[i]}"; then : >"$OUT.done"; fi
}

put_back() {
  local i=$1
  open_repository "$i" || return 1
  [ -f "$OUT.touched" ] || return 0
  cp -- "$OUT.err" "$OUT.why" 2>/dev/null
  if reach "$i" "${R_UNDO_TREE[i]}" "${R_UNDO_META[i]}"; then : >"$OUT.back"; fi
}

main() {
  local i outcome bad=0 lost=0
  HOME_DIR=$ROOT/.agent-shadow
  take_lock "$HOME_DIR" "$LOCK_WAIT"
  open_run || die SandboxUnavailable "Can not write to $HOME_DIR. Free some disk space, then call again."
  IN=$HOME_DIR/in-$SESSION/$CALL
  count_processors
  read_umask
  read_user_config
  discover "$RUN/find"
  local -A seen=()
  for i in "${!ROOTS[@]}"; do seen[${ROOTS[i]}]=1; done
  for i in "${!R_PATH[@]}"; do
    [ -z "${R_TREE[i]}" ] || [ -n "${seen[${R_PATH[i]}]-}" ] || ROOTS+=("${R_PATH[i]}")
  done
  fetch_bundles
  each checked
  for i in "${!R_PATH[@]}"; do [ ! -s "$RUN/$i.problems" ] && [ -f "$RUN/$i.plan" ] || bad=1; done
  if [ $bad = 1 ]; then
    outcome=refused
  elif [ "$DRY_RUN" = 1 ]; then
    outcome=planned
  else
    each applied
    outcome=applied
    for i in "${!R_PATH[@]}"; do [ -f "$RUN/$i.done" ] || bad=1; done
    if [ $bad = 1 ]; then
      each put_back
      outcome=reverted
      for i in "${!R_PATH[@]}"; do
        [ ! -f "$RUN/$i.touched" ] || [ -f "$RUN/$i.back" ] || lost=1
      done
      [ $lost = 0 ] || outcome=broken
    fi
  fi
  {
    emit outcome "$outcome"
    for i in "${!R_PATH[@]}"; do
      emit repo "${R_PATH[i]}"
      [ ! -f "$RUN/$i.plan" ] || cat -- "$RUN/$i.plan"
      [ ! -f "$RUN/$i.problems" ] || cat -- "$RUN/$i.problems"
      [ -s "$RUN/$i.problems" ] || [ -f "$RUN/$i.plan" ] || { emit problem failed && emit problem-message "$(tail -3 "$RUN/$i.log" | tr '\n' ' ' | cut -c1-300)"; }
      if [ "$outcome" = reverted ] || [ "$outcome" = broken ]; then
        [ -f "$RUN/$i.done" ] || { emit problem failed && emit problem-message "$(cat "$RUN/$i.why" "$RUN/$i.move" "$RUN/$i.log" 2>/dev/null | grep -v '^$' | head -8 | tr '\n' ' ' | cut -c1-500)"; }
        [ ! -f "$RUN/$i.touched" ] || [ -f "$RUN/$i.back" ] || { emit problem failed && emit problem-message "could not be put back: $(cat "$RUN/$i.move" "$RUN/$i.err" 2>/dev/null | head -5 | tr '\n' ' ' | cut -c1-400)"; }
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

main
