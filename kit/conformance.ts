/**
 * Checks whether a tool is safe to run in a saga. It calls the tool and its compensator twice, late, early
 * and in both orders, against any provider, and compares what the provider then shows. It works with any test
 * runner: it throws the problems found.
 */
import type { Json, JsonObject } from '../contract/json.ts';
import type { ToolRequest } from '../contract/tool-request.ts';
import type { Outcome } from '../core/saga/decide/saga-events.ts';
import { readExternalUrl } from '../core/saga/model/external-url.ts';
import { STOP_MS } from '../core/saga/model/timing.ts';
import { evaluateExpression } from '../core/saga/plan/expressions.ts';
import type { Tombstones } from '../core/saga/ports.ts';
import { canonicalJson } from '../core/shared/canonical-json.ts';
import type { Tool } from './define-tool.ts';
import { toolHandler } from './handler.ts';
import { evaluateHere } from './testing/evaluate-here.ts';

export interface SafetyCase {
  /** Arguments the provider accepts. */
  arguments: JsonObject;
  /** Everything that the provider shows of the tool's effects; compared as JSON. */
  observe: () => unknown;
  /** Keeps keys unique between runs against one provider. */
  sagaId?: string;
}

/** Tombstones and claims in memory, for tests of tools. */
export const memoryTombstones = (): Tombstones => {
  const buried = new Set<string>();
  const claimed = new Set<string>();
  return {
    bury: async (key) => void buried.add(key),
    isBuried: async (key) => buried.has(key),
    claim: async (key, attempt) => {
      const call = `${key} ${attempt}`;
      const isNew = !claimed.has(call);
      claimed.add(call);
      return isNew;
    },
  };
};

export class ToolUnsafe extends Error {
  override readonly name = 'ToolUnsafe';
  readonly problems: readonly string[];

  constructor(tool: string, problems: readonly string[]) {
    super(`${tool} is not safe to run in a saga:\n- ${problems.join('\n- ')}`);
    this.problems = problems;
  }
}

const LONG_MS = 30_000;

/** When a call does not begin in time before it is cut short, it gets at most this many times as long. */
const MOST_TIMES = 64;

/** A shorter deadline would pass before the call begins on a busy machine. */
const LEAST_MS = 25;

/** A deadline whose signal aborts in the middle of a call that takes this long. */
const cutMs = (tookMs: number): number => Math.max(LEAST_MS, Math.ceil(tookMs / 2)) + STOP_MS;

/** The number of values in the JSON that the provider shows. */
const sizeOf = (json: string): number => {
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, member) => sum + count(member), 0)
      : 1;
  return count(JSON.parse(json));
};

/** Advice for the author, by the name of the failed check, so that the two stay together. */
const ADVICE: Readonly<Record<string, string>> = {
  'refuses to act after its deadline': 'do nothing before `execute`, and call `call.fence()` after long work',
  'refuses arguments that do not match its schema': 'use a strict schema (`z.strictObject`) for `input`',
  'does its work':
    'give `testToolIsSafe` arguments that the provider accepts; the outcome says why it did not',
  'answers the same when called twice with one key':
    'hand `call.idempotencyKey` to the provider, or find what was made under `call.forwardKey` and answer that',
  'acts once when called twice with one key':
    'hand `call.idempotencyKey` to the provider; one without keys needs a `probe`, and no `idempotencyWindowSeconds`',
  'acts once when it is delivered twice at once':
    'leave `idempotencyWindowSeconds` out when the provider knows no keys: the kit claims each call then',
  'its link is an https address':
    'let `externalUrl` make an https address of at most 500 characters out of `arguments`, `result` and `externalRef`',
  'its probe finds what happened': 'look for `call.forwardKey`, with a consistent read',
  'its probe does not find what did not happen':
    'answer `{ happened: false }` for a key the provider never saw',
  'its probe changes nothing': 'only read in `probe`',
  'its compensator undoes it': 'the outcome says what the compensator threw',
  'its compensator changes what the provider shows':
    'let `observe` show what the tool made, and take it back',
  'its compensator may be called twice': 'take what is gone already for undone',
  'its compensator may be delivered twice at once':
    'when the provider refuses, look again: what the other delivery took back meanwhile is undone',
  'refuses to act after it was compensated': 'act only in `execute`, behind the handler of the kit',
  'its compensator accepts that nothing happened': 'return when nothing is found under `call.forwardKey`',
  'refuses to act on a key that was compensated first':
    'act only in `execute`, behind the handler of the kit',
  'its compensator works without the result, by key':
    'find the effect by `call.forwardKey`: the result is missing when the answer was lost',
  'stops when its signal aborts, before the deadline':
    'pass `call.signal` to every request, and wait for nothing else',
  'changes nothing': 'a tool that changes something is not `read`: declare its effect',
};

/** Why the address that a tool gives for its effect is not valid. */
const linkProblem = async (
  externalUrl: string,
  given: JsonObject,
  { result, externalRef = null }: { result: Json; externalRef?: string | null },
): Promise<string | undefined> => {
  try {
    const scope = { arguments: given, result, externalRef };
    const url = readExternalUrl(await evaluateExpression(externalUrl, scope, evaluateHere));
    return typeof url === 'string' ? undefined : url.message;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Runs every check and answers their names. Throws `ToolUnsafe` with all that failed. */
export const testToolIsSafe = async (tool: Tool, subject: SafetyCase): Promise<string[]> => {
  const { name, version, effect, compensate } = tool.definition;
  let overran = false;
  const endInstance = () => {
    overran = true;
  };
  const handle = toolHandler([tool], { tombstones: memoryTombstones(), endInstance });
  const problems: string[] = [];
  const checks: string[] = [];
  const sagaId = subject.sagaId ?? 'conformance';

  const request = (
    operation: ToolRequest['operation'],
    index: number,
    known: Partial<ToolRequest> = {},
  ): ToolRequest => ({
    operation,
    tool: name,
    version,
    sagaId,
    step: 'step',
    attempt: 1,
    idempotencyKey: `${sagaId}:${index}${operation === 'compensate' ? ':undo' : ''}`,
    forwardKey: `${sagaId}:${index}`,
    deadlineMs: Date.now() + LONG_MS,
    arguments: subject.arguments,
    ...known,
  });
  const look = async () => canonicalJson(await subject.observe());
  const check = (what: string, holds: boolean, seen?: Outcome | string) => {
    checks.push(what);
    if (holds) return;
    const got = seen === undefined ? '' : ` (got ${canonicalJson(seen)})`;
    problems.push(`${what}${got}: ${ADVICE[what] ?? 'see docs/tools.md'}`);
  };

  const untouched = await look();
  const late = await handle(request('execute', 0, { deadlineMs: Date.now() - 1 }));
  check(
    'refuses to act after its deadline',
    late.outcome === 'rejected' && (await look()) === untouched,
    late,
  );
  const malformed = await handle(request('execute', 0, { arguments: { 'no such argument': [] } }));
  check(
    'refuses arguments that do not match its schema',
    malformed.outcome === 'rejected' && (await look()) === untouched,
    malformed,
  );

  const before = performance.now();
  const first = await handle(request('execute', 1));
  const tookMs = performance.now() - before;
  check('does its work', first.outcome === 'committed' && first.error === undefined, first);
  const done = await look();
  const { externalUrl } = tool.definition;
  if (externalUrl !== undefined && first.outcome === 'committed') {
    const problem = await linkProblem(externalUrl, subject.arguments, first);
    check('its link is an https address', problem === undefined, problem);
  }
  // A provider without keys is never asked to repeat a call. A call in doubt is looked up instead.
  const isRepeated =
    effect === 'read' || (tool.definition.idempotencyWindowSeconds ?? 0) > 0 || !tool.hasProbe;
  if (isRepeated) {
    const second = await handle(request('execute', 1, { attempt: 2 }));
    const sameRef =
      first.outcome === 'committed' &&
      second.outcome === 'committed' &&
      first.externalRef === second.externalRef;
    check('answers the same when called twice with one key', sameRef, second);
    check('acts once when called twice with one key', (await look()) === done);
  }

  if (tool.hasProbe) {
    const seen = await handle(request('probe', 1));
    check('its probe finds what happened', seen.outcome === 'committed', seen);
    const none = await handle(request('probe', 2));
    check(
      'its probe does not find what did not happen',
      none.outcome === 'absent' || none.outcome === 'unknown',
      none,
    );
    check('its probe changes nothing', (await look()) === done);
  }

  if (compensate !== undefined) {
    const known =
      first.outcome === 'committed'
        ? {
            result: first.result,
            ...(first.externalRef === undefined ? {} : { externalRef: first.externalRef }),
          }
        : {};
    const undo = await handle(request('compensate', 1, known));
    check('its compensator undoes it', undo.outcome === 'committed', undo);
    const undone = await look();
    check('its compensator changes what the provider shows', undone !== done);
    const again = await handle(request('compensate', 1, { ...known, attempt: 2 }));
    check(
      'its compensator may be called twice',
      again.outcome === 'committed' && (await look()) === undone,
      again,
    );
    const after = await handle(request('execute', 1, { attempt: 3 }));
    check(
      'refuses to act after it was compensated',
      after.outcome === 'rejected' && (await look()) === undone,
      after,
    );

    const nothing = await handle(request('compensate', 3));
    check(
      'its compensator accepts that nothing happened',
      nothing.outcome === 'committed' && (await look()) === undone,
      nothing,
    );
    const tombstoned = await handle(request('execute', 3));
    check(
      'refuses to act on a key that was compensated first',
      tombstoned.outcome === 'rejected' && (await look()) === undone,
      tombstoned,
    );

    await handle(request('execute', 4));
    const blind = await handle(request('compensate', 4));
    check('its compensator works without the result, by key', blind.outcome === 'committed', blind);

    await handle(request('execute', 10));
    const standing = sizeOf(await look());
    const both = await Promise.all([handle(request('compensate', 10)), handle(request('compensate', 10))]);
    // A final refusal would leave the effect to a person, although it is undone.
    const refused = both.find((seen) => seen.outcome === 'rejected' && !seen.retryable);
    const grown = sizeOf(await look()) - standing;
    check(
      'its compensator may be delivered twice at once',
      refused === undefined && grown <= Math.max(0, sizeOf(undone) - sizeOf(done)),
      refused ?? both[0],
    );
  }
  const beforeTwice = sizeOf(await look());
  const twice = await Promise.all([handle(request('execute', 7)), handle(request('execute', 7))]);
  const acted = twice.find(({ outcome }) => outcome === 'committed');
  const added = sizeOf(await look()) - beforeTwice;
  check(
    'acts once when it is delivered twice at once',
    acted !== undefined && added <= sizeOf(done) - sizeOf(untouched),
    acted ?? twice[0],
  );
  // Aborted about halfway through. The provider may still act on requests that were sent before. The tool
  // itself must have stopped.
  const cut = async (index: number): Promise<Outcome> => {
    for (let times = 1; ; times *= 2) {
      const deadlineMs = Date.now() + times * cutMs(tookMs);
      const seen = await handle(request('execute', index, { deadlineMs }));
      // On a slow machine the call may come too late to begin, which says nothing about the tool.
      const began = seen.outcome !== 'rejected' || seen.reached !== false;
      if (began || times >= MOST_TIMES) return seen;
    }
  };
  let short = await cut(5);
  // A tool that does not stop runs past its deadline each time. A slow machine may cause this a few times.
  for (const index of [6, 8, 9]) {
    if (!overran) break;
    overran = false;
    short = await cut(index);
  }
  check('stops when its signal aborts, before the deadline', !overran, short);
  if (effect === 'read') check('changes nothing', done === untouched);
  if (problems.length > 0) throw new ToolUnsafe(`${name}@${version}`, problems);
  return checks;
};
