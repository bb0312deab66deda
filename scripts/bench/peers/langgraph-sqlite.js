import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { lineGraph } from './langgraph.js';

export const name = 'LangGraph.js with SqliteSaver';

/** Its driver is compiled for each machine. */
export function obstacle() {
  try {
    new Database(':memory:').close();
    return undefined;
  } catch {
    return 'better-sqlite3 is not built; npm run bench:peers builds it with a C++ compiler';
  }
}

/** A checkpoint of each step, written before the next one starts. */
export async function open(file, count) {
  const database = new Database(file);
  // Its default with WAL is NORMAL.
  database.pragma('synchronous = FULL');
  const graph = lineGraph(count).compile({ checkpointer: new SqliteSaver(database) });
  let runs = 0;
  return {
    async run() {
      runs += 1;
      const configurable = { thread_id: `run-${runs}` };
      const options = { configurable, durability: 'sync', recursionLimit: count + 1 };
      return (await graph.invoke({ n: 0 }, options)).n;
    },
    async close() {
      database.close();
    },
  };
}
