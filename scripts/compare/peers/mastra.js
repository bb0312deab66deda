import { Mastra } from '@mastra/core';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { MCPServer } from '@mastra/mcp';
import { z } from 'zod';
import { find, remove } from '../notes.js';

const findNotes = createTool({
  id: 'find-notes',
  description: 'Finds the notes that contain a word',
  inputSchema: z.object({ word: z.string() }),
  outputSchema: z.object({ notes: z.array(z.string()) }),
  execute: async ({ word }) => ({ notes: find(word) }),
});

const deleteNotes = createTool({
  id: 'delete-notes',
  description: 'Deletes notes',
  inputSchema: z.object({ notes: z.array(z.string()) }),
  outputSchema: z.object({ deleted: z.number() }),
  execute: async ({ notes }) => ({ deleted: remove(notes) }),
});

const confirm = createStep({
  id: 'confirm',
  inputSchema: z.object({ notes: z.array(z.string()) }),
  outputSchema: z.object({ notes: z.array(z.string()) }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ sure: z.boolean() }),
  execute: async ({ inputData, resumeData, suspend }) => {
    if (resumeData === undefined) return suspend({ message: `Delete ${inputData.notes.length} notes?` });
    return { notes: resumeData.sure ? inputData.notes : [] };
  },
});

const tidyNotes = createWorkflow({
  id: 'tidy-notes',
  description: 'delete the notes that contain a word',
  inputSchema: z.object({ word: z.string() }),
  outputSchema: z.object({ deleted: z.number() }),
})
  .then(createStep(findNotes))
  .then(confirm)
  .then(createStep(deleteNotes))
  .commit();

const start = createTool({
  id: 'tidy-notes',
  description: 'Deletes the notes that contain a word, once the user agrees',
  inputSchema: z.object({ word: z.string() }),
  execute: async (inputData) => {
    const run = await mastra.getWorkflow('tidyNotes').createRun();
    const { status, suspendPayload } = await run.start({ inputData });
    return { run: run.runId, status, question: suspendPayload?.confirm?.message };
  },
});

const answer = createTool({
  id: 'answer',
  description: 'Answers the question of a run',
  inputSchema: z.object({ run: z.string(), sure: z.boolean() }),
  execute: async ({ run: runId, sure }) => {
    const run = await mastra.getWorkflow('tidyNotes').createRun({ runId });
    const { status, result } = await run.resume({ step: 'confirm', resumeData: { sure } });
    return { status, result };
  },
});

const mastra = new Mastra({
  workflows: { tidyNotes },
  storage: new LibSQLStore({ id: 'runs', url: 'file:runs.db' }),
  logger: false,
});

const server = new MCPServer({
  id: 'notes',
  name: 'notes',
  version: '0.1.0',
  tools: { 'find-notes': findNotes, 'delete-notes': deleteNotes, 'tidy-notes': start, answer },
});
await server.startStdio();
