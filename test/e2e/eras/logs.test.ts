import {
  Client,
  InMemoryTransport,
  LOG_LEVEL_META_KEY,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Tool, type ToolContext } from 'stepwright';
import { connect, createServer, type StepwrightServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { LOG_LEVELS, type LogLevel } from '../../../src/decorators/client.js';
import { listening } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { REVISION } from './client.js';

const waiting: (() => void)[] = [];

/** Logs its input at each level, once as many calls run as are made at once. */
@Tool({ name: 'log', description: 'Logs' })
class Log {
  async execute({ text, calls }: { text: string; calls: number }, { log }: ToolContext) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === calls) for (const begin of waiting.splice(0)) begin();
    });
    for (const level of LOG_LEVELS) log(level, text);
    return { done: true };
  }
}

type Transport = InstanceType<typeof StreamableHTTPClientTransport> | InMemoryTransport;

const transports: Readonly<Record<string, (server: StepwrightServer) => Promise<() => Promise<Transport>>>> =
  {
    HTTP: async (server) => {
      const url = await listening(server);
      return async () => new StreamableHTTPClientTransport(url);
    },
    'a pipe': async (server) => async () => {
      const [far, near] = InMemoryTransport.createLinkedPair();
      await connect(server, near, { local: true, log: () => {} });
      return far;
    },
  };

/** A client, and the levels of the log messages that it has received, by their texts. */
async function clientOver(transport: Transport, era: 'legacy' | 'stateless') {
  const mode = era === 'legacy' ? era : { pin: REVISION };
  const client = new Client({ name: era, version: '1.0.0' }, { versionNegotiation: { mode } });
  const levels: Record<string, LogLevel[]> = {};
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
    levels[String(data)] = [...(levels[String(data)] ?? []), level];
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, levels };
}

const from = (level: LogLevel) => LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));

test.each(Object.entries(transports))(
  'each request has the log messages of its level, beside requests of others: over %s',
  async (_, serve) => {
    const registry = registryOf({ tools: [{ class: Log, input: { type: 'object' } }] });
    const server = createServer(registry, { log: () => {} });
    const open = await serve(server);
    const [quiet, silent, later, other] = [
      await clientOver(await open(), 'legacy'),
      await clientOver(await open(), 'legacy'),
      await clientOver(await open(), 'stateless'),
      await clientOver(await open(), 'stateless'),
    ];
    await quiet.client.setLoggingLevel('error');
    await silent.client.setLoggingLevel('emergency');
    const calls = 7;
    const log = ({ client }: typeof later, text: string, level?: LogLevel) => {
      const _meta = level === undefined ? {} : { _meta: { [LOG_LEVEL_META_KEY]: level } };
      return client.callTool({ name: 'log', arguments: { text, calls }, ..._meta });
    };
    await Promise.all([
      log(quiet, 'a'),
      log(quiet, 'b'),
      log(silent, 'c'),
      log(later, 'd', 'warning'),
      log(later, 'e'),
      log(later, 'f', 'debug'),
      log(other, 'g', 'critical'),
    ]);
    expect(quiet.levels).toEqual({ a: from('error'), b: from('error') });
    expect(silent.levels).toEqual({ c: from('emergency') });
    expect(later.levels).toEqual({ d: from('warning'), f: from('debug') });
    expect(other.levels).toEqual({ g: from('critical') });
  },
);
