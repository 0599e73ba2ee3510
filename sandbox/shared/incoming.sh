# Bundles that were brought into the sandbox for this call.
# shellcheck shell=bash

# fetch_bundles: fetches large bundles by presigned GET. All bundles are checked before git sees
# them.
fetch_bundles() {
  [ -d "$IN" ] || return 0
  cd -- "$IN" || return
  if [ -f sources ]; then
    slurp sources
    transfer "$RUN/fetch.log" || {
      said_in "$RUN/fetch.log"
      die SandboxUnavailable "A bundle could not be fetched into the sandbox: ${SAID:-curl said nothing}. Check that the sandbox may reach the bucket, then call again."
    }
    rm -f -- sources || return
  fi
  local name files=(*)
  [ ${#files[@]} -gt 0 ] || { cd -- "$ROOT" && return 0; }
  for name in "${files[@]}"; do printf '%s  %s\n' "${name%%.*}" "$name"; done >"$RUN/expected" || return
  sha256sum --quiet --strict -c "$RUN/expected" >"$RUN/sums" 2>&1 || {
    said_in "$RUN/sums"
    # Only sha256sum's own message proves that a checksum differs. The process may also have been killed
    # before it could report.
    [[ $SAID == *': FAILED'* ]] || die SandboxUnavailable "The bundles that arrived in the sandbox could not be looked at: ${SAID:-sha256sum said nothing}. Call again."
    die BundleCorrupt "A bundle that arrived in the sandbox does not have its SHA-256: ${SAID:-sha256sum said nothing}. Nothing was changed. Choose another checkpoint."
  }
  cd -- "$ROOT" || return
}

# unpack FILE KIND [OPTION]: brings a bundle's objects into the object store of GIT_DIR. A large bundle stays
# a pack. A `small` one becomes loose objects, as with git's own fetch, because 64 packs would make every
# later command slower. Small bundles that are `many` when joined become one pack, where possible.
unpack() {
  local how=(index-pack --stdin --fix-thin ${3:+"$3"}) status=0
  case $2 in
    small) how=(unpack-objects -q) ;;
    many)
      pack_joined "$1" || status=$?
      [ $status != 0 ] || return 0
      ! ended $status || return $status
      how=(unpack-objects -q)
      ;;
  esac
  pack_in "$1" "${how[@]}" >/dev/null
}

# pack_in FILE COMMAND...: gives git the pack of a bundle. The pack begins after the first empty line, where
# reading the lines leaves the file.
pack_in() {
  local line
  {
    while IFS= read -r line && [ -n "$line" ]; do :; done
    git "${@:2}"
  } <"$1"
}

# pack_joined FILE: keeps joined links as one pack, which costs a fifth of writing each object into a file. It
# cannot do this when an object is in it twice: the deltas of such a pack may form a circle (join-links.ts).
# Until this is checked, git does not see the pack.
pack_joined() {
  local packs=${GIT_OBJECT_DIRECTORY:-$GIT_DIR/objects}/pack name
  local new=$packs/tmp_joined
  local left=("$new".*)
  [ ${#left[@]} = 0 ] || rm -f -- "${left[@]}" || return
  pack_in "$1" -c pack.writeReverseIndex=false index-pack --stdin --fix-thin -o "$new.index" "$new.pack" >"$OUT.packed" && line_of "$OUT.packed" && name=pack-${TEXT##*$'\t'} || return
  # Sorted by id: OFFSET ID (CHECKSUM)
  git show-index <"$new.index" | uniq -d -f 1 -w $((1 + ${#EMPTY})) >"$OUT.twice" || return
  if [ -s "$OUT.twice" ]; then
    rm -f -- "$new".*
    return 1
  fi
  # The index of a pack comes last, because git does not see a pack without it.
  mv -f -- "$new.pack" "$packs/$name.pack" && mv -f -- "$new.index" "$packs/$name.idx"
}

# each_link FILE CUTS: the links of a joined bundle, each as its original pack, as git's own fetch
# would take them.
each_link() {
  local offset size start trailer
  while read -r offset size start trailer; do
    { printf "$start" && dd if="$1" bs=64K iflag=skip_bytes,count_bytes skip="$offset" count="$size" status=none && printf "$trailer"; } >"$BULK/$INDEX.pack" || return
    git index-pack --stdin --fix-thin <"$BULK/$INDEX.pack" >/dev/null || return
  done <"$2"
}
