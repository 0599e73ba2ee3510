# The shadow reads objects of the host's repository. These can disappear: git prunes them, or the .git is
# deleted or replaced. A capture that finds nothing changed would not notice, and no restore in this sandbox
# could then return to the captured state. The files are still here, so they are read again. The walk of each
# look finds out what changed in the object directories (find_odd).
# shellcheck shell=bash

# What the shadow reads from the host was noted in $SHADOW/borrowed:
#   stores   the directories of objects that are read, and the packs in them
#   places   the same directories by the numbers of their file systems and inodes
#   N.XX     the objects in the directory XX of the store number N
#   whole    when the look began that noted this, with its offset (clock_offset), and `end`

# begin_borrowed: prepares the walk. STORES are the directories that it is to look at: the host's own store,
# and those that it names in turn. LISTED is the text for `stores`, and STORES_BEGAN the text for `whole`.
# STORES_SINCE is a time for find: the walk reports what changed later.
STORES=()
begin_borrowed() {
  local since offset last
  STORES=() LISTED='' STORES_BEGAN='' STORES_SINCE=@0 STORES_NOTED=''
  list_stores
  ! clock_offset || STORES_BEGAN="$((MICROSECONDS - LOOK_MARGIN)) $((MICROSECONDS - LATEST_MARK)) $OFFSET"
  line_of "$SHADOW/borrowed/whole" && read -r since _ offset last <<<"$TEXT" && [ "$last" = end ] || return 0
  STORES_NOTED=1
  [ -n "$STORES_BEGAN" ] || return 0
  offset=$((OFFSET - offset))
  [ "${offset#-}" -gt $UNSEEN_STEP ] || { find_time "$since" && STORES_SINCE=$TEXT; }
}

list_stores() {
  local store packs=()
  [ -z "$HC" ] || stores_of "$HC/objects" STORES
  for store in "${STORES[@]}"; do packs+=("$store"/pack/*.pack); done
  [ ${#STORES[@]} = 0 ] || printf -v LISTED '%s\n' "${STORES[@]}" "${packs[@]}"
}

# walk_stores FILE: STORE_TESTS are tests of find for the stores as further starting points. FILE gets a line
# `SDEVICE/INODE/PATH` for each store, `N/PATH` for each store whose list of entries changed, and `C/PATH` for
# each directory of single objects that changed.
walk_stores() {
  local store tops=()
  STORE_TESTS=()
  [ ${#STORES[@]} -gt 0 ] || return 0
  for store in "${STORES[@]}"; do glob_quote "$store" && tops+=(-o -path "$TEXT"); done
  STORE_TESTS=(-path '/*' \( \( "${tops[@]:1}" \) \( -fprintf "$1" 'S%D/%i/%p\0' ',' -newerct "$STORES_SINCE" -fprintf "$1" 'N/%p\0' ',' -true \)
    -o -prune -name '[0-9a-f][0-9a-f]' -type d -newerct "$STORES_SINCE" -fprintf "$1" 'C/%p\0' ',' -true \) -o)
}

# mend_borrowed: after the walk, checks what the shadow reads from the host. Git is asked only when something
# that was noted is gone.
mend_borrowed() {
  local i entry notes=$SHADOW/borrowed places='' lost='' renamed='' lines=() changed=()
  local -A number=()
  [ -d "$notes" ] || mkdir -- "$notes" || return
  for i in "${!STORES[@]}"; do number[${STORES[i]}]=$i; done
  [ ${#STORES[@]} = 0 ] || mapfile -d '' -t lines <"$OUT.stores" || return
  for entry in "${lines[@]}"; do
    case $entry in
      S*) places+=${entry#S}$'\n' ;;
      N*) renamed=1 ;;
      C*) entry=${entry#C/} && changed+=("${number[${entry%/*}]}.${entry##*/}") ;;
    esac
  done
  if [ -n "$STORES_NOTED" ]; then
    slurp "$notes/places"
    [ "$TEXT" = "$places" ] || { renamed=1 && all_directories; }
    [ -z "$renamed" ] || compare_directories
    compare_objects
    slurp "$notes/stores"
    [ "$TEXT" = "$LISTED" ] || holds_all "$TEXT" "$LISTED" || lost=1
    [ -n "$lost$renamed" ] || [ ${#changed[@]} -gt 0 ] || [ "$TEXT" != "$LISTED" ] || return 0
  else
    lost=1
  fi
  # A shadow without an index has read nothing yet.
  [ -z "$lost" ] || [ ! -f "$SHADOW/index" ] || read_lost || return
  note_borrowed
}

# holds_all OLD NEW: whether every line of OLD is in NEW.
holds_all() {
  local line
  local -A there=()
  [ "$1" != "$2" ] || return 0
  lines_in "$2"
  for line in "${SPLIT[@]}"; do there[/$line]=1; done
  lines_in "$1"
  for line in "${SPLIT[@]}"; do [ -n "${there[/$line]-}" ] || return; done
}

# all_directories: `changed` becomes all directories of single objects.
all_directories() {
  local i one
  changed=()
  for i in "${!STORES[@]}"; do
    for one in "${STORES[i]}"/[0-9a-f][0-9a-f]; do changed+=("$i.${one##*/}"); done
  done
}

# compare_directories: sets `lost` when a directory of single objects is gone.
compare_directories() {
  local one old=("$notes"/*.[0-9a-f][0-9a-f])
  for one in "${old[@]##*/}"; do
    [ -d "${STORES[${one%%.*}]-}/${one##*.}" ] || lost=1
  done
}

# compare_objects: sets `lost` when something is gone from one of the changed directories.
compare_objects() {
  local one objects TEXT
  for one in "${changed[@]}"; do
    [ -z "$lost" ] || return 0
    slurp "$notes/$one"
    list_objects "${STORES[${one%%.*}]}/${one##*.}"
    holds_all "$TEXT" "$objects" || lost=1
  done
}

# list_objects DIRECTORY: `objects` becomes the names in it, one per line.
list_objects() {
  local names=("$1"/*)
  objects=''
  [ ${#names[@]} = 0 ] || printf -v objects '%s\n' "${names[@]##*/}"
}

# note_borrowed: notes what is there now: the changed directories, or all of them when something is gone. What
# the host writes meanwhile has a time after the beginning of this look, so the next capture lists it again.
note_borrowed() {
  local one objects old=()
  without_odd "$notes"/{whole,stores,places} && : >"$notes/whole" || return
  if [ -n "$lost" ]; then
    old=("$notes"/*.[0-9a-f][0-9a-f])
    [ ${#old[@]} = 0 ] || rm -f -- "${old[@]}" || return
    all_directories
  fi
  for one in "${changed[@]}"; do
    list_objects "${STORES[${one%%.*}]}/${one##*.}"
    without_odd "$notes/$one" && printf '%s' "$objects" >"$notes/$one" || return
  done
  printf '%s' "$LISTED" >"$notes/stores" && printf '%s' "$places" >"$notes/places" || return
  # When times do not tell what changed since, the next look compares everything.
  [ ! -e "$SHADOW/whole-seconds" ] || STORES_BEGAN=''
  printf '%s end\n' "${STORES_BEGAN:-0 0 0}" >"$notes/whole"
}

# note_stores: notes what is there for a shadow that has read nothing yet. No walk looked at the times, so the
# next capture compares everything.
note_stores() {
  local notes=$SHADOW/borrowed lost=1 places='' changed=() STORES_BEGAN=''
  local STORES=() LISTED=''
  list_stores
  [ -d "$notes" ] || mkdir -- "$notes" || return
  note_borrowed
}

# read_lost: makes everything again that was made from objects that are gone: the trees from the indexes, and
# when contents are gone, the index from the files.
read_lost() {
  rm -f -- "$SHADOW/tree.id" "$SHADOW/meta.key" "$SHADOW/meta.id" "$SHADOW/host-index.part" "$SHADOW/changes.of" || return
  [ ! -f "$SHADOW/host-index" ] || forget_trees "$SHADOW/host-index" || return
  sound_index || return
  [ -f "$SHADOW/index" ] || return 0
  # MODE ID STAGE<TAB>PATH
  git ls-files -s -z >"$OUT.entries" 2>>"$OUT.err" \
    && sed -z 's/^[0-7]* \([0-9a-f]*\) .*/\1/' "$OUT.entries" | tr '\0' '\n' | git cat-file --batch-check='%(objecttype)' >"$OUT.types" 2>>"$OUT.err" \
    && perhaps grep -m1 ' missing$' "$OUT.types" >"$OUT.gone" || return
  if [ ! -s "$OUT.gone" ]; then
    forget_trees "$SHADOW/index"
    return
  fi
  UNSEEDED=1 RULES_NEW=1
  forget_rules && rm -f -- "$SHADOW/index"
}

# forget_trees INDEX: lets git write all trees of an index again. Git keeps the trees' ids in the index, and
# takes a tree that exists for complete (update_one in cache-tree.c). Adding an entry to a directory and
# removing it makes git forget that directory's id.
forget_trees() {
  local id=$EMPTY_BLOB_SHA1
  local -x GIT_INDEX_FILE=$1
  [ "$FORMAT" != sha256 ] || id=$EMPTY_BLOB_SHA256
  cp -p -- "$1" "$OUT.dated" && git ls-files -z >"$OUT.entries" && sed -z "s#[^/]*\$#.walkback-probe-$$#" "$OUT.entries" | sort -zu >"$OUT.probes" || return
  [ -s "$OUT.probes" ] || return 0
  # The time is what marks it as a copy of the host's index (host_index_known).
  sed -z "s#^#100644 $id\t#" "$OUT.probes" | git update-index -z --index-info && git update-index --force-remove -z --stdin <"$OUT.probes" && touch -r "$OUT.dated" -- "$1"
} 2>>"$OUT.err"
