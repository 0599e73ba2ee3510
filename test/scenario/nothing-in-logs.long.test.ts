/**
 * Nothing that was said, called or written is in a log: a random word in every text and file that functions are given, at the most
 * talkative level that a deployed function can have, of calls that succeed, that are refused, and that meet services that fail.
 */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { openWorld, rootOf, shell } from '../support/world.ts';

/** A word for each kind of text, that nothing else has. */
const createWords = () => {
  const words = new Map<string, string>();
  return {
    of: (kind: string): string => {
      const word = words.get(kind) ?? `${kind}-${randomBytes(6).toString('hex')}`;
      words.set(kind, word);
      return word;
    },
    found: (text: string): string[] =>
      [...words].filter(([, word]) => text.includes(word)).map(([kind]) => kind),
    kinds: () => [...words.keys()],
  };
};

/** All that this process writes, and what the cloud logs. */
const listen = () => {
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const tap = vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    onTestFinished(() => tap.mockRestore());
  }
  const note = (message: string, facts = {}) => void written.push(JSON.stringify({ message, facts }));
  return { written, log: { info: note, warn: note } };
};

/** Every kind of service failing as it fails for good, or says that it is busy. */
const BROKEN = [
  {
    service: 'dynamodb',
    status: 400,
    body: '{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}',
  },
  { service: 'dynamodb', status: 200, body: '<html>a proxy answers</html>' },
  { service: 's3', status: 403, body: '' },
  { service: 'e2b', status: 400, body: '{"code":400,"message":"no"}' },
  { service: 'e2b', status: 500, body: '' },
] as const;

/** Calls a function; answers the name of its error, and gives its message to `told`. */
const call = async (cloud: TestCloud, told: string[], name: string, input: object): Promise<string> => {
  try {
    await cloud.invoke(name, input);
    return 'done';
  } catch (error) {
    told.push(String(error));
    return (error as { errorType?: string }).errorType ?? 'lost';
  }
};

test('no word of a message, a tool, a file, guidance or a command is in any log, event or error', async () => {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'TRACE');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { written, log } = listen();
  await using cloud = await startTestCloud({ log });
  const words = createWords();
  const told: string[] = [];
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const { sessionId } = world;
  const root = '/home/user/work';
  const long = `${words.of('long')} ${'and so on '.repeat(3000)}${words.of('tail')}`;
  const checkpoint = (id: string, tool: string, more = {}) => ({
    sessionId: id,
    messageId: tool,
    toolExecutionId: tool,
    reason: 'before-tool',
    message: { role: 'user', title: words.of('title'), text: `${words.of('text')} ${long}` },
    tool: { name: 'Bash', input: { command: words.of('input'), [words.of('key')]: [words.of('deep')] } },
    ...more,
  });
  const commitments = (command: string) => [
    { id: 'one', description: words.of('description'), command: `echo ${words.of('output')}; ${command}` },
  ];
  const write = (at: string, place: string, kind: string) =>
    shell(
      at,
      `mkdir -p ${place}; echo '${words.of(kind)}' > ${place}/f; git -C api add -A; git -C api commit -qm '${words.of('commit')}'`,
    );

  write(world.root, 'api/a', 'patch');
  await cloud.invoke('checkpoint', checkpoint(sessionId, 'm1'));
  write(world.root, 'api/b', 'second');
  await cloud.invoke('checkpoint', checkpoint(sessionId, 'm2'));
  const guidance = words.of('guidance');
  const fork = await cloud.invoke('fork-session', { sessionId, requestId: 'f', guidance });
  const [forkId, forkRoot] = [String(fork['sessionId']), rootOf(cloud, String(fork['sandboxId']))];
  write(forkRoot, 'api/fork', 'in-fork');
  await cloud.invoke('checkpoint', checkpoint(forkId, 'f1'));

  const opened = {
    tool: 'open_workspace',
    arguments: { sessionId, guidance },
    requestedBy: 'agent-7',
    waitSeconds: 20,
  };
  const live = { interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7', sessionId, messageId: 'm2' };
  /** Each function with all the texts that it takes. `n`: so that none was asked before. */
  const calls = (n: string): [name: string, input: object][] => [
    [
      'start-session',
      {
        sessionId: `new-${n}`,
        sandboxId: world.sandboxId,
        projectsRoot: root,
        metadata: { about: words.of('metadata') },
      },
    ],
    ['checkpoint', checkpoint(sessionId, `c-${n}`)],
    ['changes', { sessionId, messageId: 'm2' }],
    ['timeline', { sessionId }],
    ['context', { sessionId }],
    ['diff', { sessionId, from: 'm1', to: 'now' }],
    ['blame', { sessionId, path: 'api/a/f' }],
    ['blame', { sessionId, path: 'api/gone' }],
    ['search-sessions', { words: words.of('search'), sessionId }],
    ['merge', { from: forkId, into: sessionId, requestId: `p-${n}`, dryRun: true }],
    ['merge', { from: forkId, into: sessionId, requestId: `g-${n}` }],
    ['revert', { sessionId, messageId: 'm2', requestId: `v-${n}` }],
    ['rollback', { sessionId, messageId: 'm1', requestId: `o-${n}`, paths: ['api/a'] }],
    ['rollback', { sessionId, messageId: 'm1', requestId: `r-${n}` }],
    ['fork-session', { sessionId, requestId: `k-${n}`, guidance, metadata: { about: words.of('metadata') } }],
    ['rehydrate', { sessionId, messageId: 'm1', requestId: `h-${n}` }],
    ['verify-commitments', { sessionId, messageId: 'm2', commitments: commitments('true') }],
    [
      'verify-commitments',
      { sessionId, messageId: 'm2', commitments: commitments(`exit 3; ${words.of('script')}`) },
    ],
    [
      'bisect-session',
      { sessionId, bad: 'm2', command: `test ! -e api/b || ! echo ${words.of('searched')}` },
    ],
    ['bisect-session', { sessionId, good: 'm2', bad: 'm2', command: words.of('never') }],
    [
      'bisect-session',
      { sessionId, bad: 'm2', requestId: `s-${n}`, command: `echo ${words.of('output')}; exit 125` },
    ],
    ['progress', { sessionId, requestId: `s-${n}` }],
    ['preflight', { sandboxId: world.sandboxId, projectsRoot: root }],
    ['call-tool', { requestId: `w-${n}`, ...opened }],
    ['start-saga', { sagaId: `l-${n}`, ...live }],
    ['park-saga', { sagaId: `l-${n}`, summary: words.of('summary') }],
    ['start-saga', { sagaId: `e-${n}`, ...live }],
    ['close-saga', { sagaId: `e-${n}`, outcome: 'complete', reason: words.of('reason') }],
    [
      'rewind',
      {
        sessionId,
        to: { messageId: 'm1' },
        requestId: `b-${n}`,
        by: 'ada',
        guidance: words.of('rewound'),
        acceptResidue: true,
        reason: words.of('accepted'),
        waitSeconds: 10,
      },
    ],
  ];
  const outcomes = new Map<string, Set<string>>();
  const callAll = async (n: string): Promise<void> => {
    for (const [name, input] of calls(n)) {
      const seen = outcomes.get(name) ?? new Set<string>();
      outcomes.set(name, seen.add(await call(cloud, told, name, input)));
    }
    await cloud.settled();
  };

  await callAll('well');
  // Asked wrongly: of what is not there, with another meaning, with a field too many, of what conflicts.
  for (const [name, input] of calls('well')) {
    await call(cloud, told, name, { ...input, sessionId: 'nobody', from: 'nobody' });
    await call(cloud, told, name, { ...input, messageId: 'none', [words.of('field')]: words.of('value') });
  }
  await call(cloud, told, 'checkpoint', checkpoint(sessionId, 'm1', { messageId: 'other' }));
  await call(cloud, told, 'checkpoint', checkpoint(sessionId, 'stale', { epoch: 1 }));
  write(world.root, 'api/fork', 'mine');
  expect(await call(cloud, told, 'merge', { from: forkId, into: sessionId, requestId: 'clash' })).toBe(
    'ChangesetConflict',
  );
  await call(cloud, told, 'merge', { from: forkId, into: sessionId, requestId: 'clash-plan', dryRun: true });
  const marked = { from: sessionId, into: forkId, requestId: 'marked', markers: true };
  await call(cloud, told, 'merge', marked);
  for (const [index, { service, status, body }] of BROKEN.entries()) {
    await cloud.interpose(service, [{ action: { kind: 'status', status, body } }]);
    await callAll(`broken-${index}`);
    cloud.heal();
  }
  await cloud.settled();

  const everything = written.join('');
  // A field's own name is told to whoever asked with it, so the search finds what is there. Its value never is.
  expect(words.kinds().length).toBeGreaterThan(20);
  expect(words.found(everything)).toEqual(['field']);
  expect(words.found(told.join('\n'))).toEqual(['field']);
  expect(words.found(JSON.stringify(cloud.events()))).toEqual([]);
  // It was no silence: each function did its work, and each failed, and said so in the log.
  for (const [name, seen] of outcomes) {
    expect([...seen], name).toContain('done');
    expect(seen.size, name).toBeGreaterThan(1);
    expect(everything, name).toContain(`${name} failed`);
  }
}, 1_200_000);
