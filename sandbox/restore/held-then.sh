# What a restore does about git directories in the working tree of another repository (capture/held.sh):
# it leaves them as they are, and says so.
# shellcheck shell=bash

# held_then META: HELD_THEN becomes the directories that a capture left out because a repository used them.
held_then() {
  local path
  HELD_THEN=()
  part "$1" left-out "$OUT.held" || return
  while IFS= read -r -d '' path; do [[ $path != */ ]] || HELD_THEN+=("${path%/}"); done <"$OUT.held"
}

# leave_held_then META: removes the files of such directories from the plan: FROM_TREE is without them, and
# every later look leaves them out.
leave_held_then() {
  held_then "$1" || return
  [ ${#HELD_THEN[@]} -gt 0 ] || return 0
  HELD+=("${HELD_THEN[@]}")
  git --literal-pathspecs ls-files -z -c -- "${HELD_THEN[@]/%//}" >"$OUT.held" 2>>"$OUT.err" && leave_alone "$OUT.held"
}

# free_part META NAME FILE: the modes or the empty directories of a capture, without those inside such git
# directories.
free_part() {
  local entry path
  part "$1" "$2" "$3" || return
  [ -s "$3" ] && [ ${#HELD[@]} -gt 0 ] || return 0
  while IFS= read -r -d '' entry; do
    path=$entry
    [ "$2" = empty ] || path=${entry#*/}
    in_held "$path" || printf '%s\0' "$entry" || return
  done <"$3" >"$3.free" || return
  mv -f -- "$3.free" "$3"
}

# seen_part META NAME FILE: the same, without the modes of what cannot be captured now. Captures of now do not
# have these, and a restore leaves them as they are.
seen_part() { free_part "$@" && { [ "$2" != modes ] || drop_lost "$3"; }; }

# same_free_part META META NAME: SAME is set when these are equal, apart from what cannot be captured now.
same_free_part() {
  local status=0
  same_part "$@" || return
  [ -z "$SAME" ] && { [ ${#HELD[@]} -gt 0 ] || [ -s "$OUT.lost" ]; } || return 0
  seen_part "$1" "$3" "$OUT.one" && seen_part "$2" "$3" "$OUT.two" || return
  cmp -s -- "$OUT.one" "$OUT.two" || status=$?
  [ $status -le 1 ] || return $status
  [ $status = 1 ] || SAME=1
}

# tell_held TREE META: warns of the git directories that a restore to this capture leaves as they are although
# they differ there. TREE is everything that the target has.
tell_held() {
  local i dir then=' ' files=()
  held_then "$2" || return
  for dir in "${HELD_THEN[@]}"; do
    then+="$dir/ "
    git --literal-pathspecs ls-files -z -c -- "$dir/" >"$OUT.held" 2>>"$OUT.err" || return
    [ ! -s "$OUT.held" ] || printf '%s stays as it is: a repository of the checkpoint had its git directory there\0' "$dir"
  done >"$OUT.warn.held"
  for i in "${!HELD_FOR[@]}"; do
    dir=${HELD[i]}
    [[ $then != *" $dir/ "* ]] || continue
    git --literal-pathspecs ls-tree -r -z --name-only "$1" -- "$dir/" >"$OUT.held" 2>>"$OUT.err" && mapfile -d '' -t files <"$OUT.held" || return
    then="the git directory of the repository ${HELD_FOR[i]}"
    [ ${#files[@]} = 0 ] || then+=", where the checkpoint has ${#files[@]} files"
    printf '%s stays as it is: it is %s\0' "$dir" "$then"
  done >>"$OUT.warn.held"
}
