import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FilesystemReadTextFile } from './servers/filesystem.js';
import { MemoryAddObservations, MemoryCreateEntities, MemoryOpenNodes } from './servers/memory.js';

@Workflow({
  name: 'learn-note',
  description: 'remember what a note says about a topic',
  expose: ['prompt', 'tool'],
})
export class LearnNote {
  @Arg({ description: 'File in the folder of notes' }) file!: Arg<string>;
  @Arg({ description: 'What the note is about' }) topic!: Arg<string>;

  @Step() note = call(FilesystemReadTextFile, { path: this.file });

  @Step() known = call(MemoryOpenNodes, { names: [this.topic] });

  @Step() remembered =
    this.known.entities.length > 0
      ? call(MemoryAddObservations, {
          observations: [{ entityName: this.topic, contents: [this.note.content.trim()] }],
        })
      : call(MemoryCreateEntities, {
          entities: [{ name: this.topic, entityType: 'topic', observations: [this.note.content.trim()] }],
        });

  @Step({ after: ['remembered'] }) now = call(MemoryOpenNodes, { names: [this.topic] });

  output = done({ facts: this.now.entities[0]?.observations ?? [] });
}
