import { Tool } from 'stepwright';
import { z } from 'zod';

/** Replace it by your database. */
const notes = ['Buy bread', 'Call Ada', 'Old: mend the fence'];

@Tool({
  name: 'find-notes',
  description: 'Finds the notes that contain a word',
  input: z.object({ word: z.string().min(1) }),
  output: z.object({ notes: z.array(z.string()) }),
  annotations: { readOnlyHint: true },
})
export class FindNotes {
  execute({ word }: { word: string }): { notes: string[] } {
    return { notes: notes.filter((note) => note.toLowerCase().includes(word.toLowerCase())) };
  }
}

@Tool({
  name: 'delete-notes',
  description: 'Deletes notes',
  input: z.object({ notes: z.array(z.string()) }),
  output: z.object({ deleted: z.int() }),
  annotations: { destructiveHint: true, idempotentHint: true },
})
export class DeleteNotes {
  execute(input: { notes: string[] }): { deleted: number } {
    const before = notes.length;
    notes.splice(0, before, ...notes.filter((note) => !input.notes.includes(note)));
    return { deleted: before - notes.length };
  }
}
