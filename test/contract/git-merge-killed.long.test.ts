/** The same test, killed at every second call. */
import './git-merge-killed.test.ts';
