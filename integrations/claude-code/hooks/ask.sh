#!/usr/bin/env bash
# Asks the embedded cloud of this machine for a checkpoint, and tells Claude Code what it answers. A shell and curl, because a
# program that has to load first would delay every tool. Starts the cloud when it does not run.
#
# WALKBACK_DATA                  the data directory, as for the command
# WALKBACK_SESSION               the session; default: one for each session of Claude Code
# WALKBACK_ON_CHECKPOINT_ERROR   block (default): the tool does not run; warn: it runs, and you are told
# WALKBACK_COMMAND               the command; default: the one that this plugin came with, else walkback
set -uo pipefail
event=${1-}
data=${WALKBACK_DATA:-}
if [[ $data == "" ]]; then
  state=${XDG_STATE_HOME:-}
  # As the command does: without HOME, or with an empty one, the home that the machine names.
  [[ ${HOME:-} != "" ]] || unset HOME
  [[ $state == /* ]] || state=~/.local/state
  data=$state/walkback
fi
mode=${WALKBACK_ON_CHECKPOINT_ERROR:-block}
input=$(cat)

give_up() {
  local said="Walkback: no checkpoint. $1"
  # 2 keeps the tool from running; after the tool, or at the end of a turn, 2 would mean something else.
  if [[ $event == PreToolUse && $mode != warn ]]; then
    printf '%s\n' "$said" >&2
    exit 2
  fi
  # Any other failure would keep a tool from running too (`onFailure`), and the person would not be told the reason.
  said=${said//\\/\\\\}
  said=${said//\"/\\\"}
  printf '{"systemMessage":"%s"}\n' "${said//[[:cntrl:]]/ }"
  exit 0
}

# Whether the process that wrote the file still is there. Another one may listen on its port by now.
runs() {
  local _ pid start facts
  read -r _ pid start 2>/dev/null <"$data/hooks.curl" || return 1
  [[ $start == "" ]] && return 0
  read -r facts 2>/dev/null <"/proc/$pid/stat" || return 1
  read -ra facts <<<"${facts##*) }"
  [[ ${facts[19]} == "$start" ]]
}

# The file holds the address and the token; only its owner may read it.
ask() {
  runs || return 1
  printf '%s\0%s\0%s\0%s' "${CLAUDE_PROJECT_DIR:-$PWD}" "${WALKBACK_SESSION:-}" "$mode" "$input" |
    curl --disable --config "$data/hooks.curl" --header "walkback-event: $event" --data-binary @- 2>/dev/null
}

start() {
  local command=${WALKBACK_COMMAND:-} own
  own=$(dirname "${BASH_SOURCE[0]}")/../../../bin/walkback.mjs
  if [[ $command == "" && -x $own ]]; then command=$own; fi
  # Its answer holds keys; what is of use here is what it says when it fails.
  { "${command:-walkback}" up --detach --data "$data" >/dev/null; } 2>&1
}

if ! answer=$(ask); then
  said=$(start) || give_up "The embedded cloud did not start: $said"
  answer=$(ask) || give_up "The embedded cloud did not answer (walkback down ends it; the next tool starts it again). $answer"
fi
printf '%s\n' "$answer"
