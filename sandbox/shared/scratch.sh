# A git directory of our own beside the shadow, for work that does not look at the working files.
# shellcheck shell=bash

# scratch PATH [bare]: a git directory of this call, which reads the objects of the repository wherever a
# restore left them: in place, or parked. With `bare` it has no working tree, so git finds no attributes but
# ours.
scratch() {
  local from path=$1 version=0 bare=false
  [ -z "${2-}" ] || bare=true
  export GIT_DIR=$RUN/$INDEX.git
  mkdir -p -- "$GIT_DIR/objects/info" "$GIT_DIR/refs/heads" "$GIT_DIR/info" || return
  printf 'ref: refs/heads/none\n' >"$GIT_DIR/HEAD" && printf '* -text -filter -ident -working-tree-encoding -eol -crlf\n' >"$GIT_DIR/info/attributes" || return
  [ "$FORMAT" = sha1 ] || version=1
  {
    printf '[core]\n\trepositoryformatversion = %s\n\tbare = %s\n\tfilemode = true\n\tcommitgraph = false\n\tprotectNTFS = false\n\tprotectHFS = false\n[pack]\n\tthreads = 1\n' $version $bare
    [ "$FORMAT" = sha1 ] || printf '[extensions]\n\tobjectformat = sha256\n'
  } >"$GIT_DIR/config" || return
  # New objects go to the shadow, where they can be compared with other captures.
  from=$ROOT/$path/.agent-shadow/session-$SESSION
  if symlink_above "$from"; then from=$HOME_DIR/none; fi
  without_odd "$from" && shadow_without_odd "$from" || return
  [ ! -d "$from/objects" ] || export GIT_OBJECT_DIRECTORY=$from/objects
  export GIT_ALTERNATE_OBJECT_DIRECTORIES=''
  PARKING=$HOME_DIR/none
  [ ! -d "$HOME_DIR/parked-$SESSION" ] || parking_place "$path" || return
  for from in "$from" "$PARKING"/*/shadow; do
    [ ! -s "$from/shallow" ] || cp -- "$from/shallow" "$GIT_DIR/shallow" || return
  done
  for from in "$PARKING"/*/shadow/objects "$PARKING"/*/git/objects; do
    alternate "$from" && GIT_ALTERNATE_OBJECT_DIRECTORIES+=:$TEXT
  done
}
