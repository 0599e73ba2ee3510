/**
 * Requests to the daemon of an E2B sandbox, as they go over the wire, and a client that asks any daemon and writes down
 * what it answers. Every row acts below a directory of its own that was made for it, whatever the daemon answers.
 */
import { randomUUID } from 'node:crypto';

export interface Row {
  name: string;
  /** A command run in the row's directory before the request. */
  setup?: string;
  method?: 'GET' | 'POST';
  /** `BASE` stands for the row's directory. */
  path: string;
  headers?: Record<string, string>;
  /** The message of a call, or the fields of a multipart upload as `[path, content]`. */
  message?: object;
  multipart?: [path: string, content: string][];
  body?: string;
  /** The token is left out, or another. */
  token?: 'none' | 'wrong';
  /** A request that streams its answer. */
  streams?: true;
  /** What is written are the words of whatever shell the machine has. */
  outputVaries?: true;
}

const stat = (path: string) => ({ path: '/filesystem.Filesystem/Stat', message: { path } });
const list = (path: string, depth = 1) => ({
  path: '/filesystem.Filesystem/ListDir',
  message: { path, depth },
});
const makeDirectory = (path: string) => ({ path: '/filesystem.Filesystem/MakeDir', message: { path } });
const remove = (path: string) => ({ path: '/filesystem.Filesystem/Remove', message: { path } });
const move = (source: string, destination: string) => ({
  path: '/filesystem.Filesystem/Move',
  message: { source, destination },
});
const start = (script: string, more: object = {}, cmd = '/bin/sh') => ({
  path: '/process.Process/Start',
  streams: true as const,
  message: { process: { cmd, args: cmd === '/bin/sh' ? ['-c', script] : [script], cwd: 'BASE', ...more } },
});
const read = (path: string) => ({ method: 'GET' as const, path: `/files?path=${path}` });

const WORK =
  'mkdir d && echo text > f && echo x > d/x && ln -s f to-file && ln -s d to-dir && ln -s none broken && ln -s loop loop';

const RAW: [string, Row[]][] = [
  [
    'who may ask',
    [
      { name: 'health needs no token', method: 'GET', path: '/health', token: 'none' },
      { name: 'health with a wrong token', method: 'GET', path: '/health', token: 'wrong' },
      { name: 'a call without a token', ...stat('BASE'), token: 'none' },
      { name: 'a call with a wrong token', ...stat('BASE'), token: 'wrong' },
      { name: 'a stream without a token', ...start('true'), token: 'none' },
      { name: 'a file without a token', ...read('BASE/f'), token: 'none' },
      { name: 'a file with a wrong token', ...read('BASE/f'), token: 'wrong' },
      { name: 'an upload without a token', path: '/files', multipart: [['BASE/new', '1']], token: 'none' },
      {
        name: 'a user that is not there',
        ...stat('BASE'),
        headers: { authorization: 'Basic bm9ib2R5LWhlcmU6' },
      },
      {
        name: 'a stream for a user that is not there',
        ...start('true'),
        headers: { authorization: 'Basic bm9ib2R5LWhlcmU6' },
      },
      { name: 'a file for a user that is not there', ...read('BASE/f&username=nobody-here') },
    ],
  ],
  [
    'reading files',
    [
      { name: 'a file', ...read('BASE/f') },
      { name: 'an empty file', setup: ': > empty', ...read('BASE/empty') },
      { name: 'a file through a link', ...read('BASE/to-file') },
      { name: 'a file that is not there', ...read('BASE/none') },
      { name: 'a file below a file', ...read('BASE/f/x') },
      { name: 'a directory', ...read('BASE/d') },
      { name: 'a link to nowhere', ...read('BASE/broken') },
      { name: 'a link to itself', ...read('BASE/loop') },
    ],
  ],
  [
    'writing files',
    [
      { name: 'one', path: '/files', multipart: [['BASE/a/b', '1']] },
      {
        name: 'two',
        path: '/files',
        multipart: [
          ['BASE/a', '1'],
          ['BASE/b', '2'],
        ],
      },
      {
        name: 'two under one name',
        path: '/files',
        multipart: [
          ['BASE/a', '1'],
          ['BASE/a', '2'],
        ],
      },
      {
        name: 'four, of which the last has a name twice',
        path: '/files',
        multipart: [
          ['BASE/a', '1'],
          ['BASE/b', '2'],
          ['BASE/c', '3'],
          ['BASE/a', '4'],
        ],
      },
      { name: 'below a file', path: '/files', multipart: [['BASE/f/x', '1']] },
      { name: 'two levels below a file', path: '/files', multipart: [['BASE/f/x/y', '1']] },
      { name: 'over a directory', path: '/files', multipart: [['BASE/d', '1']] },
      { name: 'through a link', path: '/files', multipart: [['BASE/to-file', '1']] },
      { name: 'through a link to nowhere', path: '/files', multipart: [['BASE/broken', '1']] },
      { name: 'through a link to itself', path: '/files', multipart: [['BASE/loop', '1']] },
      {
        name: 'raw',
        path: '/files?path=BASE/raw',
        body: 'raw',
        headers: { 'content-type': 'application/octet-stream' },
      },
      {
        name: 'raw below a file',
        path: '/files?path=BASE/f/x',
        body: 'raw',
        headers: { 'content-type': 'application/octet-stream' },
      },
      {
        name: 'raw without a path',
        path: '/files',
        body: 'raw',
        headers: { 'content-type': 'application/octet-stream' },
      },
      {
        name: 'of another content type',
        path: '/files?path=BASE/raw',
        body: 'raw',
        headers: { 'content-type': 'text/plain' },
      },
    ],
  ],
  [
    'what is there',
    [
      { name: 'stat of a file', setup: 'chmod 640 f', ...stat('BASE/f') },
      { name: 'stat of a directory', setup: 'chmod 750 d', ...stat('BASE/d') },
      { name: 'stat of a link to a file', setup: 'chmod 640 f', ...stat('BASE/to-file') },
      { name: 'stat of a link to a directory', ...stat('BASE/to-dir') },
      { name: 'stat of a link to nowhere', ...stat('BASE/broken') },
      { name: 'stat of a link to itself', ...stat('BASE/loop') },
      { name: 'stat of what is not there', ...stat('BASE/none') },
      { name: 'stat below a file', ...stat('BASE/f/x') },
      { name: 'list', ...list('BASE') },
      { name: 'list of two levels', ...list('BASE', 2) },
      { name: 'list through a link', ...list('BASE/to-dir') },
      { name: 'list of a file', ...list('BASE/f') },
      { name: 'list of what is not there', ...list('BASE/none') },
      { name: 'list below a file', ...list('BASE/f/x') },
      { name: 'list of a link to itself', ...list('BASE/loop') },
    ],
  ],
  [
    'making, moving and removing',
    [
      { name: 'make', ...makeDirectory('BASE/new/deep') },
      { name: 'make one that is there', ...makeDirectory('BASE/d') },
      { name: 'make over a file', ...makeDirectory('BASE/f') },
      { name: 'make below a file', ...makeDirectory('BASE/f/x') },
      { name: 'remove', ...remove('BASE/d') },
      { name: 'remove what is not there', ...remove('BASE/none') },
      { name: 'remove below a file', ...remove('BASE/f/x') },
      { name: 'remove a link', ...remove('BASE/to-dir') },
      { name: 'move', ...move('BASE/f', 'BASE/new/f') },
      { name: 'move what is not there', ...move('BASE/none', 'BASE/g') },
      { name: 'move below a file', ...move('BASE/d', 'BASE/f/x') },
    ],
  ],
  [
    'processes',
    [
      { name: 'output and status', ...start('echo out; echo err >&2; exit 7') },
      { name: 'success', ...start('true') },
      { name: 'killed by a signal', ...start('kill -TERM $$') },
      { name: 'killed for good', ...start('kill -KILL $$') },
      { name: 'a program that is not there', ...start('x', {}, '/no/such/program'), outputVaries: true },
      { name: 'a program that is not executable', ...start('x', {}, './f'), outputVaries: true },
      { name: 'a directory that is not there', ...start('true', { cwd: 'BASE/none' }) },
      { name: 'a directory that is a file', ...start('echo hidden words', { cwd: 'BASE/f' }) },
      { name: 'a directory below a file', ...start('echo hidden words', { cwd: 'BASE/f/x' }) },
      { name: 'a directory that is a link to itself', ...start('echo hidden words', { cwd: 'BASE/loop' }) },
      {
        name: 'its environment',
        ...start('env | cut -d= -f1 | grep -v E2B_SANDBOX_ID | LC_ALL=C sort', { envs: { GIVEN: '1' } }),
      },
      { name: 'a deadline', ...start('exec sleep 60'), headers: { 'connect-timeout-ms': '200' } },
      {
        name: 'a deadline that is no number',
        ...start('true'),
        headers: { 'connect-timeout-ms': 'soon' },
      },
      {
        name: 'a signal to a process that is not there',
        path: '/process.Process/SendSignal',
        message: { process: { pid: 4194305 }, signal: 'SIGNAL_SIGKILL' },
      },
      { name: 'nothing running', path: '/process.Process/List', message: {} },
    ],
  ],
];

export const ROWS: Row[] = RAW.flatMap(([group, rows]) =>
  rows.map((row) => ({ ...row, name: `${group}: ${row.name}`, setup: row.setup ?? 'true' })),
);

export interface Daemon {
  url: string;
  token: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

const envelope = (message: string): Uint8Array<ArrayBuffer> => {
  const json = Buffer.from(message);
  const bytes = new Uint8Array(5 + json.length);
  new DataView(bytes.buffer).setUint32(1, json.length);
  bytes.set(json, 5);
  return bytes;
};

interface Event {
  event?: { data?: Record<string, string>; start?: object; end?: object; keepalive?: object };
  error?: object;
}

/** A stream as what was started, what was written, how it ended, and the last envelope. */
const readStream = (bytes: Buffer): unknown => {
  const output: Record<string, string> = {};
  const seen: unknown[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    const message = JSON.parse(bytes.subarray(at + 5, at + 5 + length).toString()) as Event;
    at += 5 + length;
    const data = message.event?.data;
    if (data === undefined) seen.push(message);
    else
      for (const [name, text] of Object.entries(data))
        output[name] = (output[name] ?? '') + Buffer.from(text, 'base64').toString();
  }
  return { output, seen };
};

const bodyOf = (
  row: Row,
  fill: (text: string) => string,
): FormData | Uint8Array<ArrayBuffer> | string | undefined => {
  if (row.multipart !== undefined) {
    const form = new FormData();
    for (const [path, content] of row.multipart) form.append('file', new Blob([content]), fill(path));
    return form;
  }
  if (row.message === undefined) return row.body;
  const json = fill(JSON.stringify(row.message));
  return row.streams ? envelope(json) : json;
};

const send = async (daemon: Daemon, row: Row, base: string): Promise<{ status: number; body: unknown }> => {
  const fill = (text: string): string => text.replaceAll('BASE', base);
  const tokens = { none: {}, wrong: { 'x-access-token': 'wrong' } };
  const type = row.streams ? 'application/connect+json' : 'application/json';
  const answer = await fetch(daemon.url + fill(row.path), {
    method: row.method ?? 'POST',
    headers: {
      ...daemon.headers,
      ...(row.token === undefined ? { 'x-access-token': daemon.token } : tokens[row.token]),
      ...(row.message !== undefined && { 'content-type': type, 'connect-protocol-version': '1' }),
      ...row.headers,
    },
    body: bodyOf(row, fill) ?? null,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.headers.get('content-type') === 'application/connect+json')
    return { status: answer.status, body: readStream(bytes) };
  const text = bytes.toString();
  try {
    return { status: answer.status, body: JSON.parse(text) };
  } catch {
    return { status: answer.status, body: text };
  }
};

/** Facts of the machine: times, ids, owners, and the size of a directory. */
const VARIES = new Set(['modifiedTime', 'pid', 'owner', 'group']);
const comparable = (value: unknown, base: string): unknown => {
  if (typeof value === 'string') return value.replaceAll(base, 'BASE');
  if (Array.isArray(value)) return value.map((one) => comparable(one, base));
  if (typeof value !== 'object' || value === null) return value;
  const isDirectory = 'type' in value && value.type === 'FILE_TYPE_DIRECTORY';
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      VARIES.has(name) || (name === 'size' && isDirectory) ? 'VARIES' : comparable(one, base),
    ]),
  );
};

/** What a daemon answers to one row, in a directory that is made for it below `parent`. */
export const askDaemon = async (daemon: Daemon, row: Row, parent = '/tmp'): Promise<unknown> => {
  const base = `${parent}/walkback-rows-${randomUUID()}`;
  const run = (cwd: string, script: string) =>
    send(daemon, { name: '', ...start(script, { cwd }) }, base) as Promise<{ body: unknown }>;
  await send(daemon, { name: '', ...makeDirectory('BASE') }, base);
  const prepared = JSON.stringify(await run(base, `umask 022; ${WORK}; ${row.setup ?? 'true'}`));
  if (!prepared.includes('"exited":true')) throw new Error(`not prepared: ${prepared}`);
  const answer = await send(daemon, row, base);
  await send(daemon, { name: '', ...remove('BASE') }, base);
  const told = comparable(answer, base);
  return row.outputVaries
    ? JSON.parse(JSON.stringify(told).replace(/"output":\{[^}]*\}/, '"output":"VARIES"'))
    : told;
};
