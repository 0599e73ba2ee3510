# Brings the host repository from one captured state to another: objects, branches, HEAD, index, the operation under way.
# shellcheck shell=bash

# lend_to_host META NOW_META: copies what the host's repository lacks of a capture's commits and index from the shadow.
lend_to_host() {
  local meta=$1 wanted=() known=()
  # What it held at the capture made just now it has.
  mapfile -t wanted < <(comm -13 <([ -z "$2" ] || host_objects "$2" | sort -u) <(host_objects "$meta" | sort -u))
  [ ${#wanted[@]} -gt 0 ] || return 0
  mapfile -t known < <("${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --format='%(objectname)' refs/heads refs/remotes refs/tags 2>/dev/null | sort -u | head -500)
  # A partial clone never had everything; what is missing there was missing before.
  if env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" rev-list --objects --quiet ${PARTIAL_FLAG:+--missing=allow-any} "${wanted[@]}" --not "${known[@]}" >/dev/null 2>&1 \
    && [ -z "$PARTIAL_FLAG" ]; then
    return 0
  fi
  {
    printf '%s\n' "${wanted[@]}"
    [ ${#known[@]} -eq 0 ] || printf '%s\n' "${known[@]}" | git cat-file --batch-check='%(objecttype) ^%(objectname)' | sed -n 's/^[a-z]* ^/^/p'
  } | git pack-objects --revs --thin --stdout --delta-base-offset -q ${PARTIAL_FLAG:+--missing=allow-any} >"$OUT.lend" 2>>"$OUT.err" || return 1
  env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" index-pack --stdin --fix-thin <"$OUT.lend" >/dev/null 2>>"$OUT.err" || return 1
  rm -f -- "$OUT.lend"
}

# mend_head: a HEAD that says nothing git understands would keep git from doing anything in the repository.
mend_head() {
  local goal=${T_REF:-refs/heads/main}
  if line_of "$HG/HEAD" && [[ $TEXT =~ ^(ref:\ refs/|[0-9a-f]{40,64}$) ]]; then return 0; fi
  set_aside "$HG/HEAD" && printf 'ref: %s\n' "$goal" >"$HG/HEAD"
}

# mend_ref REF: the file of a branch that holds no commit would keep git from writing the branch.
mend_ref() {
  local file=$HC/$1
  [ -f "$file" ] && [ ! -L "$file" ] || return 0
  if line_of "$file" && [[ $TEXT =~ ^(ref:\ .+|[0-9a-f]{40,64})$ ]]; then return 0; fi
  set_aside "$file"
}

# set_aside FILE: a broken file of the host is kept where the parked ones are.
set_aside() {
  local place=$HOME_DIR/parked-$SESSION/broken
  mkdir -p -- "$place" && mv -- "$1" "$(mktemp -d "$place/XXXXXX")/"
}

# move_refs: branches and HEAD of the host to T_*. Where they stand now was compared with the capture made just before;
# compare and swap makes a move by somebody else since then an error.
move_refs() {
  local id ref N_REF N_COMMIT N_BRANCHES
  # Linked worktrees share their branches; the second one finds them where they belong.
  exec 8>"$RUN/refs.lock" && flock 8 || return 1
  # The file of the branch that HEAD names may be broken, and is mended below.
  read_head || [ -n "$HEAD_REF" ] || return 1
  N_REF=$HEAD_REF N_COMMIT=$HEAD_COMMIT N_BRANCHES=$BRANCHES
  local -A have=() want=()
  while read -r id ref; do [ -z "$ref" ] || have[$ref]=$id; done <<<"$N_BRANCHES"
  while read -r id ref; do [ -z "$ref" ] || want[$ref]=$id; done <<<"$T_BRANCHES"
  for ref in "${!have[@]}"; do
    [ -n "${want[$ref]-}" ] || printf 'delete %s %s\n' "$ref" "${have[$ref]}"
  done >"$OUT.deletes"
  for ref in "${!want[@]}"; do
    [ -n "${have[$ref]-}" ] || mend_ref "$ref" || return 1
    [ "${want[$ref]}" = "${have[$ref]-}" ] || printf 'update %s %s %s\n' "$ref" "${want[$ref]}" "${have[$ref]:-$ZERO_ID}"
  done >"$OUT.updates"
  local -a host=(env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" -c "user.name=Walkback" -c "user.email=capture@walkback.invalid")
  [ ! -s "$OUT.deletes" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.deletes" 2>>"$OUT.err" || return 1
  [ ! -s "$OUT.updates" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.updates" 2>>"$OUT.err" || return 1
  case $T_KIND in
    branch | unborn)
      [ "$N_REF" = "$T_REF" ] || "${host[@]}" symbolic-ref -m 'walkback: roll back' HEAD "$T_REF" 2>>"$OUT.err" || return 1
      ;;
    detached)
      if [ -n "$N_REF" ] || [ "$N_COMMIT" != "$T_COMMIT" ]; then
        "${host[@]}" update-ref -m 'walkback: roll back' --no-deref HEAD "$T_COMMIT" 2>>"$OUT.err" || return 1
      fi
      ;;
  esac
  exec 8>&-
}

# live_git: whether a git process works in this repository right now.
live_git() {
  local process where
  for process in /proc/[0-9]*; do
    [ -r "$process/comm" ] || continue
    case $(<"$process/comm") in git | git-*) ;; *) continue ;; esac
    where=$(readlink -- "$process/cwd" 2>/dev/null) || continue
    [ "${process#/proc/}" != "$$" ] && [[ $where/ == "$PWD/"* ]] && return 0
  done 2>/dev/null
  return 1
}

# free_host_lock: an index.lock that nobody holds is a left-over of a crash and goes; a live one stops us.
free_host_lock() {
  [ -e "$HG/index.lock" ] || return 0
  ! live_git || return 1
  rm -f -- "$HG/index.lock"
}

# move_index META NOW_META: the host's index, staged and conflicted entries and flags. Stat data of equal entries is kept.
move_index() {
  local to=$1 from=$2 name same=1 stage tree
  for name in index stage1 stage2 stage3 index-flags; do
    same_part "$to" "$from" "$name" || same=0
  done
  [ $same = 0 ] || return 0
  free_host_lock || { printf 'fatal: another git process holds index.lock\n' >>"$OUT.err" && return 1; }
  part_id "$to" index
  tree=$ID
  if [ -z "$tree" ]; then
    rm -f -- "$HG/index"
    return 0
  fi
  local new=$SHADOW/new-host-index
  rm -f -- "$new" "$new.lock"
  # Flags would stay on entries that stay; an index with flags is built from nothing.
  part_id "$from" index-flags
  if [ -f "$SHADOW/host-index" ] && [ -z "$ID" ]; then
    cp -p -- "$SHADOW/host-index" "$new" || return 1
  fi
  # A sparse or split index of the host becomes a plain one here; git converts it back when it wants to.
  (
    export GIT_INDEX_FILE=$new
    git read-tree --reset "$tree" 2>>"$OUT.err" || { rm -f -- "$new" && git read-tree "$tree" 2>>"$OUT.err"; } || exit 1
    for stage in 1 2 3; do
      part_id "$to" stage$stage
      tree=$ID
      [ -z "$tree" ] || git ls-tree -r -z "$tree" | sed -z "s/^\([0-7]*\) [a-z]* \([0-9a-f]*\)\t/\1 \2 $stage\t/" | git update-index -z --index-info 2>>"$OUT.err" || exit 1
    done
    part "$to" index-flags >"$OUT.flags"
    [ -s "$OUT.flags" ] || exit 0
    { grep -z '^[a-z]' "$OUT.flags" || :; } | cut -z -c3- | git update-index --assume-unchanged -z --stdin 2>>"$OUT.err" || exit 1
    { grep -zi '^s' "$OUT.flags" || :; } | cut -z -c3- | git update-index --skip-worktree -z --stdin 2>>"$OUT.err" || exit 1
    { grep -z '^N ' "$OUT.flags" || :; } | cut -z -c3- | while IFS= read -r -d '' name; do
      [ ! -e "$name" ] || git --literal-pathspecs add -N -f -- "$name" 2>>"$OUT.err" || exit 1
    done
  ) || return 1
  rm -f -- "$new.lock"
  # git's own protocol: the lock is taken, then renamed over the index.
  (set -C && : >"$HG/index.lock") 2>>"$OUT.err" || return 1
  cat -- "$new" >"$HG/index.lock" && mv -f -- "$HG/index.lock" "$HG/index" || {
    rm -f -- "$HG/index.lock"
    return 1
  }
  rm -f -- "$new"
}

# move_operation META NOW_META: files of a merge, rebase, pick or bisect in progress.
move_operation() {
  local to from file id mode
  part_id "$1" state
  to=$ID
  part_id "$2" state
  from=$ID
  [ "$to" != "$from" ] || return 0
  if [ -n "$from" ]; then
    while IFS= read -r -d '' file; do
      [ -n "$to" ] && git cat-file -e "$to:$file" 2>/dev/null || rm -f -- "$HG/$file"
    done < <(git ls-tree -r -z --name-only "$from")
    for file in "${STATE_DIRS[@]}"; do
      [ ! -d "$HG/$file" ] || find "$HG/$file" -depth -type d -empty -delete
    done
  fi
  [ -n "$to" ] || return 0
  while IFS= read -r -d '' file; do
    id=${file%%$'\t'*}
    file=${file#*$'\t'}
    id=${id##* }
    case $file in */*) mkdir -p -- "$HG/${file%/*}" || return 1 ;; esac
    git cat-file blob "$id" >"$HG/$file" || return 1
  done < <(git ls-tree -r -z "$to")
}

# move_remotes META: addresses and tracking of a host repository that was just made.
move_remotes() {
  local entry
  while IFS= read -r -d '' entry; do
    git config --file "$HG/config" --add "${entry%%$'\n'*}" "${entry#*$'\n'}" || return 1
  done < <(part "$1" remotes)
}

# move_host META NOW_META PATH: everything but the working files.
move_host() {
  local to=$1 from=$2
  [ "$to" != "$from" ] || return 0
  load_state "$to"
  if [ "$T_KIND" = none ]; then
    [ -z "$HG" ] || park_git "$3" "$from"
    return
  fi
  if [ -z "$HG" ] || [ "$T_KIND" = unreadable ]; then
    printf 'the host state of this repository was not captured, so branch, HEAD and index stay\n' >>"$OUT.warn"
    return 0
  fi
  mend_head && lend_to_host "$to" "$from" || return 1
  move_refs && move_index "$to" "$from" && move_operation "$to" "$from"
}
