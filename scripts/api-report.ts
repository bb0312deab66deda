import { rmSync } from 'node:fs';
import { emitDeclarations, REPORTS, writeReports } from './public-api.js';

const declarations = emitDeclarations();
try {
  writeReports(declarations, REPORTS);
} finally {
  rmSync(declarations, { recursive: true, force: true });
}
