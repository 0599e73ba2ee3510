import { directoryIn } from '../client/sandbox-places.ts';
import { printableLine } from '../present/text.ts';
import type { Run } from './app.ts';

/** The directory of this machine with the repositories in question, if they are here. */
export const repositoriesLocation = async (
  run: Pick<Run, 'invoke' | 'sandboxes'>,
  sessionId: string,
  sandbox?: string,
): Promise<string> => {
  const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
  const sandboxId = sandbox ?? session.sandboxId;
  const places = await run.sandboxes?.places(sandboxId);
  return printableLine(
    places === undefined
      ? `${session.projectsRoot} of sandbox ${sandboxId}`
      : directoryIn(places, session.projectsRoot),
  );
};
