'use strict';
const { appendFileSync } = require('node:fs');

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  appendFileSync(process.env.BENCH_CPU_REPORT, `${user + system}\n`);
});
