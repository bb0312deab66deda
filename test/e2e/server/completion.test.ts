import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusal, speaking } from './connected.js';

const prompt = (name: string) => ({ type: 'ref/prompt', name }) as const;
const template = (uri: string) => ({ type: 'ref/resource', uri }) as const;

async function values(
  ref: ReturnType<typeof prompt> | ReturnType<typeof template>,
  name: string,
  value: string,
  given?: Record<string, string>,
) {
  const { client } = await speaking();
  const context = given === undefined ? {} : { context: { arguments: given } };
  const { completion } = await client.complete({ ref, argument: { name, value }, ...context });
  return completion;
}

const found = (...expected: string[]) => ({ values: expected, total: expected.length, hasMore: false });

describe('an argument of a prompt', () => {
  test('with few values is completed from them, whatever their case', async () => {
    expect(await values(prompt('code-review'), 'language', 'T')).toStrictEqual(found('ts', 'TypeScript'));
    expect(await values(prompt('code-review'), 'language', '')).toStrictEqual(
      found('ts', 'TypeScript', 'rust'),
    );
    expect(await values(prompt('code-review'), 'aloud', 'F')).toStrictEqual(found('false'));
  });

  test('with many values is not', async () => {
    expect(await values(prompt('code-review'), 'strictness', '1')).toStrictEqual(found());
    expect(await values(prompt('explain'), 'code', 'x')).toStrictEqual(found());
  });

  test('is completed by its function, which knows what is filled in; each value once', async () => {
    expect(await values(prompt('code-review'), 'place', 'a', { language: 'ts' })).toStrictEqual(
      found('a', 'ts'),
    );
    expect(await values(prompt('code-review'), 'place', 'none')).toStrictEqual(found('none'));
  });

  test('of a workflow as well', async () => {
    expect(await values(prompt('deploy-page'), 'target', 'eu')).toStrictEqual(found('eu-east', 'eu-west'));
  });

  test('more than 100 values are cut, and counted', async () => {
    const completion = await values(prompt('code-review'), 'place', 'many');
    expect(completion.values).toHaveLength(100);
    expect(completion).toMatchObject({ total: 120, hasMore: true });
  });
});

describe('a variable of a template', () => {
  test('is completed by the resource', async () => {
    expect(await values(template('notes://pages/{name}'), 'name', 't')).toStrictEqual(
      found('today', 'tomorrow'),
    );
    expect(await values(template('notes://pages/{name}'), 'name', 'w', { folder: 'work' })).toStrictEqual(
      found('work-list'),
    );
  });

  test('is not, where the resource says nothing', async () => {
    expect(await values(template('disk:///{+path}'), 'path', 'a')).toStrictEqual(found());
  });
});

describe('what cannot be completed', () => {
  test.each([
    [prompt('code-revue'), 'language', "Unknown prompt 'code-revue'. Did you mean 'code-review'?"],
    [prompt('code-review'), 'langage', "Unknown argument 'langage'. Did you mean 'language'?"],
    [template('notes://{name}'), 'name', "Unknown resource template 'notes://{name}'"],
    [template('resource://pictures/dot'), 'name', "Unknown resource template 'resource://pictures/dot'"],
    [template('notes://pages/{name}'), 'nam', "Unknown argument 'nam'. Did you mean 'name'?"],
  ])('%j of %s is refused', async (ref, name, message) => {
    const { client } = await speaking();
    expect(await refusal(client.complete({ ref, argument: { name, value: '' } }))).toStrictEqual({
      code: -32602,
      message: `MCP error -32602: ${message}`,
    });
  });

  test('a function that throws is said to have done so', async () => {
    const { client } = await speaking();
    const asked = client.complete({
      ref: prompt('code-review'),
      argument: { name: 'place', value: 'throw' },
    });
    expect(await refusal(asked)).toStrictEqual({
      code: -32603,
      message: "MCP error -32603: Argument 'place' cannot be completed: no such place",
    });
  });

  test.each([
    [{}, 'ref: '],
    [{ ref: { type: 'ref/tool', name: 'x' }, argument: { name: 'a', value: '' } }, 'ref: expected'],
    [{ ref: prompt('code-review') }, 'argument: '],
    [{ ref: prompt('code-review'), argument: { name: 'a' } }, 'argument.value: '],
  ])('malformed params: %j', async (params, text) => {
    const { client } = await speaking();
    const request = { method: 'completion/complete', params } as never;
    const { code, message } = await refusal(client.request(request, z.looseObject({})));
    expect(code).toBe(-32602);
    expect(message).toContain(text);
  });
});
