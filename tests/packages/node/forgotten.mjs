// A program that forgets to stop its mock.
import { startModel } from 'cuecard';
import { ask } from './ask.mjs';

const model = await startModel('capital.yaml');
await ask(model.openaiBaseUrl, 'What is the capital of France?');
