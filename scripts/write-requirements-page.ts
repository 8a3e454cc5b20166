import { writeFileSync } from 'node:fs';
import { PAGE, requirementsPage } from './requirements-page.ts';

writeFileSync(PAGE, requirementsPage());
