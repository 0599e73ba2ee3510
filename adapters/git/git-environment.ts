/** The variables and settings of a process of git that a command of ours starts without a script. Pure. */

/** As the program sets them (sandbox/src/git/process.rs): nothing of the machine's settings, and nothing is fetched. */
export const GIT_ENVIRONMENT: readonly string[] = [
  'HOME=/dev/null',
  'XDG_CONFIG_HOME=/dev/null',
  'LC_ALL=C',
  'GIT_CONFIG_NOSYSTEM=1',
  'GIT_CONFIG_SYSTEM=/dev/null',
  'GIT_CONFIG_GLOBAL=/dev/null',
  'GIT_ATTR_NOSYSTEM=1',
  'GIT_OPTIONAL_LOCKS=0',
  'GIT_NO_LAZY_FETCH=1',
  'GIT_ALLOW_PROTOCOL=',
  'GIT_NO_REPLACE_OBJECTS=1',
  'GIT_LITERAL_PATHSPECS=1',
];
