# Linked worktrees share their branches. In a capture they agree about them. In a composed state they may not:
# in a fork each of them is a repository of its own, and moves its own branches. Then one of them decides: the
# worktree that stands on the branch, else the repository itself, else the first one. A branch that only some
# of them have stays.
# shellcheck shell=bash

# note_goal I META: notes for the others which branches this repository is to have.
note_goal() {
  local main='' T_KIND=$HEAD_KIND T_REF=$HEAD_REF T_COMMIT='' T_BRANCHES=$BRANCHES T_META=''
  [ -n "$HG" ] || return 0
  # The state of now was read from the host just before.
  [ "$2" = "$META" ] || load_state "$2" || return
  [[ $T_KIND != none && $T_KIND != unreadable ]] || return 0
  [ "$HG" != "$HC" ] || main=1
  printf '%s\0' "$HC" "$main" "$T_REF" "$T_BRANCHES" >"$RUN/$1.wanted-refs"
}

# same_host META: whether the repository here can be the one of that capture. A linked worktree that took the
# place of another repository is a different one: its branches are those of the repository that it belongs to.
# That repository has none of the commits that the capture stood on, and not the commits where their history
# began. Ends with 2 when git cannot tell.
same_host() {
  local id roots ids=()
  [ -n "$HG" ] && [ "$HG" != "$HC" ] || return 0
  load_state "$1" || return 2
  [ -z "$T_COMMIT" ] || ids+=("$T_COMMIT")
  lines_in "$T_BRANCHES"
  for id in "${SPLIT[@]%% *}"; do [ "$id" = symref ] || ids+=("$id"); done
  [ ${#ids[@]} -gt 0 ] || return 0
  id=0
  host_has "${ids[@]}" || id=$?
  [ $id = 1 ] || return $id
  roots=$(exec git rev-list --max-parents=0 "${ids[@]}" 2>>"$OUT.err") || return 2
  lines_in "$roots"
  host_has "${SPLIT[@]}"
}

# host_has COMMIT...: whether the host's own objects include one of them. Ends with 2 when git cannot tell.
host_has() {
  local answer
  answer=$(printf '%s\n' "$@" | env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HC" "${HOST_GIT[@]}" cat-file --batch-check='%(objecttype)' 2>>"$OUT.err") || return 2
  [[ $'\n'$answer$'\n' == *$'\ncommit\n'* ]]
}

# stand_outside: OUTSIDE becomes the branches that are checked out in a worktree outside of the projects root.
# They are not ours to move: that worktree's files would stay behind.
stand_outside() {
  local dir ref place bare
  declare -gA OUTSIDE=()
  [ "$HG" != "$HC" ] || [ -d "$HC/worktrees" ] || return 0
  for dir in "$HC" "$HC"/worktrees/*; do
    branch_of "$dir" && [[ $TEXT == refs/heads/* ]] || continue
    ref=$TEXT place=$HC
    if [ "$dir" != "$HC" ]; then
      path_in "$dir/gitdir" && place=$TEXT || continue
      [[ $place == /* ]] || place=$dir/$place
      [ -e "$place" ] || continue
      straight "${place%/*}" && place=$TEXT/.git || return
    else
      # When worktrees have settings of their own, this setting is in that of the main worktree.
      bare=$(perhaps env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HC" "${HOST_GIT[@]}" config --type=bool core.bare 2>>"$OUT.err") || return
      [ "$bare" != true ] || continue
    fi
    [[ $place == "$ROOT"/* ]] || OUTSIDE[$ref]=1
  done
}

# left_to_others I: LEFT becomes the branches about which another worktree of the same repository decides. On
# the way back it is empty, because captures of now agree.
left_to_others() {
  local file ref rank fields=()
  local -A list=() value=() best=()
  declare -gA LEFT=() OUTSIDE=()
  [ -z "$BACK" ] && [ -f "$RUN/$1.wanted-refs" ] || return 0
  for file in "$RUN"/*.wanted-refs; do
    mapfile -d '' -t fields <"$file" || return
    [ "${fields[0]}" = "$HC" ] || continue
    list=()
    refs_in list "${fields[3]-}"
    for ref in "${!list[@]}"; do
      [[ $ref == refs/heads/* ]] || continue
      rank=1
      [ -z "${fields[1]}" ] || rank=2
      [ "$ref" != "${fields[2]}" ] || rank=3
      [ "$rank" -gt "${best[$ref]-0}" ] || continue
      value[$ref]=${list[$ref]} best[$ref]=$rank
    done
  done
  list=()
  refs_in list "$T_BRANCHES"
  for ref in "${!value[@]}"; do
    [ "${list[$ref]-}" = "${value[$ref]}" ] || LEFT[$ref]=1
  done
  stand_outside || return
  for ref in "${!OUTSIDE[@]}"; do LEFT[$ref]=1; done
}

# as_decided META META: SAME is set when two host states are equal except for the branches in LEFT.
as_decided() {
  local ref kind
  local -A is=() was=()
  SAME=''
  [ ${#LEFT[@]} -gt 0 ] || return 0
  load_state "$1" || return
  kind="$T_KIND $T_REF $T_COMMIT"
  refs_in is "$T_BRANCHES"
  load_state "$2" || return
  refs_in was "$T_BRANCHES"
  [ "$kind" = "$T_KIND $T_REF $T_COMMIT" ] || return 0
  for ref in "${!is[@]}" "${!was[@]}"; do
    [ -n "${LEFT[$ref]-}" ] || [ "${is[$ref]-}" = "${was[$ref]-}" ] || return 0
  done
  SAME=1
}

# keep_outside: keeps the branches in OUTSIDE as they are. A warning names those that would have moved.
keep_outside() {
  local ref
  for ref in "${!OUTSIDE[@]}"; do
    [ "${want[$ref]-}" = "${have[$ref]-}" ] || printf 'branch %s stays, because a worktree outside of the projects root stands on it\n' "${ref#refs/heads/}" >>"$OUT.warn"
    want[$ref]=${have[$ref]-}
  done
}

# with_head_ref: HEAD may have stood on a ref that is not a branch, like refs/remotes/origin/main. It is moved
# together with HEAD. It is never removed unless HEAD stands on it, because no other capture has it.
with_head_ref() {
  local id
  [[ $T_REF == refs/* && $T_REF != refs/heads/* && $T_REF != refs/bisect/* ]] || return 0
  id=$(exec env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" rev-parse -q --verify "$T_REF" 2>>"$OUT.err") || [ $? = 1 ] || return
  if [ "$HEAD_REF" != "$T_REF" ] && [ -n "$id" ] && [ "$id" != "$T_COMMIT" ]; then
    [ "$T_KIND" = branch ] || return 0
    printf '%s goes from %s to %s, because HEAD stood on it; no checkpoint holds where it is now\n' "$T_REF" "$id" "$T_COMMIT" >>"$OUT.warn"
  fi
  have[$T_REF]=$id want[$T_REF]=$T_COMMIT
}

# plan_refs: changes `have` and `want` for a plan where a restore does something else than the two captures
# say.
plan_refs() {
  local ref
  stand_outside && keep_outside && with_head_ref || return
  ! broken_head || tell_broken HEAD
  for ref in "${!want[@]}"; do
    [ -z "${want[$ref]}" ] || [ -n "${have[$ref]-}" ] || ! broken_ref "$ref" || tell_broken "branch ${ref#refs/heads/}"
  done
}
