#!/usr/bin/env node
import { dispatch } from './dispatch.js';
import { processOutput } from './process-output.js';

process.exitCode = await dispatch(process.argv.slice(2), processOutput);
