# Locks of the host's git that a killed git left behind. Git never removes them, and fails until
# somebody does.
# shellcheck shell=bash

# process_group PID: TEXT becomes the process group of a process.
process_group() {
  local words
  # PID (NAME) STATE PARENT GROUP ...; the name may contain anything.
  words=$(<"/proc/$1/stat") && words=${words##*') '} && words=${words#* } && words=${words#* } && TEXT=${words%% *}
}

# live_git DIRECTORY...: whether a git process that this call did not start works in one of these directories.
live_git() {
  local process where directory own
  process_group $$ && own=$TEXT || return 0
  for process in /proc/[0-9]*; do
    [ -r "$process/comm" ] || continue
    case $(<"$process/comm") in git | git-*) ;; *) continue ;; esac
    process_group "${process#/proc/}" && [ "$TEXT" != "$own" ] || continue
    where=$(cd -P -- "$process/cwd" && pwd) || continue
    for directory; do [[ $where/ != "$directory"/* ]] || return 0; done
  done 2>/dev/null
  return 1
}

# free_lock FILE: removes a lock of the host's git that no process holds. Fails when a process holds it.
free_lock() {
  [ -e "$1" ] || return 0
  ! live_git "$PWD" || return 1
  rm -f -- "$1"
}

# free_ref_locks: removes the locks of HEAD and branches that no process holds. Fails when it
# removes none.
free_ref_locks() {
  local file found=() places=("$PWD" "$HC")
  # No branch has a name that ends with .lock.
  for file in "$HG/HEAD.lock" "$HG"/refs/**/*.lock "$HC/packed-refs.lock" "$HC"/refs/**/*.lock "$HG"/reftable/*.lock "$HC"/reftable/*.lock; do
    [ ! -f "$file" ] || found+=("$file")
  done
  [ ${#found[@]} -gt 0 ] || return 1
  # Linked worktrees share their branches.
  [ "$HG" = "$HC" ] || places+=("${HC%/.git}")
  for file in "$HC"/worktrees/*/gitdir; do
    path_in "$file" || continue
    [[ $TEXT == /* ]] || TEXT=${file%/*}/$TEXT
    ! straight "${TEXT%/*}" 2>/dev/null || places+=("$TEXT")
  done
  ! live_git "${places[@]}" || return 1
  rm -f -- "${found[@]}"
}
