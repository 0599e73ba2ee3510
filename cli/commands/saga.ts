import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addSagaAnswers } from './saga-answer.ts';
import { addSagaList } from './saga-list.ts';
import { addSagaOperations } from './saga-operate.ts';
import { addSagaRetry } from './saga-retry.ts';
import { addSagaShow } from './saga-show.ts';
import { addSagaStart } from './saga-start.ts';
import { addSagaClose, addSagaPark, addSagaSubmit } from './saga-submit.ts';
import { addSagaUndo } from './saga-undo.ts';

export const defineSaga = (saga: Command, app: App): void => {
  addSagaStart(saga, app);
  addSagaSubmit(saga, app);
  addSagaPark(saga, app);
  addSagaClose(saga, app);
  addSagaShow(saga, app);
  addSagaAnswers(saga, app);
  addSagaOperations(saga, app);
  addSagaRetry(saga, app);
  addSagaUndo(saga, app);
  addSagaList(saga, app);
};
