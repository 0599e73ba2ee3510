/** What a message is called for a person. */
import { printableLine } from '../../present/text.ts';
import { truncate } from '../terminal/text.ts';

export type LabelOf = (messageId: string) => string;

const HOST_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const MOST_TITLE = 48;

/** Whether a host made this id. It tells a person nothing, and checkpoints have shorter ids for commands. */
export const isHostId = (messageId: string): boolean => HOST_ID.test(messageId);

/** A title in quotes. Whatever the person wrote stays on its line and moves no cursor. */
export const quotedTitle = (title: string): string => `“${truncate(printableLine(title), MOST_TITLE)}”`;

/** What the person wrote, where the id says nothing; else the id. */
export const messageLabel = (messageId: string, title: string | undefined): string =>
  title === undefined || title === '' || !isHostId(messageId) ? messageId : quotedTitle(title);
