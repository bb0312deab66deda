import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { FastMCP, UserError } from 'fastmcp';
import { z } from 'zod';
import { find, remove } from '../notes.js';

const RUNS = 'runs.json';
const runs = existsSync(RUNS) ? JSON.parse(readFileSync(RUNS, 'utf8')) : {};
const save = () => writeFileSync(RUNS, JSON.stringify(runs));

const server = new FastMCP({ name: 'notes', version: '0.1.0' });

server.addTool({
  name: 'find-notes',
  description: 'Finds the notes that contain a word',
  parameters: z.object({ word: z.string() }),
  annotations: { readOnlyHint: true },
  execute: async ({ word }) => JSON.stringify({ notes: find(word) }),
});

server.addTool({
  name: 'delete-notes',
  description: 'Deletes notes',
  parameters: z.object({ notes: z.array(z.string()) }),
  annotations: { destructiveHint: true, idempotentHint: true },
  execute: async ({ notes }) => JSON.stringify({ deleted: remove(notes) }),
});

server.addTool({
  name: 'tidy-notes',
  description: 'Deletes the notes that contain a word, once the user agrees',
  parameters: z.object({ word: z.string() }),
  execute: async ({ word }) => {
    const run = randomUUID();
    const notes = find(word);
    runs[run] = { notes };
    save();
    return JSON.stringify({ run, question: `Delete ${notes.length} notes?` });
  },
});

server.addTool({
  name: 'answer',
  description: 'Answers the question of a run',
  parameters: z.object({ run: z.string(), sure: z.boolean() }),
  execute: async ({ run, sure }) => {
    const waiting = runs[run];
    if (waiting === undefined) throw new UserError(`No run ${run} waits for an answer`);
    const deleted = sure ? remove(waiting.notes) : 0;
    delete runs[run];
    save();
    return JSON.stringify({ status: 'completed', result: { deleted } });
  },
});

await server.start({ transportType: 'stdio' });
