/** opencode's own binary, as a server. `npm run hosts` installs it. */
import { describe } from 'vitest';
import { isOpencodeInstalled, opencode } from '../support/hosts/opencode.ts';
import { sharedWorld } from '../support/hosts/world.ts';
import { conformance } from '../support/integration-conformance.ts';

const world = sharedWorld();

describe.skipIf(!isOpencodeInstalled).each([opencode(() => world().cloud.dataDir)])('$name', (host) =>
  conformance(host, world),
);
