// Rebuilds a project in one process, as a watcher does without its debounce: `node rebuilds.mjs CODEGEN FILE COUNT`. In
// each round a text of FILE that codegen reads is another one. Prints the CPU time of each rebuild, in µs, as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [codegen, file, count] = process.argv.slice(2);
const { runCodegen, CodegenSession } = await import(pathToFileURL(codegen).href);
/** Two changes of a file within this time may look like one to a file system. */
const APART_MS = 60;

const session = new CodegenSession();
const written = readFileSync(file, 'utf8');
await runCodegen({ session });
const costs = [];
for (let round = 0; round < Number(count); round += 1) {
  writeFileSync(file, written.replace(/description: 'Counts /, `description: 'Counts again (${round}) `));
  await setTimeout(APART_MS);
  const begin = process.cpuUsage();
  const result = await runCodegen({ session });
  const { user, system } = process.cpuUsage(begin);
  if (result.written.length !== 1) throw new Error(`round ${round} wrote nothing`);
  costs.push(user + system);
}
writeFileSync(file, written);
console.log(JSON.stringify(costs));
