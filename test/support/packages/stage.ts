/** An empty directory of somebody who installed the packages from their tarballs, and the Nodes they may have. */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../../../local/program.ts';
import manifest from '../../../package.json' with { type: 'json' };

const NAMES = ['walkback', 'cli', 'cdk'] as const;
/** What the packages say they run on; 24 is the one that the tests run on. */
const OLDER_NODES = ['20', '22'];
const YARN = '@yarnpkg/cli-dist@4.18.1';

const ran = promisify(execFile);

export interface Stage {
  directory: string;
  tarballs: readonly string[];
  /** By major version: the executable. */
  nodes: ReadonlyMap<string, string>;
  /** Runs a file of the directory on one Node, with nothing of ours in reach. Answers stdout. */
  run(node: string, args: readonly string[]): Promise<string>;
  /** As `run` on Node 24, in a directory that has the client only. */
  runAlone(args: readonly string[]): Promise<string>;
  /** As `run` on Node 24, in a directory where Yarn's Plug'n'Play keeps the packages as archives. */
  runWithYarn(args: readonly string[]): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

const npm = (args: readonly string[], cwd: string) =>
  ran('npm', [...args, '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd,
    maxBuffer: 16 * 1024 ** 2,
  });

const installNode = async (version: string, root: string): Promise<[string, string]> => {
  const directory = join(root, `node-${version}`);
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), '{}');
  // The package takes its binary by a script.
  await npm(['install', `node@${version}`, '--foreground-scripts'], directory);
  return [version, join(directory, 'node_modules/node/bin/node')];
};

/** Client and command as Yarn installs them when nobody says otherwise: no node_modules. Answers the program of Yarn. */
const installWithYarn = async (
  tarballs: readonly string[],
  root: string,
  directory: string,
): Promise<string> => {
  const own = join(root, 'yarn');
  await mkdir(own);
  await writeFile(join(own, 'package.json'), '{}');
  await npm(['install', YARN], own);
  const yarn = join(own, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
  const { stdout } = await ran('npm', ['config', 'get', 'registry'], { cwd: own });
  const registry = new URL(stdout.trim());
  const settings = {
    enableTelemetry: false,
    enableGlobalCache: false,
    enableImmutableInstalls: false,
    npmRegistryServer: registry.href,
    unsafeHttpWhitelist: [registry.hostname],
  };
  const { zod } = manifest.dependencies;
  const dependencies = Object.fromEntries([
    ...['walkback', '@walkback/cli'].map((name, at) => [name, `file:${tarballs[at]}`]),
    ['zod', zod],
  ]);
  await mkdir(directory);
  await writeFile(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'project', type: 'module', private: true, dependencies }),
  );
  await writeFile(join(directory, '.yarnrc.yml'), JSON.stringify(settings));
  await writeFile(join(directory, 'yarn.lock'), '');
  await ran(process.execPath, [yarn, 'install'], { cwd: directory });
  return yarn;
};

/** Whether npm can bring what is not here: without it nothing of this can be tried. */
export const registryAnswers = (): Promise<boolean> =>
  ran('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=10000']).then(
    () => true,
    () => false,
  );

/** Builds the packages, packs them, and installs the tarballs with what their users bring: a compiler and the CDK. */
export const openStage = async (): Promise<Stage> => {
  const root = await mkdtemp(join(tmpdir(), 'walkback-packages-'));
  const dist = join(root, 'dist');
  const directory = join(root, 'project');
  await mkdir(directory);
  await ran(process.execPath, [join(PROJECT, 'build/main.ts'), '--out', dist], { cwd: PROJECT });
  const tarballs: string[] = [];
  for (const name of NAMES) {
    const { stdout } = await npm(['pack', '--pack-destination', root, join(dist, name)], root);
    tarballs.push(join(root, stdout.trim().split('\n').at(-1) ?? ''));
  }
  const { devDependencies } = manifest;
  const brought = ['aws-cdk-lib', 'constructs', 'typescript', '@types/node'] as const;
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  await npm(
    ['install', '--save-exact', ...tarballs, ...brought.map((name) => `${name}@${devDependencies[name]}`)],
    directory,
  );
  const nodes = new Map([['24', process.execPath]]);
  for (const version of OLDER_NODES) nodes.set(...(await installNode(version, root)));
  for (const file of ['example.ts', 'app.mjs'])
    await copyFile(join(import.meta.dirname, file), join(directory, file));
  const runIn = async (cwd: string, home: string, node: string, args: readonly string[]): Promise<string> => {
    const executable = nodes.get(node) ?? '';
    await mkdir(home, { recursive: true });
    // Only what a shell has: the directory of this Node first, so that what a command starts is that one too.
    const env = {
      PATH: [dirname(executable), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      HOME: home,
      NO_COLOR: '1',
    };
    const { stdout } = await ran(executable, [...args], { cwd, env, maxBuffer: 64 * 1024 ** 2 });
    return stdout;
  };
  let yarn: string | undefined;
  return {
    directory,
    tarballs,
    nodes,
    run: (node, args) => runIn(directory, join(root, `home-${node}`), node, args),
    runAlone: async (args) => {
      const alone = join(root, 'alone');
      await mkdir(alone);
      await writeFile(join(alone, 'package.json'), JSON.stringify({ type: 'module', private: true }));
      await npm(['install', tarballs[0] ?? ''], alone);
      await cp(join(directory, 'out'), join(alone, 'out'), { recursive: true });
      return runIn(alone, join(root, 'home-alone'), '24', args);
    },
    runWithYarn: async (args) => {
      const withYarn = join(root, 'with-yarn');
      yarn ??= await installWithYarn(tarballs, root, withYarn);
      await cp(join(directory, 'out'), join(withYarn, 'out'), { recursive: true });
      return runIn(withYarn, join(root, 'home-yarn'), '24', [yarn, ...args]);
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
};
