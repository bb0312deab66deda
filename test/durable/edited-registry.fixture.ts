// The registry and the options of the ledger server after an edit of the workflow `gate`.
import { Tool } from 'stepwright';
import { ask, call, lit, returns, step, workflow } from '../e2e/composite/fixture/workflows.js';
import { registryOf } from '../e2e/server/fixture/registry-of.js';

@Tool({ name: 'record', description: 'Writes to the ledger', retrySafety: 'key' })
class RecordEffect {
  execute({ name }: { name: string }) {
    return { name };
  }
}

const text = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

export const registry = registryOf({ tools: [{ class: RecordEffect, input: text, output: text }] });

const effect = (name: string) => call(name, 'record', { name: lit(name) });

export const options = {
  workflows: [{ graph: workflow('gate', [ask('go'), effect('b'), ask('sure'), returns(step('b', 'name'))]) }],
};
