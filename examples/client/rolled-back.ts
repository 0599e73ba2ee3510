import { writeFile } from 'node:fs/promises';
import { sagaTools, Walkback } from 'walkback';
import { defineTool } from 'walkback/kit';
import { serveTools } from 'walkback/serve-tools';
import * as z from 'zod';

const payments = new Map<string, number>(); // somebody else's system
const pay = defineTool({
  name: 'pay',
  version: '1.0.0',
  description: 'Pays an invoice',
  effect: 'compensatable',
  idempotencyWindowSeconds: 86_400,
  input: z.strictObject({ cents: z.int() }),
  output: z.object({ cents: z.int() }),
  execute: async ({ cents }, { forwardKey }) => {
    payments.set(forwardKey, cents);
    return { cents };
  },
  compensate: { name: 'refund', execute: async (_, { forwardKey }) => void payments.delete(forwardKey) },
});
const walkback = new Walkback();
const served = await serveTools([pay], { walkback });
const session = await walkback.sessions.start({ root: '.' });
await session.checkpoint({ messageId: 'msg-1' });
const run = session.run({ message: { id: 'msg-2', text: 'Order it.' } }); // what your agent's loop does
const saga = await walkback.sagas.interactive({ run });
await run.guard({ id: 'call-1', name: 'write' }, () => writeFile('order.txt', 'ordered\n'));
await sagaTools([pay], saga, { run })['pay']?.execute({ cents: 4200 }, { toolCallId: 'call-2' });
await run.finish();
await session.rewind({ to: 'msg-1', by: 'ada', waitSeconds: 60 }); // the money first, then the files
process.stdout.write(payments.size === 0 ? 'refunded, and order.txt is gone\n' : 'still paid\n');
await served.close();
