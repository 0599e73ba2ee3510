/** Publishes one message to a topic, for the SNS API or a state machine. */
import type { EventJournal } from './journal.ts';
import { messageProblem } from './limits.ts';
import type { Topics } from './topics.ts';

export interface Message {
  topicArn: string;
  message: string;
  subject?: string;
}

/** The service's error code and message. The SDK adds `Exception` to the code. */
export type Refused = { code: 'InvalidParameter' | 'NotFound' | 'AuthorizationError'; message: string };

export const publishMessage = async (
  journal: EventJournal,
  topics: Topics,
  { topicArn, message, subject }: Message,
): Promise<{ messageId: string } | Refused> => {
  const problem = messageProblem(message, subject);
  if (problem !== undefined) return { code: 'InvalidParameter', message: problem };
  const state = topics.stateOf(topicArn);
  if (state === 'deleted') return { code: 'NotFound', message: 'Topic does not exist' };
  if (state === 'denied') {
    const message = `The caller is not authorized to perform: SNS:Publish on resource: ${topicArn}`;
    return { code: 'AuthorizationError', message };
  }
  const [record] = await journal.append([
    {
      kind: 'notification',
      target: topicArn,
      body: message,
      ...(subject !== undefined && { type: subject }),
    },
  ]);
  return { messageId: record?.id ?? '' };
};
