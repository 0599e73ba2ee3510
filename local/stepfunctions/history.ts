/**
 * Shows and counts the engine's events as GetExecutionHistory does. For a task the service has five events,
 * where the engine has two.
 */
import type { TaskResources } from './definition.ts';
import { MAX_HISTORY_EVENTS } from './limits.ts';

interface Failed {
  error?: string;
  cause?: string;
}

export interface HistoryEvent {
  id: number;
  previousEventId: number;
  /** Unix seconds, with a fraction. */
  timestamp: number;
  type: string;
  stateEnteredEventDetails?: { name: string; input?: string };
  stateExitedEventDetails?: { name: string; output?: string };
  executionFailedEventDetails?: Failed;
  taskFailedEventDetails?: { resourceType: string; resource: string } & Failed;
  taskTimedOutEventDetails?: { resourceType: string; resource: string } & Failed;
}

export interface EngineEvent {
  type: string;
  timestamp: number;
  state?: { name: string; type: string; input?: unknown; output?: unknown };
  Error?: string;
  Cause?: unknown;
}

type Shown = Omit<HistoryEvent, 'id' | 'previousEventId' | 'timestamp'>;

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/**
 * The service's own events of a Lambda task, for one attempt. A task that waits for a token is also
 * submitted.
 */
const attempt = (resource: string | undefined): Shown[] => [
  { type: 'TaskScheduled' },
  { type: 'TaskStarted' },
  ...(resource?.endsWith('.waitForTaskToken') === true ? [{ type: 'TaskSubmitted' }] : []),
];

const failureOf = (event: EngineEvent): Failed => ({
  ...(event.Error === undefined ? {} : { error: event.Error }),
  cause: text(event.Cause),
});

const taskFailure = (event: EngineEvent, resource: string): Shown => {
  const details = { resourceType: resource.split(':').at(-2) ?? '', resource, ...failureOf(event) };
  return event.Error === 'States.Timeout'
    ? { type: 'TaskTimedOut', taskTimedOutEventDetails: details }
    : { type: 'TaskFailed', taskFailedEventDetails: details };
};

export const createHistory = (tasks: TaskResources) => {
  const events: HistoryEvent[] = [];
  /** The task of this state failed, and a Catch handled it: the state is left without having succeeded. */
  let caught = false;

  const shown = (event: EngineEvent): Shown[] => {
    const { state } = event;
    const name = state?.name ?? '';
    const isTask = state?.type === 'Task';
    switch (event.type) {
      case 'StateEntered': {
        const entered = {
          type: `${state?.type ?? ''}StateEntered`,
          stateEnteredEventDetails: { name, input: text(state?.input) },
        };
        return [entered, ...(isTask ? attempt(tasks.get(name)) : [])];
      }
      case 'StateRetried':
        return attempt(tasks.get(name));
      case 'StateFailed':
        return isTask ? [taskFailure(event, tasks.get(name) ?? '')] : [];
      case 'StateCaught':
        caught = true;
        return [];
      case 'StateExited': {
        const succeeded = isTask && !caught ? [{ type: 'TaskSucceeded' }] : [];
        caught = false;
        const details = { name, output: text(state?.output) };
        return [...succeeded, { type: `${state?.type ?? ''}StateExited`, stateExitedEventDetails: details }];
      }
      case 'ExecutionFailed':
        return [{ type: event.type, executionFailedEventDetails: failureOf(event) }];
      default:
        return [{ type: event.type }];
    }
  };

  const push = (one: Shown, timestamp: number): void => {
    const id = events.length + 1;
    events.push({ id, previousEventId: id - 1, timestamp: timestamp / 1000, ...one });
  };

  return {
    events,
    /** False when there is only room left for the execution's end. */
    add: (event: EngineEvent): boolean => {
      const ends = event.type.startsWith('Execution');
      for (const one of shown(event)) {
        if (!ends && events.length >= MAX_HISTORY_EVENTS - 1) return false;
        push(one, event.timestamp);
      }
      return true;
    },
    /** The service ended the execution, which the engine does not know. */
    fail: (failure: { error: string; cause: string }): void => {
      push({ type: 'ExecutionFailed', executionFailedEventDetails: failure }, Date.now());
    },
  };
};
