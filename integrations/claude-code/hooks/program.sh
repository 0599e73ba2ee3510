# What the plugin's scripts share: where the program is, where its data is, and whether this machine can run it.

plugin=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

data=${WALKBACK_DATA:-}
if [[ $data == "" ]]; then
  state=${XDG_STATE_HOME:-}
  # As the command does: without HOME, or with an empty one, the home that the machine names.
  [[ ${HOME:-} != "" ]] || unset HOME
  [[ $state == /* ]] || state=~/.local/state
  data=$state/walkback
fi

# One sentence, or nothing where Walkback runs. The variables are the shell's own, so no process is needed.
unfit() {
  case $OSTYPE in
    linux*) ;;
    *)
      printf '%s' "Walkback needs Linux on x64, and this is $OSTYPE. \`claude plugin disable walkback\` turns its plugin off."
      return
      ;;
  esac
  case $HOSTTYPE in
    x86_64) return ;;
    aarch64) [[ ${WALKBACK_DYNOXIDE:-} == "" ]] || return 0 ;;
  esac
  printf '%s' "Walkback lacks its embedded database (dynoxide) on $HOSTTYPE: it comes for Linux on x64 only. WALKBACK_DYNOXIDE may name a build of it for this machine; \`claude plugin disable walkback\` turns the plugin off."
}

# `claude plugin install` copies the plugin without the program. Claude Code notes from which directory.
# The copy is plugins/cache/MARKETPLACE/PLUGIN/VERSION.
installed_from() {
  local above marketplace line is_it=''
  above=$(dirname "$(dirname "$plugin")")
  marketplace=$(basename "$above")
  [[ $(basename "$(dirname "$above")") == cache ]] || return 0
  while IFS= read -r line; do
    case $line in
      "  \"$marketplace\": {"*) is_it=yes ;;
      '  }'*) is_it='' ;;
    esac
    if [[ $is_it != "" && $line =~ ^\ +\"installLocation\":\ \"([^\"\\]+)\",?$ ]]; then
      printf '%s' "${BASH_REMATCH[1]}"
      return
    fi
  done 2>/dev/null <"$(dirname "$(dirname "$above")")/known_marketplaces.json"
}

# The command that the plugin came with, else one on PATH. Nothing when there is none.
# The project's own directory is never searched: what lies there may be anybody's.
find_program() {
  local place candidate
  if [[ ${WALKBACK_COMMAND:-} != "" ]]; then
    printf '%s' "$WALKBACK_COMMAND"
    return
  fi
  for place in "$plugin" "$(installed_from)"; do
    candidate=$place/../../bin/walkback.mjs
    if [[ $place != "" && -x $candidate ]]; then
      printf '%s' "$candidate"
      return
    fi
  done
  while IFS= read -r candidate; do
    # Claude Code puts the plugin's own script on PATH.
    if [[ $candidate == /* && $candidate != *'/plugins/cache/'* && ! $candidate -ef "$plugin/bin/walkback" ]]; then
      printf '%s' "$candidate"
      return
    fi
  done < <(type -ap walkback)
}

NO_PROGRAM='Its program was not found. Set WALKBACK_COMMAND to the file bin/walkback.mjs of your checkout of Walkback, or of the package @walkback/cli.'
