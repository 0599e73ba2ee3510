import { describe } from 'vitest';
import { aiSdk } from '../support/hosts/ai-sdk.ts';
import { openaiAgents } from '../support/hosts/openai-agents.ts';
import { sharedWorld } from '../support/hosts/world.ts';
import { essential } from '../support/integration-conformance.ts';

const world = sharedWorld();

/** The other hosts and promises are in integrations.long.test.ts. */
describe.each([aiSdk, openaiAgents])('$name', (host) => essential(host, world));
