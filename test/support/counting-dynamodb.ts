/**
 * The engine behind its own HTTP server, which counts what a request consumes. Anybody on the machine may ask it, so
 * it is for data that tests and benchmarks make up, never for `walkback up`.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DynamoDbSource, findDynamoDb } from '../../local/dynamodb/binary.ts';
import { superviseChild } from './child.ts';
import { claimPort } from './loopback.ts';

const HOST = '127.0.0.1';
const ATTEMPTS = 10;
const START_TIMEOUT_MS = 15_000;

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** A source for `startDynamoDb` or `startCloud`. An endpoint of somebody else's is taken as it is. */
export const startCountingDynamoDb = async (
  directory: string,
): Promise<{ source: DynamoDbSource; close(): Promise<void> }> => {
  const source = findDynamoDb(process.env);
  if (source.kind === 'endpoint') return { source, close: async () => undefined };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    // Between the claim and its start anybody can take the port.
    const port = await claimPort();
    const place = ['--host', HOST, '--port', `${port}`, '--db-path', join(directory, 'counting.sqlite')];
    const child = superviseChild(source.path, ['serve', ...place]);
    const url = `http://${HOST}:${port}`;
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (child.isRunning() && Date.now() < deadline) {
      if ((await answers(url)) && child.isRunning())
        return { source: { kind: 'endpoint', url }, close: () => child.stop() };
      await delay(10);
    }
    await child.stop();
  }
  throw new Error('dynoxide found no free port');
};
