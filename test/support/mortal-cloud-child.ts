/** A cloud in a process of its own that ends with `kill -9` before or after the nth request that its functions make to services. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runningFunction } from '../../local/lambda/invoke.ts';
import { startTestCloud } from './cloud.ts';
import type { Death, MortalCloudSays } from './mortal-cloud.ts';
import { quickCatalog, quickTemplate } from './saga-cloud.ts';

type Send = (this: unknown, ...given: unknown[]) => Promise<unknown>;

const [dataDir = '', url = ''] = process.argv.slice(2);
const say = (what: MortalCloudSays): void => void process.send?.(what);
const cloud = await startTestCloud({ dataDir, template: await quickTemplate() });
await cloud.invoke('put-catalog', quickCatalog(url));

let death: Death | undefined;
let requests = 0;
const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** Where the clients of all services send. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the base of all clients of the SDK
const prototype = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };
const original = prototype.send;
prototype.send = async function (...given) {
  const name = runningFunction.getStore();
  if (death === undefined || name === undefined || !death.functions.includes(name))
    return original.apply(this, given);
  requests += 1;
  const isIt = requests === death.request;
  if (isIt && death.when === 'before') die();
  const answer = await original.apply(this, given);
  if (isIt && death.when === 'after') die();
  return answer;
};

process.on('message', (asked: Death) => {
  death = asked;
  requests = 0;
  say({ kind: 'armed' });
});
process.on('disconnect', die);
say({ kind: 'ready', endpoints: cloud.endpoints, environment: cloud.environment });
