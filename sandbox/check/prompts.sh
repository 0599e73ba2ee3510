# The prompts command: asks the origin of each repository for its branches, as a fetch would, and answers no
# question of git or ssh. Prints lines `MARK KEY VALUE`. Only the user's own settings apply: of a repository,
# only the address is read. Set by the caller: WB_MARK, WB_PATHS. Started in the projects root.
# shellcheck shell=bash

MOST=20

say() {
  local text=${2//[[:cntrl:]]/ }
  printf '%s %s %s\n' "$WB_MARK" "$1" "${text:0:600}"
}

# ask N URL
ask() {
  local ssh
  ssh=${GIT_SSH_COMMAND:-$(timeout -k 1 10 git config --global --get core.sshCommand)}
  unset SSH_ASKPASS
  cd / || return
  GIT_SSH_COMMAND="${ssh:-ssh} -o BatchMode=yes -o ConnectTimeout=5" GIT_TERMINAL_PROMPT=0 LC_ALL=C \
    GIT_ALLOW_PROTOCOL=file:git:http:https:ssh \
    timeout -k 1 10 git ls-remote --heads -- "$2" HEAD </dev/null >/dev/null 2>"$RUN/$1.said"
  printf '%s' $? >"$RUN/$1.status"
}

main() {
  local path url shown urls=() n line
  declare -A seen=()
  for path in "${WB_PATHS[@]}"; do
    # Git would wait if one of its files were a named pipe.
    url=$(timeout -k 1 5 git -c 'safe.directory=*' -C "$path" config --no-includes --local --get remote.origin.url 2>/dev/null)
    [ -n "$url" ] && [ -z "${seen["$url"]-}" ] || continue
    seen["$url"]=1
    urls+=("$url")
    [ ${#urls[@]} -lt $MOST ] || break
  done
  for n in "${!urls[@]}"; do ask "$n" "${urls[n]}" & done
  wait
  for n in "${!urls[@]}"; do
    shown=${urls[n]}
    # Credentials in an address stay in the sandbox.
    if [[ $shown =~ ^([a-z+]+://)[^/@]*@(.*)$ ]]; then shown=${BASH_REMATCH[1]}${BASH_REMATCH[2]}; fi
    say remote "$shown"
    say status "$(<"$RUN/$n.status")"
    while IFS= read -r line; do say said "$line"; done <"$RUN/$n.said"
  done
  say end ''
}

RUN=$(mktemp -d) || exit 1
trap 'rm -rf -- "$RUN"' EXIT
main
