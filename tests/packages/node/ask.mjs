// Asks a model, as an application would.
export async function ask(baseUrl, question) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: question }] }),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()).choices[0].message.content;
}
