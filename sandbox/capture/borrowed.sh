# The shadow reads objects of the host's repository, and these may go there: git prunes them, or the .git is
# deleted or replaced. A capture that finds nothing changed would not notice, and no restore in this
# sandbox could then leave the state that was captured. The files are still here, so they are read again.
# shellcheck shell=bash

# mend_borrowed: looks after what the shadow reads from the host. Git is asked only when something is gone
# that was noted in $SHADOW/borrowed:
#   stores   the directories of objects that are read, and the packs in them
#   N.XX     the objects in the directory XX of the store number N
#   mark.M   has a time from before a listing
#   whole    is M when the listing of that mark came to its end
mend_borrowed() {
  local notes=$SHADOW/borrowed stores=() listed='' lost='' changed=() mark=0 noted=''
  [ -d "$notes" ] || mkdir -- "$notes" || return
  if line_of "$notes/whole" && [[ $TEXT == [01] ]]; then
    noted=$notes/mark.$TEXT mark=$((1 - TEXT))
  else
    lost=1
  fi
  : >"$notes/mark.$mark" && list_stores || return
  if [ -n "$noted" ]; then
    slurp "$notes/stores"
    [ "$TEXT" = "$listed" ] || holds_all "$TEXT" "$listed" || lost=1
    compare_objects
    [ -n "$lost" ] || [ ${#changed[@]} -gt 0 ] || [ "$TEXT" != "$listed" ] || return 0
  fi
  # A shadow without an index has read nothing yet.
  [ -z "$lost" ] || [ ! -f "$SHADOW/index" ] || read_lost || return
  note_borrowed
}

# list_stores: `stores`, the host's own one and those that it names in turn. `listed` also has their packs.
list_stores() {
  local i line store packs=()
  [ -z "$HC" ] || stores=("$HC/objects")
  for ((i = 0; i < ${#stores[@]} && i < 16; i++)); do
    store=${stores[i]}
    packs+=("$store"/pack/*.pack)
    slurp "$store/info/alternates"
    while [[ $TEXT == *$'\n'* ]]; do
      line=${TEXT%%$'\n'*} TEXT=${TEXT#*$'\n'}
      case $line in
        '' | '#'*) continue ;;
        '"'*'"') printf -v line %b "${line:1:-1}" ;;
      esac
      [[ $line == /* ]] || line=$store/$line
      stores+=("$line")
    done
  done
  [ ${#stores[@]} = 0 ] || printf -v listed '%s\n' "${stores[@]}" "${packs[@]}"
}

# holds_all OLD NEW: whether every line of the one is in the other.
holds_all() {
  local line lines=()
  local -A there=()
  mapfile -t lines <<<"$2"
  for line in "${lines[@]}"; do there[/$line]=1; done
  mapfile -t lines <<<"$1"
  for line in "${lines[@]}"; do [ -n "${there[/$line]-}" ] || return; done
}

# compare_objects: `changed` are the directories of single objects that may not be as they were noted. `lost` tells
# that something is gone from one.
compare_objects() {
  local i one objects TEXT here=() places=() old=("$notes"/*.[0-9a-f][0-9a-f])
  for i in "${!stores[@]}"; do
    places=("${stores[i]}"/[0-9a-f][0-9a-f])
    for one in "${places[@]}"; do [ "$one" -ot "$noted" ] || changed+=("$i.${one##*/}"); done
    places=("${places[@]##*/}")
    here+=("${places[@]/#/$i.}")
  done
  old=("${old[@]##*/}")
  if [ "${here[*]}" != "${old[*]}" ]; then
    local -A there=()
    for one in "${here[@]}"; do there[$one]=1; done
    for one in "${old[@]}"; do
      [ -n "${there[$one]-}" ] || lost=1
      there[$one]=''
    done
    # What came with its old times.
    for one in "${here[@]}"; do [ -z "${there[$one]}" ] || changed+=("$one"); done
  fi
  for one in "${changed[@]}"; do
    [ -z "$lost" ] || return 0
    slurp "$notes/$one"
    list_objects "${stores[${one%%.*}]}/${one##*.}"
    holds_all "$TEXT" "$objects" || lost=1
  done
}

# list_objects DIRECTORY: `objects` is the names in it, one a line.
list_objects() {
  local names=("$1"/*)
  objects=''
  [ ${#names[@]} = 0 ] || printf -v objects '%s\n' "${names[@]##*/}"
}

# note_borrowed: notes what is there now: what changed, or all where something is gone. What the host writes
# meanwhile is not older than the mark, and is listed again by the next capture.
note_borrowed() {
  local one i objects old=()
  : >"$notes/whole" || return
  if [ -n "$lost" ]; then
    old=("$notes"/*.[0-9a-f][0-9a-f])
    [ ${#old[@]} = 0 ] || rm -f -- "${old[@]}" || return
    changed=()
    for i in "${!stores[@]}"; do
      for one in "${stores[i]}"/[0-9a-f][0-9a-f]; do changed+=("$i.${one##*/}"); done
    done
  fi
  for one in "${changed[@]}"; do
    list_objects "${stores[${one%%.*}]}/${one##*.}"
    printf '%s' "$objects" >"$notes/$one" || return
  done
  printf '%s' "$listed" >"$notes/stores" && printf '%s\n' $mark >"$notes/whole"
}

# read_lost: what was made from objects that are gone is made again. Git writes the trees that it misses when
# it is asked for them; for contents, the index is made anew from the files.
read_lost() {
  SINCE=''
  rm -f -- "$SHADOW/tree.id" "$SHADOW/meta.key" "$SHADOW/meta.id" "$SHADOW/host-index.part" "$SHADOW/changes.of" || return
  # MODE ID STAGE<TAB>PATH
  git ls-files -s -z >"$OUT.entries" 2>>"$OUT.err" \
    && sed -z 's/^[0-7]* \([0-9a-f]*\) .*/\1/' "$OUT.entries" | tr '\0' '\n' | git cat-file --batch-check='%(objecttype)' >"$OUT.types" 2>>"$OUT.err" \
    && perhaps grep -m1 ' missing$' "$OUT.types" >"$OUT.gone" || return
  [ -s "$OUT.gone" ] || return 0
  UNSEEDED=1 RULES_NEW=1
  forget_rules && rm -f -- "$SHADOW/index"
}
