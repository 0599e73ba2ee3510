/** Words for how far long work is, the same in command and console. */
import type { Progress } from '../contract/checkpoint-answers.ts';
import { formatBytes } from './text.ts';

const counted = new Intl.NumberFormat('en');

/** `12,000 of 100,000 files read`, or bytes in the same way. */
export const progressWords = ({ doing, done, of }: Progress): string => {
  const share = (words: (number: number) => string): string =>
    of === undefined ? words(done) : `${words(done)} of ${words(of)}`;
  const files = (): string => `${share((number) => counted.format(number))} files`;
  const bytes = (): string => share(formatBytes);
  switch (doing) {
    case 'files':
      return `${files()} read`;
    case 'written':
      return `${files()} written`;
    case 'verified':
      return `${files()} verified`;
    case 'bytes':
      return `${bytes()} of large files`;
    case 'packed':
      return `${bytes()} packed`;
    case 'upload':
      return `sending ${formatBytes(of ?? done)}`;
    case 'download':
      return `${bytes()} fetched`;
    case 'unpacked':
      return `${bytes()} unpacked`;
  }
};
