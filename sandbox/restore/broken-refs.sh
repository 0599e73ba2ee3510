# Files of HEAD and of branches that git does not understand. Git would refuse to write there, so they are
# replaced. The old files are kept.
# shellcheck shell=bash

# broken_head: whether git does not understand HEAD. It would refuse to do anything in the repository.
broken_head() { ! head_says "$HG/HEAD" || [[ ! $TEXT =~ ^(ref:\ refs/|[0-9a-f]{40,64}$) ]]; }

# broken_ref REF: whether the file of a branch holds no commit. Git would refuse to write the branch.
broken_ref() {
  local file=$HC/$1
  [ -f "$file" ] && [ ! -L "$file" ] || return
  ! line_of "$file" || [[ ! $TEXT =~ ^(ref:\ .+|[0-9a-f]{40,64})$ ]]
}

# tell_broken WHAT: warns that WHAT is replaced. BROKEN_PLACE is where the old files are kept.
tell_broken() {
  BROKEN_PLACE=$HOME_DIR/parked-$SESSION/broken
  printf 'the file of %s cannot be read and is replaced; the old one is put into %s\n' "$1" "$BROKEN_PLACE" >>"$OUT.warn"
}

# mend_head: puts a broken HEAD aside.
mend_head() {
  local goal=${T_REF:-refs/heads/main}
  broken_head || return 0
  # With reftable, the file says only this.
  [ ! -d "$HC/reftable" ] || goal=refs/heads/.invalid
  set_aside HEAD "$HG/HEAD" && printf 'ref: %s\n' "$goal" >"$HG/HEAD"
}

# mend_ref REF: puts the broken file of a branch aside.
mend_ref() { ! broken_ref "$1" || set_aside "branch ${1#refs/heads/}" "$HC/$1"; }

# set_aside WHAT FILE: keeps a broken file of the host with the parked files.
set_aside() {
  tell_broken "$1"
  mkdir -p -- "$BROKEN_PLACE" && mv -- "$2" "$(mktemp -d "$BROKEN_PLACE/XXXXXX")/"
}
