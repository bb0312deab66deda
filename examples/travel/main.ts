import { serve } from 'stepwright/runtime';
import { TravelAgency } from './agency.js';
import { Failures } from './failures.js';
import { registry } from './generated/travel.registry.js';
import { RemoteAgency } from './remote-agency.js';
import { startService } from './service.js';
import { travelTools } from './tools.js';

const { TRAVEL_SERVICE, TRAVEL_DATABASE, TRAVEL_FAILURES = '' } = process.env;

/** The address of the service: of one that runs already, or of one that is started here. */
async function serviceUrl(): Promise<string> {
  if (TRAVEL_SERVICE !== undefined) return TRAVEL_SERVICE;
  const agency = await TravelAgency.open({
    ...(TRAVEL_DATABASE === undefined ? {} : { file: TRAVEL_DATABASE }),
    failures: Failures.parse(TRAVEL_FAILURES),
  });
  const service = await startService(agency);
  service.unref();
  return service.url;
}

const service = new RemoteAgency(await serviceUrl());
await serve(registry, { name: 'stepwright-travel', version: '0.1.0', tools: travelTools(service) });
