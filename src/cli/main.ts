#!/usr/bin/env node
import { dispatch, reportInternal } from './dispatch.js';
import { processOutput } from './process-output.js';

process.on('uncaughtException', (error) => {
  reportInternal(error, processOutput);
  process.exit(3);
});

process.exitCode = await dispatch(process.argv.slice(2), processOutput);
