#!/usr/bin/env node
import { dispatch, processOutput, reportInternal } from './dispatch.js';

process.on('uncaughtException', (error) => {
  reportInternal(error, processOutput);
  process.exit(3);
});

process.exitCode = await dispatch(process.argv.slice(2), processOutput);
