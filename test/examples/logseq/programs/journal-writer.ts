import { LogseqGraph } from '../../../../examples/logseq/graph.js';

// Started as `journal-writer.ts FOLDER NAME FIRST LAST`: adds numbered tasks to one journal, one after the other, and
// prints each number once its task is acknowledged. The id of a task depends on the name and the number alone.
const [folder = '', name = '', first, last] = process.argv.slice(2);
const graph = new LogseqGraph(folder);
for (let number = Number(first); number <= Number(last); number += 1) {
  await graph.appendToJournal('2026-01-12', { id: `${name}-${number}`, text: `TODO ${name}-${number}` });
  process.stdout.write(`${number}\n`);
}
