import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { createServer, upstreamServers } from 'stepwright/runtime';
import { registry } from '../examples/upstream/generated/upstream.registry.js';
import config from '../stepwright.config.json' with { type: 'json' };

// A workflow over the published servers for files and for memory, both started over stdio. It learns two notes about
// one topic: the second is added to what the first has left in the memory.

const folder = mkdtempSync(join(tmpdir(), 'stepwright-upstream-'));
process.env.UPSTREAM_MEMORY = join(folder, 'memory.jsonl');

const server = createServer(registry, {
  name: 'stepwright-upstream',
  upstream: upstreamServers(config.upstream, { log: () => {} }),
});
const request = { requestId: '1', signal: new AbortController().signal, local: true, progress: () => {} };

try {
  await server.start();
  for (const file of ['garden.md', 'boat.md']) {
    const result = await server.callTool('w_learn-note', { file, topic: 'to do' }, request);
    const text = JSON.stringify(result.structuredContent ?? result.content);
    console.log(`${styleText('bold', `Learn ${file}`)}\n${text}\n`);
    if (result.isError === true) process.exitCode = 1;
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
