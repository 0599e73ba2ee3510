# Mends a rollback that broke off: decides which end is nearer, and what each repository holds
# there (docs/design.md, "Abandoned rollbacks"). R_UNDO_* and R_TREE/R_META are the two ends. A
# path, or a part of the host state, in which they differ is `reached` where it holds the target's
# content, `unreached` where it holds the undo's, and `kept` where it holds something else, which
# is work done since. Only the first two move. The result replaces R_TREE and R_META, so the
# restore then runs, proves and undoes it like any other.
# shellcheck shell=bash

# mend: decides the end (MENDED) and sets the targets of this restore. Fails when something is
# missing; the problems name it.
mend() {
  local i tree meta reached unreached
  REACHED=0 UNREACHED=0
  each mend_look "${!R_PATH[@]}"
  for i in "${!R_PATH[@]}"; do
    [ ! -s "$RUN/$i.problems" ] && read -r reached unreached <"$RUN/$i.counts" || return 1
    REACHED=$((REACHED + reached)) UNREACHED=$((UNREACHED + unreached))
  done 2>/dev/null
  if [ $REACHED = 0 ]; then
    MENDED=none
    return 0
  fi
  MENDED=$MEND
  if [ "$MEND" = nearer ]; then
    MENDED=undo
    [ $REACHED -le $UNREACHED ] || MENDED=target
  fi
  each mend_goal "${!R_PATH[@]}"
  for i in "${!R_PATH[@]}"; do
    read -r tree meta <"$RUN/$i.goal-state" || {
      # If there is no plan, its exit status is reported.
      rm -f -- "$RUN/$i.plan"
      return 1
    }
    R_TREE[i]=${tree#-} R_META[i]=${meta#-}
  done 2>/dev/null
  # A look depends on the destination, because it also lists the paths that would be overwritten
  # there.
  roots_now
  each mend_stand "${!R_PATH[@]}"
  for i in "${!R_PATH[@]}"; do
    # If anything fails, everything goes back to the state in which it was found.
    read -r tree meta _ <"$RUN/$i.stand" || return 1
    R_NOW_TREE[i]=${tree#-} R_NOW_META[i]=${meta#-} R_UNDO_TREE[i]=${tree#-} R_UNDO_META[i]=${meta#-}
    [ -z "${R_NOW_TREE[i]}" ] || R_BUNDLES[i]=''
  done 2>/dev/null
}

# mend_cleared: when nothing goes to the target, brings back what the restore had cleared away for it
# (clear_git).
mend_cleared() {
  local i n last old
  [ "$MENDED" != target ] || return 0
  for i in "${!R_PATH[@]}"; do
    cd -- "$ROOT" && ! barred "${R_PATH[i]}" && [ -d "${R_PATH[i]}" ] && parking_place "${R_PATH[i]}" && cd -- "${R_PATH[i]}" || continue
    last=0
    for n in "$PARKING"/*/cleared; do
      n=${n%/cleared} n=${n##*/}
      [[ $n == *[!0-9]* ]] || [ "$n" -le $last ] || last=$n
    done
    [ $last != 0 ] || continue
    old=$PARKING/$last
    if only_begun; then
      { [ ! -d .git ] || park_git "${R_PATH[i]}" ''; } && carry "$old/git" .git ".agent-shadow/carried-$SESSION" && leave_place "$old" || return
    else
      printf 'the .git that was here before is %s\n' "$old/git" >>"$RUN/$i.warn"
    fi
  done
  cd -- "$ROOT" || return
}

# only_begun: whether there is no .git, or only one that the restore had begun: it has no index and no ref
# yet.
only_begun() {
  local file
  [ ! -L .git ] || return
  for file in .git .git/index .git/packed-refs .git/refs/**; do [ ! -f "$file" ] || return; done
}

# mend_stand I: the repository as it is now, compared with its destination.
mend_stand() {
  rm -f -- "$RUN/$1.stand"
  open_repository "$1" || return
  [ -z "$EXISTS" ] || stand "$1" "${R_TREE[$1]}" 2>>"$OUT.err" || return
  printf '%s %s -\n' "${TREE:--}" "${META:--}" >"$OUT.stand"
}

# mend_report: reports the decision to the caller.
mend_report() {
  local i path count=0
  emit mend-end "$MENDED" && emit mend-reached "$REACHED" && emit mend-unreached "$UNREACHED"
  for i in "${!R_PATH[@]}"; do
    [ -s "$RUN/$i.worked" ] || continue
    while IFS= read -r -d '' path; do
      count=$((count + 1))
      [ $count -le 50 ] || continue
      [ "${R_PATH[i]}" = . ] || path=${R_PATH[i]}/$path
      emit mend-kept "$path"
    done <"$RUN/$i.worked"
  done
  [ $count -le 50 ] || emit mend-kept-more $((count - 50))
}

# mend_open I: opens the repository as it is. Sets TREE and META, and the trees FROM_END (undo)
# and TO_END (target).
mend_open() {
  local i=$1
  open_repository "$i" || return
  FROM_END=${R_UNDO_TREE[i]:-$EMPTY} TO_END=${R_TREE[i]:-$EMPTY}
  [ -z "$EXISTS" ] || stand "$i" "${R_TREE[i]}" 2>>"$OUT.err"
}

# mend_look I: counts, and writes the lists of paths $OUT.reached, $OUT.unreached and $OUT.worked.
mend_look() { check_whole "$1" mend_look_once; }

mend_look_once() {
  local i=$1 list
  OUT=$RUN/$i
  for list in problems err plan worked reached unreached torn groups; do : >"$OUT.$list"; done
  mend_open "$i" || {
    refused $? failed "the repository cannot be read as it is now"
    return 0
  }
  printf '%s %s -\n' "${TREE:--}" "${META:--}" >"$OUT.stand"
  if [ -z "$EXISTS" ]; then
    # The repository is not there. Either its absence is one of the ends, or someone has removed it since.
    if [ -z "${R_TREE[i]}" ]; then
      printf '1 0\n' >"$OUT.counts"
    elif [ -z "${R_UNDO_TREE[i]}" ]; then
      printf '0 1\n' >"$OUT.counts"
    else
      printf '.\0' >"$OUT.worked"
      printf '0 0\n' >"$OUT.counts"
    fi
    return 0
  fi
  mend_objects "$i" || {
    not_there $? "$i" "the objects of both ends of the rollback cannot be looked at"
    return 0
  }
  mend_paths && mend_host "$i" || {
    refused $? failed "it cannot be compared with where it was to go"
    return 0
  }
}

# mend_objects I: makes sure that the objects of both ends are in the sandbox, and brings them if they are
# not.
mend_objects() {
  [ -z "${R_BUNDLES[$1]}" ] || bring_objects "$1" || return
  ends_present "$1" "$TREE" "$META" || with_now_mended "$1" ends_present "$1"
}

# ends_present I [KNOWN...]: the same as objects_present, for both ends.
ends_present() {
  local i=$1
  shift
  [ -z "${R_TREE[i]}" ] || objects_present "${R_TREE[i]}" "${R_META[i]}" "$@" || return
  [ -z "${R_UNDO_TREE[i]}" ] || objects_present "${R_UNDO_TREE[i]}" "${R_UNDO_META[i]}" "$@"
}

# differing TREE TREE FILE: the paths in which two trees differ, sorted.
differing() {
  git diff-tree -r -z --no-renames --name-only "$1" "$2" >"$3.part" 2>>"$OUT.err" && sort -z "$3.part" >"$3"
}

mend_paths() {
  differing "$FROM_END" "$TO_END" "$OUT.planned" && differing "$FROM_END" "$TREE" "$OUT.off-undo" && differing "$TO_END" "$TREE" "$OUT.off-target" || return
  comm -z -23 "$OUT.planned" "$OUT.off-undo" >"$OUT.unreached" && comm -z -23 "$OUT.planned" "$OUT.off-target" >"$OUT.reached" || return
  comm -z -12 "$OUT.planned" "$OUT.off-undo" >"$OUT.worked.part" && comm -z -12 "$OUT.worked.part" "$OUT.off-target" >"$OUT.worked" && mend_torn
}

# mend_torn: finds files that hold only the beginning of the target's content, because they were
# being written when the rollback broke off. Such a file is no one's work, and may go to either
# end. But if the capture before this one has the same content, someone cut it off on purpose.
mend_torn() {
  local path size whole count=0
  [ -s "$OUT.worked" ] || return 0
  : >"$OUT.worked.part"
  while IFS= read -r -d '' path; do
    count=$((count + 1))
    if [ $count -le 200 ] && [ -f "$path" ] && [ ! -L "$path" ] && size=$(stat -c %s -- "$path" 2>/dev/null) \
      && whole=$(git cat-file -s "$TO_END:$path" 2>/dev/null) && [ "$size" -lt "$whole" ] \
      && git cat-file blob "$TO_END:$path" >"$BULK/$INDEX.whole" 2>/dev/null && cmp -s -n "$size" -- "$BULK/$INDEX.whole" "$path"; then
      printf '%s\0' "$path" >>"$OUT.torn"
    else
      printf '%s\0' "$path" >>"$OUT.worked.part"
    fi
  done <"$OUT.worked"
  rm -f -- "$BULK/$INDEX.whole"
  mv -f -- "$OUT.worked.part" "$OUT.worked"
}

# mend_goal I: writes tree and host state of the repository at the end into $OUT.goal-state, or a dash when
# the repository is not to exist there.
mend_goal() {
  local i=$1 end_tree=${R_TREE[$1]} end_meta=${R_META[$1]} other=${R_UNDO_META[$1]} moving=$RUN/$1.unreached goal
  rm -f -- "$RUN/$i.goal-state"
  if [ "$MENDED" = undo ]; then end_tree=${R_UNDO_TREE[i]} end_meta=${R_UNDO_META[i]} other=${R_META[i]} moving=$RUN/$i.reached; fi
  open_repository "$i" && read -r TREE META _ <"$OUT.stand" || return
  if [ -z "$EXISTS" ]; then
    [ -s "$OUT.worked" ] || goal="${end_tree:--} ${end_meta:--}"
    printf '%s\n' "${goal:-- -}" >"$OUT.goal-state"
    return 0
  fi
  open_shadow "$FORMAT" && cat -- "$moving" "$OUT.torn" >"$OUT.moving" && mend_tree "${end_tree:-$EMPTY}" "$OUT.moving" || return
  if [ -z "$end_tree" ] && [ "$GOAL" = "$EMPTY" ] && grep -q '^host' "$OUT.groups"; then
    printf -- '- -\n' >"$OUT.goal-state"
    return 0
  fi
  mend_meta "$end_meta" "$other" "$GOAL" || return
  printf '%s %s\n' "$GOAL" "$META" >"$OUT.goal-state"
}

# mend_tree TREE LIST: GOAL becomes the present tree with the paths in a list as they are in TREE.
mend_tree() {
  local status path mode id index=$OUT.mend.index
  local -A moving=()
  GOAL=$TREE
  [ -s "$2" ] || return 0
  while IFS= read -r -d '' path; do moving[$path]=1; done <"$2"
  git diff-tree -r -z --no-renames "$TREE" "$1" >"$OUT.mend.raw" 2>>"$OUT.err" || return
  : >"$OUT.mend.gone"
  : >"$OUT.mend.come"
  while IFS= read -r -d '' status && IFS= read -r -d '' path; do
    [ -n "${moving[$path]-}" ] || continue
    read -r _ mode _ id status <<<"$status" || return
    if [ "$status" = D ]; then
      printf '0 %s\t%s\0' "$id" "$path" >>"$OUT.mend.gone"
    else
      printf '%s %s\t%s\0' "$mode" "$id" "$path" >>"$OUT.mend.come"
    fi
  done <"$OUT.mend.raw"
  rm -f -- "$index"
  GIT_INDEX_FILE=$index git read-tree "$TREE" 2>>"$OUT.err" || return
  # Removed paths come first, to make way for new ones.
  cat -- "$OUT.mend.gone" "$OUT.mend.come" >"$OUT.mend.info" && GIT_INDEX_FILE=$index git update-index -z --index-info <"$OUT.mend.info" 2>>"$OUT.err" || return
  GOAL=$(GIT_INDEX_FILE=$index git write-tree 2>>"$OUT.err")
}

# mend_meta END OTHER TREE: META becomes the present host state with the parts that move as they are in END.
mend_meta() {
  local end=$1 other=$2 name group entry ENTRY parents='' tree
  : >"$OUT.mend.entries"
  git ls-tree "$META" >"$OUT.mend.meta" 2>>"$OUT.err" || return
  local -A replaced=([modes]=1 [empty]=1)
  while IFS= read -r group; do for name in $group; do replaced[$name]=1; done; done <"$OUT.groups"
  while IFS= read -r entry; do [ -n "${replaced[${entry##*$'\t'}]-}" ] || printf '%s\n' "$entry" >>"$OUT.mend.entries"; done <"$OUT.mend.meta"
  if [ -n "$end" ]; then
    git ls-tree "$end" >"$OUT.mend.meta" 2>>"$OUT.err" || return
    # A restore to that end leaves alone what that end left out.
    ! grep -q $'\tleft-out$' "$OUT.mend.meta" || { sed -i '/\tleft-out$/d' "$OUT.mend.entries" && replaced[left-out]=1; } || return
    while IFS= read -r entry; do
      name=${entry##*$'\t'}
      case $name in modes | empty) continue ;; esac
      if [ "$name" = host ] && [ -n "${replaced[host]-}" ]; then
        mend_refs "$end" "$other" || return
        [ -z "$ENTRY" ] || entry="100644 blob $ENTRY"$'\t'host
      fi
      [ -z "${replaced[$name]-}" ] || printf '%s\n' "$entry" >>"$OUT.mend.entries"
    done <"$OUT.mend.meta"
  elif [ -n "${replaced[host]-}" ]; then
    # Files that someone added stay in a directory that is no longer a repository.
    printf '100644 blob %s\thost\n' "$(printf 'head none\n' | git hash-object -w --stdin)" >>"$OUT.mend.entries"
  fi
  for name in modes empty; do
    mend_sidecar "$name" "$end" "$other" "$3" || return
    entry=$(git hash-object -w --no-filters -- "$OUT.mend.$name") && printf '100644 blob %s\t%s\n' "$entry" "$name" >>"$OUT.mend.entries" || return
  done
  tree=$(git mktree --missing <"$OUT.mend.entries") || return
  for name in "$META" ${end:+"$end"}; do
    git cat-file commit "$name" >"$OUT.mend.commit" 2>>"$OUT.err" || return
    while IFS= read -r entry && [ -n "$entry" ]; do
      [[ $entry != 'parent '* || $parents == *"$entry"$'\n'* ]] || parents+=$entry$'\n'
    done <"$OUT.mend.commit"
  done
  printf 'tree %s\n%sauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nhost state\n' "$tree" "$parents" "$ZERO_TIME" "$ZERO_TIME" >"$OUT.mend.commit" || return
  META=$(git hash-object -t commit -w --stdin <"$OUT.mend.commit")
}

# mend_sidecar NAME END OTHER TREE: modes or empty directories as they are now, except for lines in which the
# ends differ. Lines for paths with later work stay. No empty directory is made where the tree has a file.
mend_sidecar() {
  local name=$1 line path
  local -A kept=()
  part "$2" "$name" "$OUT.mend.part" && sort -zu "$OUT.mend.part" >"$OUT.mend.end" || return
  part "$3" "$name" "$OUT.mend.part" && sort -zu "$OUT.mend.part" >"$OUT.mend.other" || return
  part "$META" "$name" "$OUT.mend.part" && sort -zu "$OUT.mend.part" >"$OUT.mend.now" || return
  comm -z -13 "$OUT.mend.end" "$OUT.mend.other" >"$OUT.mend.drop" && comm -z -23 "$OUT.mend.end" "$OUT.mend.other" >"$OUT.mend.add" || return
  comm -z -23 "$OUT.mend.now" "$OUT.mend.drop" >"$OUT.mend.left" || return
  while IFS= read -r -d '' path; do kept[$path]=1; done <"$OUT.worked"
  while IFS= read -r -d '' line; do
    path=$line
    [ "$name" = empty ] || path=${line#*/}
    [ -z "$path" ] || [ -z "${kept[$path]-}" ] || continue
    [ "$name" = modes ] || ! under_file "$4" "$path" || continue
    printf '%s\0' "$line"
  done <"$OUT.mend.add" >"$OUT.mend.added"
  sort -zu "$OUT.mend.left" "$OUT.mend.added" >"$OUT.mend.$name"
}

# under_file TREE PATH: whether a tree has a file at a path or above it.
under_file() {
  local path=$2
  while :; do
    [ "$(git cat-file -t "$1:$path" 2>/dev/null)" != blob ] || return 0
    [[ $path == */* ]] || return
    path=${path%/*}
  done
}
