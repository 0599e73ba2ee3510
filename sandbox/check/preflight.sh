# The preflight command: what this sandbox has, as lines `MARK KEY VALUE`. It assumes nothing but bash,
# because it must say what else is missing. To find out whether a directory can be made it makes one, and
# removes it again. Set by the caller: WB_MARK, WB_BELOW, WB_TOOLS, WB_NEEDS.
# shellcheck shell=bash

say() {
  local text=${2//[[:cntrl:]]/ }
  printf '%s %s %s\n' "$WB_MARK" "$1" "${text:0:300}"
}

have() { command -v -- "$1" >/dev/null 2>&1; }

tools() {
  local tool
  for tool in "${WB_TOOLS[@]}"; do have "$tool" || say missing "$tool"; done
  for tool in "${WB_NEEDS[@]}"; do
    if have "$tool"; then say need "$tool $(command -v -- "$tool")"; else say lacks "$tool"; fi
  done
  find --version </dev/null 2>/dev/null | while read -r line; do
    case $line in *GNU*) say gnu-find 1 && break ;; esac
  done
}

# place: the command was started in the projects root, or in the nearest directory above it that exists. In
# the second case WB_BELOW is the next part of the path.
place() {
  local probe=.agent-shadow made=''
  if [ -n "$WB_BELOW" ]; then
    if [ -e "$WB_BELOW" ] || [ -L "$WB_BELOW" ]; then say root other; else say root missing; fi
    [ ! -w . ] || say can-make 1
    return
  fi
  say root directory
  if [ ! -e $probe ]; then mkdir -- $probe 2>/dev/null && made=1; fi
  if mkdir -- "$probe/preflight-$$" 2>/dev/null; then
    say writable 1
    rmdir -- "$probe/preflight-$$"
  fi
  [ -z "$made" ] || rmdir -- $probe 2>/dev/null
}

# room KEY OPTION: the fourth column of the second line of df's output.
room() {
  df "$2" . 2>/dev/null | {
    read -r _ && read -r _ _ _ free _ && say "$1" "$free"
  }
}

# Files that this user cannot read are missing in every checkpoint.
unreadable() {
  local path count=0
  [ -z "$WB_BELOW" ] && have find && have timeout || return
  timeout 20 find . -name .agent-shadow -prune -o ! -type l ! -readable -print0 2>/dev/null |
    while [ $count -lt 5 ] && IFS= read -r -d '' path; do
      say unreadable "${path#./}"
      count=$((count + 1))
    done
}

say bash "${BASH_VERSION-}"
say git "$(git --version 2>/dev/null)"
say user "$(id -un 2>/dev/null)"
tools
place
room disk-kib -Pk
room inodes -Pi
if temporary=$(mktemp -d 2>/dev/null); then
  printf 'x' >"$temporary/x" && say temporary 1
  rm -rf -- "$temporary"
fi
unreadable
say end ''
