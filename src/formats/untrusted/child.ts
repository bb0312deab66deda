import { defined } from '../../graph/defined.js';
import { lowerSpec } from '../spec-files.js';
import { UNTRUSTED_LIMITS } from '../text/reading.js';
import type { ChildRequest, ChildResponse } from './parse-untrusted.js';

/** The process that reads one text which others wrote. */

process.on('disconnect', () => process.exit(1));
process.once('message', (request) => void answer(request as ChildRequest));
process.send?.('ready');

async function answer({ text, file, format }: ChildRequest): Promise<void> {
  const { reports, document } = await lowerSpec(text, { file, format, limits: UNTRUSTED_LIMITS });
  const { diagnostics } = reports;
  const response: ChildResponse = { diagnostics, ...defined({ document }) };
  process.send?.(response, () => process.exit(0));
}
