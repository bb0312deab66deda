'use strict';
const { appendFileSync } = require('node:fs');

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  // In kB, on every system.
  const { maxRSS } = process.resourceUsage();
  appendFileSync(process.env.BENCH_CPU_REPORT, `${user + system} ${maxRSS}\n`);
});
