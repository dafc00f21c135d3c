import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tests } from './model.mjs';

tests(test, assert);
