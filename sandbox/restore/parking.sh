# Parks a repository that the target does not have, and brings it back. Nothing is lost.
# shellcheck shell=bash

# carry FROM TO PART: renames FROM to TO, where nothing is. When it cannot be renamed (TO is in another file
# system, or FROM in a lower layer of an overlay), TO becomes a copy. The copy is made as PART, so that it is
# complete when it gets its name. FROM then stays, and COPIED is set. `mv` alone would leave halves under both
# names if it were killed.
carry() {
  local status=0 place=.
  COPIED=''
  if type -P perl >/dev/null; then
    perl -e '($from, $to) = @ARGV; exit if rename $from, $to; exit 3 if $! == 18; die "cannot move $from to $to: $!\n"' "$1" "$2" || status=$?
    [ $status = 3 ] || return $status
  else
    TEXT=$(exec mv -T --no-copy -- "$1" "$2" 2>&1) && return || status=$?
    case $TEXT in
      *ross-device*) ;;
      # An older release of mv, which does not know the option. In an overlay it may copy.
      *'unrecognized option'*)
        [[ $2 != */* ]] || place=${2%/*}
        TEXT=$(exec stat -c %d -- "$1" "$place") && lines_in "$TEXT" || return
        [ "${SPLIT[0]}" != "${SPLIT[1]}" ] || { mv -T -- "$1" "$2"; return; }
        ;;
      *) printf '%s\n' "$TEXT" >&2 && return $status ;;
    esac
  fi
  rm -rf -- "$3" && mkdir -p -- "${3%/*}" || return
  cp -a -T -- "$1" "$3" && mv -T -- "$3" "$2" || { status=$? && rm -rf -- "$3" && return $status; }
  COPIED=1
}

# leave_place PLACE: removes a parking place after its content came back. A place without this mark holds
# something that did not come back.
leave_place() {
  : >"$1/back"
  rm -rf -- "$1"/{cleared,metas} "$1"
}

# park_git PATH META: renames .git away, and notes the host states in which it was captured, the
# latest first. These distinguish it from other repositories at the same path.
park_git() {
  local dir last=0
  parking_place "$1" || return
  for dir in "$PARKING"/*; do
    dir=${dir##*/}
    [[ $dir == *[!0-9]* ]] || [ "$dir" -le $last ] || last=$dir
  done
  PARKED=$PARKING/$((last + 1))
  mkdir -p -- "$PARKED" || return
  printf '%s\n' "$2" >"$PARKED/metas" || return
  if [ -n "${GIT_DIR-}" ]; then
    # A shadow that was made again lacks earlier captures that still have tags.
    git for-each-ref --format='%(objectname)' refs/tags/chkpt >"$PARKED/parents" 2>>"$OUT.err" \
      && git rev-list --no-walk --parents --ignore-missing --stdin <"$PARKED/parents" >"$PARKED/parents.of" 2>>"$OUT.err" || return
    tr ' ' '\n' <"$PARKED/parents.of" >>"$PARKED/metas" || return
  fi
  [ -e .git ] || [ -L .git ] || return 0
  carry .git "$PARKED/git" "$PARKED/git.part" || return
  if [ -z "$COPIED" ]; then
    park_worktree
    return
  fi
  # The original .git goes. From its first step on it is no longer a repository, and the next call continues
  # the removal (finish_parking).
  if [ -d .git ] && [ ! -L .git ]; then
    printf '%s' "$1" >"$PARKED/leaving" && rm -f -- .git/HEAD || return
    # Parts that are mounted, or may not be deleted, stay and do no harm.
    rm -rf -- .git 2>>"$OUT.err" || { survived $? && printf 'not all of the .git that was put aside could be deleted: %s\n' "$PWD/.git" >>"$OUT.warn"; } || return
  else
    rm -f -- .git || return
  fi
  rm -f -- "$PARKED/leaving" && park_worktree
}

# park_worktree: what the repository of a linked worktree notes about it goes along. Otherwise git would not make
# another worktree at this path.
park_worktree() {
  local j
  [[ $HG == "$HC"/worktrees/* && -d $HG ]] || return 0
  for j in "${!R_PATH[@]}"; do
    [ -n "${R_TREE[j]}" ] && [ "$HC" -ef "$ROOT/${R_PATH[j]}/.git" ] || continue
    printf '%s' "$HG" >"$PARKED/worktree-of" && carry "$HG" "$PARKED/worktree" "$PARKED/worktree.part" || return
    [ -z "$COPIED" ] || rm -rf -- "$HG" || return
    drop_vacant "${HG%/*}"
    return
  done
}

# drop_vacant DIRECTORY: removes it if it is empty. Another repository that leaves may have done so just now.
drop_vacant() {
  rmdir --ignore-fail-on-non-empty -- "$1" 2>>"$OUT.err" || [ ! -e "$1" ]
}

# unpark_worktree PLACE: brings that back.
unpark_worktree() {
  [ -d "$1/worktree" ] || return 0
  slurp "$1/worktree-of"
  [ -d "${TEXT%/worktrees/*}" ] && [ ! -e "$TEXT" ] && [ ! -L "$TEXT" ] || return 0
  mkdir -p -- "${TEXT%/*}" && carry "$1/worktree" "$TEXT" "$TEXT.part"
}

# clear_git PATH: parks a .git that is in the way and that git cannot use; no capture has it. Notes where it
# is. `cleared` marks it until the restore is done: if the restore is killed, another call mends it.
clear_git() {
  if [ -e .git ] || [ -L .git ]; then park_git "$1" '' && : >"$PARKED/cleared" && printf '%s' "$PARKED" >"$OUT.cleared"; fi
}

# forget_cleared: the restore is done, so the cleared .git directories stay parked.
forget_cleared() {
  local marks=("$HOME_DIR/parked-$SESSION"/*/*/cleared)
  [ ${#marks[@]} -eq 0 ] || rm -f -- "${marks[@]}"
}

# bring_cleared: on the way back, brings a cleared .git back.
bring_cleared() {
  [ -n "$BACK" ] && [ -s "$OUT.cleared" ] && [ ! -e .git ] && [ ! -L .git ] || return 0
  slurp "$OUT.cleared"
  local place=$TEXT
  carry "$place/git" .git ".agent-shadow/carried-$SESSION" && leave_place "$place" && rm -f -- "$OUT.cleared"
}

# find_parked PATH META: PARKED is the place of the repository that was captured in this host
# state, or empty. One that was parked in that state is preferred, then the newest.
find_parked() {
  local n numbers=() metas=() best=0 first=''
  PARKED=''
  parking_place "$1" || return
  numbers=("$PARKING"/*)
  [ ${#numbers[@]} -gt 0 ] && [ -n "$2" ] || return 0
  for n in "${numbers[@]##*/}"; do
    [[ $n != *[!0-9]* ]] || continue
    # After a crash there may be a place without its notes, or one from which everything has come back.
    [ -e "$PARKING/$n/git" ] || [ -L "$PARKING/$n/git" ] || [ -d "$PARKING/$n/shadow" ] || continue
    [ -f "$PARKING/$n/metas" ] && mapfile -t metas <"$PARKING/$n/metas" || continue
    [[ " ${metas[*]-} " == *" $2 "* ]] || continue
    if [ "${metas[0]}" = "$2" ]; then
      [ -n "$first" ] && [ "$n" -lt $best ] || { first=1 && best=$n; }
    elif [ -z "$first" ] && [ "$n" -gt $best ]; then
      best=$n
    fi
  done
  [ "$best" = 0 ] || PARKED=$PARKING/$best
}

# unpark PATH META: brings back the .git, and the shadow where there is none. A .git file whose
# target is gone stays parked, and so does a .git with links that lead elsewhere.
unpark() {
  local home=.agent-shadow/session-$SESSION part=.agent-shadow/carried-$SESSION from
  find_parked "$1" "$2" || return
  [ -n "$PARKED" ] || return 0
  touch_it || return
  from=$PARKED
  mkdir -p -- "$ROOT/$1" && cd -- "$ROOT/$1" || return
  if [ -d "$from/shadow" ] && [ ! -e "$home" ]; then
    shadow_home "$PWD/.agent-shadow" && carry "$from/shadow" "$home" "$part" || return
  fi
  if [ -e "$from/git" ] || [ -L "$from/git" ]; then
    clear_git "$1" && unpark_worktree "$from" && carry "$from/git" .git "$part" || return
    if find_host && stays_here; then
      CREATED=1
      leave_place "$from"
    else
      HG='' HC=''
      if [ -e "$from/git" ] || [ -L "$from/git" ]; then rm -rf -- .git; else mv -- .git "$from/git"; fi
    fi
  fi
}

# park PATH META: moves a repository that the target does not have out of the way. Nothing is
# deleted: its .git and its shadow are renamed to a place where unpark finds them again.
park() {
  local path=$1
  park_git "$path" "$2" || return
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  if [ "$path" != . ]; then
    carry ".agent-shadow/session-$SESSION" "$PARKED/shadow" "$PARKED/shadow.part" && rm -rf -- ".agent-shadow/session-$SESSION" .agent-shadow/.gitignore || return
    if is_empty .agent-shadow; then rmdir -- .agent-shadow; else printf '*\n' >.agent-shadow/.gitignore; fi || return
    cd -- "$ROOT" || return
    : >"$RUN/dropped"
    # The global THERE names the directories that existed before.
    while [ -z "${THERE[$path]-}" ] && is_empty "$path"; do
      drop_vacant "$path" || return
      [[ $path == */* ]] || break
      path=${path%/*}
    done
  fi
}
