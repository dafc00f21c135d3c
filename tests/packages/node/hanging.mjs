// A program that is killed while its mocks run.
import { writeFileSync } from 'node:fs';
import { startModel, startService } from 'cuecard';

await startModel('capital.yaml');
await startService('capital.yaml');
writeFileSync('started', 'yes');
setTimeout(() => {}, 600_000);
