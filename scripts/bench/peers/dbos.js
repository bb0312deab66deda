import { DBOS } from '@dbos-inc/dbos-sdk';
import { postgresObstacle, startPostgres } from './postgres.js';

export const name = 'DBOS';
export const server = 'PostgreSQL';
export const obstacle = postgresObstacle;

/** A step for each call, whose result is written before the next one starts. */
export async function open(_file, count) {
  const postgres = await startPostgres();
  const step = DBOS.registerStep(async (n) => n + 1, { name: 'step' });
  const line = DBOS.registerWorkflow(
    async () => {
      let n = 0;
      for (let place = 0; place < count; place += 1) n = await step(n);
      return n;
    },
    { name: 'line' },
  );
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: postgres.url, logLevel: 'error' });
  await DBOS.launch();
  return {
    run: () => line(),
    async close() {
      await DBOS.shutdown({ deregister: true });
      await postgres.stop();
    },
  };
}
