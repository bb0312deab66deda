// @vitest-environment happy-dom
import mermaid from 'mermaid';
import { expect, test } from 'vitest';
import { inferOrder } from '../../../src/infer/infer.js';
import { inferenceMermaid } from '../../../src/infer/print-inference.js';
import { cases } from './cases.js';

test.each(Object.entries(cases))("Mermaid's parser reads the chart of %s", async (_name, tools) => {
  await expect(mermaid.parse(inferenceMermaid(inferOrder(tools)))).resolves.toBeTruthy();
});
