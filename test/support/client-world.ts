/** Two real repositories in a directory of this machine, an embedded cloud, and the client on it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Walkback, type WalkbackOptions } from '../../client/index.ts';
import { startTestCloud, type TestCloud } from './cloud.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const git = (cwd: string, ...args: string[]): void => {
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd });
};

export interface ClientWorld extends AsyncDisposable {
  cloud: TestCloud;
  walkback: Walkback;
  /** Holds the repositories `api` and `web`, each with `file.txt`. */
  root: string;
  write(path: string, text: string): void;
  read(path: string): string;
  /** A client whose calls pass a proxy that loses answers. */
  through(plan: Fault[], options?: WalkbackOptions): Promise<{ walkback: Walkback; proxy: FaultProxy }>;
}

export const openClientWorld = async (): Promise<ClientWorld> => {
  await using opening = new AsyncDisposableStack();
  const root = mkdtempSync(join(tmpdir(), 'walkback-client-'));
  opening.defer(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['api', 'web']) {
    const path = join(root, name);
    mkdirSync(path);
    git(path, 'init', '-q', '-b', 'main');
    writeFileSync(join(path, 'file.txt'), 'as it was\n');
    git(path, 'add', '-A');
    git(path, 'commit', '-qm', 'one');
  }
  const cloud = opening.use(await startTestCloud());
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  opening.defer(() => walkback.close());
  const disposal = opening.move();
  return {
    cloud,
    walkback,
    root,
    write: (path, text) => writeFileSync(join(root, path), text),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    through: async (plan, options = {}) => {
      const proxy = disposal.use(await startFaultProxy({ target: cloud.endpoints.lambda, plan }));
      const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
        cloud.environment;
      const faulty = new Walkback({
        endpoint: proxy.url,
        region: 'us-east-1',
        credentials: { accessKeyId, secretAccessKey },
        ...options,
      });
      disposal.defer(() => faulty.close());
      return { walkback: faulty, proxy };
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
};
