/**
 * The commands that change nothing, each with a rule for its arguments. A command that is not here counts as
 * a write. An option that writes or runs something is refused, and so is every shorter spelling that the
 * command would accept for it.
 */
import { type Argument, over, type Rule, without } from './shell-arguments.ts';
import { gitLooks } from './shell-git.ts';

/** No argument makes these write or run anything, so their arguments may be unknown. */
const ANY_ARGUMENTS = new Set(
  (
    'basename cat cd cksum cmp comm cut dirname df du echo egrep expand false fgrep fmt fold grep groups head id join jq ls lscpu md5sum nl ' +
    'nproc od paste printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat strings sum ' +
    'tac tail tr true type uname unexpand uptime wc which who whoami zcat : exit return break continue diff b2sum column free arch'
  ).split(' '),
);

/** These print their version with exactly one argument. With most other arguments they run programs. */
const VERSIONED = new Set(
  'node npm pnpm yarn bun deno npx python python3 pip pip3 go cargo rustc ruby java javac gcc g++ clang make cmake tsc docker terraform aws gh perl php uv poetry'.split(
    ' ',
  ),
);
const SHORT_VERSION = new Set(['node', 'npm', 'pnpm', 'yarn', 'tsc']);

const noArguments: Rule = (args) => args.length === 0;

/** One file to read, and options. A second file would be written. */
const oneOperand = (forbidden: RegExp): Rule =>
  over((texts) => {
    const operands = texts.filter((text) => text === '-' || !/^(?:[-+]|\d+$)/.test(text));
    return operands.length <= 1 && !texts.some((text) => forbidden.test(text));
  });

const SED_ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\]|\\.)*/)`;
/**
 * Lines to print, delete or end at, and replacements. No `w`, `e`, `r` or anything else that is not listed
 * here.
 */
const SED_PART = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,\+?${SED_ADDRESS})?)?\s*!?\s*(?:[pdq=]|s([/|#,@])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpI0-9]*)$`,
);

const isSedScript = (script: string): boolean =>
  script.split(/[;\n]/).every((part) => SED_PART.test(part.trim()));

const sedReads = over((texts) => {
  let hasScript = false;
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (/^-[nErsuz]+$/.test(text) || /^--(?:quiet|silent|regexp-extended|null-data)$/.test(text)) continue;
    const isExpression = /^-[nErsuz]*e$/.test(text);
    if (text.startsWith('-') && !isExpression) return false;
    if (isExpression) at += 1;
    else if (hasScript) continue;
    if (!isSedScript(texts[at] ?? '')) return false;
    hasScript = true;
  }
  return hasScript;
});

/** awk programs can write, run and load. A program must have none of the signs of that. */
const awkReads = over((texts) => {
  let at = 0;
  while (/^-(?:F.*|v)$/.test(texts[at] ?? '')) at += texts[at] === '-F' || texts[at] === '-v' ? 2 : 1;
  const [program, ...files] = texts.slice(at);
  if (program === undefined || program.startsWith('-') || files.some((file) => file.startsWith('-')))
    return false;
  return !/[>|@`]|system|getline|close|fflush|print[a-z]*\s*\(.*\)\s*[>|]/.test(program);
});

const UNARY = /^-[bcdefghkLnoprsStuwxzGNO]$/;
const BINARY = /^(?:==?|!=|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|<|>)$/;

const known = (arg: Argument | undefined): string | undefined =>
  arg?.kind === 'known' ? arg.value : undefined;

/** `-v` and `-R` evaluate their operands. Unknown words must stand where no operator can be. */
const testReads: Rule = (args) => {
  if (args.every(({ kind }) => kind === 'known'))
    return !args.some((arg) => /^-[vR]$/.test(known(arg) ?? ''));
  const rest = known(args[0]) === '!' ? args.slice(1) : args;
  if (rest.length === 2) return UNARY.test(known(rest[0]) ?? '');
  return (
    rest.length === 3 &&
    BINARY.test(known(rest[1]) ?? '') &&
    !rest.some((arg) => /^-[vR]$/.test(known(arg) ?? ''))
  );
};

const bracketReads: Rule = (args) => known(args.at(-1)) === ']' && testReads(args.slice(0, -1));

/** A rule for words that form a command with its arguments. */
const commandReads: Rule = ([name, ...args]) => {
  const rule = ruleFor(known(name) ?? '');
  return rule !== undefined && rule(args);
};

const isAnything = (name: Argument | undefined): boolean => ANY_ARGUMENTS.has(nameOf(known(name) ?? ''));

/** Whatever xargs reads becomes arguments, so the command must be harmless with any. */
const xargsReads: Rule = (args) => {
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = known(args[at]);
    if (text === undefined) return false;
    if (/^-(?:[0rtx]+|[nLPI]\S+|d\S+)$/.test(text) || text === '--null' || text === '--no-run-if-empty')
      continue;
    if (/^-[nLPId]$/.test(text)) at += 1;
    else break;
  }
  return at >= args.length || isAnything(args[at]);
};

const timeoutReads: Rule = ([duration, ...command]) =>
  /^\d+(?:\.\d+)?[smhd]?$/.test(known(duration) ?? '') && commandReads(command);

const commandBuiltin: Rule = (args) => {
  if (/^-[vV]$/.test(known(args[0]) ?? '')) return true;
  return commandReads(args);
};

const printfReads: Rule = (args) => {
  const rest = known(args[0]) === '--' ? args.slice(1) : args;
  const format = known(rest[0]);
  // %n stores into a variable, whose name may hold a command.
  return format !== undefined && !format.startsWith('-') && !/%[^%a-mo-zA-Z]*n/.test(format);
};

const dateReads = over((texts) => {
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (
      /^(?:\+.*|-u|--utc|-R|-I\w*|--iso-8601(?:=\w+)?|--rfc-\d+(?:=\w+)?|--date=.*|--reference=.*)$/s.test(
        text,
      )
    )
      continue;
    if (text !== '-d' && text !== '-r') return false;
    at += 1;
  }
  return true;
});

const tarLists = over(
  (texts) => texts.length === 2 && /^-?t[vzjJ]*f$/.test(texts[0] ?? '') && !texts[1]?.startsWith('-'),
);

const setReads = over(
  (texts) => texts.length > 0 && texts.every((text) => /^(?:[-+][euxo]+|pipefail)$/.test(text)),
);

/** Commands of Walkback that only show something, whatever their options are. */
const WALKBACK_LOOKS = new Set(['log', 'diff', 'blame', 'changes', 'doctor', 'whoami']);
const WALKBACK_GROUPS: ReadonlyMap<string, RegExp> = new Map([
  ['session', /^list$/],
  ['copies', /^list$/],
  ['saga', /^(?:list|show)$/],
  ['ledger', /^(?:query|verify)$/],
  ['catalog', /^list$/],
]);

/** A command that lists, or one that plans: with `--dry-run`, and nobody's agreement, nothing is done. */
const walkbackLooks = over(([name = '', ...rest]) => {
  if (name === '--version' || name === '--help') return rest.length === 0;
  if (WALKBACK_LOOKS.has(name)) return true;
  if (WALKBACK_GROUPS.get(name)?.test(rest[0] ?? '') === true) return true;
  const isPlan =
    rest.includes('--dry-run') && !rest.some((word) => word === '--yes' || /^-[a-z]*y/.test(word));
  return isPlan && /^(?:rollback|undo|redo|revert|rewind)$/.test(name);
});

const RULES: Readonly<Record<string, Rule>> = {
  git: gitLooks,
  walkback: walkbackLooks,
  find: without(/^-(?:delete|exec|ok|fprint|fls)/),
  sort: without(/^-[^-]*[oT]|^--(?:o|co|t)/),
  uniq: oneOperand(/^--o/),
  rg: without(/^--(?:pre|hostname-bin)/),
  fd: without(/^-[^-]*[xX]|^--ex/),
  tree: without(/^-[^-]*[oR]/),
  file: without(/^-[^-]*C|^--c/),
  base64: without(/^-[^-]*o|^--o/),
  xxd: oneOperand(/^-(?:r|-r)/),
  sed: sedReads,
  awk: awkReads,
  date: dateReads,
  hostname: noArguments,
  env: noArguments,
  test: testReads,
  '[': bracketReads,
  printf: printfReads,
  xargs: xargsReads,
  timeout: timeoutReads,
  command: commandBuiltin,
  set: setReads,
  tar: tarLists,
  unzip: over((texts) => texts.length === 2 && texts[0] === '-l' && !texts[1]?.startsWith('-')),
};

const anything: Rule = () => true;
const version =
  (name: string): Rule =>
  ([arg, ...more]) =>
    more.length === 0 && (known(arg) === '--version' || (known(arg) === '-v' && SHORT_VERSION.has(name)));

/** Programs of the system may be given with their path. A program with any other path is unknown. */
const nameOf = (word: string): string => /^(?:\/usr)?\/bin\/([^/]+)$/.exec(word)?.[1] ?? word;

/** The rule of a command. Undefined when the command is not known to be a read. */
export const ruleFor = (word: string): Rule | undefined => {
  const name = nameOf(word);
  if (ANY_ARGUMENTS.has(name)) return anything;
  if (VERSIONED.has(name)) return version(name);
  return Object.hasOwn(RULES, name) ? RULES[name] : undefined;
};
