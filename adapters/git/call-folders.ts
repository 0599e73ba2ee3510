/** The folders of one call in the sandbox, as the sandbox's files API sees them. */

interface Place {
  projectsRoot: string;
  sessionId: string;
}

/** Where a call keeps its files, as the sandbox's files API sees it. */
export const runDirectory = ({ projectsRoot, sessionId }: Place, call: string): string =>
  `${projectsRoot}/.agent-shadow/run-${sessionId}/${call}`;

/** The directory for bundles of a call, as the sandbox's files API sees it. */
export const incomingDirectory = ({ projectsRoot, sessionId }: Place, call: string): string =>
  `${projectsRoot}/.agent-shadow/in-${sessionId}/${call}`;
