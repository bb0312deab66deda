import { serve, serveHttp } from 'stepwright/runtime';
import { Desk, factories, registry } from '../composite/fixture/registry.js';
import { all, argument, built, call, input, workflow } from '../composite/fixture/workflows.js';

// The fixture workflows, and one that is a skill, for clients of others. Arguments: `stdio`, or `http` and a port.

const [transport, port] = process.argv.slice(2);
const flights = workflow('look_up', [call('find', 'search', { city: input('city') })], {
  inputs: [argument('city', { type: 'string' })],
  expose: ['skill'],
});
const options = { workflows: built([...all, flights]), tools: factories(new Desk()) };
if (transport === 'http') await serveHttp(registry, { ...options, port: Number(port) });
else await serve(registry, options);
