/** The same tests, with all of their cases. */
import './git-beside.test.ts';
import './git-come-and-go.test.ts';
import './git-company.test.ts';
import './git-ignored-since.test.ts';
import './git-late.test.ts';
import './git-left-out.test.ts';
import './git-many-at-once.test.ts';
import './git-ownership.test.ts';
import './git-permissions.test.ts';
import './git-pipes.test.ts';
import './git-placing.test.ts';
import './git-symrefs.test.ts';
import './git-unseen.test.ts';
import './git-verify.test.ts';
import './git-warnings.test.ts';
