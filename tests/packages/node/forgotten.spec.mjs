// A test that forgets to stop its mock.
import { test } from 'vitest';
import { startModel } from 'cuecard';

test('it passes', () => startModel('capital.yaml').then(() => {}));
