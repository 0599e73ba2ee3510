/**
 * The AI SDK (`ai` 7): its tools are objects with `execute`, and that is what is wrapped. Calls that a person approved run before
 * the loop and its callbacks, and errors of callbacks are swallowed, so neither is a place for a checkpoint. Give the host the
 * run's signal too (`abortSignal: run.signal`): it ends the loop when somebody rolled the session back.
 */
export { checkpointed } from '../checkpointed.ts';
