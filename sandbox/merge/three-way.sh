# Merges trees of working files three ways, in a bare git directory of ours. If git could see a working tree,
# a .gitattributes with `merge=union` would make it merge conflicts silently.
# shellcheck shell=bash

# conflict PATH KIND MESSAGE: records a path that both sides changed.
conflict() {
  CONFLICTS=$((CONFLICTS + 1))
  emit conflict-path "$1" && emit conflict-kind "$2" && emit conflict-message "$3"
}

# git_merges: whether this git has `merge-tree --write-tree`. Asked once per call.
git_merges() { git_since 2 38; }

# sides BASE OURS THEIRS: makes two branches with these trees, on a commit with the tree of the base, for git
# to merge. The same trees give the same commits.
sides() {
  local who="author Walkback <capture@walkback.invalid> $ZERO_TIME"$'\n'"committer Walkback <capture@walkback.invalid> $ZERO_TIME" ids=()
  printf 'tree %s\n%s\n\nside\n' "$1" "$who" >"$OUT.base-side" || return
  TEXT=$(exec git hash-object -t commit -w --stdin <"$OUT.base-side") || return
  printf 'tree %s\nparent %s\n%s\n\nside\n' "$2" "$TEXT" "$who" >"$OUT.our-side" && printf 'tree %s\nparent %s\n%s\n\nside\n' "$3" "$TEXT" "$who" >"$OUT.their-side" || return
  TEXT=$(exec git hash-object -t commit -w --no-filters -- "$OUT.our-side" "$OUT.their-side") && lines_in "$TEXT" && ids=("${SPLIT[@]}") && [ ${#ids[@]} = 2 ] || return
  printf '%s\n' "${ids[0]}" >"$GIT_DIR/refs/heads/$LABEL_OURS" && printf '%s\n' "${ids[1]}" >"$GIT_DIR/refs/heads/$LABEL_THEIRS"
}

# Exit status of a process that stops because of an internal error: SIGABRT.
ABORTED=134

# merge_trees BASE OURS THEIRS: RESULT is the merged tree. Conflicts are recorded; the tree then has
# markers, and only a caller that asked for them uses it.
merge_trees() {
  local status=0 UNWRITABLE=''
  local -a fields=()
  RESULT=$2
  if [ "$3" = "$1" ] || [ "$3" = "$2" ]; then return 0; fi
  if [ "$1" = "$2" ]; then
    RESULT=$3
    return 0
  fi
  if [ "$MERGES" != 0 ]; then
    [ "$MERGES" = 1 ] || return "$MERGES"
    UNSUPPORTED=1
    return 1
  fi
  sides "$1" "$2" "$3" 2>>"$OUT.err" || return
  merge_sides || status=$?
  if [ $status = 1 ] && [ "$MARKERS" = 1 ]; then unwritable_in "${fields[0]}" || return; fi
  if [ $status = $ABORTED ] || [ -n "$UNWRITABLE" ]; then
    # On some renames of directories, git aborts (process_renames in merge-ort.c of git 2.39), or its tree has entries
    # of no content. Without detecting these renames it succeeds.
    status=0
    merge_sides -c merge.directoryRenames=false || status=$?
    if [ $status = 1 ] && [ "$MARKERS" = 1 ]; then unwritable_in "${fields[0]}" || return; fi
  fi
  [ $status -le 1 ] || return $status
  [ -z "$UNWRITABLE" ] || { printf 'git cannot write this conflict into files\n' >>"$OUT.err" && return 2; }
  RESULT=${fields[0]}
  [ $status = 1 ] || return 0
  read_conflicts
}

# merge_sides [OPTION...]: lets git merge the two branches. The array `fields` becomes what it says.
merge_sides() {
  local status=0
  git "$@" merge-tree --write-tree -z "$LABEL_OURS" "$LABEL_THEIRS" >"$OUT.merged" 2>>"$OUT.err" || status=$?
  [ $status -le 1 ] || return $status
  mapfile -d '' -t fields <"$OUT.merged" && [[ ${fields[0]-} =~ ^[0-9a-f]{40,64}$ ]] || return 2
  return $status
}

# unwritable_in TREE: UNWRITABLE is set when the tree has an entry that is neither a file nor a link.
unwritable_in() {
  UNWRITABLE=''
  git ls-tree -r "$1" >"$OUT.listed" 2>>"$OUT.err" && slurp "$OUT.listed" || return
  [[ $'\n'$TEXT != *$'\n160000 '* ]] || UNWRITABLE=1
}

# read_conflicts: records what git said, from the array `fields`: the paths with their stages, an
# empty field, then messages: a count, that many paths, the type, the text.
read_conflicts() {
  local i count path type
  local -A stages=() modes=() types=() texts=()
  local -a order=()
  for ((i = 1; i < ${#fields[@]} && ${#fields[i]} > 0; i++)); do
    path=${fields[i]#*$'\t'}
    set -- ${fields[i]%%$'\t'*}
    [ -n "${stages[$path]-}" ] || order+=("$path")
    stages[$path]+=$3 modes[$path]+=" $1"
  done
  for ((i = i + 1; i < ${#fields[@]}; i += count + 3)); do
    count=${fields[i]}
    [[ $count =~ ^[1-9][0-9]*$ ]] || return 2
    path=${fields[i + 1]} type=${fields[i + count + 1]}
    # Git could not merge this, and its result is not usable.
    [[ $type != ERROR* ]] || return 2
    [[ $type == CONFLICT* ]] || continue
    # A message about a path that has no stages of its own, for example the old name of a renamed file.
    [ -n "${stages[$path]-}${types[$path]-}" ] || order+=("$path")
    types[$path]+=$type
    texts[$path]=${fields[i + count + 2]%$'\n'}
  done
  [ ${#order[@]} -gt 0 ] || return 2
  for path in "${order[@]}"; do
    kind_of "${types[$path]-}" "${modes[$path]-}" "${stages[$path]-}"
    conflict "$path" "$KIND" "${texts[$path]:-both sides changed it}" || return
  done
}

# kind_of TYPES MODES STAGES: KIND becomes the kind of one conflict, as the caller names it.
kind_of() {
  KIND=content
  if [[ $1 == *rename* || $1 == *location* ]]; then
    KIND='rename'
  elif [[ $1 == *'file/directory'* ]]; then
    KIND='file/directory'
  elif [[ $2 == *120000* ]]; then
    KIND=symlink
  elif [[ $1 == *modes* ]]; then
    KIND='mode'
  elif [[ $1 == *binary* ]]; then
    KIND=binary
  elif [[ $1 == *delete* ]] || { [ -z "$1" ] && { [ "$3" = 12 ] || [ "$3" = 13 ]; }; }; then
    KIND='modify/delete'
  elif [ -n "$1" ] && [[ $1 != *contents* ]]; then
    # An unknown word of another git version. The caller refuses it.
    KIND=$1
  fi
}

# marked_in TREE ARRAY: which of the paths in OUT.suspects have all three lines of a conflict.
marked_in() {
  local line
  local -n of_marked=$2
  # shellcheck disable=SC2016 # grep ends with 1 when no file has them
  xargs -0 -- "$BASH" -c 'git --literal-pathspecs grep -lzIE --all-match -e "^<{7}([[:space:]]|$)" -e "^={7}[[:space:]]?$" -e "^>{7}([[:space:]]|$)" "$0" -- "$@" || [ $? = 1 ]' "$1" <"$OUT.suspects" >"$OUT.marked" || return
  while IFS= read -r -d '' line; do of_marked[./${line#*:}]=1; done <"$OUT.marked"
}

# left_markers BASE THEIRS: records the files of THEIRS that have conflict markers which BASE does not have.
left_markers() {
  local path
  local -A before=() after=()
  git diff-tree -r -z --name-only --no-renames --diff-filter=AMT -G'^(<<<<<<<|>>>>>>>)' "$1" "$2" >"$OUT.suspects" || return
  [ -s "$OUT.suspects" ] || return 0
  marked_in "$1" before && marked_in "$2" after || return
  while IFS= read -r -d '' path; do
    [ -z "${after[./$path]-}" ] || [ -n "${before[./$path]-}" ] || conflict "$path" markers 'it has conflict markers that nobody resolved' || return
  done <"$OUT.suspects"
}

# in_their_way INTO FROM: records what stands in INTO where a path of the array ONLY has a directory above it in
# FROM. It would go, although nobody named it.
in_their_way() {
  local path above kept
  local -a parents=()
  local -A comes=() stands=()
  for path in "${ONLY[@]}"; do
    while [[ $path == */* ]]; do path=${path%/*} && parents+=("$path"); done
  done
  entries_of "$1" stands "${parents[@]}" && entries_of "$2" comes "${ONLY[@]}" || return
  for path in "${ONLY[@]}"; do
    [ -n "${comes[./$path]-}" ] || continue
    above=$path kept=''
    while [[ $above == */* ]]; do
      above=${above%/*}
      case ${stands[./$above]-} in '' | 040000) ;; *) kept=$above ;; esac
      [ -z "${ASKED[./$above]-}" ] || kept=''
    done
    [ -z "$kept" ] || { stands[./$kept]='' && conflict "$kept" file/directory "it is no directory here, and would make room for $path"; } || return
  done
}

# only_paths INTO FROM: RESULT is the tree INTO with the paths in the array ONLY as they are in FROM.
only_paths() {
  local path
  in_their_way "$1" "$2" || return
  local -x GIT_INDEX_FILE=$OUT.only GIT_WORK_TREE=$RUN/nothing
  mkdir -p -- "$GIT_WORK_TREE" && rm -f -- "$GIT_INDEX_FILE" && git read-tree "$1" || return
  git --literal-pathspecs ls-files -z -- "${ONLY[@]}" >"$OUT.only.old" && git --literal-pathspecs ls-tree -r -z "$2" -- "${ONLY[@]}" >"$OUT.only.new" || return
  git update-index --force-remove -z --stdin <"$OUT.only.old" && git update-index --replace -z --index-info <"$OUT.only.new" && RESULT=$(exec git write-tree)
}
