/**
 * `npm run test:cloud`: deploys the stack with `cdk deploy` onto an independent emulator of AWS with IAM enforced,
 * uses it, updates it, destroys it, and deploys and uses it again. It fetches the emulator from PyPI once. Where
 * Python is missing it says so and ends well, unless WALKBACK_CLOUD=required.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Walkback } from '../../client/walkback.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { startRefundServices } from '../../examples/refund/services/server.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import { startE2b } from '../../local/e2b/server.ts';
import { ACCOUNT, type Emulator, findEmulator, REGION, startEmulator } from './emulator.ts';
import { rootClient, userWith } from './people.ts';
import { prepareStack, type Stack } from './stack.ts';
import { checkpointStory, type People, refundStory } from './stories.ts';

const E2B_KEY = 'key-of-the-sandboxes';
const STRIPE_KEY = 'sk_test_cloud';

const say = (text: string): void => void process.stdout.write(`test:cloud: ${text}\n`);

const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  const answer = await work();
  say(`${what} (${Math.round((performance.now() - began) / 1000)} s)`);
  return answer;
};

const keepSecrets = async ({ url }: Emulator): Promise<void> => {
  const credentials = { accessKeyId: ACCOUNT, secretAccessKey: 'unused' };
  const secrets = new SecretsManagerClient({ endpoint: url, region: REGION, credentials });
  for (const [Name, SecretString] of [
    ['walkback/e2b-api-key', E2B_KEY],
    ['walkback/http-tool', 'secret-of-http-tools'],
  ] as const) {
    await secrets.send(new CreateSecretCommand({ Name, SecretString }));
  }
};

const run = async (python: string, directory: string, cleanUp: AsyncDisposableStack): Promise<void> => {
  let refusesMail = false;
  const services = await startRefundServices({ faults: { refuseMail: () => refusesMail } });
  cleanUp.defer(() => services.close());
  const dataDir = join(directory, 'e2b');
  const sandboxes = await startE2b({ dataDir, apiKey: E2B_KEY });
  cleanUp.defer(() => sandboxes.close());
  const emulator = await timed('the emulator runs', () => startEmulator(python, directory));
  cleanUp.defer(() => emulator.stop());
  await keepSecrets(emulator);
  const variables = {
    E2B_API_URL: sandboxes.url,
    E2B_SANDBOX_URL: sandboxes.url,
    REFUND_SERVICES_URL: services.url,
    REFUND_STRIPE_KEY: STRIPE_KEY,
  };
  const stack: Stack = await timed('synthesised', () => prepareStack(emulator, directory, variables));
  for (const line of stack.told) say(line);
  await timed('bootstrapped', () => stack.bootstrap());

  const use = async (outputs: Readonly<Record<string, string>>, round: string): Promise<void> => {
    const policyOf = (name: string): string => {
      const arn = outputs[name];
      if (arn === undefined) throw new Error(`the stack has no output ${name}`);
      return arn;
    };
    const as = async (name: string, policy: string) =>
      new Walkback({ client: await userWith(emulator, `${round}-${name}`, policyOf(policy)) });
    const people: People = {
      agent: await as('agent', 'AgentBackendPolicy'),
      reviewer: await as('reviewer', 'ReviewerPolicy'),
      finance: await as('finance', 'FinancePolicy'),
    };
    const administrator = new Walkback({ client: rootClient(emulator) });
    await administrator.invoke('put-catalog', {
      tools: refundManifests(servicesAt(services.url, STRIPE_KEY, fetch), 'walkback-tool-refund'),
      definitions: refundDefinitions,
    });
    await timed(`${round}: the checkpoint story holds`, () =>
      checkpointStory(people.agent, { url: sandboxes.url, apiKey: E2B_KEY, dataDir }),
    );
    await timed(`${round}: four refunds end as they must, and the ledger agrees with the provider`, () =>
      refundStory(people, services.world, (refuses) => (refusesMail = refuses), round),
    );
  };

  await use(await timed('deployed', () => stack.deploy()), 'first');
  stack.change(({ Resources }) => {
    for (const { Type, Properties } of Object.values(Resources)) {
      if (Type === 'AWS::Lambda::Function' && Properties !== undefined) Properties['MemorySize'] = 1024;
    }
  });
  await use(await timed('updated', () => stack.deploy()), 'updated');
  await timed('destroyed', () => stack.destroy());
  await use(await timed('deployed again', () => stack.deploy()), 'again');
};

// What was started ends with this process, also when it is told to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const found = findEmulator();
if ('reason' in found) {
  say(`SKIPPED: ${found.reason}. The stack was not deployed onto an emulator.`);
  process.exitCode = process.env['WALKBACK_CLOUD'] === 'required' ? 1 : 0;
} else {
  const directory = await mkdtemp(join(tmpdir(), 'walkback-cloud-'));
  try {
    await using cleanUp = new AsyncDisposableStack();
    await run(found.python, directory, cleanUp);
    say('everything held');
  } catch (error) {
    process.exitCode = 1;
    say(
      `FAILED; logs are in ${directory}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  if (process.exitCode !== 1) await rm(directory, { recursive: true, force: true });
}
