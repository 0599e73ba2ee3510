/** The folders of one call in the sandbox, as the sandbox's files API sees them. */

interface SessionRoot {
  projectsRoot: string;
  sessionId: string;
}

/** Where a call keeps its files, as the sandbox's files API sees it. */
export const runDirectory = ({ projectsRoot, sessionId }: SessionRoot, call: string): string =>
  `${projectsRoot}/.agent-shadow/run-${sessionId}/${call}`;

/** The directory for bundles of a call, as the sandbox's files API sees it. */
export const incomingDirectory = ({ projectsRoot, sessionId }: SessionRoot, call: string): string =>
  `${projectsRoot}/.agent-shadow/in-${sessionId}/${call}`;
