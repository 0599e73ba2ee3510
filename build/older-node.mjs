// What the command uses and Node 20 and 22 do not have, as older-node.d.ts declares it. Loaded only where something is missing.
import 'core-js/actual/array/from-async.js';
import 'core-js/actual/async-disposable-stack/index.js';
import 'core-js/actual/map/group-by.js';
import 'core-js/actual/promise/try.js';
import 'core-js/actual/promise/with-resolvers.js';
import 'core-js/actual/set/difference.js';
import 'core-js/actual/set/union.js';
