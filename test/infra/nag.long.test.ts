/** The same, with the template of everything an embedder may choose validated, and its findings. */
import '../support/after-infra.ts';
import './nag.test.ts';
