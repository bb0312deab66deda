import { Arg, ask, call, done, Step, Tool, Workflow } from 'stepwright';
import { find, remove } from './notes.js';

@Tool({
  name: 'find-notes',
  description: 'Finds the notes that contain a word',
  annotations: { readOnlyHint: true },
})
export class FindNotes {
  execute({ word }: { word: string }): { notes: string[] } {
    return { notes: find(word) };
  }
}

@Tool({
  name: 'delete-notes',
  description: 'Deletes notes',
  annotations: { destructiveHint: true, idempotentHint: true },
})
export class DeleteNotes {
  execute({ notes }: { notes: string[] }): { deleted: number } {
    return { deleted: remove(notes) };
  }
}

@Workflow({ name: 'tidy-notes', description: 'delete the notes that contain a word' })
export class TidyNotes {
  @Arg({ description: 'The word' }) word!: Arg<string>;

  @Step() matches = call(FindNotes, { word: this.word });
  @Step() sure = ask.confirm(`Delete ${this.matches.notes.length} notes?`);
  @Step() removal = this.sure ? call(DeleteNotes, { notes: this.matches.notes }) : undefined;

  output = done({ deleted: this.removal?.deleted ?? 0 });
}
