import { TravelAgency } from './agency.js';
import { Failures } from './failures.js';
import { startService } from './service.js';

/** The service in a process of its own: prints its address, and runs until it is stopped. */
const { TRAVEL_DATABASE, TRAVEL_FAILURES = '', PORT = '0' } = process.env;

const agency = await TravelAgency.open({
  ...(TRAVEL_DATABASE === undefined ? {} : { file: TRAVEL_DATABASE }),
  failures: Failures.parse(TRAVEL_FAILURES),
});
const { url } = await startService(agency, Number(PORT));
console.log(url);
