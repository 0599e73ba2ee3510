/** Words for how far a long capture is, the same in command and console. */
import type { Progress } from '../contract/checkpoint-answers.ts';
import { formatBytes } from './text.ts';

const counted = new Intl.NumberFormat('en');

/** `12,000 of 100,000 files read`, or what the sandbox sends. */
export const progressWords = ({ doing, done, of }: Progress): string => {
  if (doing === 'upload') return `sending ${formatBytes(of ?? done)}`;
  const files = of === undefined ? counted.format(done) : `${counted.format(done)} of ${counted.format(of)}`;
  return `${files} files read`;
};
