# Bundles that were brought into the sandbox for this call.
# shellcheck shell=bash

# fetch_bundles: fetches large bundles by presigned GET. All bundles are checked before git sees
# them.
fetch_bundles() {
  [ -d "$IN" ] || return 0
  cd -- "$IN" || return
  if [ -f sources ]; then
    curl --disable -K sources 2>"$RUN/fetch.log" || {
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
    # Only its own message proves that a checksum differs. It may also have been killed before it
    # could report.
    [[ $SAID == *': FAILED'* ]] || die SandboxUnavailable "The bundles that arrived in the sandbox could not be looked at: ${SAID:-sha256sum said nothing}. Call again."
    die BundleCorrupt "A bundle that arrived in the sandbox does not have its SHA-256: ${SAID:-sha256sum said nothing}. Nothing was changed. Choose another checkpoint."
  }
  cd -- "$ROOT" || return
}

# unpack FILE KIND [OPTION]: brings a bundle's objects into the object store GIT_DIR points at.
# The pack begins behind the first empty line, where reading lines leaves the file. A large one
# stays a pack. A `small` one becomes loose objects, as with git's own fetch, because 64 packs
# would make every later command slower.
unpack() {
  local line how=(index-pack --stdin --fix-thin ${3:+"$3"})
  [ "$2" != small ] || how=(unpack-objects -q)
  {
    while IFS= read -r line && [ -n "$line" ]; do :; done
    git "${how[@]}" >/dev/null
  } <"$1"
}

# each_link FILE CUTS: the links of a joined bundle, each as its original pack, as git's own fetch
# would take them.
each_link() {
  local offset size start trailer
  while read -r offset size start trailer; do
    { printf "$start" && dd if="$1" bs=64K iflag=skip_bytes,count_bytes skip="$offset" count="$size" status=none && printf "$trailer"; } >"$OUT.pack" || return
    git index-pack --stdin --fix-thin <"$OUT.pack" >/dev/null || return
  done <"$2"
}
