/** Sagas on the embedded cloud, with the refund example's services on loopback and faults that tests switch. */
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SFNClient,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { expect, vi } from 'vitest';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { SteppedSaga } from '../../contract/saga-answers.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { type RefundServicesServer, startRefundServices } from '../../examples/refund/services/server.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import type { CloudOptions } from '../../local/cloud.ts';
import { loadTemplate, type Template } from '../../local/template.ts';
import { startTestCloud, type TestCloud } from './cloud.ts';

export const STRIPE_KEY = 'sk_test_example';
/** What is sent to a customer. */
const MAIL = { to: 'ada@example.com', refund: 're_1', ticket: 't_1', entry: 'je_1' };
const TOOL_FUNCTION = 'walkback-tool-refund';
const MACHINE = 'arn:aws:states:us-east-1:000000000000:execution:walkback-saga';

/** Short deadlines, so that doubt is settled while a test waits. */
const quick = (manifests: ToolManifest[]): ToolManifest[] =>
  manifests.map((manifest) => ({
    ...manifest,
    timeoutSeconds: 2,
    retry: { maxAttempts: 2, backoffSeconds: 0.1, backoffRate: 1, maxBackoffSeconds: 1 },
    ...(manifest.compensation === undefined
      ? {}
      : {
          compensation: {
            ...manifest.compensation,
            timeoutSeconds: 2,
            retry: { maxAttempts: 2, backoffSeconds: 0.1, backoffRate: 1, maxBackoffSeconds: 1 },
          },
        }),
  }));

/** Their function ends as soon, or the catalog would refuse them. */
export const quickTemplate = async (template?: Template): Promise<Template> => {
  const quicker = structuredClone(template ?? (await loadTemplate()));
  for (const { Properties } of Object.values(quicker.Resources)) {
    if (Properties['FunctionName'] === TOOL_FUNCTION) Properties['Timeout'] = 6;
  }
  return quicker;
};

export const quickCatalog = (url: string) => ({
  tools: quick(refundManifests(servicesAt(url, STRIPE_KEY, fetch), TOOL_FUNCTION)),
  definitions: refundDefinitions,
});

interface SagaFaults {
  refuseMail: boolean;
  closedPeriod: (method: string, externalId: string) => boolean;
  onNetsuite: () => void;
}

export const startSagaServices = async () => {
  const faults: SagaFaults = { refuseMail: false, closedPeriod: () => false, onNetsuite: () => undefined };
  const server = await startRefundServices({
    faults: {
      refuseMail: () => faults.refuseMail,
      netsuite: {
        refuse: () => {
          faults.onNetsuite();
          return false;
        },
        closedPeriod: (method, externalId) => faults.closedPeriod(method, externalId),
      },
    },
  });
  return { server, faults };
};

/** An order, and its payment, for a saga of that id. */
export const addOrder = ({ world }: RefundServicesServer, id: string): void => {
  world.stripe.addPayment(`pi_${id}`, 10_000);
  const order = {
    id,
    paymentIntent: `pi_${id}`,
    amount: 2500,
    customerEmail: 'ada@example.com',
    daysSinceDelivery: 2,
  };
  world.shop.addOrder(order);
};

/** The ledgers of a running cloud. */
export const ledgersOf = (cloud: Pick<TestCloud, 'invoke'>) => {
  const rows = async (sagaId: string) => {
    const answer = await cloud.invoke('query-ledger', { sagaId, limit: 1000 });
    return { rows: answer['entries'] as LedgerRow[], tip: answer['tip'] as { seq: number; hash: string } };
  };
  return {
    rows,
    /** The ledger folds, its chain holds up to the head, and what is pinned beside it is there. */
    isSound: async (sagaId: string): Promise<boolean> => {
      const ledger = await rows(sagaId);
      const entries = ledger.rows.map(fromRow);
      const seen = (await cloud.invoke('describe-saga', { sagaId })) as unknown as Observation;
      const broken = findChainBreak(entries, { seq: ledger.tip.seq, tip: ledger.tip.hash });
      const { evidence } = await cloud.invoke('query-ledger', { sagaId, evidence: true, limit: 1000 });
      expect(evidence, 'nothing differs from what was written').toMatchObject({ findings: [] });
      return broken === undefined && fold(entries).status === seen.status;
    },
  };
};

/** The saga API of a running cloud, as callers see it. */
export const sagaClient = (cloud: TestCloud, server: RefundServicesServer) => {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
    cloud.environment;
  const sfn = new SFNClient({
    region: 'us-east-1',
    endpoint: cloud.endpoints.stepfunctions,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
  const execution = (sagaId: string, generation = 1) =>
    sfn.send(new DescribeExecutionCommand({ executionArn: `${MACHINE}:${sagaId}-g${generation}` }));
  return {
    sfn,
    start: (sagaId: string, definition = 'refund') => {
      addOrder(server, sagaId);
      return cloud.invoke('start-saga', {
        sagaId,
        definition: { name: definition },
        input: { orderId: sagaId },
        requestedBy: 'agent-7',
      });
    },
    /** Starts a saga that waits for the approval of a mail. Answers the hash of the mail. */
    askForMail: async (sagaId: string, requestedBy = 'agent-7'): Promise<string> => {
      addOrder(server, sagaId);
      await cloud.invoke('start-saga', { sagaId, interactive: { onIdle: 'unwind' }, requestedBy });
      const step = { sagaId, stepId: 'mail', tool: 'send_customer_confirmation', arguments: MAIL };
      const asked = (await cloud.invoke('submit-step', step)) as unknown as SteppedSaga;
      expect(asked.step.status).toBe('awaiting');
      return asked.saga?.awaiting?.argumentsHash ?? '';
    },
    observe: async (sagaId: string, waitSeconds = 40) =>
      (await cloud.invoke('describe-saga', { sagaId, waitSeconds })) as unknown as Observation,
    ...ledgersOf(cloud),
    execution,
    /** A saga that has ended may still write whether people were told, until its executions have ended too. */
    executionsEnded: async (sagaId: string): Promise<void> => {
      const status = async (generation: number) =>
        (await execution(sagaId, generation).catch(() => undefined))?.status;
      for (let generation = 1; (await status(generation)) !== undefined; generation += 1) {
        const ended = async () => expect(await status(generation)).not.toBe('RUNNING');
        await vi.waitFor(ended, { timeout: 120_000, interval: 100 });
      }
    },
    history: async (sagaId: string, generation = 1) =>
      (
        await sfn.send(
          new GetExecutionHistoryCommand({ executionArn: `${MACHINE}:${sagaId}-g${generation}` }),
        )
      ).events ?? [],
    stop: async (sagaId: string, generation = 1) =>
      sfn.send(new StopExecutionCommand({ executionArn: `${MACHINE}:${sagaId}-g${generation}` })),
    standing: () => ({
      refunds: server.world.stripe.state.refunds.filter(({ status }) => status !== 'canceled').length,
      tickets: server.world.zendesk.state.tickets.filter(({ status }) => status !== 'closed').length,
      booked: server.world.netsuite.state.entries.reduce((sum, { amount }) => sum + amount, 0),
      mails: server.world.shop.state.mails.length,
    }),
  };
};

export const startSagaCloud = async ({
  template,
  ...options
}: Pick<CloudOptions, 'template' | 'notify'> = {}) => {
  const { server, faults } = await startSagaServices();
  const cloud = await startTestCloud({ ...options, template: await quickTemplate(template) });
  cloud.reconfigure({ REFUND_SERVICES_URL: server.url, REFUND_STRIPE_KEY: STRIPE_KEY });
  await cloud.invoke('put-catalog', quickCatalog(server.url));
  const client = sagaClient(cloud, server);
  return {
    cloud,
    server,
    faults,
    ...client,
    close: async () => {
      client.sfn.destroy();
      await cloud.close();
      await server.close();
    },
  };
};

export type SagaCloud = Awaited<ReturnType<typeof startSagaCloud>>;
