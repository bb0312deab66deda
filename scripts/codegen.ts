import { dispatch, processOutput } from '../src/cli/dispatch.js';

// The command `stepwright codegen`, run from source.
process.exitCode = await dispatch(['codegen', ...process.argv.slice(2)], processOutput);
