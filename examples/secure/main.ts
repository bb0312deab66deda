import { serveHttp } from 'stepwright/runtime';
import { registry } from './generated/secure.registry.js';
import { Ledger } from './ledger.js';
import { ListPayments } from './list-payments.tool.js';
import { PaySupplier } from './pay-supplier.tool.js';
import { TokenFile } from './token-file.js';

const { SECURE_TOKENS = 'tokens.json', SECURE_RESOURCE, SECURE_PORT = '3000' } = process.env;

const tokens = await TokenFile.open(SECURE_TOKENS);
const port = Number(SECURE_PORT);
const ledger = new Ledger();

await serveHttp(registry, {
  name: 'stepwright-secure',
  version: '0.1.0',
  port,
  auth: {
    verify: tokens.verify,
    resource: SECURE_RESOURCE ?? `http://127.0.0.1:${port}/mcp`,
    scopesSupported: ['payments:read', 'payments:write'],
  },
  tools: {
    'list-payments': () => new ListPayments(ledger),
    'pay-supplier': () => new PaySupplier(ledger),
  },
});
