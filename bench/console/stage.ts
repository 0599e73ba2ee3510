/**
 * A cloud in the background with a session of many checkpoints and a day of many ledger entries. Its repositories, its first
 * checkpoints and a patch of 5 MB are taken by the functions; the other checkpoints are copies of the last one, and entries are
 * made, because 500 captures of 40 repositories take minutes. What reads them is the real thing.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AttributeValue, BatchWriteItemCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { entryItem } from '../../adapters/aws/sagas/saga-items.ts';
import { createWordStore } from '../../adapters/aws/sessions/word-store.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { withEntries } from '../../core/checkpoint/words/block.ts';
import { checkpointId, sha256Hex } from '../../core/shared/ids.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { databaseOf } from '../items.ts';
import { runNode } from '../node.ts';
import type { Place } from '../place.ts';

type Item = Record<string, AttributeValue>;

export interface StageSizes {
  checkpoints: number;
  repositories: number;
  entries: number;
  patchBytes: number;
  /** Sessions of as many checkpoints, of which only the words are there. */
  otherSessions: number;
}

export interface ConsoleStage {
  sessionId: string;
  day: string;
  /** Its patch is the large one. */
  messageId: string;
  env: Record<string, string>;
  work: string;
  daemonPid: number;
  [Symbol.asyncDispose](): Promise<void>;
}

const PROJECT = join(import.meta.dirname, '../..');
export const LAUNCHER = join(PROJECT, 'bin/walkback.mjs');
const SESSION = 'large';
const MESSAGE = 'msg-2';
const BATCH = 25;
const FILE_BYTES = 100_000;
/** Without whatever git is configured to do here. */
const QUIET_GIT = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };

const makeRepositories = async (work: string, count: number): Promise<void> => {
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  for (let n = 0; n < count; n += 1) {
    const path = join(work, `repository-${n}`);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'price.ts'), `export const price = ${n};\n`);
    const git = (...args: string[]) =>
      promisify(execFile)('git', ['-C', path, ...args], { env: { ...process.env, ...QUIET_GIT } });
    await git('init', '-q');
    await git('add', '-A');
    await git(...identity, 'commit', '-qm', 'begin');
  }
};

const editAll = async (work: string, count: number, patchBytes: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) {
    await writeFile(join(work, `repository-${n}`, 'price.ts'), `export const price = ${n + 1};\n`);
  }
  const line = `export const value = await load("${'x'.repeat(60)}", 1);\n`;
  // In files of a size that a patch shows: git is told to take much larger ones for binary.
  const text = line.repeat(Math.ceil(FILE_BYTES / line.length));
  for (let n = 0; n * FILE_BYTES < patchBytes; n += 1) {
    await writeFile(join(work, 'repository-0', `large-${n}.ts`), text);
  }
};

/** What the functions wrote for the second checkpoint, once more as `seq`. */
const copiesOf = (items: readonly Item[], seq: number): Item[] => {
  const digits = String(seq).padStart(8, '0');
  const tool = `copy-${seq}`;
  const messageId = { S: `msg-${seq}` };
  return items.map((item) => {
    const sk = item['sk']?.S ?? '';
    if (sk.startsWith('CP#')) {
      const id = checkpointId(SESSION, seq, tool);
      return {
        ...item,
        sk: { S: `CP#${digits}` },
        seq: { N: `${seq}` },
        parentSeq: { N: `${seq - 1}` },
        checkpointId: { S: id },
        toolExecutionId: { S: tool },
        messageId,
        messageOrder: { N: `${seq}` },
      };
    }
    if (sk.startsWith('TOOL#')) {
      const node = {
        ...item['node']?.M,
        seq: { N: `${seq}` },
        parentSeq: { N: `${seq - 1}` },
        checkpointId: { S: checkpointId(SESSION, seq, tool) },
        messageId,
        messageOrder: { N: `${seq}` },
      };
      return { ...item, sk: { S: `TOOL#${tool}` }, seq: { N: `${seq}` }, node: { M: node } };
    }
    const message = { ...item, id: messageId, title: { S: `Message ${seq}` }, order: { N: `${seq}` } };
    const seqs = { firstSeq: { N: `${seq}` }, lastSeq: { N: `${seq}` } };
    return { ...message, ...seqs, sk: { S: sk.startsWith('MSG#') ? `MSG#${digits}` : `MSGID#msg-${seq}` } };
  });
};

const isOfSecond = ({ sk, seq, lastSeq }: Item): boolean => {
  const key = sk?.S ?? '';
  if (key.startsWith('CP#') || key.startsWith('TOOL#')) return seq?.N === '2';
  return (key.startsWith('MSG#') || key.startsWith('MSGID#')) && lastSeq?.N === '2';
};

const entryOf = (at: number, time: string) =>
  entryItem({
    sagaId: `saga-${Math.floor(at / 100)}`,
    seq: at % 100,
    at: time,
    actor: 'engine',
    prevHash: sha256Hex(`${at}`),
    hash: sha256Hex(`${at + 1}`),
    direction: 'forward',
    status: 'committed',
    stepIndex: at % 100,
    step: 'pay',
    tool: 'issue_refund',
    version: '1.0.0',
    epoch: 0,
    attempt: 1,
    idempotencyKey: `saga-${at}:pay:0:forward`,
    result: { refund: `re_${at}` },
    externalRef: `re_${at}`,
    amount: '25.00',
    currency: 'EUR',
  });

/** The words of a session whose checkpoints are not made: of each, a message, a call and three files. */
const wordsOf = (sessionId: string, checkpoints: number, at: string) =>
  withEntries(
    undefined,
    { sessionId, updatedAt: at },
    Array.from({ length: checkpoints }, (_, n) => ({
      seq: n + 1,
      checkpointId: checkpointId(sessionId, n + 1, `call-${n}`),
      parentSeq: n === 0 ? null : n,
      epoch: 1,
      sandboxId: sessionId,
      reason: 'before-tool',
      messageId: `msg-${n}`,
      at,
      until: Date.parse(at) / 1_000 + DAY_SECONDS,
      message: {
        role: 'user',
        title: `Message ${n}: ${sha256Hex(`${sessionId} ${n}`).slice(0, 24)}`,
        text: `Please look at ${sha256Hex(`${n}`)} once more, and tell what is wrong with the price of order ${n}.`,
      },
      tool: { name: 'Bash', input: `{"command":"npm test -- order-${n}"}` },
      paths: [`api/src/order-${n}.ts`, 'api/src/price.ts', `web/pages/${n}.html`],
    })),
  );

export const createConsoleStage = async (
  place: Place,
  sizes: StageSizes,
  say: (text: string) => void,
): Promise<ConsoleStage> => {
  await using making = new AsyncDisposableStack();
  const dataDir = await place.directory('console-data');
  const work = await place.directory('console-work');
  const env = {
    WALKBACK_DATA: dataDir,
    WALKBACK_DAEMON: 'on',
    HOME: await place.directory('console-home'),
    USER: 'bench',
  };
  const walkback = (...args: string[]) => runNode([LAUNCHER, ...args], work, env);
  say(`${sizes.repositories} repositories, and their first checkpoints`);
  await makeRepositories(work, sizes.repositories);
  await walkback('up', '--detach');
  making.defer(async () => void (await walkback('down')));
  const environment = z.record(z.string(), z.string()).parse(JSON.parse(await walkback('env', '--json')));
  await walkback('session', 'start', '--root', work, '--id', SESSION);
  await editAll(work, sizes.repositories, sizes.patchBytes);
  await walkback('checkpoint', '--session', SESSION, '--message', MESSAGE, '--json');

  const client = databaseOf(environment);
  making.defer(() => client.destroy());
  const put = async (table: string, items: readonly Item[]): Promise<void> => {
    for (let at = 0; at < items.length; at += BATCH) {
      const requests = items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
    }
  };
  const sessions = environment['WALKBACK_SESSIONS_TABLE'] ?? '';
  const stored: Item[] = [];
  const query = {
    TableName: sessions,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: `SESSION#${SESSION}` } },
  };
  for await (const page of paginateQuery({ client }, query)) stored.push(...(page.Items ?? []));
  const second = stored.filter(isOfSecond);
  say(`${sizes.checkpoints} checkpoints and ${sizes.entries} ledger entries`);
  const copied = Array.from({ length: sizes.checkpoints - 2 }, (_, at) => copiesOf(second, at + 3));
  await put(sessions, copied.flat());
  const head = { N: `${sizes.checkpoints}` };
  const session = stored.find(({ sk }) => sk?.S === 'META');
  if (session === undefined || second.length < 4)
    throw new Error('The session of the benchmark is not there.');
  await put(sessions, [{ ...session, seq: head, headSeq: head, messageCount: head }]);

  const time = new Date().toISOString();
  const words = createWordStore({ tableName: sessions, client });
  for (let n = 0; n < sizes.otherSessions; n += 1) {
    for (const { block } of wordsOf(`other-${n}`, sizes.checkpoints, time)) await words.putBlock(block, null);
  }
  const entries = Array.from({ length: sizes.entries }, (_, at) =>
    marshall(entryOf(at, time), { removeUndefinedValues: true }),
  );
  await put(environment['WALKBACK_LEDGER_TABLE'] ?? '', entries);
  const daemon = await findRunningCloud(dataDir);
  if (daemon === undefined) throw new Error('No cloud runs in the background.');
  const made = making.move();
  return {
    sessionId: SESSION,
    day: time.slice(0, 10),
    messageId: MESSAGE,
    env,
    work,
    daemonPid: daemon.pid,
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};
