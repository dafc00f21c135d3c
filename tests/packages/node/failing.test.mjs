// Mocks with `{ t }`, whose findings fail the tests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startModel } from 'cuecard';

test('a turn that nobody asks for', async (t) => {
  await startModel('capital.yaml', { t });
});

test('a failure of its own', async (t) => {
  await startModel('capital.yaml', { t });
  assert.equal(1, 2);
});
