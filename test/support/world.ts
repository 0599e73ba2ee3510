/** A session on real, small repositories in a local sandbox, and what an outsider sees of them. For scenario tests. */
import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { E2B } from 'e2b';
import { files, gitState } from './fingerprint.ts';
import { runSync } from './run-sync.ts';

/** What a world needs of a cloud, in this process or in another one. */
export interface WorldCloud {
  dataDir: string;
  endpoints: { e2b: string };
  environment: Readonly<Record<string, string>>;
  invoke(name: string, event: unknown): Promise<Record<string, unknown>>;
}

/** `web/lib` lies inside `web`, which does not know it. */
const REPOSITORIES = ['api', 'web', 'web/lib'];
export const SANDBOX_ROOT = '/home/user/work';
const IDENTITY = {
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
};

/** Bash in a directory on this machine, as the agent would run it in its sandbox. */
export const shell = (directory: string, script: string, env: Record<string, string> = {}): string =>
  runSync('/bin/bash', ['-euc', script], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      ...IDENTITY,
      ...env,
    },
  });

const NEW_REPOSITORY = `
mkdir -p "$P" && cd "$P" && git init -q -b main
printf 'one\\n' > a.txt; printf 'one\\n' > staged.txt; head -c 300 /dev/zero > zero.bin
printf '%s\\n' "$P" > name.txt
mkdir -p src/deep && printf '\\r\\n' > 'src/deep/with space.txt'
printf '*.ignored\\n' > .gitignore; chmod +x zero.bin; ln -s src/deep link; ln -s nowhere dangling
git add -A && git commit -qm first
printf 'secret\\n' > private.txt && chmod 600 private.txt
mkdir -p empty/inside; printf 'mine\\n' > cache.ignored
printf 'staged\\n' > staged.txt; git add staged.txt; printf 'and more\\n' >> staged.txt`;

export const createRepositories = (root: string, paths: readonly string[] = REPOSITORIES): void => {
  for (const path of paths) shell(root, NEW_REPOSITORY, { P: path });
};

/** What the agent does in one repository: which of these, `kind` says. */
const EDITS = [
  `printf 'edit %s\\n' "$N" > a.txt; printf 'new\\n' > "new-$N.txt"; chmod 640 private.txt; rm -rf empty`,
  `printf 'edit %s\\n' "$N" > staged.txt; git add staged.txt; printf 'later\\n' >> staged.txt; rm -f link; ln -s "to-$N" link`,
  `printf 'edit %s\\n' "$N" >> a.txt; git add a.txt; git commit -qm "agent $N"; chmod 755 a.txt; mkdir -p "empty/$N"`,
  `git switch -qC "branch-$N"; rm -rf src; printf '\\0%s' "$N" > zero.bin; printf 's\\n' > private.txt; chmod 600 private.txt`,
  `git commit -q --amend --allow-empty -m "amended $N"; mkdir -p src; printf 'x\\n' > "src/-n $N"; rm -f a.txt`,
];

/** Edit number `n` of the repositories: deterministic, and different in each. */
export const edit = (root: string, n: number, paths: readonly string[] = REPOSITORIES): void =>
  paths.forEach((path, index) => {
    shell(join(root, path), EDITS[(n + index) % EDITS.length] ?? '', { N: String(n) });
  });

const isIgnored = (line: string): boolean => /\.ignored /.test(line);

/** All files, and the git state of each repository. Ignored files are left out: no capture holds them. */
export const fingerprint = (root: string, paths: readonly string[] = REPOSITORIES): string[] => [
  ...files(root).filter((line) => !isIgnored(line)),
  ...paths.flatMap((path) => gitState(join(root, path)).map((line) => `${path}: ${line}`)),
];

export const ignoredFiles = (root: string): string[] => files(root).filter(isIgnored);

export const sdkOf = (cloud: WorldCloud) =>
  new E2B({
    apiKey: cloud.environment['E2B_API_KEY'],
    apiUrl: cloud.endpoints.e2b,
    sandboxUrl: cloud.endpoints.e2b,
    retries: 0,
  }).Sandbox;

/** Where a sandbox keeps the projects root on this machine. */
export const rootOf = (cloud: WorldCloud, sandboxId: string, projectsRoot = SANDBOX_ROOT): string =>
  join(cloud.dataDir, 'e2b', sandboxId, 'rootfs', projectsRoot);

/** The sandboxes there are now. */
export const sandboxIds = async (cloud: WorldCloud): Promise<string[]> => {
  const found = [];
  const pages = sdkOf(cloud).list();
  while (pages.hasNext) found.push(...(await pages.nextItems()));
  return found.map(({ sandboxId }) => sandboxId).toSorted();
};

interface TimelineEntry {
  checkpointId: string;
  seq: number;
  toolExecutionId: string;
  messageId: string | null;
  reason: string;
  complete: boolean;
  onHeadPath: boolean;
}

interface WorldTimeline {
  session: { epoch: number; headSeq: number; seq: number; sandboxId: string; busy: unknown };
  /** Newest first. */
  checkpoints: TimelineEntry[];
}

const timelineOf = async (cloud: WorldCloud, sessionId: string): Promise<WorldTimeline> => {
  const checkpoints: TimelineEntry[] = [];
  for (let cursor: unknown; ; ) {
    const page = await cloud.invoke('timeline', {
      sessionId,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    });
    checkpoints.push(...(page['checkpoints'] as TimelineEntry[]));
    cursor = page['cursor'];
    if (cursor === undefined) return { session: page['session'] as WorldTimeline['session'], checkpoints };
  }
};

export interface World {
  /** May be replaced by one that was started again on the same data. */
  cloud: WorldCloud;
  sessionId: string;
  /** Moves with a resume. */
  sandboxId: string;
  /** The projects root on this machine. */
  readonly root: string;
  paths: readonly string[];
  fingerprint(): string[];
  timeline(): Promise<WorldTimeline>;
  /** Takes a checkpoint and remembers what the world looked like. `said`: of its message and tool. */
  checkpoint(toolExecutionId: string, messageId?: string, said?: object): Promise<Recorded>;
  /** To a checkpoint, by `requestId`. */
  rollback(requestId: string, checkpointId: string): Promise<Record<string, unknown>>;
}

export interface Recorded {
  checkpointId: string;
  looks: string[];
}

/** A session in a sandbox of its own, or over `mount`, a directory of this machine. */
export const openWorld = async (
  cloud: WorldCloud,
  options: {
    sessionId?: string;
    paths?: readonly string[];
    mount?: string;
    settings?: Record<string, unknown>;
  } = {},
): Promise<World> => {
  const { sessionId = 's1', paths = REPOSITORIES, mount } = options;
  const volumeMounts = mount === undefined ? undefined : { [SANDBOX_ROOT]: mount };
  const { sandboxId } = await sdkOf(cloud).create({ timeoutMs: 3_600_000, volumeMounts });
  const first = rootOf(cloud, sandboxId);
  if (mount === undefined) {
    await mkdir(first, { recursive: true });
    createRepositories(first, paths);
  }
  await cloud.invoke('start-session', {
    sessionId,
    sandboxId,
    projectsRoot: SANDBOX_ROOT,
    ...options.settings,
  });
  const world: World = {
    cloud,
    sessionId,
    sandboxId,
    paths,
    get root() {
      return realpathSync(rootOf(world.cloud, world.sandboxId));
    },
    fingerprint: () => fingerprint(world.root, world.paths),
    timeline: () => timelineOf(world.cloud, sessionId),
    checkpoint: async (toolExecutionId, messageId = toolExecutionId, said = {}) => {
      const input = { sessionId, messageId, toolExecutionId, reason: 'before-tool', ...said };
      const { checkpointId } = await world.cloud.invoke('checkpoint', input);
      return { checkpointId: String(checkpointId), looks: world.fingerprint() };
    },
    rollback: (requestId, checkpointId) =>
      world.cloud.invoke('rollback', { sessionId, requestId, checkpointId }),
  };
  return world;
};
