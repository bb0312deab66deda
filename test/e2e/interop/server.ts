import { serve, serveHttp } from 'stepwright/runtime';
import { Desk, factories, registry } from '../composite/fixture/registry.js';
import { built } from '../composite/fixture/workflows.js';

// The fixture workflows for clients in other languages. Arguments: `stdio`, or `http` and a port.

const [transport, port] = process.argv.slice(2);
const options = { workflows: built(), tools: factories(new Desk()) };
if (transport === 'http') await serveHttp(registry, { ...options, port: Number(port) });
else await serve(registry, options);
