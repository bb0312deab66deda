import { Arg, ask, call, done, Step, Workflow } from 'stepwright';
import { DeleteNotes, FindNotes } from './tools.js';

@Workflow({ name: 'tidy-notes', description: 'delete the notes that contain a word' })
export class TidyNotes {
  @Arg({ description: 'The word' }) word!: Arg<string>;

  @Step() matches = call(FindNotes, { word: this.word });

  @Step() sure = ask.confirm(`Delete ${this.matches.notes.length} notes?`);

  @Step() removal = this.sure ? call(DeleteNotes, { notes: this.matches.notes }) : undefined;

  output = done({ deleted: this.removal?.deleted ?? 0 });
}
