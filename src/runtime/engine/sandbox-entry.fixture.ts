export { planOf } from '../../plan/plan.js';
export { advance } from './advance.js';
export { outstanding } from './read.js';
export { snapshot } from './snapshot.js';
export { start } from './start.js';
