/** The tools of both servers whose start is measured; the first argument says how many. */
export const tools = Array.from({ length: Number(process.argv[2]) }, (_, index) => ({
  name: `tool-${index}`,
  description: `Does task ${index}`,
  inputSchema: {
    type: 'object',
    properties: {
      project: { type: 'string', description: 'The project', minLength: 1, maxLength: 100 },
      count: { type: 'integer', minimum: 0, maximum: 100 + index },
      style: { type: 'string', enum: ['formal', 'casual'] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['project'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, sizes: { type: 'array', items: { type: 'number' } } },
    required: ['id', 'sizes'],
    additionalProperties: false,
  },
}));

/** Sends CPU time in µs and resident memory in bytes to the parent process on request. */
export function tellCosts() {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() });
  });
}
