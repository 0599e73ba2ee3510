/** The engine's events as GetExecutionHistory shows them. */
export interface HistoryEvent {
  id: number;
  previousEventId: number;
  /** Unix seconds, with a fraction. */
  timestamp: number;
  type: string;
  stateEnteredEventDetails?: { name: string; input?: string };
  stateExitedEventDetails?: { name: string; output?: string };
  executionFailedEventDetails?: { error?: string; cause?: string };
  taskFailedEventDetails?: { resourceType: string; resource: string; error?: string; cause?: string };
}

export interface EngineEvent {
  type: string;
  timestamp: number;
  state?: { name: string; type: string; input?: unknown; output?: unknown };
  Error?: string;
  Cause?: unknown;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

export const toHistoryEvent = (event: EngineEvent, id: number): HistoryEvent => {
  const base = { id, previousEventId: id - 1, timestamp: event.timestamp / 1000 };
  const { state } = event;
  const failed = { ...(event.Error === undefined ? {} : { error: event.Error }), cause: text(event.Cause) };
  switch (event.type) {
    case 'StateEntered':
      return {
        ...base,
        type: `${state?.type ?? ''}StateEntered`,
        stateEnteredEventDetails: { name: state?.name ?? '', input: text(state?.input) },
      };
    case 'StateExited':
      return {
        ...base,
        type: `${state?.type ?? ''}StateExited`,
        stateExitedEventDetails: { name: state?.name ?? '', output: text(state?.output) },
      };
    case 'StateFailed':
      return {
        ...base,
        type: 'TaskFailed',
        taskFailedEventDetails: { resourceType: 'lambda', resource: state?.name ?? '', ...failed },
      };
    case 'ExecutionFailed':
      return { ...base, type: event.type, executionFailedEventDetails: failed };
    default:
      return { ...base, type: event.type };
  }
};
