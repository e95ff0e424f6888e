/** Of an object with more names than this, only those of fields are kept: no field may have as many. */
const MAX_NAMES = 100;
/** What is nested deeper is checked but not kept: no field has so many levels. */
const MAX_DEPTH = 6;
/** How many tokens are read between two looks at the clock. */
const TOKENS_AT_ONCE = 64;

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// oxlint-disable-next-line no-control-regex -- JSON allows none in a string
const PLAIN = /^[^\\\u0000-\u001f]*$/;

/** An array or object whose end was not read yet. */
interface Container {
  readonly end: ']' | '}';
  /** Null if it is not kept. */
  readonly value: unknown[] | Record<string, unknown> | null;
  /** Of the field whose value comes next; null for one that is not kept. */
  name: string | null;
  names: number;
}

const IGNORED_ARRAY: Container = { end: ']', value: null, name: null, names: 0 };
const IGNORED_OBJECT: Container = { end: '}', value: null, name: null, names: 0 };

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'comma or end' | 'end of text';

/**
 * Reads JSON in steps. `JSON.parse` blocks the event loop for tenths of a second when a body has a hundred thousand
 * names or strings. This reader accepts exactly what `JSON.parse` accepts, but keeps only what a field can use.
 */
export class JsonReader {
  private at = 0;
  private expected: Expected = 'value';
  private readonly containers: Container[] = [];
  private result: unknown;

  /**
   * @param fields the names that are kept of the outermost object
   * @param nested the names that are kept of every other object, however many it has
   */
  constructor(
    private readonly text: string,
    private readonly fields: ReadonlySet<string>,
    private readonly nested: ReadonlySet<string>,
  ) {}

  /** What was read, once `read` has returned true. */
  get value(): unknown {
    return this.result;
  }

  /**
   * Reads on for about so many milliseconds.
   * @returns whether all was read
   * @throws SyntaxError
   */
  read(ms: number): boolean {
    const until = performance.now() + ms;
    do {
      for (let token = 0; token < TOKENS_AT_ONCE; token++) if (this.readToken()) return true;
    } while (performance.now() < until);
    return false;
  }

  /** @returns whether there are no more */
  private readToken(): boolean {
    this.skip(SPACE);
    const first = this.text[this.at];
    const container = this.containers.at(-1);
    switch (this.expected) {
      case 'end of text':
        if (first !== undefined) throw new SyntaxError();
        return true;
      case 'comma or end':
        if (first === container?.end) this.close();
        else {
          this.take(',');
          this.expected = container?.end === '}' ? 'name' : 'value';
        }
        return false;
      case 'name or end':
      case 'name':
        if (this.expected === 'name or end' && first === '}') this.close();
        else this.readName(container);
        return false;
      case 'value or end':
      case 'value':
        if (this.expected === 'value or end' && first === ']') this.close();
        else if (first === '{' || first === '[') this.open(first);
        else this.add(first === '"' ? this.readString() : this.readScalar());
        return false;
    }
  }

  private readName(object: Container | undefined): void {
    const name = this.readString();
    this.skip(SPACE);
    this.take(':');
    this.expected = 'value';
    if (object === undefined || object.value === null) return;
    const isKept = this.containers.length === 1 ? this.fields.has(name) : this.keepsNested(object, name);
    object.name = isKept ? name : null;
  }

  private keepsNested(object: Container, name: string): boolean {
    if (object.names >= MAX_NAMES) return this.nested.has(name) || Object.hasOwn(object.value ?? {}, name);
    object.names++;
    return true;
  }

  private open(bracket: '{' | '['): void {
    this.at++;
    const parent = this.containers.at(-1);
    const isKept = this.containers.length < MAX_DEPTH && (parent === undefined || keepsNext(parent));
    if (bracket === '[') {
      this.containers.push(isKept ? { end: ']', value: [], name: null, names: 0 } : IGNORED_ARRAY);
      this.expected = 'value or end';
    } else {
      this.containers.push(isKept ? { end: '}', value: {}, name: null, names: 0 } : IGNORED_OBJECT);
      this.expected = 'name or end';
    }
  }

  private close(): void {
    this.at++;
    const closed = this.containers.pop();
    this.add(closed?.value ?? (closed?.end === ']' ? [] : {}));
  }

  private add(value: unknown): void {
    const container = this.containers.at(-1);
    this.expected = container === undefined ? 'end of text' : 'comma or end';
    if (container === undefined) this.result = value;
    else if (Array.isArray(container.value)) container.value.push(value);
    else if (container.value !== null && container.name !== null) setField(container.value, container.name, value);
  }

  private readScalar(): unknown {
    const from = this.at;
    if (this.skip(SCALAR) === 0) throw new SyntaxError();
    const scalar = this.text.slice(from, this.at);
    return SCALARS.has(scalar) ? SCALARS.get(scalar) : Number(scalar);
  }

  private readString(): string {
    const from = this.at;
    this.take('"');
    for (;;) {
      const quote = this.text.indexOf('"', this.at);
      if (quote === -1) throw new SyntaxError();
      let escapes = 0;
      while (this.text[quote - 1 - escapes] === '\\') escapes++;
      this.at = quote + 1;
      if (escapes % 2 === 0) break;
    }
    const content = this.text.slice(from + 1, this.at - 1);
    return PLAIN.test(content) ? content : (JSON.parse(this.text.slice(from, this.at)) as string);
  }

  private take(char: string): void {
    if (this.text[this.at] !== char) throw new SyntaxError();
    this.at++;
  }

  /** @returns how many characters matched */
  private skip(pattern: RegExp): number {
    const from = this.at;
    pattern.lastIndex = from;
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.at - from;
  }
}

const SCALARS = new Map<string, unknown>(Object.entries({ true: true, false: false, null: null }));

function keepsNext({ value, name }: Container): boolean {
  return Array.isArray(value) || (value !== null && name !== null);
}

function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  // An assignment would set the prototype.
  if (name === '__proto__') {
    Object.defineProperty(fields, name, { value, configurable: true, enumerable: true, writable: true });
  } else fields[name] = value;
}
