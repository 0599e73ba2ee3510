# The survey command: lists the repositories, without writing anything.
# shellcheck shell=bash

# survey_one PATH: surveys one repository. With LENIENT, it leaves out what git could not tell. The first look
# takes any failure for one of the system, and is repeated.
survey_one() {
  local path=$1 line count
  emit repo "$path"
  cd -- "$ROOT/$path" || return 0
  HOST_CONFIG='' SHALLOW=0 PARTIAL=0 BASE='' HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT=''
  if find_host; then
    read_settings
    read_head || forgiven $? || return
    base_name || return
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
  # When objects are missing, git cannot count.
  count=$("${HOST_GIT[@]}" --git-dir="$HG" rev-list --count "$HEAD_COMMIT" 2>/dev/null) || { forgiven $? && count=0; } || return
  emit commits "$count"
  [ "$DETAIL" = 1 ] || return 0
  line=$(config_remote) || forgiven $? || return
  emit remote "$line"
  line=$("${HOST_GIT[@]}" --git-dir="$HG" log -n 5 --no-show-signature --format='%h %s' "$HEAD_COMMIT" 2>/dev/null) || forgiven $? || return
  lines_in "$line"
  for line in "${SPLIT[@]}"; do emit recent "$line"; done
  # The count is then not known.
  ! look_waits || return 0
  # Filters of the repository are commands. `git status` would run them, and our own plain
  # comparison would count differently.
  count=$(plain_status | tr -cd '\0' | wc -c) || forgiven $? || return
  emit dirty "${count:-0}"
}

config_remote() {
  perhaps "${HOST_GIT[@]}" config --no-includes --file "$HC/config" --get remote.origin.url 2>/dev/null | sed 's#://[^/@]*@#://#'
}

# plain_status: the changed paths as the host's git lists them, with every filter of the repository switched
# off. A config file does that, not options: in an option, the name of a setting ends at the first `=`, and
# the name of a filter may contain one.
plain_status() {
  local name names
  names=$(perhaps "${HOST_GIT[@]}" --git-dir="$HG" config --name-only --get-regexp '^filter\..*\.(clean|process|smudge|required)$' 2>/dev/null | sort -u) || return
  lines_in "$names"
  for name in "${SPLIT[@]}"; do
    name=${name#filter.}
    name=${name%.*}
    name=${name//\\/\\\\}
    printf '[filter "%s"]\n\tclean =\n\tsmudge =\n\tprocess =\n\trequired = false\n' "${name//\"/\\\"}"
  done >"$OUT.filters" || return
  "${HOST_GIT[@]}" ${names:+-c include.path="$OUT.filters"} --git-dir="$HG" --work-tree="$PWD" status --porcelain -z --no-renames --ignore-submodules=all 2>/dev/null
}

# forgiven STATUS: whether a failure counts as git's answer about the repository.
forgiven() { [ -n "$LENIENT" ] && ! ended "$1"; }

# survey_job I: surveys a repository in its own shell. The file `finished` shows that the shell
# ended properly.
survey_job() {
  OUT=$RUN/$1
  survey_one "${ROOTS[$1]}" >"$OUT" 2>/dev/null && [ -z "$LOST" ] && printf . >"$OUT.finished"
}

# around: prints the repository that the projects root lies in. Like git, it looks from there upwards.
around() {
  local above=$ROOT
  while [[ $above == /?* ]]; do
    above=${above%/*}
    if [ -f "$above/.git" ] || [ -e "$above/.git/HEAD" ]; then
      emit around "${above:-/}"
      return
    fi
  done
}

main() {
  local i parts=() LENIENT=''
  declare -gA SEEN=()
  RUN=$(mktemp -d) || die SandboxUnavailable "Cannot write to the temporary directory of the sandbox. Free some disk space, then call again."
  trap 'rm -rf -- "$RUN"' EXIT
  count_processors
  ROOTS=() PASSED_OVER=() PASSED_WHY=() KNOWN_ROOTS=()
  WALK_DEPTH=$((MAX_DEPTH + 1)) find_roots "$RUN/find" . || fault "the repositories could not be looked for: find ended with $?"
  for i in "${!ROOTS[@]}"; do
    survey_job "$i" &
    jobs_limit
  done
  wait
  for i in "${!ROOTS[@]}"; do
    [ -s "$RUN/$i.finished" ] || (LENIENT=1 && survey_job "$i") || fault "a process that looked at ${ROOTS[i]} ended with $?; the sandbox may be short of memory"
    parts+=("$RUN/$i")
  done
  {
    [ ${#ROOTS[@]} -gt 0 ] || around
    passed_over
    pass_on "${parts[@]}" && emit end ''
  } >"$RUN/answer" && finish <"$RUN/answer" || fault "the answer could not be written"
}

main
