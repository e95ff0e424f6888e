import { Environment } from './environment.js';
import { SettingsError } from './settings.js';

const URLS = ['http:', 'https:'];

function fault(read: (environment: Environment) => unknown, variables: Record<string, string> = {}): string {
  try {
    read(new Environment(variables));
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('It was taken.');
}

describe('Environment', () => {
  it('reads what is set', () => {
    const environment = new Environment({ A: 'a text', B: 'https://a.example/b', C: '7', D: 'two' });
    expect(environment.text('A', 'what it is')).toBe('a text');
    expect(environment.url('B', 'where', URLS).href).toBe('https://a.example/b');
    expect(environment.integer('C', 1, 0, 10)).toBe(7);
    expect(environment.integer('X', 1, 0, 10)).toBe(1);
    expect(environment.oneOf('D', 'one', ['one', 'two'])).toBe('two');
  });

  it('says what is missing, also when it is empty', () => {
    expect(fault((env) => env.text('A', 'what it is'))).toBe('A is required: what it is.');
    expect(fault((env) => env.url('A', 'where', URLS), { A: '' })).toBe('A is required: where.');
  });

  it.each(['ftp://a.example', 'a.example', 'http://', 'https:'])('refuses the URL %s without repeating it', (text) => {
    const sentence = fault((env) => env.url('A', 'where', URLS), { A: text });
    expect(sentence).toBe('A must be a URL that begins with http:// or https://.');
  });

  it('refuses numbers and words like all settings', () => {
    expect(fault((env) => env.integer('A', 1, 0, 10), { A: '11' })).toContain('A must be a whole number from 0 to 10');
    expect(fault((env) => env.oneOf('A', 'x', ['x', 'y']), { A: 'z' })).toContain('A must be one of x, y');
  });
});
