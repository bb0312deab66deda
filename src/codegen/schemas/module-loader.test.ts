import { describe, expect, test } from 'vitest';
import { importFailure, type ModuleLimits, type UsageSample, usageJudge } from './module-loader.js';

const root = '/home/me/project';

const thrown = (message: string, stack: string): Error => Object.assign(new TypeError(message), { stack });

describe('importFailure', () => {
  test('is one line: the name, the first line of the message, the first frame of the project', () => {
    const error = thrown(
      'boom\nand more',
      [
        'TypeError: boom',
        '    at internal (node:internal/modules/run:1:2)',
        `    at lib (file://${root}/node_modules/lib/index.js:3:4)`,
        '    at other (/home/me/project-two/src/x.ts:5:6)',
        `    at load (file://${root}/src/my%20tool.ts:7:8)`,
        `    at file://${root}/src/later.ts:9:10`,
      ].join('\n'),
    );
    expect(importFailure(error, root)).toEqual({
      reason: 'TypeError: boom (src/my tool.ts:7:8)',
      culprit: 'src/my tool.ts',
    });
  });

  test('shortens paths of the project', () => {
    const error = thrown(`Cannot find module '${root}/src/gone.js' imported from ${root}/src/a.ts`, '');
    expect(importFailure(error, root)).toEqual({
      reason: "TypeError: Cannot find module 'src/gone.js' imported from src/a.ts",
    });
  });

  test('takes the place that Node prints above the message', () => {
    const heading = `${root}/src/my tool.ts:4\nimport { nope } from './d.js';\n         ^\n`;
    const error = new SyntaxError('no such export');
    error.stack = `${heading}\nSyntaxError: no such export\n    at run (node:internal/modules:1:2)`;
    expect(importFailure(error, root)).toEqual({
      reason: 'SyntaxError: no such export (src/my tool.ts:4)',
      culprit: 'src/my tool.ts',
    });
  });

  test('takes the place that the compiler names', () => {
    const error = new SyntaxError(`${root}/src/a.ts:7:3: Unexpected "}"`);
    expect(importFailure(error, root)).toEqual({
      reason: 'SyntaxError: src/a.ts:7:3: Unexpected "}"',
      culprit: 'src/a.ts',
    });
  });

  test.each([
    ['text', 'it threw text'],
    [undefined, 'it threw undefined'],
    [new Error(''), 'Error:'],
  ])('says something of %j', (error, text) => {
    expect(importFailure(error, root).reason).toContain(text);
  });
});

const limits: ModuleLimits = { cpuMs: 10_000, waitMs: 10_000, memoryMb: 1000 };
const INTERVAL = 100;

/** Feeds samples until one is judged; the verdict with the clock and the CPU time it came at. */
function judge(samples: Iterable<Partial<UsageSample>>, given: Partial<ModuleLimits> = {}) {
  const judged = usageJudge({ ...limits, ...given }, INTERVAL);
  for (const sample of samples) {
    const whole = { module: 0, clockMs: 0, cpuMs: 0, memoryMb: 100, ...sample };
    const verdict = judged(whole);
    if (verdict !== undefined) return { verdict, clockMs: whole.clockMs, cpuMs: whole.cpuMs };
  }
  return undefined;
}

/** Samples of a process that gets this share of one processor, and is sampled every so many milliseconds. */
function* steady(share: number, { ms = 60_000, every = INTERVAL, from = 0, module = 0 } = {}) {
  for (let clockMs = from; clockMs <= from + ms; clockMs += every)
    yield { module, clockMs, cpuMs: 500 + clockMs * share };
}

describe('usageJudge', () => {
  test('stops a module that loops when it has used its CPU time', () => {
    expect(judge(steady(1))).toEqual({ verdict: 'cpu', clockMs: 10_000, cpuMs: 10_500 });
  });

  test('a busy machine takes nothing from a module: only its own CPU time counts', () => {
    expect(judge(steady(0.05, { ms: 190_000 }))).toBeUndefined();
    expect(judge(steady(0.05, { ms: 210_000 }))).toMatchObject({ verdict: 'cpu', cpuMs: 10_500 });
  });

  test('stops a module that uses next to no CPU', () => {
    expect(judge(steady(0))).toEqual({ verdict: 'wait', clockMs: 10_000, cpuMs: 500 });
    expect(judge(steady(0.009))).toMatchObject({ verdict: 'wait', clockMs: 10_000 });
    expect(judge(steady(0.011))).toBeUndefined();
  });

  test('stops a module that works first and waits then', () => {
    const samples = [
      ...steady(1, { ms: 5000 }),
      ...[...steady(0, { from: 5100 })].map((each) => ({ ...each, cpuMs: 5500 })),
    ];
    // The stretch may begin within the last of the work.
    expect(judge(samples)).toMatchObject({ verdict: 'wait', clockMs: 15_000, cpuMs: 5500 });
  });

  test('a process that is not scheduled does not wait', () => {
    // Samples 5 s apart: the machine slept, or runs others.
    expect(judge(steady(0, { ms: 240_000, every: 5000 }))).toBeUndefined();
    expect(judge(steady(0, { ms: 260_000, every: 5000 }))).toMatchObject({
      verdict: 'wait',
      clockMs: 250_000,
    });
  });

  test('each module has limits of its own, and between modules there are none', () => {
    const modules = [0, 1, 2].flatMap((module) => [
      ...steady(1, { ms: 9000, from: module * 10_000, module }),
    ]);
    expect(judge(modules)).toBeUndefined();
    expect(judge(steady(0, { module: -1 }))).toBeUndefined();
    expect(judge(steady(1, { module: -1 }))).toBeUndefined();
  });

  test('stops a module that takes too much memory', () => {
    const samples = [100, 1000, 1001].map((memoryMb, i) => ({ memoryMb, clockMs: i * INTERVAL }));
    expect(judge(samples)).toMatchObject({ verdict: 'memory', clockMs: 2 * INTERVAL });
    expect(judge(samples, { memoryMb: 2000 })).toBeUndefined();
  });

  test('needs nothing but its own text', () => {
    const alone = new Function(`return (${usageJudge})`)() as typeof usageJudge;
    const judged = alone(limits, INTERVAL);
    const verdicts = [...steady(1)].map((sample) => judged({ ...sample, memoryMb: 1 }));
    expect(verdicts.find((verdict) => verdict !== undefined)).toBe('cpu');
  });
});
