// The tests of both runners; each runner gives `test` and `assert`.
import { MockError, startModel, startService } from 'cuecard';
import { ask } from './ask.mjs';

export function tests(test, assert) {
  test('a model answers from its timeline', async () => {
    const model = await startModel('capital.yaml', { options: ['--strict'] });
    assert.equal(await ask(model.openaiBaseUrl, 'What is the capital of France?'), 'Paris.');
    assert.ok(model.anthropicBaseUrl.startsWith(model.url));
    assert.ok(model.geminiBaseUrl.startsWith(model.url));
    assert.equal(model.env.OPENAI_API_KEY, model.apiKey);
    await model.stop();
    await model.stop();
  });

  test('a mock of a test needs no stop', async (t) => {
    const model = await startModel('capital.yaml', { t });
    assert.equal(await ask(model.openaiBaseUrl, 'What is the capital of France?'), 'Paris.');
  });

  test('what is no context of a test is refused', async () => {
    await assert.rejects(startModel('capital.yaml', { t: {} }), /`t` is the context of a test/);
  });

  test('a miss fails, with the findings', async () => {
    const model = await startModel('capital.yaml');
    await assert.rejects(ask(model.openaiBaseUrl, 'What is the capital of Spain?'), /status 404/);
    await assert.rejects(model.stop(), (error) => error instanceof MockError && /T-LLM-02/.test(error.message));
  });

  test('turns that nobody asks for fail', async () => {
    const model = await startModel('capital.yaml');
    await assert.rejects(model[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')](), /T-LLM-07/);
  });

  test('a file that is not there fails at once', async () => {
    await assert.rejects(startModel('missing.yaml'), /no such file/);
  });

  test('what is no setting is refused', async () => {
    for (const given of ['--strict', ['--strict'], { strict: true }]) {
      await assert.rejects(startModel('capital.yaml', given), TypeError);
    }
  });

  test('a service starts and stops', async () => {
    const service = await startService('capital.yaml', { options: ['--speed', '0'] });
    assert.equal((await fetch(`${service.apiUrl}/sessions`)).status, 200);
    await service.stop();
  });
}
