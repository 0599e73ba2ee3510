/** A cloud in a process of its own that ends with `kill -9` before or after the nth request that its functions make to services. */
import { startTestCloud } from './cloud.ts';
import { aroundRequests } from './function-requests.ts';
import type { Death, MortalCloudSays } from './mortal-cloud.ts';
import { quickCatalog, quickTemplate } from './saga-cloud.ts';

const [dataDir = '', url = ''] = process.argv.slice(2);
const say = (what: MortalCloudSays): void => void process.send?.(what);
const cloud = await startTestCloud({ dataDir, template: await quickTemplate() });
await cloud.invoke('put-catalog', quickCatalog(url));

let death: Death | undefined;
let requests = 0;
const die = (): void => void process.kill(process.pid, 'SIGKILL');

aroundRequests(async (name, request) => {
  if (death?.functions.includes(name) !== true) return request();
  requests += 1;
  const isIt = requests === death.request;
  if (isIt && death.when === 'before') die();
  const answer = await request();
  if (isIt && death.when === 'after') die();
  return answer;
});

process.on('message', (asked: Death) => {
  death = asked;
  requests = 0;
  say({ kind: 'armed' });
});
process.on('disconnect', die);
say({ kind: 'ready', endpoints: cloud.endpoints, environment: cloud.environment });
