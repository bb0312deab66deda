import fc from 'fast-check';
import { type PromptTrace, ProtocolFault, type ToolResult } from 'stepwright/runtime';
import { beforeAll, describe, expect, test } from 'vitest';
import { forbiddenIn, hostileText } from '../../../src/graph/printable-text.fixture.js';
import type { StepwrightServer } from '../../../src/runtime/server/stepwright-server.js';
import { isNightly } from '../../nightly.js';
import { type Part, readTrace } from './read-trace.js';
import { GUIDE, request, world, worldServer } from './world.js';

const RUNS = { numRuns: isNightly ? 40 : 8 };

let server: StepwrightServer;
let log: string[];
beforeAll(() => {
  ({ server, log } = worldServer());
});

/** A visible prefix, so that the text is not blank. */
const said = hostileText.map((text) => `x${text}`);

const headsOf = (parts: readonly Part[]) => parts.map(({ head }) => head);
const valuesOf = (parts: readonly Part[]) =>
  parts.flatMap(({ value }) => (value === undefined ? [] : [value]));
const textIn = ({ content }: Pick<ToolResult, 'content'>) =>
  content.map((block) => ('text' in block ? block.text : '')).join('\n');

function textsOf({ messages }: PromptTrace): string[] {
  return messages.flatMap(({ content }) => (content.type === 'text' ? [content.text] : []));
}

async function traceOf(text: string): Promise<PromptTrace> {
  world.text = text;
  return (await server.getPrompt('world', { text }, request())) as PromptTrace;
}

/** Texts that are the same in every run. Heads of guidance, errors and retries contain untrusted text. */
const shapeOf = (trace: PromptTrace) =>
  headsOf(readTrace(textsOf(trace))).map((head) =>
    head.replace(/^(Say|Error|Attempt \d+ of \d+ failed).*/, '$1'),
  );

describe('a conversation', () => {
  test('has the parts of the run and no others, whatever is said in it', async () => {
    const plain = shapeOf(await traceOf('Ada'));
    expect(plain).toContain('Resource content from world://page');
    expect(plain.filter((head) => head === 'Tool result:\n')).toHaveLength(2);
    await fc.assert(
      fc.asyncProperty(said, async (text) => {
        const trace = await traceOf(text);
        expect(forbiddenIn(textsOf(trace).join('\n'), true)).toEqual([]);
        expect(shapeOf(trace)).toEqual(plain);
        const values = valuesOf(readTrace(textsOf(trace)));
        const wellFormed = JSON.parse(JSON.stringify(text)) as string;
        // The argument, the call and its result, the result of the next one; after the frame the fallback value, the question.
        expect(values.slice(0, 5)).toEqual([
          wellFormed,
          { text: wellFormed },
          { text: wellFormed },
          {},
          wellFormed,
        ]);
        expect(values[6]).toEqual({});
        expect(values.slice(7, 9)).toEqual([wellFormed, `Is it so: ${wellFormed}`]);
      }),
      RUNS,
    );
  });

  test('leaves the files of the author as they are, and encodes what a class reads', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (text) => {
        const trace = await traceOf(text);
        const [guide, page] = trace.messages.flatMap(({ content }) =>
          content.type === 'resource' ? [String(content.resource.text)] : [],
        );
        expect(guide).toBe(GUIDE);
        expect(forbiddenIn(page ?? '', true)).toEqual([]);
        expect(page?.split('\n').length).toBe(text.split('\n').length);
      }),
      RUNS,
    );
  });
});

describe('the text of a run', () => {
  const linesOf = (result: ToolResult) => textIn(result).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).length;
  const flow = async (text: string) => {
    world.text = text;
    const waiting = await server.callTool('w_world', { text }, request());
    const { workflow_id: id, action } = waiting.structuredContent as {
      workflow_id: string;
      action: { action_id: string; parameters: { message: string } };
    };
    const status = await server.callTool('get_workflow_status', { workflow_id: id }, request());
    const unknown = await server.callTool('get_workflow_status', { workflow_id: text }, request());
    const wrong = { workflow_id: id, action_id: text, result: text };
    const refused = await server.callTool('submit_result', wrong, request());
    const misshapen = { workflow_id: id, action_id: action.action_id, result: { [text]: text } };
    const unfit = await server.callTool('submit_result', misshapen, request());
    const answer = { workflow_id: id, action_id: action.action_id, result: text };
    const failed = await server.callTool('submit_result', answer, request());
    const listed = await server.callTool('list_workflows', {}, request());
    return {
      question: action.parameters.message,
      results: [waiting, status, unknown, refused, unfit, failed],
      listed,
    };
  };

  test('has as many lines as it says something, and the question by value', async () => {
    const plain = await flow('Ada');
    expect(plain.results.map((result) => result.isError === true)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    await fc.assert(
      fc.asyncProperty(said, async (text) => {
        const { question, results, listed } = await flow(text);
        expect(question).toBe(`Is it so: ${text}`);
        for (const result of [...results, listed]) expect(forbiddenIn(textIn(result), true)).toEqual([]);
        expect(results.map(linesOf)).toEqual(plain.results.map(linesOf));
      }),
      RUNS,
    );
  });

  test('a question put to a user hides and reorders nothing', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (text) => {
        world.text = text;
        const asked: string[] = [];
        const elicit = async ({ message }: { readonly message: string }) => {
          asked.push(message);
          return { action: 'decline' } as const;
        };
        await server.callTool('w_world', { text }, request({ peer: { elicit } }));
        expect(asked).toHaveLength(1);
        expect(forbiddenIn(asked.join(), true)).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('a direct call', () => {
  test('gives JSON of the same value, text in which nothing hides, and errors of one line', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (text) => {
        world.text = text;
        const echoed = await server.callTool('echo', { text }, request());
        expect(forbiddenIn(textIn(echoed))).toEqual([]);
        expect(JSON.parse(textIn(echoed))).toEqual({ text });
        expect(echoed.structuredContent).toEqual({ text });
        expect(forbiddenIn(textIn(await server.callTool('say', {}, request())), true)).toEqual([]);
        for (const [name, given] of [
          ['fail', {}],
          ['echo', { [text]: text }],
        ] as const) {
          const failed = await server.callTool(name, given, request());
          expect(failed.isError).toBe(true);
          expect(forbiddenIn(textIn(failed))).toEqual([]);
        }
      }),
      RUNS,
    );
  });
});

test('a refusal names what is unknown on one line', async () => {
  await fc.assert(
    fc.asyncProperty(said, async (text) => {
      const requests: readonly (() => unknown)[] = [
        () => server.callTool(text, {}, request()),
        () => server.getPrompt(text, {}, request()),
        () => server.getPrompt('world', { text, [text]: text }, request()),
        () => server.getPrompt('world', { text: { [text]: text } }, request()),
        () => server.readResource(text, request()),
        () =>
          server.complete(
            { kind: 'prompt', name: text },
            { argument: text, value: '', given: {} },
            request(),
          ),
        () =>
          server.complete(
            { kind: 'prompt', name: 'world' },
            { argument: text, value: '', given: {} },
            request(),
          ),
        () =>
          server.complete(
            { kind: 'template', uriTemplate: text },
            { argument: text, value: '', given: {} },
            request(),
          ),
      ];
      for (const each of requests) {
        const fault = await Promise.resolve()
          .then(() => each())
          .catch((error: unknown) => error);
        if (!(fault instanceof ProtocolFault)) throw new Error('it was not refused', { cause: fault });
        expect(forbiddenIn(fault.message)).toEqual([]);
      }
    }),
    RUNS,
  );
});

test('the log has one entry for each error, and none of them looks like several', async () => {
  await fc.assert(
    fc.asyncProperty(said, async (text) => {
      world.text = text;
      log.length = 0;
      await server.callTool('fail', {}, request());
      expect(log).toHaveLength(1);
      expect(forbiddenIn(log.join(), true)).toEqual([]);
      const [first, ...more] = log.join().split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
      expect(first).toMatch(/^tool `fail` threw \(called by a client\): Error: x/);
      expect(more.every((line) => /^[ \t]/.test(line))).toBe(true);
      expect(more.some((line) => line.startsWith('  caused by: Error: because: x'))).toBe(true);
    }),
    RUNS,
  );
});
