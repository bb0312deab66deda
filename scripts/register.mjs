// Lets Node run this repository's TypeScript: transpile only, types are checked by `npm run types`.
import { register } from 'node:module';

process.env.TS_NODE_TRANSPILE_ONLY = 'true';
register('ts-node/esm', import.meta.url);
