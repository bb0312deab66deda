#!/usr/bin/env node
import { outliveReaders } from './broken-output.js';
import { dispatch, processOutput, reportInternal } from './dispatch.js';

process.on('uncaughtException', (error) => {
  reportInternal(error, processOutput);
  process.exit(3);
});
outliveReaders();

process.exitCode = await dispatch(process.argv.slice(2), processOutput);
