// A test that forgets to stop its mock.
import { test } from 'node:test';
import { startModel } from 'cuecard';

test('it passes', () => startModel('capital.yaml').then(() => {}));
