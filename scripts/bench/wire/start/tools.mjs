import { readFileSync } from 'node:fs';

/** The tools of both servers whose start is measured. The first argument is the file of `writeTools`. */
export const { tools, checksum, fingerprints } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

/** Sends CPU time in µs and resident memory in bytes to the parent process on request. */
export function tellCosts() {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() });
  });
}
