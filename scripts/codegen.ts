import { dispatch } from '../src/cli/dispatch.js';
import { processOutput } from '../src/cli/process-output.js';

// The command as users have it, run from source.
process.exitCode = await dispatch(['codegen', ...process.argv.slice(2)], processOutput);
