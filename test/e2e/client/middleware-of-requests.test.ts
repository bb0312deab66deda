import { Arg, type ArgsOf, Prompt, type PromptMessages, Resource, Tool, user } from 'stepwright';
import { createServer, type Middleware, type StepwrightServer } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { call, lit, returns, workflow } from '../composite/fixture/workflows.js';
import { registryOf } from '../server/fixture/registry-of.js';

@Tool({ name: 'fail', description: 'Fails' })
class Fail {
  execute(): { done: boolean } {
    throw Object.assign(new Error('no room'), { code: 'E_FULL' });
  }
}

@Resource({ name: 'board', description: 'Departures' })
class Board {
  static readonly uri = 'desk://board';

  read(): string {
    return 'Rome';
  }
}

@Prompt({ name: 'advise', description: 'Advises' })
class Advise {
  @Arg({ description: 'City' }) city!: Arg<string>;
  @Arg({ description: 'Card', secret: true }) card?: Arg<string>;

  render({ city }: ArgsOf<Advise>): PromptMessages {
    if (city === 'Atlantis') throw new Error('it has sunk');
    return [user(`Advise on ${city}`)];
  }
}

const argument = (name: string, more: object) => ({
  name,
  description: name,
  schema: { type: 'string' },
  required: false,
  ...more,
});

const registry = registryOf({
  tools: [{ class: Fail, input: { type: 'object' } }],
  resources: [{ class: Board }],
  prompts: [
    {
      class: Advise,
      arguments: [argument('city', { required: true }), argument('card', { secret: true })] as never,
    },
  ],
});
const workflows = [
  { graph: workflow('failing', [call('failed', 'fail')]) },
  { graph: workflow('quiet', [returns(lit('done'))]) },
];
const request = { signal: new AbortController().signal, requestId: '1', progress: () => {} };

function serverWith(middleware: readonly Middleware[], log: string[] = []): StepwrightServer {
  return createServer(registry, { middleware, workflows, log: (text: string) => void log.push(text) });
}

/** A middleware that records its calls. */
function noting(name: string, notes: unknown[]): Middleware {
  return {
    name,
    onPrompt(asked, { requestId, principal }) {
      notes.push([name, asked, requestId, principal]);
      return (failure) => void notes.push([name, 'ended', failure]);
    },
    onRead(asked) {
      notes.push([name, asked]);
      return (failure) => void notes.push([name, 'ended', failure]);
    },
  };
}

describe('a prompt', () => {
  test('is seen with its arguments, without secrets, and how it ended in reverse order', async () => {
    const notes: unknown[] = [];
    const server = serverWith([noting('outer', notes), noting('inner', notes)]);
    await server.getPrompt('advise', { city: 'Rome', card: '4711-0815' }, request);
    const asked = { prompt: 'advise', shownArguments: { city: 'Rome', card: '••••' } };
    const anonymous = { kind: 'anonymous' };
    expect(notes).toEqual([
      ['outer', asked, '1', anonymous],
      ['inner', asked, '1', anonymous],
      ['inner', 'ended', undefined],
      ['outer', 'ended', undefined],
    ]);
  });

  test.each([
    ['advise', { city: 'Atlantis' }, { message: expect.stringContaining('it has sunk') }],
    ['failing', {}, { code: 'E_FULL', message: expect.stringContaining('no room') }],
    ['quiet', {}, undefined],
  ])('tells how %s with %j ended', async (name, given, failure) => {
    const notes: unknown[][] = [];
    const server = serverWith([noting('only', notes)]);
    await server.getPrompt(name, given as never, request).catch(() => {});
    const [, , ended] = notes.at(-1) ?? [];
    if (failure === undefined) expect(ended).toBeUndefined();
    else expect(ended).toMatchObject(failure);
  });

  test('is refused by throwing: later middleware is not asked, earlier is told', async () => {
    const notes: unknown[][] = [];
    const refusing: Middleware = {
      name: 'refusing',
      onPrompt() {
        throw Object.assign(new Error('Not on Sundays'), { code: 'E_SUNDAY' });
      },
    };
    const server = serverWith([noting('outer', notes), refusing, noting('inner', notes)]);
    await expect(server.getPrompt('advise', { city: 'Rome' }, request)).rejects.toMatchObject({
      code: -32006,
      message: "Prompt 'advise' was refused: Not on Sundays",
      data: { code: 'E_SUNDAY' },
    });
    expect(notes.map(([name]) => name)).toEqual(['outer', 'outer']);
    expect(notes[1]?.[2]).toMatchObject({ code: 'E_SUNDAY' });
  });
});

describe('a read', () => {
  test('of a client is seen, and how it ended', async () => {
    const notes: unknown[] = [];
    await serverWith([noting('only', notes)]).readResource('desk://board', request);
    expect(notes).toEqual([
      ['only', { source: 'client', resource: 'board', uri: 'desk://board' }],
      ['only', 'ended', undefined],
    ]);
  });

  test('is refused by throwing', async () => {
    const refusing: Middleware = {
      name: 'refusing',
      onRead() {
        throw new Error('Not for you');
      },
    };
    await expect(serverWith([refusing]).readResource('desk://board', request)).rejects.toMatchObject({
      message: expect.stringContaining('Not for you'),
    });
  });
});

test('what throws when it is told how a request ended is logged, and changes nothing', async () => {
  const log: string[] = [];
  const broken: Middleware = {
    name: 'broken',
    onPrompt: () => () => {
      throw new Error('the log is full');
    },
    onRead: () => () => {
      throw new Error('the disk is full');
    },
  };
  const server = serverWith([broken], log);
  await server.getPrompt('advise', { city: 'Rome' }, request);
  await server.readResource('desk://board', request);
  expect(log.join('\n')).toMatch(
    /middleware `broken`: what it returned for the prompt advise failed: .*the log is full/,
  );
  expect(log.join('\n')).toMatch(/for the resource desk:\/\/board failed: .*the disk is full/);
});
