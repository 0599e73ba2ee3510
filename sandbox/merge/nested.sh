# Keeps a path from being in two repositories at once. What one side has in a repository, the other side may
# have as files of the outer repository. No restore would write these, so they are conflicts.
# shellcheck shell=bash

# in_two TREE SIDE_TREE...: records each file of the merged TREE that lies in a repository inside this one.
# INSIDE names these repositories as `now:PATH` or `change:PATH`, by the side that has them. A capture that
# was made before a rollback may hold such files in both (force_collisions), so files that the tree of that
# side also has are left alone. The SIDE_TREEs are that of now, then that of the change.
in_two() {
  local entry path tree
  local -A twice=()
  for entry in "${INSIDE[@]}"; do
    files_in "$1" "${entry#*:}" "$OUT.in-two" || return
    [ -s "$OUT.in-two" ] || continue
    twice=() tree=$2
    [ "${entry%%:*}" = now ] || tree=${3-}
    if [ -n "$tree" ]; then
      files_in "$tree" "${entry#*:}" "$OUT.twice" || return
      while IFS= read -r -d '' path; do twice[$path]=1; done <"$OUT.twice"
    fi
    while IFS= read -r -d '' path; do
      [ -z "${twice[$path]-}" ] || continue
      conflict "$path" repository "${entry#*:} is a repository of its own on one side, and the other side has this file of the repository around it there" || return
    done <"$OUT.in-two"
  done
}

# files_in TREE DIRECTORY LIST: writes the files that a tree has below a directory into a list.
files_in() {
  git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "$2/" >"$3" 2>>"$OUT.err"
}

# occupied I: records a conflict when something that no capture holds stands where a repository is to come.
# C_AROUND is the number of the outer repository: its files are in its own capture.
occupied() {
  local path inner place=$REPOSITORY around=${C_AROUND[$1]} found=()
  local -A held=()
  if [ ! -e "$ROOT/$place" ] && [ ! -L "$ROOT/$place" ]; then return 0; fi
  if [ -n "$around" ]; then
    around=${KNOWN_PATH[around]} && [ "$around" = . ] || place=${place#"$around"/}
    (
      unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
      export GIT_DIR=$ROOT/$around/.agent-shadow/session-$SESSION
      files_in "${KNOWN_TREE[C_AROUND[$1]]}" "$place" "$OUT.held"
    ) || return
    while IFS= read -r -d '' path; do held[${path#"$place"/}]=1; done <"$OUT.held"
  fi
  find "$ROOT/$REPOSITORY" \( -name .git -o -name .agent-shadow \) -prune -o ! -type d -printf '%P\0' >"$OUT.there" 2>>"$OUT.err" || return
  while [ ${#found[@]} -lt 5 ] && IFS= read -r -d '' path; do
    for inner in "${INSIDE[@]#*:}"; do [[ $path != "$inner"/* ]] || continue 2; done
    [ -n "${held[${path:-.}]-}" ] || found+=("${path:-.}")
  done <"$OUT.there"
  [ ${#found[@]} -eq 0 ] || conflict . repository "the other side made it where files are that no checkpoint of this side holds: ${found[*]}"
}
