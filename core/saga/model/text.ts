/** Makes texts from outside fit into a column. */
import { clip } from '../../shared/clip.ts';

const CODE = /^[A-Za-z0-9_.-]{1,100}$/;

/** A foreign error as the ledger names it. If its name is not usable, it goes into the message. */
export const errorOf = (name: string, message: string, max: number): { name: string; message: string } =>
  CODE.test(name)
    ? { name, message: clip(message, max) }
    : { name: 'ToolError', message: clip(name === '' ? message : `${name}: ${message}`, max) };

export const hasText = (text: string): boolean => text.trim() !== '';
