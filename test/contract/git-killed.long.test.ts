/** The same test, killed at many more calls. */
import './git-killed.test.ts';
