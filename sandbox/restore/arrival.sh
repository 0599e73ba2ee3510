# What a fresh sandbox holds when the repositories come into it.
# shellcheck shell=bash

# arrive: puts aside what stands in the repositories' places, and notes what lies beside them.
arrive() {
  first_arrival || return 0
  make_room || die SandboxUnavailable "What the template of the sandbox holds below the projects root cannot be put aside. Check its permissions."
  note_arrival 2>/dev/null || :
}

# first_arrival: whether nothing was brought into this fresh sandbox yet. A command that is delivered
# twice must not take what the first one wrote for files of the template and put it aside.
first_arrival() {
  local mark=$HOME_DIR/taken-$SESSION/.arrived
  [ ! -d "$mark" ] || return
  mkdir -p -- "$mark" || die SandboxUnavailable "Cannot write to $HOME_DIR. Free some disk space, then call again."
}

# note_arrival: notes what a fresh sandbox holds beside the repositories that come into it.
note_arrival() {
  local notes=$HOME_DIR/taken-$SESSION
  { [ -d "$notes" ] || mkdir -- "$notes"; } && note_beside "$notes/.came" "${R_PATH[@]}"
}

# make_room: puts aside, as a whole, the template files of a fresh sandbox that stand in a repository's place.
make_room() {
  local path entry place=$HOME_DIR/replaced-$SESSION number=0
  for entry in "$place"/*; do [ "${entry##*/}" -le $number ] || number=${entry##*/}; done
  for path in "${R_PATH[@]}"; do
    if symlink_above "$path/x" || { [ ! -e "$path" ] && [ ! -L "$path" ]; }; then continue; fi
    for entry in "$path"/*; do
      [ "$entry" != ./.agent-shadow ] || continue
      number=$((number + 1))
      mkdir -p -- "$place/$number" && mv -- "$entry" "$place/$number/" || return
    done
  done
}
