/**
 * A session over repositories with much in them, in a process of its own: what it takes of memory at the most, beyond what it
 * took before the first call. Arguments: repositories, bytes of each, and how many are carried. Prints MiB as JSON.
 */
import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import { createGitStage } from './git-stage.ts';

const MIB = 1024 ** 2;
const [count = 0, sizeBytes = 0, carriedBytes = 0] = process.argv.slice(2).map(Number);
const peakMiB = (): number => process.resourceUsage().maxRSS / 1024;

await using stage = await createGitStage({ bundles: { ...BUNDLE_LIMITS, carriedBytes } });
const sandboxId = await stage.addSandbox();
const make = `for n in $(seq ${count}); do
  git init -q r$n; head -c ${sizeBytes} /dev/urandom > r$n/noise
done`;
stage.sh(sandboxId, make);
const before = peakMiB();
const { checkpointId } = await stage.start('s1', sandboxId);
const captured = peakMiB();
const { sandboxId: copy } = await stage.rehydrate('s1', checkpointId);
stage.sh(copy, `for n in $(seq ${count}); do cmp r$n/noise ${stage.rootOf(sandboxId)}/r$n/noise; done`);
const restored = peakMiB();
const storedMiB =
  [...stage.store.tables.links.values()].reduce((sum, { bundle }) => sum + bundle.sizeBytes, 0) / MIB;
process.stdout.write(
  `\n${JSON.stringify({ storedMiB, capture: captured - before, restore: restored - before })}\n`,
);
