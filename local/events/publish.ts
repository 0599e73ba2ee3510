/** Publishes one message to a topic, for the SNS API or a state machine. */
import type { EventJournal } from './journal.ts';
import { messageProblem } from './limits.ts';

export interface Message {
  topicArn: string;
  message: string;
  subject?: string;
}

/** The service's error code and message. The SDK adds `Exception` to the code. */
export type Refused = { code: 'InvalidParameter' | 'NotFound'; message: string };

export const publishMessage = async (
  journal: EventJournal,
  topics: readonly string[],
  { topicArn, message, subject }: Message,
): Promise<{ messageId: string } | Refused> => {
  const problem = messageProblem(message, subject);
  if (problem !== undefined) return { code: 'InvalidParameter', message: problem };
  if (!topics.includes(topicArn)) return { code: 'NotFound', message: 'Topic does not exist' };
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
