# Replaces capture/follow.sh in a restore: only a capture follows the change times since the look before, so a restore need
# not carry it.
# shellcheck shell=bash

SINCE='' LATEST='' FOLLOWED=''

add_changed() { add_all; }
