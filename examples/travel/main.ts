import { serve } from 'stepwright/runtime';
import { registry } from '../../generated/travel.registry.js';
import { TravelAgency } from './agency.js';
import { Failures } from './failures.js';
import { travelTools } from './tools.js';

const { TRAVEL_DATABASE, TRAVEL_FAILURES = '' } = process.env;

const agency = await TravelAgency.open({
  ...(TRAVEL_DATABASE === undefined ? {} : { file: TRAVEL_DATABASE }),
  failures: Failures.parse(TRAVEL_FAILURES),
});

await serve(registry, { name: 'stepwright-travel', version: '0.1.0', tools: travelTools(agency) });
