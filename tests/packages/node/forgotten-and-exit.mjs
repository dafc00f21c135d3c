// A program that forgets to stop its mock, and ends by `process.exit`.
import './forgotten.mjs';

process.exit(0);
