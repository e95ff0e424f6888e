import { Environment } from '#platform/process/environment.js';
import { chosenHandler } from './handlers.js';

describe('In a folder that has been deleted, the handler', () => {
  beforeEach(() =>
    jest.spyOn(process, 'cwd').mockImplementation(() => {
      throw Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { code: 'ENOENT' });
    }),
  );
  afterEach(() => jest.restoreAllMocks());

  const choose = (HANDLER: string) => chosenHandler(new Environment({ HANDLER }));

  it.each(['./handler.js', 'a-package'])('%s is refused with a sentence that names the cause', async (name) => {
    await expect(choose(name)).rejects.toThrow(
      `HANDLER names "${name}", but the folder in which this process was started does not exist any more: start it in another one.`,
    );
  });

  it('log needs none', async () => {
    expect(await choose('log')).toBeNull();
  });
});
