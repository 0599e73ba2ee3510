/**
 * The AI SDK (`ai` 7): its tools are objects with `execute`, and these are wrapped. There are two other
 * places, but neither suits a checkpoint: calls that a person approved run before the loop and its callbacks,
 * and errors of callbacks are swallowed. Give the host the run's signal too (`abortSignal: run.signal`): it
 * ends the loop when somebody rolls the session back.
 */
export { checkpointed } from '../checkpointed.ts';
