import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';

export const name = 'LangGraph.js';

/** A node for each call. */
export function lineGraph(count) {
  const state = Annotation.Root({ n: Annotation() });
  let graph = new StateGraph(state);
  for (let place = 0; place < count; place += 1) {
    graph = graph.addNode(`s${place}`, async ({ n }) => ({ n: n + 1 }));
    graph = graph.addEdge(place === 0 ? START : `s${place - 1}`, `s${place}`);
  }
  return graph.addEdge(`s${count - 1}`, END);
}

/** Without a checkpointer. */
export function line(count) {
  const compiled = lineGraph(count).compile();
  return async () => (await compiled.invoke({ n: 0 }, { recursionLimit: count + 1 })).n;
}

/** A `Send` for each item. */
export function loop(concurrency) {
  const state = Annotation.Root({
    items: Annotation(),
    results: Annotation({
      default: () => [],
      reducer: (results, [place, n]) => {
        results[place] = n;
        return results;
      },
    }),
  });
  const compiled = new StateGraph(state)
    .addNode('one', async ({ place, n }) => ({ results: [place, n + 1] }))
    .addConditionalEdges(START, ({ items }) => items.map((n, place) => new Send('one', { place, n })))
    .addEdge('one', END)
    .compile();
  return async (items) => (await compiled.invoke({ items }, { maxConcurrency: concurrency })).results;
}
