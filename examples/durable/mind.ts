/** What an agent without a model answers to instructions: it reads what they ask for, and has no other knowledge. */
export function scriptedResponse(instructions: string): string {
  return /valid JSON array of strings/.test(instructions) ? questions(instructions) : report(instructions);
}

/** The list that the instructions show, as long as they allow. */
function questions(instructions: string): string {
  const most = Number(/up to (\d+)/i.exec(instructions)?.[1] ?? 5);
  const lists = [...instructions.matchAll(/\["[^[\]]*"\]/g)].map(([list]) => JSON.parse(list) as string[]);
  return JSON.stringify((lists.at(-1) ?? []).slice(0, most));
}

/** A section for each point that the instructions number or list. */
function report(instructions: string): string {
  const [title = ''] = instructions.trim().split('\n');
  const points = [...instructions.matchAll(/^\s*(?:\d+\.|-) (.+)$/gm)].map(([, point = '']) => point);
  const sources = instructions.match(/^Task: /gm)?.length ?? 0;
  const basis = sources === 0 ? [] : [`Based on ${sources} findings.`];
  return [`# ${title.trim()}`, ...basis, ...points.map((point) => `## ${point}`)].join('\n\n');
}
