# Warns of stash entries that are missing after a restore: the stash is in no capture (shared/stash.sh).
# shellcheck shell=bash

# tell_lost_stash I: warns of entries that the target had. A repository that was parked comes back with its
# own stash.
tell_lost_stash() {
  local id lost=() HC=$HC
  [ -n "${R_STASH[$1]}" ] || return 0
  if [ -z "$HG" ]; then
    find_parked "${R_PATH[$1]}" "${R_META[$1]}" && parked_common "${R_PATH[$1]}" || return
  fi
  read_stash
  for id in ${R_STASH[$1]}; do [[ " ${STASH[*]} " == *" $id "* ]] || lost+=("$id"); done
  [ ${#lost[@]} -gt 0 ] || return 0
  if [ -n "$HC" ]; then
    printf 'the stash is in no checkpoint, and these of its entries are gone since: %s. "git stash apply ID" brings one back while git has it' "${lost[*]}"
  else
    printf 'the stash is in no checkpoint, and these of its entries do not come with it: %s' "${lost[*]}"
  fi >"$OUT.warn.stash"
}

# parked_common PATH: HC becomes the common directory of the repository in PARKED, as git will find it from
# PATH. Empty when no repository comes back.
parked_common() {
  local at=${PARKED:+$PARKED/git}
  # What the repository of a linked worktree notes about it was parked, too, and comes back before git looks.
  if [ -n "$at" ] && [ -d "$PARKED/worktree" ]; then
    slurp "$PARKED/worktree-of"
    HC=${TEXT%/worktrees/*}
    [ -d "$HC/objects" ] || HC=''
    return 0
  fi
  if [ -f "$at" ]; then
    path_in "$at" && at=${TEXT#gitdir: } || at=''
    [[ $at == /* ]] || at=$ROOT/$1/$at
    # The directory in which a relative path begins may be gone by now.
    at=$(readlink -m -- "$at") || return
  fi
  common_of "$at" && [ -d "$HC/objects" ] || HC=''
}
