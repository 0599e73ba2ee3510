/**
 * Step Functions of the embedded cloud: the template's machines, which call the cloud's own functions and
 * topics.
 */
import { join } from 'node:path';
import type { Log } from '../../core/shared/surroundings.ts';
import type { Activity } from '../activity.ts';
import type { EventJournal } from '../events/journal.ts';
import { publishMessage } from '../events/publish.ts';
import type { Topics } from '../events/topics.ts';
import { inBackground } from '../in-background.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import { NotBegun } from '../lambda/own-call.ts';
import { type Endpoint, listenApp, type ServiceAddress } from '../listen.ts';
import type { CloudPlan } from '../plan.ts';
import { type AwsCredentials, createVerifier, signedRequest } from '../sigv4.ts';
import { createStepFunctionsApi } from './api.ts';
import { createExecutions, type Execution } from './executions.ts';
import type { TaskServices } from './tasks.ts';

interface Parts {
  dataDir: string;
  plan: CloudPlan;
  credentials: AwsCredentials;
  functions: LocalFunctions;
  journal: EventJournal;
  topics: Topics;
  activity: Activity;
  log: Log;
}

/** A refusal of a service, as an SDK throws it. */
class Refused extends Error {
  override readonly name: string;
  readonly $metadata = { httpStatusCode: 400 };

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const servicesOf = ({ functions, journal, topics }: Parts): TaskServices => ({
  invoke: async (functionName, payload, begins) => {
    const fn = functions.find(functionName);
    if (fn === undefined)
      throw new Refused('ResourceNotFoundException', `Function not found: ${functionName}`);
    // Passed as JSON, as over the wire, so that no object is shared with a function.
    const event: unknown = JSON.parse(JSON.stringify(payload ?? null));
    const result = await functions.invoke(fn, event, { begins }).catch((error: unknown) => {
      throw error instanceof NotBegun ? new Refused(error.name, error.message) : error;
    });
    return { payload: JSON.parse(result.payload), functionError: result.failed };
  },
  publish: async (message) => {
    const sent = await publishMessage(journal, topics, message);
    if ('code' in sent) throw new Refused(`${sent.code}Exception`, sent.message);
    return sent;
  },
});

/** Reports to the targets of rules on the status of executions, like EventBridge. */
const tellOf =
  ({ plan, functions, log }: Parts) =>
  (execution: Execution): void => {
    const { executionArn, stateMachineArn, name, status, input } = execution;
    const event = { source: 'aws.states', detail: { executionArn, stateMachineArn, name, status, input } };
    for (const rule of plan.rules) {
      if (rule.kind !== 'execution-status' || !rule.statuses.includes(status)) continue;
      for (const functionName of rule.functionNames) {
        const fn = functions.find(functionName);
        if (fn === undefined) continue;
        inBackground(log, `telling ${functionName} of an execution`, async () => {
          const result = await functions.invoke(fn, event);
          if (result.failed) log.warn(`${functionName} failed`, { payload: result.payload });
        });
      }
    }
  };

export const startStepFunctions = async (parts: Parts, place: ServiceAddress): Promise<Endpoint> => {
  const executions = await createExecutions({
    machines: parts.plan.stateMachines,
    services: servicesOf(parts),
    journalFile: join(parts.dataDir, 'stepfunctions', 'executions.jsonl'),
    onBegin: () => parts.activity.begin(),
    onEnd: tellOf(parts),
  });
  const verify = createVerifier({ credentials: parts.credentials, service: 'states' });
  const api = createStepFunctionsApi(executions, (request, body) => verify(signedRequest(request, body)));
  const endpoint = await listenApp(api, place);
  return {
    ...endpoint,
    close: async () => {
      await executions.close();
      await endpoint.close();
    },
  };
};
