import { readFile, writeFile } from 'node:fs/promises';
import { Walkback } from 'walkback';

const session = await new Walkback().sessions.start({ root: '.' }); // with AWS: { sandboxId, projectsRoot }
for (const id of ['msg-1', 'msg-2']) {
  const run = session.run({ message: { id } });
  const tool = () => writeFile('notes.txt', `written by ${id}\n`);
  await run.guard({ id: `call-of-${id}`, name: 'write' }, tool); // a checkpoint, then the tool; never without one
  await run.finish();
}
const plan = await session.plan({ to: 'msg-1' }); // files, branches, effects that stand
const { status } = await plan.apply();
console.log(status, await readFile('notes.txt', 'utf8')); // APPLIED written by msg-1
