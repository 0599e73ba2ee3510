import type { SagaStatus, SagaSummary } from '../../../contract/saga-answers.ts';
import type { ListSagasInput } from '../../../contract/saga-inputs.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { stepCountOf } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaState } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';
import { daysToReview } from './catalog.ts';

const ALL: readonly SagaStatus[] = [
  'COMPENSATION_FAILED',
  'AWAITING',
  'PARKED',
  'COMPENSATING',
  'PAUSED',
  'RUNNING',
  'COMPENSATED',
  'COMPLETED',
];
const DEFAULT_LIMIT = 50;

/** A step that was rewound and not started again is not counted. */
const startedSteps = ({ effects, epoch, cursor, phase }: SagaState): number =>
  epoch === 0 || phase === 'undo'
    ? new Set(effects.map(({ step }) => step)).size
    : Math.max(cursor, ...effects.filter((one) => one.epoch === epoch).map(({ step }) => step + 1));

const summary = (head: SagaHead): SagaSummary => ({
  sagaId: head.sagaId,
  status: head.state.status,
  definition: head.definition ?? null,
  started: startedSteps(head.state),
  steps: stepCountOf(head.state),
  failure: head.state.failure === null ? null : head.state.failure.error.name,
  requestedBy: head.requestedBy,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt,
});

/**
 * Sagas of one status, or of all: first those that need a person, and among them the longest in their
 * status.
 */
export const createListSagas =
  ({ store }: { store: SagaStore }) =>
  async ({ status, limit = DEFAULT_LIMIT, cursor }: ListSagasInput) => {
    if (status !== undefined) {
      const page = await store.listHeadsByStatus(status, limit, cursor);
      return {
        sagas: page.items.map(summary),
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
      };
    }
    const sagas: SagaSummary[] = [];
    for (const one of ALL) {
      if (sagas.length >= limit) break;
      const page = await store.listHeadsByStatus(one, limit - sagas.length);
      sagas.push(...page.items.map(summary));
    }
    return { sagas };
  };

/** The newest version of every tool and template, and how long a template has until its review. */
export const createListCatalog =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async () => {
    const [tools, definitions] = await Promise.all([store.listTools(), store.listDefinitions()]);
    const now = clock.now();
    return {
      tools: tools.map(
        ({ name, version, effect, description, functionName, endpoint, compensation, probe }) => ({
          name,
          version,
          effect,
          description,
          functionName,
          /** The endpoint of an HTTP tool. Its function only passes calls on. */
          endpoint: endpoint ?? null,
          compensator: compensation?.name ?? null,
          probe,
        }),
      ),
      definitions: definitions.map((definition) => ({
        name: definition.name,
        version: definition.version,
        description: definition.description,
        steps: definition.plan.steps.map(({ id }) => id),
        reviewBy: definition.reviewBy,
        daysToReview: daysToReview(definition, now),
      })),
    };
  };
