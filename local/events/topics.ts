/**
 * The topics of the template, and how each answers: a test or a rehearsal makes one refuse
 * (`PUT /local/topics`). It is as the template says again when the cloud starts the next time.
 */

/** `deleted` and `denied` refuse messages, as SNS refuses them then. */
export const TOPIC_STATES = ['there', 'deleted', 'denied'] as const;
type TopicState = (typeof TOPIC_STATES)[number];

export interface Topics {
  /** A topic that is not in the template is deleted. */
  stateOf(topicArn: string): TopicState;
  /** Answers the ARNs of the topics that were set: the one of this ARN, or all. */
  set(state: TopicState, topicArn?: string): string[];
}

export const createTopics = (topicArns: readonly string[]): Topics => {
  const states = new Map<string, TopicState>(topicArns.map((arn) => [arn, 'there']));
  return {
    stateOf: (topicArn) => states.get(topicArn) ?? 'deleted',
    set: (state, topicArn) => {
      const found = topicArns.filter((arn) => topicArn === undefined || arn === topicArn);
      for (const arn of found) states.set(arn, state);
      return found;
    },
  };
};
