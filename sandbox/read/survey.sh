# The survey command: what repositories are there, without writing anything.
# shellcheck shell=bash

survey_one() {
  local path=$1 line count=0
  emit repo "$path"
  cd -- "$ROOT/$path" || return 0
  HOST_CONFIG='' SHALLOW=0 PARTIAL=0 BASE='' HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT=''
  if find_host; then
    host_format
    read_head
    base_name
  else
    FORMAT=sha1
  fi
  emit head-kind "$HEAD_KIND"
  [ -z "$HEAD_REF" ] || emit branch "${HEAD_REF#refs/heads/}"
  emit format "${FORMAT:-sha1}"
  emit shallow "$SHALLOW"
  emit partial "$PARTIAL"
  [ -n "$HEAD_COMMIT" ] || return 0
  emit head "$HEAD_COMMIT"
  emit base "$BASE"
  emit commits "$("${HOST_GIT[@]}" --git-dir="$HG" rev-list --count "$HEAD_COMMIT" 2>/dev/null || echo 0)"
  [ "$DETAIL" = 1 ] || return 0
  emit remote "$(config_remote)"
  while IFS= read -r line; do emit recent "$line"; done < <("${HOST_GIT[@]}" --git-dir="$HG" log -n 5 --no-show-signature --format='%h %s' "$HEAD_COMMIT" 2>/dev/null)
  # Filters of the repository are commands: status would run them, a plain comparison of our own would not count alike.
  count=$(plain_status | tr -cd '\0' | wc -c)
  emit dirty "$count"
}

config_remote() {
  "${HOST_GIT[@]}" config --no-includes --file "$HC/config" --get remote.origin.url 2>/dev/null | sed 's#://[^/@]*@#://#'
}

# plain_status: changed paths as host git names them, with every filter the repository names switched off.
plain_status() {
  local name off=()
  while IFS= read -r name; do
    name=${name%.*}
    off+=(-c "$name.clean=" -c "$name.smudge=" -c "$name.process=" -c "$name.required=false")
  done < <("${HOST_GIT[@]}" --git-dir="$HG" config --name-only --get-regexp '^filter\..*\.(clean|process|smudge|required)$' 2>/dev/null | sort -u)
  "${HOST_GIT[@]}" "${off[@]}" --git-dir="$HG" --work-tree="$PWD" status --porcelain -z --no-renames --ignore-submodules=all 2>/dev/null
}

main() {
  local i
  declare -gA SEEN=()
  RUN=$(mktemp -d) || die SandboxUnavailable "Can not write to the temporary directory of the sandbox. Free some disk space, then call again."
  trap 'rm -rf -- "$RUN"' EXIT
  count_processors
  ROOTS=() PASSED_OVER=() PASSED_WHY=()
  MAX_DEPTH=$((MAX_DEPTH + 1)) find_roots "$RUN/find" .
  for i in "${!ROOTS[@]}"; do
    survey_one "${ROOTS[i]}" >"$RUN/$i" 2>/dev/null &
    jobs_limit
  done
  wait
  {
    passed_over
    for i in "${!ROOTS[@]}"; do cat -- "$RUN/$i"; done
    emit end ''
  } | finish
}

main
