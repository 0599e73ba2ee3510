# Makes a host repository where there is none.
# shellcheck shell=bash

# make_host I META: builds the repository beside its place, with its objects, its shallow boundary
# and its addresses, and renames it when it is whole. So a crash leaves no half repository. An
# existing unusable .git is put aside.
make_host() {
  local i=$1 meta=$2 path=${R_PATH[$1]}
  mkdir -p -- "$ROOT/$path" && cd -- "$ROOT/$path" || return
  HG=$RUN/$i.git HC=$RUN/$i.git
  rm -rf -- "$HG" || return
  # Git 3 has other defaults.
  env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE GIT_DEFAULT_HASH=sha1 GIT_DEFAULT_REF_FORMAT=files git init -q --bare --template= ${NEW_FORMAT:+--object-format="$NEW_FORMAT"} "$HG" >/dev/null || return
  git config --file "$HG/config" core.bare false && git config --file "$HG/config" core.logAllRefUpdates true || return
  [ -z "$PARTIAL_FLAG" ] || promise_objects || return
  CREATED=1
  open_shadow "$FORMAT" && borrow_host && bring_objects "$i" && furnish_host "$meta" || return
  clear_git "$path" || return
  carry "$HG" .git ".agent-shadow/carried-$SESSION" && rm -rf -- "$HG" || return
  HG=$PWD/.git HC=$PWD/.git
  borrow_host
}

# promise_objects: lets git fetch on demand the objects that a partial clone left out, as it did
# before.
promise_objects() {
  git config --file "$HG/config" core.repositoryformatversion 1 && git config --file "$HG/config" extensions.partialClone origin
}

# furnish_host META: writes what a new host repository needs beside objects.
furnish_host() {
  local entry
  part "$1" shallow "$OUT.shallow" || return
  [ ! -s "$OUT.shallow" ] || cp -- "$OUT.shallow" "$HG/shallow" || return
  part "$1" remotes "$OUT.remotes-of" || return
  while IFS= read -r -d '' entry; do
    git config --file "$HG/config" --add "${entry%%$'\n'*}" "${entry#*$'\n'}" || return
  done <"$OUT.remotes-of"
  part "$1" settings "$OUT.settings-of" || return
  while IFS= read -r -d '' entry; do
    as_setting "${entry%%$'\n'*}" $'\n'"${entry#*$'\n'}" || continue
    git config --file "$HG/config" "${entry%%$'\n'*}" "$TEXT" || return
  done <"$OUT.settings-of"
  part "$1" attributes "$OUT.attributes-of" || return
  [ ! -s "$OUT.attributes-of" ] || { mkdir -p -- "$HG/info" && cp -- "$OUT.attributes-of" "$HG/info/attributes"; }
}
