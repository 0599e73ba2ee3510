# Replaces capture/follow.sh in a restore. Only a capture uses the change times since the look before, so a
# restore does not need that code.
# shellcheck shell=bash

SINCE='' LATEST='' FOLLOWED=''

add_changed() { add_all; }
