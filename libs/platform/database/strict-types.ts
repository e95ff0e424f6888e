import pg from 'pg';

const { builtins } = pg.types;
const TIMES = new Set<number>([builtins.DATE, builtins.TIMESTAMP, builtins.TIMESTAMPTZ]);

/** pg reads a time as null, silently, unless it is in the style ISO: an expiry would then mean "never". */
export const STRICT_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: 'text' | 'binary') => {
    const parse = pg.types.getTypeParser(type, format) as (text: string) => unknown;
    return TIMES.has(type) ? (text: string) => existing(parse(text)) : parse;
  }) as typeof pg.types.getTypeParser,
};

function existing(time: unknown): unknown {
  // `infinity` is read as a number.
  if (typeof time === 'number' || (time instanceof Date && !Number.isNaN(time.getTime()))) return time;
  throw new Error('The database returned a time that cannot be read.');
}
