import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addSessionEnd } from './session-end.ts';
import { addSessionList } from './session-list.ts';
import { addSessionStart } from './session-start.ts';

export const defineSession = (session: Command, app: App): void => {
  addSessionStart(session, app);
  addSessionList(session, app);
  addSessionEnd(session, app);
};
