import fc from 'fast-check';
import { PROPERTY_SEED } from './property-seed.js';

fc.configureGlobal({ seed: PROPERTY_SEED });
