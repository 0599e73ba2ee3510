# Change times (ctime) of files and directories, which the system sets and no process can set.
# shellcheck shell=bash

# Microseconds. A change so shortly before a look counts as later. It is more than one tick of the file system's clock plus
# the largest step that clock_offset may miss.
LOOK_MARGIN=60000
LATEST_MARK=15000
UNSEEN_STEP=12000

# clock_offset: MICROSECONDS becomes the time since the epoch, and OFFSET how far this is ahead of the time
# since the machine started. Nobody can set the latter, so another offset means that the clock was set. It is
# exact to a hundredth of a second. Both are read at once, or else once more.
clock_offset() {
  local began up tries
  for tries in 1 2 3 4; do
    stopwatch
    began=$MICROSECONDS
    [[ -r /proc/uptime ]] && read -r up _ </proc/uptime && [[ $up == *.?? && $began != 0 ]] || return
    stopwatch
    OFFSET=$((MICROSECONDS - 10#${up/./} * 10000))
    [ $((MICROSECONDS - began)) -ge 5000 ] || return 0
  done
  return 1
}

# find_time MICROSECONDS: TEXT becomes the time in the form that find reads.
find_time() { printf -v TEXT '@%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)); }
