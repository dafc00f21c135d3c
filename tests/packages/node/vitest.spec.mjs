import assert from 'node:assert/strict';
import { test } from 'vitest';
import { tests } from './model.mjs';

tests(test, assert);
