# Brings the host repository from one captured state to another: objects, branches, HEAD, index,
# and the operation in progress.
# shellcheck shell=bash

# lend_to_host META NOW_META: copies the objects of a capture's commits and index that the host's
# repository lacks from the shadow.
lend_to_host() {
  # A commit graph still lists commits that are gone.
  local id type wanted=() known=() has=(env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" -c core.commitGraph=false)
  local -A held=()
  # The host has everything that it held at the capture just made. But git may have pruned objects that only
  # an operation names (ORIG_HEAD), which the shadow still has.
  if [ -n "$2" ]; then
    host_objects "$2" || return
    for id in "${OBJECTS[@]}"; do held[$id]=1; done
    part_id "$2" state || return
    if [ -n "$ID" ] && [ ${#COMMITS[@]} -gt 0 ]; then
      printf '%s\n' "${COMMITS[@]}" >"$OUT.known" && "${has[@]}" cat-file --batch-check='%(objectname)' <"$OUT.known" >"$OUT.known-here" 2>>"$OUT.err" || return
      while read -r id type; do [ "$type" != missing ] || held[$id]=''; done <"$OUT.known-here"
    fi
  fi
  host_objects "$1" || return
  for id in "${OBJECTS[@]}"; do [ -n "${held[$id]-}" ] || wanted+=("$id"); done
  [ ${#wanted[@]} -gt 0 ] || return 0
  "${has[@]}" for-each-ref --format='%(objectname)' --count=500 refs/heads refs/remotes refs/tags >"$OUT.known" 2>>"$OUT.err" || return
  mapfile -t known <"$OUT.known" || return
  # A partial clone never had everything, so objects missing here were missing before. If git
  # refuses for any other reason, the objects are copied.
  if [ -z "$PARTIAL_FLAG" ] && "${has[@]}" rev-list --objects --quiet "${wanted[@]}" --not "${known[@]}" >/dev/null 2>&1; then return 0; fi
  : >"$OUT.known-here"
  if [ ${#known[@]} -gt 0 ]; then
    printf '%s\n' "${known[@]}" >"$OUT.known" && git cat-file --batch-check='%(objecttype) %(objectname)' <"$OUT.known" >"$OUT.known-here" 2>>"$OUT.err" || return
  fi
  {
    printf '%s\n' "${wanted[@]}"
    while read -r type id; do [[ $id == missing ]] || printf '^%s\n' "$id"; done <"$OUT.known-here"
  } >"$OUT.revs" || return
  if [ -n "$PARTIAL_FLAG" ]; then
    # Only rev-list allows missing trees.
    git rev-list --objects --missing=allow-any --stdin <"$OUT.revs" 2>>"$OUT.err" | git pack-objects --stdout --delta-base-offset -q >"$OUT.lend" 2>>"$OUT.err" || return
  else
    git pack-objects --revs --thin --stdout --delta-base-offset -q <"$OUT.revs" >"$OUT.lend" 2>>"$OUT.err" || return
  fi
  "${has[@]}" index-pack --stdin --fix-thin ${PARTIAL_FLAG:+--promisor} <"$OUT.lend" >/dev/null 2>>"$OUT.err" || return
  rm -f -- "$OUT.lend"
}

# move_refs: moves branches and HEAD of the host to T_*. Git fails where a lock is left over from a
# crash. Then the lock is removed, and what is left is moved.
move_refs() {
  local status=0
  try_refs || status=$?
  [ $status != 0 ] || return 0
  free_ref_locks || return $status
  try_refs
}

# try_refs: moves them. Their present values were compared with the capture just made. Compare-and-swap turns
# a later move by another process into an error.
try_refs() {
  local id ref symrefs=() N_REF N_COMMIT N_BRANCHES
  # Linked worktrees share their branches. The second one finds them already in place.
  exec 8>"$RUN/refs.lock" && flock 8 || return
  # The file of the branch that HEAD names may be broken; it is mended below.
  read_head || [ -n "$HEAD_REF" ] || return
  N_REF=$HEAD_REF N_COMMIT=$HEAD_COMMIT N_BRANCHES=$BRANCHES
  local -A have=() want=()
  refs_in have "$N_BRANCHES"
  refs_in want "$T_BRANCHES"
  left_to_others "$INDEX" && keep_outside && with_head_ref || return
  for ref in "${!LEFT[@]}"; do want[$ref]=${have[$ref]-}; done
  # A symbolic ref is removed first and comes back last. Git is asked never to write through it.
  for ref in "${!have[@]}"; do
    [[ ${have[$ref]} == 'symref '* && ${have[$ref]} != "${want[$ref]-}" ]] || continue
    symrefs+=("$ref")
    have[$ref]=''
  done
  for ref in "${!have[@]}"; do
    [ -n "${have[$ref]}" ] || continue
    [ -n "${want[$ref]-}" ] && [[ ${want[$ref]} != 'symref '* || ${have[$ref]} == 'symref '* ]] || printf 'option no-deref\ndelete %s %s\n' "$ref" "${have[$ref]}"
  done >"$OUT.deletes"
  for ref in "${!want[@]}"; do
    [ -n "${want[$ref]}" ] && [[ ${want[$ref]} != 'symref '* ]] || continue
    [ -n "${have[$ref]-}" ] || mend_ref "$ref" || return
    [ "${want[$ref]}" = "${have[$ref]-}" ] || printf 'option no-deref\nupdate %s %s %s\n' "$ref" "${want[$ref]}" "${have[$ref]:-$ZERO_ID}"
  done >"$OUT.updates"
  local -a host=(env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" -c "user.name=Walkback" -c "user.email=capture@walkback.invalid")
  for ref in "${symrefs[@]}"; do "${host[@]}" symbolic-ref -d "$ref" 2>>"$OUT.err" || return; done
  [ ! -s "$OUT.deletes" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.deletes" 2>>"$OUT.err" || return
  [ ! -s "$OUT.updates" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.updates" 2>>"$OUT.err" || return
  for ref in "${!want[@]}"; do
    id=${want[$ref]#symref }
    [ "$id" = "${want[$ref]}" ] || [ "${want[$ref]}" = "${have[$ref]-}" ] || "${host[@]}" symbolic-ref -m 'walkback: roll back' "$ref" "$id" 2>>"$OUT.err" || return
  done
  case $T_KIND in
    branch | unborn)
      [ "$N_REF" = "$T_REF" ] || "${host[@]}" symbolic-ref -m 'walkback: roll back' HEAD "$T_REF" 2>>"$OUT.err" || return
      ;;
    detached)
      if [ -n "$N_REF" ] || [ "$N_COMMIT" != "$T_COMMIT" ]; then
        "${host[@]}" update-ref -m 'walkback: roll back' --no-deref HEAD "$T_COMMIT" 2>>"$OUT.err" || return
      fi
      ;;
  esac
  exec 8>&-
}

# move_operation META NOW_META: moves the files of a merge, rebase, pick or bisect in progress. With reftable,
# some of them are refs.
move_operation() {
  local to from file id refs='' host=(env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}")
  local -A keep=()
  part_id "$1" state || return
  to=$ID
  part_id "$2" state || return
  from=$ID
  ! in_reftable || refs=" ${STATE_REFS[*]} "
  [ "$to" != "$from" ] || [ -n "$refs" ] || return 0
  : >"$OUT.state-to"
  : >"$OUT.state-from"
  : >"$OUT.state-moves"
  [ -z "$to" ] || git ls-tree -r -z "$to" >"$OUT.state-to" || return
  [ -z "$from" ] || git ls-tree -r -z --name-only "$from" >"$OUT.state-from" || return
  while IFS= read -r -d '' file; do keep[${file#*$'\t'}]=1; done <"$OUT.state-to"
  if [ -n "$from" ]; then
    while IFS= read -r -d '' file; do
      [ -n "${keep[$file]-}" ] || [[ $refs == *" $file "* ]] || rm -f -- "$HG/$file" || return
    done <"$OUT.state-from"
    for file in "${STATE_DIRS[@]}"; do
      [ ! -d "$HG/$file" ] || find "$HG/$file" -depth -type d -empty -delete || return
    done
  fi
  while IFS= read -r -d '' file; do
    id=${file%%$'\t'*}
    file=${file#*$'\t'}
    id=${id##* }
    if [[ $refs == *" $file "* ]]; then
      id=$(git cat-file blob "$id") && printf 'option no-deref\nupdate %s %s\n' "$file" "$id" >>"$OUT.state-moves" || return
      continue
    fi
    case $file in */*) mkdir -p -- "$HG/${file%/*}" || return ;; esac
    git cat-file blob "$id" >"$HG/$file" || return
  done <"$OUT.state-to"
  # No capture has refs whose commit is gone, and such a commit may have come back by now.
  for file in $refs; do [ -n "${keep[$file]-}" ] || printf 'option no-deref\ndelete %s\n' "$file" >>"$OUT.state-moves" || return; done
  [ ! -s "$OUT.state-moves" ] || "${host[@]}" update-ref --stdin <"$OUT.state-moves" 2>>"$OUT.err" || { free_ref_locks && "${host[@]}" update-ref --stdin <"$OUT.state-moves" 2>>"$OUT.err"; }
}

# move_host META NOW_META PATH: moves everything but the working files.
move_host() {
  local to=$1 from=$2
  load_state "$to" || return
  if [ "$T_KIND" = none ]; then
    [ -z "$HG" ] || park_git "$3" "$from" || return
    bring_cleared
    return
  fi
  if [ -z "$HG" ] || [ "$T_KIND" = unreadable ]; then
    printf 'the host state of this repository was not captured, so branch, HEAD and index stay\n' >>"$OUT.warn"
    return 0
  fi
  stays_here || { printf '%s\n' "$LINK" >>"$OUT.err" && return 1; }
  [ ! -s "$OUT.boundary" ] || { cat -- "$OUT.boundary" >"$HC/shallow" && rm -f -- "$SHADOW/no-history"; } || return
  mend_head && lend_to_host "$to" "$from" || return
  move_refs && move_sparse "$to" "$from" && move_index "$to" "$from" && move_operation "$to" "$from"
}
