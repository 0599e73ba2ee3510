#!/usr/bin/env bash
# Asks the embedded cloud of this machine for a checkpoint, and tells Claude Code what it answers. A shell and curl, because a
# program that has to load first would delay every tool. Starts the cloud when it does not run.
#
# WALKBACK_DATA                  the data directory, as for the command
# WALKBACK_SESSION               the session; default: one for each session of Claude Code
# WALKBACK_ON_CHECKPOINT_ERROR   block (default): the tool does not run; warn: it runs, and you are told
# WALKBACK_COMMAND               the command; default: the one that this plugin came with, else walkback on PATH
set -uo pipefail
event=${1-}
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
mode=${WALKBACK_ON_CHECKPOINT_ERROR:-block}
input=$(cat)

# As one JSON text, without the quotes.
quoted() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '%s' "${text//[[:cntrl:]]/ }"
}

give_up() {
  case $event in
    UserPromptExpansion)
      printf '{"decision":"block","reason":"%s"}\n' "$(quoted "${prefix-Walkback: }$1")"
      ;;
    SessionStart)
      printf '{"systemMessage":"%s"}\n' "$(quoted "${prefix-Walkback: }$1")"
      ;;
    # The first tool tells what is wrong. A prompt needs no checkpoint.
    UserPromptSubmit) ;;
    PreToolUse)
      # 2 keeps the tool from running.
      if [[ $mode != warn ]]; then
        printf '%s\n' "Walkback: no checkpoint. $1" >&2
        exit 2
      fi
      printf '{"systemMessage":"%s"}\n' "$(quoted "Walkback: no checkpoint. $1")"
      ;;
    # After the tool, or at the end of a turn, 2 would mean something else.
    *)
      printf '{"systemMessage":"%s"}\n' "$(quoted "Walkback: no checkpoint. $1")"
      ;;
  esac
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
    curl --disable --config "$data/hooks.curl" --header "walkback-event: $event" \
      --header "walkback-program: $plugin/bin/walkback" --data-binary @- 2>/dev/null
}

start() {
  local program
  program=$(find_program)
  if [[ $program == "" ]]; then
    printf '%s' "$NO_PROGRAM"
    return 1
  fi
  # Its answer holds keys; what is of use here is what it says when it fails.
  { "$program" up --detach --data "$data" >/dev/null; } 2>&1
}

said=$(unfit)
[[ $said == "" ]] || prefix='' give_up "$said"

# Nobody waits for these two, so the cloud starts beside them.
if [[ $event == SessionStart ]]; then
  { runs || start; } </dev/null >/dev/null 2>&1 &
  exit 0
fi
if [[ $event == UserPromptSubmit ]] && ! runs; then
  { start && ask; } </dev/null >/dev/null 2>&1 &
  exit 0
fi

if ! answer=$(ask); then
  said=$(start) || give_up "The embedded cloud did not start: $said"
  answer=$(ask) || give_up "The embedded cloud did not answer (walkback down ends it; the next tool starts it again). $answer"
fi
printf '%s\n' "$answer"
