/** The agents: a desk for each, and one HTTP endpoint through which sagas give them work. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { openFileTombstones } from '../../kit/file-tombstones.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { localKey } from '../first-tool/local-key.ts';
import { serveTools } from '../first-tool/server.ts';
import { AGENTS, type Agent, gangDefinitions } from './catalog.ts';
import { type Desk, type DeskDependencies, openDesk } from './desks.ts';
import { type OnWork, prepareReturn } from './prepare-return.ts';

export interface AgentsDependencies extends DeskDependencies {
  /** Where their tombstones are kept. */
  directory: string;
  onWork?: OnWork;
}

export interface Agents {
  desks: ReadonlyMap<Agent, Desk>;
  close(): void;
}

/** Opens the desks, serves the tool, and puts it and the templates into the catalog, where the refund tools are. */
export const openAgents = async ({
  directory,
  onWork,
  ...dependencies
}: AgentsDependencies): Promise<Agents> => {
  const { invoke } = dependencies;
  const desks = new Map(
    await Promise.all(
      AGENTS.map(async (agent): Promise<[Agent, Desk]> => [agent, await openDesk(dependencies, agent)]),
    ),
  );
  // The port first: the URL is signed, and so is the key made for it.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP listener');
  try {
    const url = `http://127.0.0.1:${address.port}/agents`;
    const tool = prepareReturn({ invoke, desks, onWork });
    const tombstones = await openFileTombstones(directory);
    const serving = serveTools({ tools: [tool], tombstones, url, key: await localKey(url) });
    server.on('request', (request, response) => serving.emit('request', request, response));
    await invoke('walkback-put-catalog', {
      tools: [manifestOf(tool, { endpoint: url })],
      definitions: gangDefinitions,
    });
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    desks,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
