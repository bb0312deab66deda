import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { draftSpec } from '../../../src/infer/draft-spec.js';
import { planFor } from '../../../src/infer/goal.js';
import { inferOrder } from '../../../src/infer/infer.js';
import { inferenceMermaid, inferenceText, planText } from '../../../src/infer/print-inference.js';
import { expectGolden, goldenFiles } from '../golden.js';
import { cases } from './cases.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

describe('how an inference is printed', () => {
  test.each(Object.entries(cases))('%s', (name, tools) => {
    const inference = inferOrder(tools);
    const plans = ['book a flight', 'pay\n1. fake'].map((goal) => planText(planFor(goal, tools, [])));
    const texts = [
      inferenceText(inference),
      inferenceMermaid(inference),
      draftSpec(tools, inference),
      ...plans,
    ];
    expectGolden(`${folder}${name}.txt`, texts.join('\n'));
  });

  test('every golden file belongs to a case', () => {
    expect(goldenFiles(folder).map((file) => basename(file, '.txt'))).toEqual(Object.keys(cases).sort());
  });
});
