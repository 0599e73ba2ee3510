/** The conditions of this project's writes, named, so that a write reads like a sentence. */

export interface Condition {
  expression: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

export const isNew: Condition = { expression: 'attribute_not_exists(pk)' };
export const hasVersion = (version: number): Condition => ({
  expression: '#version = :expectedVersion',
  names: { '#version': 'version' },
  values: { ':expectedVersion': version },
});
export const hasEpoch = (epoch: number): Condition => ({
  expression: '#epoch = :expectedEpoch',
  names: { '#epoch': 'epoch' },
  values: { ':expectedEpoch': epoch },
});
export const isOpen: Condition = {
  expression: 'attribute_exists(pk) AND NOT #phase IN (:done, :failed)',
  names: { '#phase': 'phase' },
  values: { ':done': 'done', ':failed': 'failed' },
};
export const hasAttempt = (attempt: number): Condition => ({
  expression: '#attempt = :expectedAttempt',
  names: { '#attempt': 'attempt' },
  values: { ':expectedAttempt': attempt },
});
/** Of waits in order, each with its attempts: what is there is no later one. */
export const notOfLater = (wait: { generation: number; enteredMs: number; retry: number }): Condition => ({
  expression:
    'attribute_not_exists(pk) OR #generation < :generation OR (#generation = :generation AND ' +
    '(#entered < :entered OR (#entered = :entered AND #retry <= :retry)))',
  names: { '#generation': 'generation', '#entered': 'enteredMs', '#retry': 'retry' },
  values: { ':generation': wait.generation, ':entered': wait.enteredMs, ':retry': wait.retry },
});

/** A journal whose attempt has not let go of it. */
export const isHeld: Condition = { expression: 'attribute_exists(heldUntilMs)' };

export const and = (...conditions: Condition[]): Condition => ({
  expression: conditions.map(({ expression }) => `(${expression})`).join(' AND '),
  names: Object.assign({}, ...conditions.map(({ names }) => names ?? {})),
  values: Object.assign({}, ...conditions.map(({ values }) => values ?? {})),
});

/** A condition as the members of a put. */
export const conditionInput = (condition?: Condition) =>
  condition && {
    ConditionExpression: condition.expression,
    ...(condition.names && { ExpressionAttributeNames: condition.names }),
    ...(condition.values && { ExpressionAttributeValues: condition.values }),
  };
