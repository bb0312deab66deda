import { describe, expect, test } from 'vitest';
import { MemoryJournal } from '../runs/store/memory-journal.js';
import { resolveSettings, type ServerSettings } from './options.js';

describe('resolveSettings', () => {
  test('keeps what the server says about itself, and refuses addresses that clients cannot open', () => {
    const about = {
      name: 'shop',
      version: '1.2.3',
      title: 'The shop',
      description: 'Sells pens',
      websiteUrl: 'https://shop.example',
      icons: [{ src: 'data:image/svg+xml,x', sizes: ['any'], theme: 'dark' }],
    } as const;
    expect(resolveSettings(about).info).toStrictEqual(about);
    expect(() => resolveSettings({ websiteUrl: 'shop.example' })).toThrow(
      new RangeError('websiteUrl must be an absolute URL (https:, http:), not "shop.example"'),
    );
    expect(() => resolveSettings({ icons: [{ src: 'javascript:1' }] })).toThrow(
      'icons[0].src must be an absolute URL (https:, http:, data:), not "javascript:1"',
    );
  });

  test('takes a store in memory or in a file, whose runs wait as long as no limit is given', () => {
    expect(resolveSettings({ store: 'memory' })).not.toHaveProperty('storeSource');
    for (const store of ['sqlite:a:b.db', 'temporal://localhost:7233'] as const)
      expect(resolveSettings({ store })).toHaveProperty('storeSource');
    const { idleMs, maxFinishedRuns } = resolveSettings({ store: 'sqlite:a.db', runs: { idleMs: 5 } }).runs;
    expect([idleMs, maxFinishedRuns]).toEqual([5, 100_000]);
    for (const store of ['sqlite:', 'postgres:x', 7]) {
      const settings = { store } as ServerSettings;
      expect(() => resolveSettings(settings)).toThrow(
        "store must be 'memory', 'sqlite:PATH' or 'temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE' or the value that temporal() returns, not",
      );
    }
    const both: ServerSettings = { store: 'sqlite:a.db', journal: new MemoryJournal() };
    expect(() => resolveSettings(both)).toThrow('leave the option journal out');
  });

  test('fills defaults in', () => {
    const { newRunId, log, ...settings } = resolveSettings({});
    expect(settings).toStrictEqual({
      allowSampling: false,
      cache: {},
      localRoles: [],
      info: { name: 'stepwright', version: '0.0.0' },
      pageSize: 100,
      promptTimeoutMs: 45_000,
      toolTimeoutMs: 60_000,
      toolAnswerMs: 45_000,
      drainTimeoutMs: 8_000,
      describe: 'short',
      hints: true,
      hasSpecs: false,
      keepsRuns: false,
      offerWorkflows: true,
      profiles: {},
      specs: { root: '.', watch: true },
      planTool: false,
      debug: false,
      validateTool: false,
      domains: [],
      outputSchemas: true,
      questionApp: false,
      questionRounds: 5,
      workflowPrefix: 'w_',
      runs: {
        maxOpenRuns: 50,
        maxPendingActions: 50,
        maxAnonymousRuns: 1_000,
        idleMs: 86_400_000,
        maxFinishedRuns: 1_000,
        finishedRunMs: 3_600_000,
        leaseMs: 10_000,
        capabilityMs: 60_000,
      },
      maxResultChars: 50_000,
      hooks: {},
      ownerRule: {},
      middleware: [],
      workflows: [],
      prompts: [],
    });
    expect(log).toBeTypeOf('function');
    expect(newRunId()).toMatch(/^[0-9a-f]{32}$/);
    expect(newRunId()).not.toBe(newRunId());
  });

  test('refuses another description of workflows, and a prefix that no tool name has', () => {
    expect(() => resolveSettings({ describe: 'long' as never })).toThrow(
      `describe must be 'short' or 'full', not "long"`,
    );
    expect(() => resolveSettings({ workflowPrefix: 'my ' })).toThrow(
      'workflowPrefix must be at most 32 characters of A-Z, a-z, 0-9, _ and -, not "my "',
    );
    expect(resolveSettings({ workflowPrefix: '' }).workflowPrefix).toBe('');
    expect(() => resolveSettings({ questions: { app: 'yes' as never } })).toThrow(
      'questions.app must be true or false, not "yes"',
    );
    expect(() => resolveSettings({ questions: { rounds: 0 } })).toThrow(
      'questions.rounds must be a whole number from 1 to 2147483647, not 0',
    );
  });

  test.each(['short', '', 7, Buffer.alloc(32)])('refuses the key %j of questions', (key) => {
    expect(() => resolveSettings({ questions: { key: key as never } })).toThrow(
      'questions.key must be a text of 32 characters or more: `openssl rand -base64 32` makes one',
    );
  });

  test('refuses another rule of owners than there is', () => {
    expect(() => resolveSettings({ owner: 'client' as never })).toThrow(
      "must be 'subject' or 'client+subject'",
    );
    expect(() => resolveSettings({ subjectClaim: '' })).toThrow('subjectClaim must name a claim');
  });

  test('keeps what is given', () => {
    const { name, version, ...settings } = {
      name: 'a',
      version: '1',
      instructions: 'b',
      pageSize: 1,
      promptTimeoutMs: 2,
      toolTimeoutMs: 3,
      toolAnswerMs: 4,
      drainTimeoutMs: 5,
    };
    expect(resolveSettings({ name, version, ...settings })).toMatchObject({
      ...settings,
      info: { name, version },
    });
    const ownerRule = { owner: 'client+subject', subjectClaim: 'oid' } as const;
    expect(resolveSettings(ownerRule)).toMatchObject({ ownerRule });
    const journal = new MemoryJournal();
    expect(resolveSettings({ journal }).journal).toBe(journal);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 39])('refuses the limit %d', (limit) => {
    for (const name of [
      'pageSize',
      'promptTimeoutMs',
      'toolTimeoutMs',
      'toolAnswerMs',
      'drainTimeoutMs',
    ] as const) {
      expect(() => resolveSettings({ [name]: limit })).toThrow(
        new RangeError(
          `${name} must be a whole number from 1 to ${name.endsWith('Ms') ? 316_224_000_000 : 2_147_483_647}, not ${limit}`,
        ),
      );
    }
    expect(() => resolveSettings({ runs: { maxOpenRuns: limit } })).toThrow('runs.maxOpenRuns must be');
  });

  test('takes durations up to ten years', () => {
    for (const ms of [2_592_000_000, 10 * 366 * 86_400_000])
      expect(resolveSettings({ drainTimeoutMs: ms }).drainTimeoutMs).toBe(ms);
    for (const name of ['finishedRunMs', 'idleMs'] as const) {
      for (const ms of [2_592_000_000, 10 * 366 * 86_400_000])
        expect(resolveSettings({ runs: { [name]: ms } }).runs[name]).toBe(ms);
      expect(() => resolveSettings({ runs: { [name]: 10 * 366 * 86_400_000 + 1 } })).toThrow(
        `runs.${name} must be a whole number from 1 to 316224000000`,
      );
    }
  });
});
