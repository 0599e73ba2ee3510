# Symlinks in the host's git directory. Git and a restore write through them, so one that leads elsewhere is refused.
# shellcheck shell=bash

# stays_here: whether everything that a restore of the host state writes lies in the git directory. Otherwise
# LINK is the symlink that leads elsewhere. A branch or a HEAD that is a link does not count: git replaces it
# with a file.
stays_here() {
  local place name entry places=("$HC")
  LINK=''
  [ "$HG" = "$HC" ] || places+=("$HG")
  for place in "${places[@]}"; do
    for name in logs objects reftable packed-refs "${STATE_FILES[@]}" "${STATE_DIRS[@]}"; do ! leads_away "$place/$name" || return; done
    for name in "$place"/{logs,reftable}/$DEEP "$place"/objects/*; do ! leads_away "$name" || return; done
    for name in "${STATE_DIRS[@]}"; do
      for entry in "$place/$name"/$DEEP; do ! leads_away "$entry" || return; done
    done
    for name in "$place"/{refs,index} "$place"/refs/$DEEP; do [ ! -d "$name" ] || ! leads_away "$name" || return; done
  done
}

# leads_away FILE: whether it is a link to a place that is neither in the git directory nor has the same name
# in another git directory below the projects root (git-new-workdir makes such links).
leads_away() {
  local name=${1#"$place"} to
  [ -L "$1" ] || return
  to=$(readlink -m -- "$1" && printf x) || to=''
  to=${to%$'\n'x}
  [[ $to != "$HG"/* && $to != "$HC"/* ]] || return
  [[ $to != "$ROOT"/*"$name" ]] || [ ! -e "${to%"$name"}/HEAD" ] || [ ! -d "${to%"$name"}/objects" ] || return
  LINK="${1#"$PWD"/} is a symlink to ${to:-a place that cannot be found}, and a rollback would write there: remove the link, or put what it leads to in its place"
}
