# Brings the index of a shadow up to date from change times alone. When the look before noted when it began,
# everything that changed since has a later change time (stillness.sh). So git reads only the files and
# directories with such a time. In any doubt add_all looks at everything, as it does once for each chain of
# bundles.
# shellcheck shell=bash

# With more touched paths, or names in touched directories, than this, git looks at everything.
FOLLOW_MOST=2000

# begin_look: notes the time before a capture looks. The mark gets the time of the file system's clock. LOOKED
# becomes what the look before noted about its times.
begin_look() {
  LOOK_BEGAN=''
  if line_of "$SHADOW/looked"; then LOOKED=$TEXT; else LOOKED=''; fi
  : >"$SHADOW/looked" || return
  clock_offset || return 0
  LOOK_BEGAN="$((MICROSECONDS - STILL_MARGIN)) $((MICROSECONDS - LATEST_MARK)) $OFFSET"
  : >"$SHADOW/looked.mark"
}

# note_look TARGET: notes what the look found. TARGET is `-` when the target was not known yet: then the
# restore finds out whether something uncaptured is in its way (free_paths).
#
# The note ends with `some` when the look left something out, when times do not tell what changed, or when
# another file system is mounted inside, because what the mount hides comes back with old times. Then only the
# times in the note are used.
note_look() {
  local directories=()
  [ -z "$FOLLOWED" ] || [ -z "$SAME_NAMES" ] || names_stay "${LOOKED%% *}" "$TREE" || return
  [ -n "$LOOK_BEGAN" ] || return 0
  if ! times_tell || ! no_mounts || [ -z "$HG" ] || [ "$HEAD_KIND" = unreadable ] || [ -n "$FORCED" ] || [ -s "$OUT.report" ] || [ -s "$SHADOW/rules-seen" ]; then
    printf '%s %s %s %s some\n%s' "$TREE" "$META" "$1" "$LOOK_BEGAN" "$HOST_KEY" >"$SHADOW/looked"
    return
  fi
  pass_on "$OUT.modes" >"$SHADOW/looked.modes" && pass_on "$OUT.empty" >"$SHADOW/looked.empty" || return
  slurp "$OUT.gitignores"
  printf '%s' "$TEXT" >"$SHADOW/looked.rules" && mapfile -d '' -t directories <"$OUT.directories" || return
  list_into "$SHADOW/looked.directories" "${directories[@]}" || return
  printf '%s %s %s %s end\n%s' "$TREE" "$META" "$1" "$LOOK_BEGAN" "$HOST_KEY" >"$SHADOW/looked"
}

# last_look: SINCE becomes the time at which the look before began, if the index is still the one that it
# left, the clock was not set since, and nothing is mounted inside. Otherwise it is empty. LATEST is a time
# after which the mark of the look that begins now must have changed (times_tell). WHOLE is set when the look
# before left something out.
SINCE='' LATEST='' WHOLE=''
last_look() {
  local tree since offset last
  SINCE='' LATEST='' WHOLE=''
  [ -n "$LOOK_BEGAN" ] || return 0
  last=${LOOK_BEGAN#* }
  find_time "${last% *}" && LATEST=$TEXT
  read -r tree _ _ since _ offset last <<<"$LOOKED" || return 0
  case $last in
    end) ;;
    some) WHOLE=1 ;;
    *) return 0 ;;
  esac
  offset=$((${LOOK_BEGAN##* } - offset))
  [ "${offset#-}" -le $UNSEEN_STEP ] && known_index_tree && [ "$TREE" = "$tree" ] && no_mounts || return 0
  find_time "$since" && SINCE=$TEXT
}

# find_mapped: MAPPED becomes the files below the projects root that a process has mapped and may write. What it
# writes need not change their times. Other users' processes are seen only by root.
MAPPED=()
find_mapped() {
  local status=0 places=(/proc/[0-9]*/map_files)
  [ ${#places[@]} -gt 0 ] || return 0
  glob_quote "$ROOT"
  find "${places[@]}" -perm -200 -lname "$TEXT/*" -printf '%l\0' >"$RUN/mapped" 2>/dev/null || status=$?
  ! ended $status && mapfile -d '' -t MAPPED <"$RUN/mapped"
}

# mapped_here: prints those of this repository as touched, with older modification times, and those that were
# mapped at the look before: the process may have ended since. $SHADOW/mapped notes those of this look.
mapped_here() {
  local path inner known=$SHADOW/mapped now=()
  for path in "${MAPPED[@]}"; do
    [[ $path == "$PWD"/* ]] || continue
    path=${path#"$PWD"/}
    case $path in .git/* | .agent-shadow/*) continue ;; esac
    for inner in "${NESTED[@]}" "${HELD[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    now+=("$path")
  done
  [ ${#now[@]} -gt 0 ] || [ -s "$known" ] || return 0
  list_into "$known.part" "${now[@]}" && pass_on "$known.part" "$known" | sort -zu | existing | sed -z 's#^#of/./#'
}

# add_changed: makes the index match the working files. WHOLE asks for a look at everything.
add_changed() {
  FOLLOWED='' SAME_NAMES=''
  [ -n "$SINCE" ] || : >"$OUT.touched" || return
  mapped_here >>"$OUT.touched" && add_touched_or_all || return
  [ ! -f "$SHADOW/mapped.part" ] || mv -f -- "$SHADOW/mapped.part" "$SHADOW/mapped"
}

add_touched_or_all() {
  if [ -z "$SINCE" ] && [ ! -s "$OUT.touched" ]; then
    add_all
    return
  fi
  [ -z "$SINCE" ] || [ -n "$WHOLE" ] || add_followed || return
  [ -z "$FOLLOWED" ] || return 0
  sed -nz 's#^o[fl]/\./##p' "$OUT.touched" >"$OUT.old-times" && read_again && add_all
}

# read_again: drops the entries of files whose change time is new but whose modification time is older. Git
# compares whole seconds: it does not notice when such a file changed twice within one second and kept its
# size.
read_again() {
  [ ! -s "$OUT.old-times" ] || git update-index --force-remove -z --stdin <"$OUT.old-times" 2>>"$OUT.err"
}

# add_followed: adds what was touched. FOLLOWED is set when this was enough, SAME_NAMES when the touched
# directories still have the same names.
add_followed() {
  local path kind lines=() files=() directories=() old=() BRING=()
  [ -z "$RULES_NEW" ] && [ ${#BIG[@]} = 0 ] && [ ${#FORBIDDEN[@]} = 0 ] && [ ! -s "$OUT.find" ] && same_rules || return 0
  mapfile -d '' -n $FOLLOW_MOST -t lines <"$OUT.touched" || return
  [ ${#lines[@]} -lt $FOLLOW_MOST ] || return 0
  for path in "${lines[@]}"; do
    kind=${path%%/*} path=${path#*/./}
    case $kind in
      f | l) files+=("$path") ;;
      of | ol) files+=("$path") old+=("$path") ;;
      d | od) directories+=("$path") ;;
      *) return 0 ;;
    esac
  done
  times_tell || return 0
  : >"$OUT.lost" || return
  if [ ${#directories[@]} = 0 ]; then
    [ ${#files[@]} -gt 0 ] || { FOLLOWED=1 && return; }
    # These are mostly captured files. Git refuses any other file, and then writes nothing.
    [ ${#old[@]} -gt 0 ] || bring "${files[@]}" || return
    [ -z "$FOLLOWED" ] || return 0
  fi
  add_touched
}

# add_touched: the same, when names may have changed or modification times are older.
add_touched() {
  local path entries=() names=() unknown=()
  local -A known=()
  if [ ${#directories[@]} -gt 0 ]; then
    names_of "${directories[@]}" && names_changed "${directories[@]}" || return
    [ -z "$DOUBT" ] || return 0
  fi
  for path in "${files[@]}"; do [ -n "${known[$path]-}" ] || unknown+=("$path"); done
  if [ ${#unknown[@]} -gt 0 ]; then
    printf './%s\0' "${unknown[@]}" | perhaps git check-ignore -z --stdin >"$OUT.ignored" 2>"$OUT.add" || return
    [ ! -s "$OUT.add" ] || return 0
    while IFS= read -r -d '' path; do known[${path#./}]=ignored; done <"$OUT.ignored"
    for path in "${unknown[@]}"; do
      [ -z "${known[$path]-}" ] || continue
      # A directory that is new here may hold anything, whatever its times say.
      [ -L "$path" ] || [ -f "$path" ] || return 0
      names+=("$path")
    done
  fi
  # Also those that are ignored although the host tracks them, which add_ignored adds.
  list_into "$OUT.old-times" "${old[@]}" && read_again || return
  [ ${#names[@]} -gt 0 ] || { FOLLOWED=1 && return; }
  BRING=(--add --remove) && bring "${names[@]}"
}

# bring PATH...: lets git look at these paths, with the options BRING. FOLLOWED stays empty when git says
# anything.
bring() {
  local status=0
  printf '%s\0' "$@" >"$OUT.brought" || return
  git update-index "${BRING[@]}" -z --stdin <"$OUT.brought" 2>"$OUT.add" || status=$?
  ! ended $status || return $status
  [ $status != 0 ] || [ -s "$OUT.add" ] || FOLLOWED=1
}

# names_of DIRECTORY...: `entries` becomes what the capture before has directly in these directories. The same
# directories are often touched again, so $SHADOW/names holds the last answer, and names.of says for which
# tree and directories.
names_of() {
  local path of text='' listed=() file=$SHADOW/names
  printf -v of '/./%s' "$@"
  slurp "$file.of"
  entries=() of=$TREE$of/./
  # The length of the list shows whether all of it is there.
  [[ $TEXT != "$of"* ]] || { mapfile -d '' -t entries <"$file" && printf -v text '%s/' "${entries[@]}"; }
  if [ "$TEXT" != "$of${#text} ${#entries[@]}" ]; then
    : >"$file.of" && : >"$file" || return
    for path; do
      if [ "$path" = . ]; then git ls-tree -z "$TREE" >>"$file" || return; else listed+=("$path/"); fi
    done
    [ ${#listed[@]} = 0 ] || git ls-tree -z "$TREE" -- "${listed[@]}" >>"$file" || return
    # MODE TYPE ID<TAB>PATH
    mapfile -d '' -t entries <"$file" && printf -v text '%s/' "${entries[@]}" && printf '%s' "$of${#text} ${#entries[@]}" >"$file.of" || return
  fi
} 2>>"$OUT.err"

# same_names: whether the names there now (here) equal those in `entries`, and all of these are files. Then
# `names` gets them, and `known` those of `files`. So directories with many files need no loop, unless many of
# them were touched.
same_names() {
  local path now before kinds=("${entries[@]%%$'\t'*}") paths=("${entries[@]#*$'\t'}")
  [ ${#here[@]} -gt 0 ] && [ ${#here[@]} = ${#paths[@]} ] && [[ ${kinds[*]} != *' tree '* && ${kinds[*]} != *' commit '* ]] || return
  # No path has `/./` in it, so equal texts mean equal lists.
  printf -v now '/./%s' "${here[@]}"
  printf -v before '/./%s' "${paths[@]}"
  [ "$now" = "$before" ] || return
  names=("${paths[@]}") SAME_NAMES=1
  if [ ${#files[@]} -gt 50 ]; then
    for path in "${paths[@]}"; do known[$path]=blob; done
    return
  fi
  for path in "${files[@]}"; do [[ $now/./ != *"/./$path/./"* ]] || known[$path]=blob; done
}

# names_changed DIRECTORY...: compares with what is there now. `names` gets the captured files, whether they
# still exist or not; `unknown` gets every other name. DOUBT is set when a captured directory was replaced by
# another one.
names_changed() {
  local path dir entry trees=0 here=()
  DOUBT=1
  for dir; do
    [ -r "$dir" ] || return 0
    if [ "$dir" = . ]; then
      for path in *; do case $path in .git | .agent-shadow) ;; *) here+=("$path") ;; esac done
    else
      here+=("$dir"/*)
    fi
    [ $((${#here[@]} + ${#entries[@]})) -lt $FOLLOW_MOST ] || return 0
  done
  ! same_names || { DOUBT='' && return; }
  for entry in "${entries[@]}"; do
    path=${entry#*$'\t'}
    case $entry in
      ??????' blob '*) names+=("$path") && known[$path]=blob ;;
      ??????' tree '*) trees=$((trees + 1)) && known[$path]=tree ;;
      *) return 0 ;;
    esac
  done
  for path in "${here[@]}"; do [ -n "${known[$path]-}" ] || unknown+=("$path"); done
  ! same_directories $trees || DOUBT=''
}

# same_directories COUNT: whether the COUNT captured directories directly inside the touched ones still have
# their inode numbers. A directory that replaced another is a new one, and its files may have old times. Its
# parent has a new time in any case.
same_directories() {
  local path entry left=$1 now=() before=()
  local -A numbers=()
  [ -f "$SHADOW/looked.directories" ] && mapfile -d '' -t now <"$OUT.directories" && mapfile -d '' -t before <"$SHADOW/looked.directories" || return
  # An entry begins with a number and `/./`, which no path has in it, so lists with equal text are equal.
  [ "${now[*]}" != "${before[*]}" ] || return 0
  for entry in "${before[@]}"; do numbers[${entry#*/./}]=${entry%%/*}; done
  for entry in "${now[@]}"; do
    path=${entry#*/./}
    [ "${known[$path]-}" = tree ] || continue
    [ "${numbers[$path]-}" = "${entry%%/*}" ] || return
    left=$((left - 1))
  done
  [ $left = 0 ]
}

# same_rules: whether the same rule files exist as in the look before. Files that a missing rule file had
# hidden have no new times. Git before 2.32 also reads a rule file that is a link, whose target may change.
same_rules() {
  local rules
  slurp "$OUT.gitignores"
  rules=$TEXT
  slurp "$SHADOW/looked.rules"
  [ "$TEXT" = "$rules" ] && [[ $'\n'$rules != *$'\n'l/* ]]
}
