/** opencode's own binary, as a server. `npm run hosts` installs it. */
import { describe } from 'vitest';
import { openClientWorld } from '../support/client-world.ts';
import { isOpencodeInstalled, opencode } from '../support/hosts/opencode.ts';
import { conformance } from '../support/integration-conformance.ts';
import { shared } from '../support/shared.ts';

const world = shared(openClientWorld);

describe.skipIf(!isOpencodeInstalled).each([opencode(() => world().cloud.dataDir)])('$name', (host) =>
  conformance(host, world),
);
