import { walkbackPlugin } from '../../client/integrations/opencode.ts';

export const Undo = walkbackPlugin();
