/** A cloud in a process of its own, to be killed: starts sagas on the directory it is told, says so, and runs on. */
import { startTestCloud } from './cloud.ts';
import { quickCatalog, quickTemplate } from './saga-cloud.ts';

const [dataDir = '', url = '', ...sagaIds] = process.argv.slice(2);
const cloud = await startTestCloud({ dataDir, template: await quickTemplate() });
await cloud.invoke('put-catalog', quickCatalog(url));
process.stdout.write('ready\n');
for (const sagaId of sagaIds) {
  await cloud.invoke('start-saga', {
    sagaId,
    definition: { name: 'refund' },
    input: { orderId: sagaId },
    requestedBy: 'agent-7',
  });
}
// Kept alive by its servers until somebody kills it.
