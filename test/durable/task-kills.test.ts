import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/graph/json.js';
import { envelope, post } from '../e2e/eras/client.js';
import { isNightly } from '../nightly.js';
import { Random } from '../simulation/random.js';
import { type Child, programOf } from './child.js';
import { addressOf } from './tool-call.js';

const start = programOf('ledger-server');

const KILLS = Number(process.env.KILLS ?? (isNightly ? 500 : 2));
const SEED = Number(process.env.KILL_SEED ?? 1);

/** Hosts that call one tool after the other, each call as a task. */
const HOSTS = 4;

/** How many requests each server answers at least before it is killed. */
const ANSWERS = 12;

/** How long a host asks for a task that a killed server had, in ms. */
const PATIENCE_MS = 600_000;

const CAPABILITIES = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };

test(`no task is lost or done twice by a server that is killed ${KILLS} times while clients poll (seed ${SEED})`, {
  timeout: 180_000 + KILLS * 20_000,
}, async () => {
  const random = new Random(SEED);
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-task-kills-'));
  const ledger = join(folder, 'ledger.txt');
  let server: Child | undefined;
  let answers = 0;
  let kills = 0;
  onTestFinished(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true });
  });
  const begin = (): Promise<URL> => {
    server = start(join(folder, 'runs.db'), ledger, 'http', 'tasks');
    const address = addressOf(server);
    address.catch(() => {});
    return address;
  };
  let url = begin();

  /** Sends a request to the server of the moment; undefined where it was killed before it answered. */
  const attempt = async (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
    try {
      const name = String(params.taskId ?? params.name);
      const headers = { 'mcp-name': name };
      const signal = AbortSignal.timeout(20_000);
      const all = { ...params, _meta: envelope(CAPABILITIES) };
      const response = await post(await url, method, { params: all, headers, signal });
      const { result, error } = (await response.json()) as { result?: JsonObject; error?: JsonObject };
      answers += 1;
      if (result === undefined) throw new Refused(`${method}: ${JSON.stringify(error)}`);
      return result;
    } catch (error) {
      if (error instanceof Refused) throw error;
      await delay(50);
      return undefined;
    }
  };

  /** Polls a task, and answers what it asks, until it is over. */
  const followed = async (taskId: string): Promise<JsonObject> => {
    const until = Date.now() + PATIENCE_MS;
    const before = { answers, kills };
    let last: JsonObject | undefined;
    while (Date.now() < until) {
      const task = await attempt('tasks/get', { taskId });
      last = task ?? last;
      if (task?.status === 'completed') return task;
      if (task !== undefined && task.status !== 'working' && task.status !== 'input_required')
        throw new Error(`task ${taskId} is ${JSON.stringify(task)}`);
      const questions = Object.keys(
        isJsonObject(task?.inputRequests ?? null) ? (task?.inputRequests as object) : {},
      );
      const yes = { action: 'accept', content: { confirmed: true } };
      const inputResponses = Object.fromEntries(questions.map((id) => [id, yes]));
      if (questions.length > 0) await attempt('tasks/update', { taskId, inputResponses });
      await delay(30);
    }
    const [more, later] = [answers - before.answers, kills - before.kills];
    throw new Error(
      `task ${taskId} is lost: after ${later} kills of ${kills}, and ${more} answers, it is ${JSON.stringify(last)}`,
    );
  };

  let isKilling = true;
  let calls = 0;
  const done: { readonly name: string; readonly task: JsonObject }[] = [];
  const host = async (): Promise<void> => {
    while (isKilling) {
      const name = `call-${calls++}`;
      const call =
        calls % 2 === 0 ? { name: 'w_line', arguments: {} } : { name: 'record', arguments: { name } };
      const created = await attempt('tools/call', call);
      if (created === undefined) continue;
      expect(created.resultType).toBe('task');
      done.push({
        name: call.name === 'record' ? name : 'w_line',
        task: await followed(String(created.taskId)),
      });
    }
  };

  const hosts = Promise.all(Array.from({ length: HOSTS }, host));
  hosts.catch(() => {});
  while (kills < KILLS) {
    await url;
    // Under load a server answers late: each has answered before it is killed.
    for (const before = answers; answers < before + ANSWERS; ) await Promise.race([delay(20), hosts]);
    await Promise.race([delay(random.below(500)), hosts]);
    kills += 1;
    const ended = server;
    await ended?.kill();
    url = begin();
  }
  isKilling = false;
  await hosts;

  const lines = readFileSync(ledger, 'utf8').trim().split('\n');
  const keysOf = (step: string) => new Set(lines.filter((line) => line.startsWith(`${step} `)));
  const alone = done.filter(({ name }) => name !== 'w_line');
  const runs = done.filter(({ name }) => name === 'w_line');
  expect([alone.length, runs.length].every((count) => count > 0)).toBe(true);
  for (const { name, task } of alone) {
    expect(task).toMatchObject({ result: { structuredContent: { name } } });
    // A call that was in flight is made again with its key.
    expect([name, keysOf(name).size]).toEqual([name, 1]);
  }
  for (const { task } of runs) expect(task).toMatchObject({ result: { structuredContent: { result: 'g' } } });
  // A run of which the host did not hear asks, and goes no further.
  for (const step of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) expect(keysOf(step).size).toBe(runs.length);
});

/** A response that refuses a request: the server was there. */
class Refused extends Error {}
